"""How a check of golden values is entered under its target."""


def check_in(checks):
    """Return a decorator ``check(target)`` that enters a function in ``checks``."""

    def check(target):
        def register(function):
            checks[target] = function
            return function

        return register

    return check

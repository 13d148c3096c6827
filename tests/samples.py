"""What `make test` takes of many cases; `make test-thorough` runs the others."""

import pytest


def parts(number):
    """Parametrize a test by ``part``, of which the first is the sample."""
    return pytest.mark.parametrize("part", sampled(range(number), [0]))


def sampled(cases, sample):
    """Return all cases as parameters, those that are not at the places ``sample`` marked thorough."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=() if place in sample else pytest.mark.thorough
        )
        for place, case in enumerate(cases)
    ]

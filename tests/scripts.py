"""Scripts of the project as modules: they are no package."""

import importlib.util


def load(path):
    """Return the module of a script."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

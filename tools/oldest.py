"""Print the oldest versions that pyproject.toml allows, as constraints for pip."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def oldest(project: dict) -> list[str]:
    """``name==floor`` for every requirement with a lower bound, extras included, each name once.

    >>> oldest({"dependencies": ["numpy>=2.2,<3"], "optional-dependencies": {"dev": ["indistinct[io]", "ruff>=0.14"]}})
    ['numpy==2.2', 'ruff==0.14']
    """
    named = [*project["dependencies"], *(text for texts in project["optional-dependencies"].values() for text in texts)]
    found = (re.match(r"([\w-]+)(?:\[[^]]*\])?>=([\w.]+)", text) for text in named)
    return [f"{name}=={floor}" for name, floor in {match[1]: match[2] for match in found if match}.items()]


if __name__ == "__main__":
    with (Path(__file__).resolve().parents[1] / "pyproject.toml").open("rb") as file:
        print("\n".join(oldest(tomllib.load(file)["project"])))

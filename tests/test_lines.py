"""What counts as a line of code, by hand."""

from pathlib import Path

import pytest

from scripts import load

pytestmark = pytest.mark.small

SCRIPT = Path(__file__).resolve().parents[1] / "tools" / "lines.py"

MODULE = '''"""A docstring
of two lines."""

import math  # 1


# a comment
class Point:  # 2
    """One line."""

    names = ("x",  # 3
             # a comment inside an expression

             "y")  # 4

    def far(self):  # 5
        """Say how far.

        More.
        """
        "no docstring: the second statement"  # 6
        text = """three  # 7

        lines"""  # 8
        return math.hypot(self.x, self.y), text; "another"  # 9


def short(): "A docstring beside code"  # 10


async def later():  # 11
    f"""no docstring: it is computed {later}"""  # 12
'''


@pytest.fixture(scope="module")
def lines():
    return load(SCRIPT)


def test_code_is_what_is_no_blank_line_comment_or_docstring(lines):
    assert lines.code_lines(MODULE) == 12


@pytest.mark.parametrize(
    ("text", "code"),
    [("", 0), ("\n\n", 0), ("# only\n", 0), ('"""Only."""\n', 0), ("x = (\n)\n", 2), ("x = 1 + \\\n    2\n", 2)],
)
def test_edges(lines, text, code):
    assert lines.code_lines(text) == code


def test_packages_are_the_first_folders(lines):
    texts = {
        "src/indistinct/errors.py": "x = 1\n",
        "src/indistinct/models/k.py": '"""K."""\n\nx = 1\n',
        "src/indistinct/models/deep/l.py": "x = 1\ny = 2\n",
    }
    assert lines.by_package(texts) == {".": (1, 1, 1), "models": (2, 5, 3)}


@pytest.mark.slow
def test_the_working_tree_is_counted_whole(lines):
    counted = lines.by_package(lines.texts_of(None))
    assert {"kernels", "formats", "hierarchies", "models", "."} <= counted.keys()
    assert sum(files for files, _, _ in counted.values()) == len(list((SCRIPT.parents[1] / "src").rglob("*.py")))
    assert all(0 < code < lines for _, lines, code in counted.values())

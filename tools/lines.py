"""Count the lines of code by package: what is neither blank, nor comment, nor docstring.

``python tools/lines.py`` counts the working tree, ``python tools/lines.py REVISION`` what git keeps of another.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/indistinct"
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# tokens that are no code
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    r'''Lines of Python text that hold code.

    A string is code wherever it is no docstring, but for its blank lines.

    >>> code_lines('"""Add."""' + "\n\n# one\ndef add(a, b):\n    return a + b  # sum\n")
    2
    '''
    docstrings = {
        (node.body[0].lineno, node.body[0].col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None
    }
    lines = source.splitlines()
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT and token.start not in docstrings:
            found.update(range(token.start[0], token.end[0] + 1))
    return sum(bool(lines[number - 1].strip()) for number in found)


def by_package(texts: dict[str, str]) -> dict[str, tuple[int, int, int]]:
    """Files, lines and lines of code by the first folder below the package; a file beside the folders counts for ``.``.

    ``texts`` are the sources by their path in the repository.
    """
    found: dict[str, Counter[str]] = {}
    for path, text in texts.items():
        folder, _, rest = path.removeprefix(f"{SOURCE}/").partition("/")
        counts = found.setdefault(folder if rest else ".", Counter())
        counts.update(files=1, lines=len(text.splitlines()), code=code_lines(text))
    return {name: (counts["files"], counts["lines"], counts["code"]) for name, counts in sorted(found.items())}


def texts_of(revision: str | None) -> dict[str, str]:
    """Python sources of the package by path, in the working tree or as git keeps them."""
    if revision is None:
        files = sorted((ROOT / SOURCE).rglob("*.py"))
        return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    command = ["git", "archive", "--format=tar", revision, SOURCE]
    archive = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout  # noqa: S603
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = [member for member in tar.getmembers() if member.name.endswith(".py")]
        return {member.name: tar.extractfile(member).read().decode() for member in members}


def main() -> None:
    """Print a row for every package, and one for all."""
    counted = by_package(texts_of(sys.argv[1] if len(sys.argv) > 1 else None))
    print(f"{'package':16}{'files':>8}{'lines':>8}{'code':>8}")
    for name, figures in [*counted.items(), ("all", tuple(map(sum, zip(*counted.values(), strict=True))))]:
        print(f"{name:16}" + "".join(f"{figure:8}" for figure in figures))


if __name__ == "__main__":
    main()

"""Gather the pages of the site in a folder: README, docs and examples as they are, and a reference from the code.

    python docs/reference.py build/pages

The folders below it are those of the project, so that links between pages stay as they are. The reference has three
pages, ``docs/reference/python.md``, ``commands.md`` and ``policy-schema.md``. Nothing is fetched.
"""

import inspect
import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

import indistinct as ind

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("README.md", "README.zh-CN.md", "LICENSE", "docs", "examples", "experiments/proximity/results")
# sections of a docstring that hold entries, each with an indented text
LISTED = ("Parameters", "Returns", "Raises")
LEFT_OUT = ("__pycache__", "reference.py", "register.py", "discharges.csv")
COMMANDS = (
    "profile", "audit", "policy draft", "policy check", "policy schema", "policy from-arx", "policy key",
    "hierarchy build", "hierarchy check", "hierarchy show", "transform", "plan", "anonymize", "append", "verify",
    "explain", "compare", "risk", "attack", "utility", "releases key", "releases add", "releases check",
    "releases list", "releases forget", "studio", "demo",
)  # fmt: skip


def text_of(docstring: str) -> Iterator[str]:
    """Lines of a docstring as Markdown: examples become blocks of code, sections bold words with lists."""
    inside, section = False, ""
    lines = inspect.cleandoc(docstring).splitlines()
    for position, line in enumerate(lines):
        following = lines[position + 1] if position + 1 < len(lines) else ""
        if line.startswith(">>>") and not inside:
            yield "```python"
            inside = True
        if inside and not line.strip():
            yield "```"
            inside = False
        if line and following == "-" * len(line):
            section = line
            yield f"**{line}**"
        elif section and line == "-" * len(section):
            yield ""
        elif section in LISTED and line.strip():
            yield f"- `{line}`" if following.startswith(" ") and not line.startswith(" ") else f"  {line.strip()}"
        else:
            yield line
    if inside:
        yield "```"


def python_page() -> str:
    """Every public name with its signature and its docstring."""
    lines = ["# Python reference", "", "Made from the docstrings by `docs/reference.py`.", ""]
    for name in ind.__all__:
        thing = getattr(ind, name)
        lines += [f"## `{name}`", ""]
        if inspect.isfunction(thing):
            lines += ["```python", f"{name}{inspect.signature(thing)}", "```", ""]
        lines += [*text_of(inspect.getdoc(thing) or ""), ""]
        for part, method in inspect.getmembers(thing, inspect.isfunction) if inspect.isclass(thing) else ():
            if not part.startswith("_") and method.__module__.startswith("indistinct") and method.__doc__:
                lines += [f"### `{name}.{part}`", "", *text_of(method.__doc__), ""]
    return "\n".join(lines)


def commands_page() -> str:
    """What ``--help`` of every command says."""
    run = import_module("indistinct.cli.app").run
    lines = ["# Commands", "", "What `indistinct COMMAND --help` says.", ""]
    for command in COMMANDS:
        out = io.StringIO()
        with redirect_stdout(out):
            run([*command.split(), "--help"])
        lines += [f"## `{command}`", "", "```text", out.getvalue().strip(), "```", ""]
    return "\n".join(lines)


def type_of(entry: dict[str, Any]) -> str:
    """How the schema names the type of a key."""
    if "$ref" in entry:
        return str(entry["$ref"]).rpartition("/")[2]
    if "const" in entry or "enum" in entry:
        return ", ".join(f"`{value}`" for value in entry.get("enum", [entry.get("const")]))
    choices = [type_of(choice) for choice in (*entry.get("anyOf", ()), *entry.get("oneOf", ()))]
    return " or ".join(dict.fromkeys(choices)) if choices else str(entry.get("type", "any"))


def schema_page() -> str:
    """Every definition of the JSON Schema of policies, as a table of its keys."""
    schema = ind.Policy.json_schema()
    about = (
        "Made from the JSON Schema (`indistinct policy schema`). [The policy file](../policy.md) explains every key."
    )
    lines = ["# Policy schema", "", about, ""]
    for name, definition in {"Policy": schema, **schema["$defs"]}.items():
        required = definition.get("required", [])
        lines += [f"## `{name}`", "", *text_of(definition.get("description", "")), ""]
        lines += ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
        for key, entry in definition.get("properties", {}).items():
            default = "required" if key in required else f"`{entry.get('default')}`" if "default" in entry else "none"
            meaning = " ".join(entry.get("description", "").split()).replace("|", "\\|")
            lines.append(f"| `{key}` | {type_of(entry)} | {default} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def main(target: Path) -> None:
    """Write all pages below ``target``, which is emptied first."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns(*LEFT_OUT))
        else:
            shutil.copy(source, target / name)
    reference = target / "docs" / "reference"
    reference.mkdir()
    pages = {"python": python_page, "commands": commands_page, "policy-schema": schema_page}
    for name, page in pages.items():
        (reference / f"{name}.md").write_text(page().rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Groups of options: their fields stand on the command line, and no command has many parameters of its own."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from indistinct.cli.app import application
from indistinct.cli.options import Answer, grouped

MOST = 15


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--width", help="How wide.")] = 2
    height: Annotated[list[str] | None, typer.Option("--height")] = None


def shell(command):
    app = typer.Typer()
    app.command()(command)
    return lambda *words: CliRunner().invoke(app, list(words))


def test_fields_of_a_group_are_options_in_their_place():
    got = []

    @grouped
    def draw(name: Annotated[str, typer.Argument()], *, deep: bool = False, size: Size, answering: Answer) -> int:
        """Draw."""
        got.append((name, deep, size, answering))
        return 0

    run = shell(draw)
    assert run("a", "--width", "7", "--height", "x", "--height", "y", "--deep", "-q").exit_code == 0
    assert run("b").exit_code == 0
    assert got == [("a", True, Size(7, ["x", "y"]), Answer(quiet=True)), ("b", False, Size(), Answer())]
    assert run("c", "--width", "wide").exit_code == 2  # an option of a group is checked as any other
    assert "How wide." in run("--help").output


@pytest.mark.parametrize(("answer", "printed"), [
    (Answer(), "first\n'second'\n"), (Answer(quiet=True), ""), (Answer(json=True), '{"schema": 1, "a": 1}\n'),
    (Answer(json=True, quiet=True), '{"schema": 1, "a": 1}\n'),
])  # fmt: skip
def test_an_answer_is_a_document_or_an_account_or_nothing(answer, printed, capsys):
    class Second:
        def __repr__(self):
            return "'second'"

    answer.give({"a": 1}, "first", Second())
    assert capsys.readouterr().out == printed


def commands(app):
    yield from (command.callback for command in app.registered_commands)
    for group in app.registered_groups:
        yield from commands(group.typer_instance)


def test_no_command_has_many_parameters_of_its_own():
    found = list(commands(application()))
    assert len(found) > 18
    counts = {one.__qualname__: len(inspect.signature(inspect.unwrap(one)).parameters) for one in found}
    assert max(counts.values()) <= MOST, counts

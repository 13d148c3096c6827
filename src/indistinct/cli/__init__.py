"""The command line: edits nothing, decides nothing, calls the functions below and prints their answers."""

from indistinct.cli.main import main

__all__ = ["main"]

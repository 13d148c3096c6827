"""``python -m indistinct``: the command line."""

from indistinct.cli.app import main

main()

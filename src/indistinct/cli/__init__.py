"""The command line: edits nothing, decides nothing, calls the functions below and prints their answers."""

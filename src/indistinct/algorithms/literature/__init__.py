"""Algorithms of the literature: right, documented, for comparison and for those who ask for them by name."""

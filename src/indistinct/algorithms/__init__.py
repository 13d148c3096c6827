"""Algorithms that decide on a recoding. One file each, named as the literature names it, with its record at the end."""

from indistinct.algorithms.contract import Algorithm
from indistinct.algorithms.registry import algorithm_of, algorithms, declared, form_of, named, require_fit

__all__ = ["Algorithm", "algorithm_of", "algorithms", "declared", "form_of", "named", "require_fit"]

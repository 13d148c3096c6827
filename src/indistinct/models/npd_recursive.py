"""npd-recursive (c1,c2,l)-diversity: pd-recursive, and values whose absence must not be learnt are everywhere.

Definition, closure and source: ``pd_recursive``.
"""

from __future__ import annotations

from dataclasses import replace

from indistinct.models import pd_recursive
from indistinct.policy.privacy import NpdRecursive

MODEL = replace(pd_recursive.MODEL, options=NpdRecursive, title="npd-recursive (c,l)-diversity")

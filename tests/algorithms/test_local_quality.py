"""More effort never loses more: balanced against fast, on the bundled table with its loose bound on t."""

from pathlib import Path

import pytest

from indistinct.algorithms.local import local
from indistinct.losses import lm
from indistinct.policy import Policy
from indistinct.session.prepare import prepare
from indistinct.tables.classes import recoding_of
from indistinct.tables.count import silent

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "hospital"


@pytest.mark.slow
def test_balanced_loses_no_more_than_fast():
    policy = Policy.load(EXAMPLE / "policy.toml")
    frequencies = prepare(EXAMPLE / "discharges.csv", policy, carry=False).counted.frequencies
    losses = {}
    for quality in ("fast", "balanced"):
        recoding = policy.recoding.model_copy(update={"quality": quality})
        assignment = local(frequencies, policy.model_copy(update={"recoding": recoding}), silent)
        losses[quality] = lm(frequencies, assignment, recoding_of(frequencies, assignment))[0]
    assert losses["balanced"] <= losses["fast"]

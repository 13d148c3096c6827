"""Small tables of mixed columns, and the classes that an algorithm makes of them: what tests of partitions share."""

from collections import Counter

import pyarrow as pa
from hypothesis import strategies as st

import indistinct as ind
from indistinct.algorithms import named
from indistinct.session.prepare import prepare
from indistinct.tables.count import silent
from indistinct.tables.records import SUPPRESSED

AREA = {"11": ("11", "1", "*"), "12": ("12", "1", "*"), "21": ("21", "2", "*"), "22": ("22", "2", "*")}
SEX = {"f": ("f", "*"), "m": ("m", "*")}
COLUMNS = (None, AREA, SEX)

row = st.tuples(st.sampled_from([None, *range(12)]), st.sampled_from([None, *AREA]), st.sampled_from([*SEX]))
tables = st.lists(row, min_size=2, max_size=16)
with_sensitive = st.lists(st.tuples(*[st.sampled_from(range(9)), st.sampled_from([*AREA]), st.sampled_from([*SEX]),
                                      st.sampled_from("xyz")]), min_size=2, max_size=20)  # fmt: skip


def policy_of(area_file, name, privacy, limit=0, *, ill=None, **recoding):
    return ind.Policy(
        attributes={
            "age": {"role": "qi", "type": "integer", "hierarchy": {"kind": "range", "bounds": "members"}},
            "area": {"role": "qi", "hierarchy": area_file},
            "sex": {"role": "qi", "hierarchy": {"kind": "suppress"}},
            "ill": {"role": "sensitive", **(ill or {})},
        },
        privacy=privacy,
        suppression={"limit": limit},
        recoding={"algorithm": name, **recoding},
    )


def classes(rows, policy):
    """Classes that an algorithm forms, each a list of rows; None where the models cannot be met."""
    names = ("age", "area", "sex", "ill")
    columns = {name: [row[at] if at < len(row) else "-" for row in rows] for at, name in enumerate(names)}
    types = (pa.int64(), *[pa.string()] * 3)
    table = pa.table({name: pa.array(columns[name], type=kind) for name, kind in zip(names, types, strict=True)})
    prepared = prepare(table, policy)
    frequencies = prepared.counted.frequencies
    try:
        found = named(policy.recoding.algorithm).decide(frequencies, policy, silent)
    except ind.InfeasibleError:
        return None
    own = [*frequencies.quasi, *frequencies.sensitive]
    groups = [[] for _ in range(found.classes)]
    for cell, count, where in zip(found.cell, found.count, found.class_of, strict=True):
        assert where != SUPPRESSED
        texts = [h.texts[code] for h, code in zip(own, frequencies.codes[cell], strict=True)]
        value = (None if texts[0] is None else int(texts[0]), *texts[1:])
        groups[where] += [value] * int(count)
    return groups


def as_sets(groups):
    return Counter(tuple(sorted(map(str, group))) for group in groups)

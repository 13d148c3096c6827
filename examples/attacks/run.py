"""The story of anonymization, told by attacks: each protection, the attack that gets around it, and what stops that.

    python examples/attacks/run.py [--reveal]

Makes a small hospital and a voter list, publishes the hospital again and again, each time under one more model, and
runs the attacks on every release. Every number is computed here; nobody in the tables ever lived.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa

import indistinct as ind
from indistinct.history.ledger import Ledger
from indistinct.history.snapshot import snapshot

TREE = {
    "gastric ulcer": "stomach", "gastritis": "stomach", "stomach cancer": "stomach", "flu": "chest",
    "bronchitis": "chest", "pneumonia": "chest", "fracture": "injury", "burn": "injury", "HIV": "infection",
}  # fmt: skip
# what most people have in an area; the last one is a home for the aged in a winter with influenza
STOMACH = ["gastric ulcer", "gastritis", "stomach cancer"]
COMMON = {
    "02138": STOMACH, "02139": STOMACH,
    "02141": ["flu", "bronchitis", "fracture"], "02142": ["bronchitis", "burn", "fracture"],
    "02144": ["pneumonia", "bronchitis"], "02145": ["flu"],
}  # fmt: skip
QUASI = ("zip", "birth", "sex")
PEOPLE = 600


def invent(seed: int = 1) -> pa.Table:
    """Invent a hospital: where people live decides much about what they have and earn. One per cent has HIV."""
    rng = random.Random(seed)
    rows = [{"name": "W. Governor", "zip": "02138", "birth": "1945", "sex": "m", "illness": "HIV", "salary": "14500"}]
    for number in range(1, PEOPLE):
        area = rng.choice(list(COMMON))
        common = COMMON[area]
        illness = rng.choice(common * (24 // len(common)) + [name for name in TREE if name != "HIV"])
        base = 3000 + 200 * list(COMMON).index(area)
        rows.append({
            "name": f"Person {number}", "zip": area, "birth": str(rng.randint(1930, 2005)), "sex": rng.choice("fm"),
            "illness": "HIV" if number % 100 == 0 else illness, "salary": str(base + rng.randint(0, 9) * 5),
        })  # fmt: skip
    return pa.Table.from_pylist(rows)


def policy(
    folder: Path, privacy: list[Any], sensitive: str, *, birth: dict[str, Any] | None = None, **sections: Any
) -> ind.Policy:
    """Return the policy of every step; the models and the sensitive column change."""
    tree = folder / "illness.csv"
    tree.write_text("".join(f"{value};{kind};*\n" for value, kind in TREE.items()), encoding="utf-8")
    kinds: dict[str, dict[str, Any]] = {
        "illness": {"hierarchy": {"file": str(tree.resolve())}},
        "salary": {"type": "integer"},
    }
    return ind.Policy(
        attributes={
            "name": {"role": "identifying"},
            "zip": {"role": "quasi_identifying", "hierarchy": {"kind": "masking", "from": "right"}},
            "birth": {"role": "quasi_identifying", "type": "integer", "hierarchy": birth or {"kind": "range"}},
            "sex": {"role": "quasi_identifying", "hierarchy": {"kind": "suppress"}},
            sensitive: {"role": "sensitive", **kinds[sensitive]},
        },
        table={"unlisted": "identifying"},
        privacy=privacy,
        **sections,
    )


def tell(title: str, answer: ind.Attacks, *names: str) -> None:
    """Print what the attacks of a step found."""
    print(f"\n{title}")
    for name in names:
        entry = answer[name]
        if not entry["ran"]:
            print(f"  {name}: not run, {entry['reason']}")
            continue
        where = f" of {entry['attribute']}" if entry["attribute"] else ""
        print(f"  {name}{where}: {entry['reason']}")
        low, high = entry["gain_interval"]["low"], entry["gain_interval"]["high"]
        print(
            f"    {entry['learnt']} of {entry['persons']} persons; gain {entry['gain']:+.3f} [{low:+.3f}, {high:+.3f}]"
        )
        for lines in answer.revealed.values():
            if lines and answer.document["attacks"].index(entry) >= 0 and len(names) == 1:
                print(f"    > {lines[0]}")


def main(*, reveal: bool = False) -> dict[str, ind.Attacks]:
    """Run all steps and return what each found."""
    with tempfile.TemporaryDirectory() as folder:
        return _steps(Path(folder), reveal=reveal)


def _steps(folder: Path, *, reveal: bool) -> dict[str, ind.Attacks]:
    hospital = invent()
    voters = hospital.select(["name", *QUASI])
    found: dict[str, ind.Attacks] = {}
    k = ind.KAnonymity(3)

    def step(key: str, title: str, names: tuple[str, ...], release: Any, by: ind.Policy, **more: Any) -> None:
        found[key] = ind.attack(release, by, attacks=names, reveal=reveal, **more)
        tell(title, found[key], *names)

    def under(privacy: list[Any], sensitive: str = "illness") -> tuple[Any, ind.Policy]:
        by = policy(folder, privacy, sensitive)
        return ind.anonymize(hospital, by).table, by

    raw, plain = hospital.select([*QUASI, "illness"]), policy(folder, [k], "illness")
    step("names", "1. Names are removed. A voter list puts them back:", ("linkage",), raw, plain, identified=voters)

    names: tuple[str, ...] = ("linkage", "homogeneity", "background")
    title = "2. k = 3: nobody is found alone. But some groups share one illness, and others nearly do:"
    step("k", title, names, *under([k]), identified=voters)

    names = ("homogeneity", "skewness", "similarity")
    title = "3. l = 3: no group shares one illness. But the rare becomes likely, and different is not unlike:"
    step("l", title, names, *under([k, ind.DistinctL("illness", 3)]))
    print(f"    HIV, at worst: {_rare(found['l']):.1f} times as likely as before")

    title = "4. t = 0.3: every group resembles the hospital:"
    step("t", title, names, *under([k, ind.TCloseness("illness", "0.3", "equal")]))

    title = "5. t = 0.3 on salaries, ordered: a group in the middle of the scale may be as narrow as it likes:"
    release, by = under([k, ind.DistinctL("salary", 3), ind.TCloseness("salary", "0.3", "ordered")], "salary")
    step("numbers", title, ("proximity",), release, by, widths={"salary": 50})

    by = policy(folder, [ind.EpsIKAnonymity("salary", 3, beta="0.1", eps_floor=50)], "salary")
    ind.anonymize(hospital, by).write(folder / "out.csv")
    title = "6. (eps_i,k): salaries apart in every group, in two tables. The quasi-identifiers are exact:"
    step("eps", title, ("proximity", "linkage"), folder / "out.qit.csv", by, second=folder / "out.st.csv",
         widths={"salary": 50}, identified=voters)  # fmt: skip

    coarse: dict[str, Any] = {"birth": {"kind": "intervals", "widths": [10, 40]}, "recoding": {"algorithm": "optimal"}}
    two = [k, ind.DistinctL("illness", 2)]
    by = policy(folder, two, "illness", **coarse, suppression={"limit": 0.05})
    before, after = (ind.anonymize(hospital.slice(0, rows), by).table for rows in (PEOPLE - 1, PEOPLE))
    title = "7. One more patient, published again. Each release holds; the difference between them does not:"
    step("again", title, ("differencing",), after, by, other=before)

    # the same table under two recodings, both in the order in which the hospital keeps it
    def twice(**output: Any) -> tuple[ind.Policy, Any, Any]:
        fine = policy(folder, [k], "illness", output=output)
        rough = policy(folder, [k], "illness", **coarse, output=output, suppression={"limit": 0.05, "rows": "exempt"})
        return fine, ind.anonymize(hospital, fine).table, ind.anonymize(hospital, rough).table

    by, release, second = twice(order="kept", confirmed=True)
    title = "8. Published for two purposes, in the order of the source: row by row, the two are one table again:"
    names = ("unsorted_matching", "complementary_release")
    step("two", title, names, release, by, other=second, identified=voters)

    by, release, second = twice()
    title = "9. The same two, each sorted by what it publishes, which is the default. Rows side by side tell nothing:"
    step("sorted", title, ("unsorted_matching",), release, by, other=second, identified=voters)

    print("\n10. A ledger remembers the first release of step 7, and is asked before the second goes out:")
    print(f"  {refused(folder, hospital, two, coarse)}")
    return found


def refused(folder: Path, hospital: pa.Table, privacy: list[Any], coarse: dict[str, Any]) -> str:
    """Publish all but the last patient and enter that in a ledger; return why all patients may not follow."""
    limit, ledger = {"limit": 0.05}, folder / "ledger.sqlite"
    by = policy(folder, privacy, "illness", **coarse, suppression=limit)
    before, published = hospital.slice(0, PEOPLE - 1), folder / "first.csv"
    ind.anonymize(before, by).write(published)
    Ledger(ledger, None).add("first", snapshot(before, published, by, None))
    asking = policy(folder, privacy, "illness", **coarse, suppression=limit, releases={"ledger": str(ledger)})
    try:
        ind.anonymize(hospital, asking)
    except ind.VerificationError as error:
        return f"refused: {error.message}"
    raise AssertionError("the ledger let a release pass that tells who is new")


def _rare(answer: ind.Attacks) -> float:
    ratio: float = answer["skewness"]["details"]["largest_ratio"]["decimal"]
    return ratio


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reveal", action="store_true", help="show what was learnt about the worst case of a step")
    main(reveal=parser.parse_args().reveal)

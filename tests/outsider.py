"""What somebody else writes with indistinct: `make lint` reads it, and wants just the errors that are marked."""

import indistinct as ind


def right(folder: str) -> tuple[bool | None, ind.Release, str]:
    audit: ind.Audit = ind.audit("table.csv", "policy.toml")
    policy: ind.Policy = ind.Policy.load("policy.toml")
    return audit.satisfied, ind.anonymize("table.csv", policy, output=f"{folder}/out.csv", force=True), ind.__version__


def misspelt() -> object:
    ind.anonymize("table.csv", "policy.toml", ouput="out.csv")  # type: ignore[call-arg]
    ind.anonimize("table.csv", "policy.toml")  # type: ignore[attr-defined]
    return ind.audit("table.csv", "policy.toml").satisfyed  # type: ignore[attr-defined]

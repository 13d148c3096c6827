"""Slow twins of shares over persons, from the definition, with dicts and fractions.

The persons of a class weigh 1 each, spread over the values of their rows in it; rows are dicts, ``person`` names the
key.
"""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import lcm


def people(members, person):
    """Group rows by person."""
    found = {}
    for row in members:
        found.setdefault(row[person], []).append(row)
    return found


def shares(members, attribute, person):
    """s_v: the mean over persons of the share of their rows that have v."""
    everybody = people(members, person)
    found = {}
    for rows in everybody.values():
        for value, count in Counter(row[attribute] for row in rows).items():
            found[value] = found.get(value, 0) + Fraction(count, len(rows)) / len(everybody)
    return found


def having(members, attribute, person):
    """h_v: the share of persons who have v in some row."""
    everybody = people(members, person)
    found = Counter(value for rows in everybody.values() for value in {row[attribute] for row in rows})
    return {value: Fraction(count, len(everybody)) for value, count in found.items()}


def weights(members, attribute, person):
    """Whole numbers in the proportions of s_v."""
    found = shares(members, attribute, person)
    common = lcm(*(share.denominator for share in found.values()))
    return Counter({value: int(share * common) for value, share in found.items()})


def matching(members, attribute, person):
    """Most pairs (person, value of theirs) without a person or a value twice."""
    owned = [{row[attribute] for row in rows} for rows in people(members, person).values()]
    taken = {}

    def place(number, seen):
        for value in owned[number] - seen:
            seen.add(value)
            if value not in taken or place(taken[value], seen):
                taken[value] = number
                return True
        return False

    return sum(place(number, set()) for number in range(len(owned)))


def matching_by_trial(members, attribute, person):
    """Try every order of the persons and take for each the values one by one: for very small classes only."""
    owned = [sorted({row[attribute] for row in rows}, key=str) for rows in people(members, person).values()]

    def most(left, used):
        if not left:
            return 0
        skipped = most(left[1:], used)
        return max([skipped, *(1 + most(left[1:], used | {value}) for value in left[0] if value not in used)])

    return max(most(list(order), frozenset()) for order in permutations(owned))

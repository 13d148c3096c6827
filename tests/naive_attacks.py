"""Slow twins of the attacks: from the definitions, in dictionaries and fractions, without code of the package."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product
from math import comb, prod


def covers(label, value):
    """Whether a published label covers a value: itself, *, a set, an interval of numbers, a mask."""
    if label in (value, "*"):
        return True
    if label is None or value is None:
        return False
    if label.startswith("{"):
        return value in [part.strip() for part in label[1:-1].split(",")]
    if label[0] in "[(]" and label[-1] in "])[":
        low, high = (Fraction(end.strip()) for end in label[1:-1].split(","))
        number = Fraction(value)
        above = low <= number if label[0] == "[" else low < number
        below = number <= high if label[-1] == "]" else number < high
        return above and below
    if label.endswith("*"):
        kept = label.rstrip("*")
        return len(value) == len(label) and value.startswith(kept)
    return False


def candidates(person, released, join_on):
    """Return the released rows that may be a person's."""
    return [row for row in released if all(covers(row[name], person[name]) for name in join_on)]


def classes(rows, quasi):
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi)].append(row)
    return dict(found)


def homogeneous(rows, quasi, attribute):
    """Return the number of rows in classes with one value, where the table has several."""
    if len({row[attribute] for row in rows}) < 2:
        return 0
    return sum(len(c) for c in classes(rows, quasi).values() if len({row[attribute] for row in c}) == 1)


def background(rows, quasi, attribute, out):
    """Return the mean belief in the true value after ``out`` of the strongest others are out, and who is certain."""
    total, certain = Fraction(0), 0
    for members in classes(rows, quasi).values():
        counts = Counter(row[attribute] for row in members)
        for value, count in counts.items():
            others = sorted((n for v, n in counts.items() if v != value), reverse=True)
            total += Fraction(count * count, len(members) - sum(others[:out]))
        certain += len(members) if len(counts) <= out + 1 else 0
    if len({row[attribute] for row in rows}) <= out + 1:
        certain = 0
    return total / len(rows), certain


def top_after(counts, out):
    ordered = sorted(counts, reverse=True)
    return Fraction(ordered[0], sum(ordered) - sum(ordered[1 : 1 + out]))


def skewness(rows, quasi, attribute):
    """Return the largest difference and the largest ratio of a share in a class to that in the table."""
    whole = Counter(row[attribute] for row in rows)
    differences, ratios = [], []
    for members in classes(rows, quasi).values():
        for value, count in Counter(row[attribute] for row in members).items():
            before, after = Fraction(whole[value], len(rows)), Fraction(count, len(members))
            differences.append(after - before)
            ratios.append(after / before)
    return max(differences), max(ratios)


def fullest_window(values, width):
    """Return (share, lowest, highest) of the fullest closed window that begins at a value; the lowest of equals."""
    best = None
    for start in sorted(set(values)):
        inside = [value for value in values if start <= value <= start + width]
        share = Fraction(len(inside), len(values))
        if best is None or share > best[0]:
            best = (share, start, max(inside))
    return best


def difference(first, second):
    """Return what was added and removed between two multisets."""
    before, after = Counter(first), Counter(second)
    return dict(after - before), dict(before - after)


def minimality(sizes, rows, bound):
    """Return the belief for a person of each group, given that some group alone exceeds the bound."""
    weights, held = 0, [Fraction(0)] * len(sizes)
    for numbers in product(*(range(size + 1) for size in sizes)):
        if sum(numbers) != rows or not any(Fraction(n, size) > bound for n, size in zip(numbers, sizes, strict=True)):
            continue
        weight = prod(comb(size, n) for n, size in zip(numbers, sizes, strict=True))
        weights += weight
        held = [h + Fraction(weight * n, size) for h, n, size in zip(held, numbers, sizes, strict=True)]
    return [h / weights for h in held] if weights else None


def presence(population, released, join_on):
    """Return the belief of each person of a population to be in the release."""
    beliefs = []
    tuples = classes(released, join_on)
    for person in population:
        belief = Fraction(0)
        for members in tuples.values():
            if all(covers(members[0][name], person[name]) for name in join_on):
                covered = sum(all(covers(members[0][name], p[name]) for name in join_on) for p in population)
                belief += Fraction(len(members), covered)
        beliefs.append(min(Fraction(1), belief))
    return beliefs


def definetti(rows, counts, values):
    """Return the belief in each value for each row: the definition, row by row, without logarithms.

    ``rows``: (features, group) of each row; ``counts``: for each group how many of its rows have each value.
    """
    sizes = Counter(group for _, group in rows)
    belief = [{v: counts[group].get(v, 0) / sizes[group] for v in values} for _, group in rows]
    kinds = [len({features[j] for features, _ in rows}) for j in range(len(rows[0][0]))]
    for _ in range(40):
        held = {v: sum(own[v] for own in belief) for v in values}
        weights = []
        for features, group in rows:
            own = {}
            for v in values:
                weight = held[v] / len(rows) if counts[group].get(v) else 0.0
                for j, x in enumerate(features):
                    soft = sum(b[v] for b, (others, _) in zip(belief, rows, strict=True) if others[j] == x)
                    weight *= (soft + 0.5) / (held[v] + kinds[j] / 2)
                own[v] = weight
            weights.append(own)
        for _ in range(15):
            for group, total in counts.items():
                for v in values:
                    members = [w for w, (_, g) in zip(weights, rows, strict=True) if g == group]
                    found = sum(w[v] for w in members)
                    for w in members:
                        w[v] *= total.get(v, 0) / found if found else 0.0
            for w in weights:
                found = sum(w.values())
                for v in values:
                    w[v] /= found
        change = max(abs(w[v] - b[v]) for w, b in zip(weights, belief, strict=True) for v in values)
        belief = weights
        if change < 1e-3:
            break
    return belief


def posterior_of_merge(sizes, pair_of, decoys, values, holds):
    """Beliefs {piece: {value: belief}} after a class of pieces was published, by dealing its values in every way.

    ``pair_of`` says to which pair a piece belongs; a pair is merged where a piece of it fails, else with the chance
    ``decoys[pair]``; of several pairs one has failed as a whole. None where no way of dealing explains the class.
    """
    ends = [sum(sizes[: piece + 1]) for piece in range(len(sizes))]
    total, held = Fraction(0), [Counter() for _ in sizes]
    for dealt in set(permutations(values)):
        pieces = [dealt[end - size : end] for size, end in zip(sizes, ends, strict=True)]
        pairs = [[piece for piece, own in zip(pieces, pair_of, strict=True) if own == pair] for pair in set(pair_of)]
        chance = Fraction(1)
        for own, decoy in zip(pairs, decoys, strict=True):
            chance *= 1 if any(not holds(piece) for piece in own) else Fraction(decoy)
        if len(pairs) > 1 and all(holds([value for piece in own for value in piece]) for own in pairs):
            chance *= 0
        total += chance
        for counter, piece in zip(held, pieces, strict=True):
            for value in piece:
                counter[value] += chance
    if not total:
        return None
    return [
        {value: counter[value] / total / size for value in set(values)}
        for counter, size in zip(held, sizes, strict=True)
    ]

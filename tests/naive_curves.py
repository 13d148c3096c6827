"""Slow twins of the algorithms that order rows or deal them out: Hilbert, t-closeness first, SABRE.

Rows and columns are those of ``naive_partition``.
"""

from fractions import Fraction
from math import ceil

from naive_partition import away, canonical, lca_level, lm, points

# --- the Hilbert curve -----------------------------------------------------------------------------------


def rotated(word, by, d):
    """Rotate a word of d bits to the right."""
    by %= d
    return (word >> by | word << (d - by)) & ((1 << d) - 1)


def gray_code(number):
    return number ^ number >> 1


def hilbert_index(point, bits):
    """Place of a point on the curve: in each of the nested cubes, its corner in the order of a Gray code.

    A cube is entered at one corner and left along one axis; those of the cube inside follow from the corner taken.
    """
    d, index, entry, axis = len(point), 0, 0, 0
    for bit in reversed(range(bits)):
        corner = sum((coordinate >> bit & 1) << at for at, coordinate in enumerate(point))
        gray = rotated(corner ^ entry, axis + 1, d)
        place = next(number for number in range(1 << d) if gray_code(number) == gray)
        index = index << d | place
        start = gray_code((place - 1) // 2 * 2) if place else 0
        entry ^= rotated(start, -(axis + 1), d)
        odd = 0 if place == 0 else place - 1 if place % 2 == 0 else place
        axis = (axis + (len(bin(odd)) - len(bin(odd).rstrip("1"))) + 1) % d
    return index


def curve(rows, columns):
    """Rows in the order of the Hilbert curve, equal ones in canonical order.

    Coordinates are ranks among the values that occur (those of a tree in the order of its leaves, a missing value
    last), spread over 2^bits points, bits enough for the largest column.
    """
    rows, domains = canonical(rows, columns), []
    for at, tree in enumerate(columns):
        column = {row[at] for row in rows}
        domains.append([value for value in (*(tree or sorted(column - {None})), None) if value in column])
    bits = next(bits for bits in range(64) if 2**bits >= max(map(len, domains)))

    def index(row):
        point = [domain.index(value) * 2**bits // len(domain) for value, domain in zip(row, domains, strict=False)]
        return hilbert_index(point, bits)

    return sorted(rows, key=index)


def hilbert(rows, columns, k):
    """Least loss of all partitions of the rows, in the order of the curve, into groups of k or more neighbours."""
    rows = curve(rows, columns)
    best = {0: Fraction(0)}
    for end in range(1, len(rows) + 1):
        sums = [
            best[start] + (end - start) * lm(rows[start:end], rows, columns)
            for start in range(end - k + 1)
            if start in best
        ]
        if sums:
            best[end] = min(sums)
    return best[len(rows)]


# --- t-closeness first -----------------------------------------------------------------------------------


def needed_size(n, t, k):
    """Least size of clusters for t by the bound of the ranks, made so that few rows are left over."""
    k = min(max(k, ceil(n / (2 * (n - 1) * Fraction(t) + 1))), n) if n > 1 else 1
    return k + n % k // (n // k)


def t_closeness_first(rows, columns, t, k, holds):
    """Clusters with one row of each of k buckets of ranks, for the least k (from the needed one on) that ``holds``.

    The sensitive value comes last. The rows that are left over belong to the middle bucket; a cluster takes a second
    row of it while it has more rows than clusters are to come. Of equal distances the first row is taken.
    """
    rows = canonical(rows, columns)
    n = len(rows)
    place = points(rows, columns)
    while True:
        k = needed_size(n, t, k)
        ranks, buckets = sorted(range(n), key=lambda i: rows[i][-1]), []
        for bucket in range(k):
            size = n // k + (n % k if bucket == (k - 1) // 2 else 0)
            buckets.append(ranks[:size])
            ranks = ranks[size:]
        clusters, left, first = [], list(range(n)), None
        while left:
            if first is None:
                point = {
                    name: (sum(place[i][name][0] for i in left) / len(left), place[0][name][1]) for name in place[0]
                }
                seed = first = max(left, key=lambda i: away(place[i], point))
            else:
                seed, first = max(left, key=lambda i: away(place[i], place[first])), None
            to_come = n // k - len(clusters)
            cluster = []
            for bucket in buckets:
                for _ in range(2 if len(bucket) > to_come else 1):
                    nearest = min(sorted(bucket), key=lambda i: away(place[i], place[seed]))
                    bucket.remove(nearest)
                    left.remove(nearest)
                    cluster.append(rows[nearest])
            clusters.append(cluster)
        if all(map(holds, clusters)):
            return clusters
        k += max(1, k // 8)


# --- SABRE -----------------------------------------------------------------------------------------------


def bucket_cost(bucket, shares, distance, tree=None):
    """Return what classes with their fair share of a bucket may still be wrong about; ``shares`` by value, in order."""
    share = sum(shares[value] for value in bucket)
    if distance == "equal":
        return share - min(shares[value] for value in bucket)
    if distance == "ordered":
        places = [list(shares).index(value) for value in bucket]
        return share * Fraction(max(places) - min(places), len(shares) - 1) if len(shares) > 1 else Fraction(0)
    return share * Fraction(lca_level(bucket, tree), len(tree[bucket[0]]) - 1)


def bucket_pieces(bucket, shares, distance, tree=None):
    """Children of the smallest node over a bucket, or without a tree the two runs of least cost; ties: the first."""
    if tree is not None and distance != "ordered":
        level, children = lca_level(bucket, tree) - 1, {}
        for value in bucket:
            children.setdefault(tree[value][level], []).append(value)
        return list(children.values())
    cuts = [[bucket[:at], bucket[at:]] for at in range(1, len(bucket))]
    return min(cuts, key=lambda runs: sum(bucket_cost(run, shares, distance) for run in runs))


def sabre_buckets(shares, distance, t, tree=None):
    """Split the bucket whose split lowers the sum of costs most until it is at most t; ties: the first bucket."""
    found = [list(shares)]

    def cost(buckets):
        return sum(bucket_cost(bucket, shares, distance, tree) for bucket in buckets)

    while cost(found) > t:
        splits = [
            found[:at] + bucket_pieces(bucket, shares, distance, tree) + found[at + 1 :]
            for at, bucket in enumerate(found)
            if len(bucket) > 1
        ]
        found = min(splits, key=cost)
    return found


def sabre(rows, columns, buckets, holds):
    """Halve the table along the curve, each half with half of the rows of each bucket, while both halves hold.

    Odd rows go to the second half and to the first in turn.
    """

    def split(part):
        halves, odd = ([], []), 0
        for bucket in buckets:
            own = [row for row in part if row[-1] in bucket]
            cut = (len(own) + odd) // 2
            odd = (len(own) + odd) % 2
            halves[0].extend(own[:cut])
            halves[1].extend(own[cut:])
        if not all(half and holds(half) for half in halves):
            return [part]
        return [found for half in halves for found in split(half)]

    return split(curve(rows, columns))

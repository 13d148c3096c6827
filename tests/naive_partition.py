"""Slow twins of partitions and clusterings, from their definitions: lists, dicts and fractions.

A row is a tuple of values: integers (or None) in columns of kind ``range``, texts (or None) in columns with a tree; the
sensitive value, where there is one, comes last. ``columns`` describes the quasi-identifiers: ``None`` for a range, or
the paths of a tree (value -> labels from the value to the root, in the order of the leaves).
"""

from collections import Counter
from fractions import Fraction


def canonical(rows, columns):
    """Sort rows by domain order, missing values last."""

    def key(row):
        found = []
        for value, tree in zip(row, columns, strict=False):
            place = value if tree is None or value is None else list(tree).index(value)
            found.append((value is None, 0 if value is None else place))
        return (*found, *row[len(columns) :])

    return sorted(rows, key=key)


def labels(value, tree):
    """Labels from the value to the root; a missing value lies directly under the root."""
    if value is None:
        height = len(next(iter(tree.values()))) - 1
        return (*[None] * height, "*")
    return tree[value]


def lca_level(values, tree):
    """Level of the smallest node that covers the values."""
    paths = [labels(value, tree) for value in values]
    return next(level for level in range(len(paths[0])) if len({path[level] for path in paths}) == 1)


def lm(part, rows, columns):
    """Loss of a row of a class: mean of (leaves under the label - 1) / (leaves - 1), or of widths over widths."""
    total = Fraction(0)
    for at, tree in enumerate(columns):
        own, column = [row[at] for row in part], [row[at] for row in rows]
        if len(set(own)) == 1:
            continue
        if tree is None:
            present = [value for value in column if value is not None]
            total += 1 if None in own else Fraction(max(own) - min(own), max(present) - min(present))
            continue
        leaves = [*tree, *([None] if None in column else [])]
        level = lca_level(own, tree)
        node = labels(own[0], tree)[level]
        under = sum(labels(leaf, tree)[level] == node for leaf in leaves)
        total += Fraction(under - 1, len(leaves) - 1)
    return total / len(columns)


# --- Mondrian --------------------------------------------------------------------------------------------


def mondrian(rows, columns, holds, *, relaxed=False):
    """Classes of Mondrian; ``holds(rows)`` judges a part. The whole table must hold."""
    rows = canonical(rows, columns)

    def width(part, at):
        own, column = [row[at] for row in part], [row[at] for row in rows]
        if len(set(own)) == 1:
            return Fraction(0)
        if columns[at] is None:
            if None in own:
                return Fraction(1)
            present = [value for value in column if value is not None]
            return Fraction(max(own) - min(own), max(present) - min(present))
        tree = columns[at]
        level = lca_level(own, tree)
        node = labels(own[0], tree)[level]
        under = {value for value in column if labels(value, tree)[level] == node}
        return Fraction(len(under), len(set(column)))

    def cut(part, at):
        own = [row[at] for row in part]
        if columns[at] is None:
            if None in own:
                return [[row for row in part if row[at] is not None], [row for row in part if row[at] is None]]
            if relaxed:  # parts keep the canonical order, so that sorting leaves equal values in it
                order = sorted(range(len(part)), key=lambda place: own[place])
                half = len(part) // 2
                return [[part[place] for place in sorted(some)] for some in (order[:half], order[half:])]
            median = sorted(own)[(len(own) - 1) // 2]
            if median == max(own):
                return [[row for row in part if row[at] < median], [row for row in part if row[at] >= median]]
            return [[row for row in part if row[at] <= median], [row for row in part if row[at] > median]]
        tree = columns[at]
        level = lca_level(own, tree) - 1
        children = {}
        for row in part:
            children.setdefault(labels(row[at], tree)[level], []).append(row)
        return list(children.values())

    def split(part):
        order = sorted(range(len(columns)), key=lambda at: -width(part, at))
        for at in order:
            if width(part, at) > 0:
                parts = cut(part, at)
                if all(map(holds, parts)):
                    return [found for piece in parts for found in split(piece)]
        return [part]

    return split(rows)


# --- merging ---------------------------------------------------------------------------------------------


def equal_distance(part, table):
    """Equal earth mover's distance of the last column."""
    ours, theirs = Counter(row[-1] for row in part), Counter(row[-1] for row in table)
    return sum(
        max(Fraction(0), Fraction(ours[value], len(part)) - Fraction(count, len(table)))
        for value, count in theirs.items()
    )


def merge(classes, table, t, columns=None):
    """Merge the class farthest from the table with its best partner until all are within t.

    The best partner is the one that leaves the least distance; with ``columns``, of those that lower the distance of
    the class, the one that adds least loss.
    """
    classes = [list(part) for part in classes]
    while True:
        distances = [equal_distance(part, table) for part in classes]
        if max(distances) <= t:
            return classes
        worst = distances.index(max(distances))
        unions = [(equal_distance(classes[worst] + part, table), at) for at, part in enumerate(classes) if at != worst]
        partner = min(unions)[1]
        lower = [at for distance, at in unions if distance < distances[worst]]
        if columns is not None and lower:

            def loss(part):
                return len(part) * lm(part, table, columns)

            partner = min(lower, key=lambda at: loss(classes[worst] + classes[at]) - loss(classes[at]))
        low, high = sorted((worst, partner))
        classes[low] = classes[low] + classes[high]
        del classes[high]


# --- microaggregation of one column ----------------------------------------------------------------------


def squares(values):
    mean = Fraction(sum(values), len(values))
    return sum((value - mean) ** 2 for value in values)


def least_squares(values, k):
    """Least sum of squares over all partitions of the sorted values into groups of neighbours of k or more."""
    values = sorted(values)
    best = {0: Fraction(0)}
    for j in range(1, len(values) + 1):
        found = [best[i] + squares(values[i:j]) for i in range(j - k + 1) if i in best]
        if found:
            best[j] = min(found)
    return best[len(values)]


# --- clusterings -----------------------------------------------------------------------------------------


def cluster_cost(part, rows, columns):
    """Cost of one row of a cluster: widths of ranges over those of the columns, heights over heights."""
    total = Fraction(0)
    for at, tree in enumerate(columns):
        own = [row[at] for row in part]
        if tree is not None:
            total += Fraction(lca_level(own, tree), len(next(iter(tree.values()))) - 1)
        elif len(set(own)) > 1:
            present = [row[at] for row in rows if row[at] is not None]
            total += 1 if None in own else Fraction(max(own) - min(own), max(present) - min(present))
    return total


def steps(part, _rows, columns):
    """Steps of generalization that make the rows of a cluster equal; a column without levels takes one."""
    return sum(
        lca_level([row[at] for row in part], tree) if tree else int(len({row[at] for row in part}) > 1)
        for at, tree in enumerate(columns)
    )


def k_similar(rows, columns, k):
    """Clusters of k-member by the steps that make two rows equal."""
    return k_member(rows, columns, k, steps)


def k_member(rows, columns, k, cost_of=cluster_cost):
    """Clusters of k-member from the first row; of equal costs the first row is taken."""
    rows = canonical(rows, columns)
    if len(rows) < 2 * k:
        return [rows]

    def cost(part):
        return len(part) * cost_of(part, rows, columns)

    left, last, clusters = list(rows), rows[0], []
    while len(left) >= k:
        last = max(left, key=lambda row: cost_of([last, row], rows, columns))
        left.remove(last)
        cluster = [last]
        while len(cluster) < k:
            added = min(left, key=lambda row: cost([*cluster, row]))
            left.remove(added)
            cluster.append(added)
        clusters.append(cluster)
    for row in left:
        best = min(clusters, key=lambda cluster: cost([*cluster, row]) - cost(cluster))
        best.append(row)
    return clusters


def points(rows, columns):
    """Places of rows: for each row a list of (coordinate name -> value), squared distances being their sum of squares.

    Coordinates are pairs (value, scale): a difference d counts d^2 * scale, so that all stays rational.
    """
    found = [{} for _ in rows]
    for at, tree in enumerate(columns):
        column = [row[at] for row in rows]
        if tree is None:
            present = [value for value in column if value is not None]
            low, high = (min(present), max(present)) if present else (0, 0)
            column = [high + max(high - low, 1) if value is None else value for value in column]
            mean = Fraction(sum(column), len(column))
            variance = sum((value - mean) ** 2 for value in column) / len(column)
            for point, value in zip(found, column, strict=True):
                point[at] = (Fraction(value), 1 / variance if variance else Fraction(0))
            continue
        height = len(next(iter(tree.values()))) - 1
        nodes = {(level, labels(value, tree)[level]) for value in column for level in range(height)}
        for point, value in zip(found, column, strict=True):
            for level, node in nodes:
                here = labels(value, tree)[level] == node
                point[at, level, node] = (Fraction(int(here)), Fraction(1, 2 * height))
    return found


def away(a, b):
    return sum((a[name][0] - b[name][0]) ** 2 * a[name][1] for name in a)


def mdav(rows, columns, k):
    """Clusters of MDAV; of equal distances the first row is taken."""
    rows = canonical(rows, columns)
    if len(rows) < 2 * k:
        return [rows]
    place = points(rows, columns)
    left, clusters = list(range(len(rows))), []

    def mean():
        return {name: (sum(place[i][name][0] for i in left) / len(left), place[0][name][1]) for name in place[0]}

    def farthest(point, among):
        return max(among, key=lambda i: away(place[i], point))

    def group(seed):
        others = sorted((i for i in left if i != seed), key=lambda i: away(place[i], place[seed]))[: k - 1]
        clusters.append([seed, *others])
        for i in clusters[-1]:
            left.remove(i)

    while len(left) >= 3 * k:
        first = farthest(mean(), left)
        second = farthest(place[first], left)
        group(first)
        group(second if second in left else farthest(place[first], left))
    if len(left) >= 2 * k:
        group(farthest(mean(), left))
    if left:
        clusters.append(list(left))
    return [[rows[i] for i in cluster] for cluster in clusters]

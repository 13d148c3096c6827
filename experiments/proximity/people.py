"""An invented table in the manner of SAL, the census extract that papers on anonymity of incomes use.

It imitates what matters for nearness of incomes, not any real person or file: 500,000 adults with age, sex, race,
country of birth, birthplace of the parents and occupation as quasi-identifiers, and an income that is skewed and has
several humps (no earnings, minimum wage, salaries, professionals, owners), depends on age, occupation and sex, and is
often a round number, so that many values are frequent. Every figure about it is about invented people.
"""

import numpy as np
import pyarrow as pa

QUASI = ("age", "occupation", "birthplace", "race", "country", "sex")
HUMPS = np.array([9_000.0, 24_000.0, 42_000.0, 75_000.0, 160_000.0])


def people(rows, seed=7):
    """Return the table; the same seed gives the same people, and fewer rows are the first of them."""
    random = np.random.default_rng(seed)
    most = max(rows, 500_000)
    age = np.clip(random.gamma(6.5, 6.6, most).astype(int) + 15, 16, 93)
    sex = random.random(most) < 0.49
    race = random.choice(9, most, p=power(9, 1.4))
    country = np.where(random.random(most) < 0.8, 0, random.choice(83, most, p=power(83, 1.1)))
    birthplace = np.where(random.random(most) < 0.55, country, random.choice(57, most, p=power(57, 0.9)))
    occupation = random.choice(50, most, p=power(50, 0.6))
    skill = (occupation * 37 % 50) / 50
    pull = 2.2 * skill + 0.9 * np.exp(-(((age - 48) / 17.0) ** 2)) + 0.25 * sex + random.normal(0, 0.65, most)
    hump = np.clip(np.floor(pull * 1.35), 0, 4).astype(int)
    income = HUMPS[hump] * np.exp(random.normal(0, 0.28, most))
    grid = random.choice([1, 10, 100, 1000, 5000], most, p=[0.1, 0.2, 0.35, 0.25, 0.1])
    income = np.maximum(np.round(income / grid) * grid, 500).astype(np.int64)
    columns = {
        "age": age,
        "sex": np.where(sex, 1, 0),
        "race": race,
        "country": country,
        "birthplace": birthplace,
        "occupation": occupation,
        "income": income,
    }
    return pa.table({name: pa.array(values[:rows].astype(np.int64)) for name, values in columns.items()})


def power(values, exponent):
    """Shares that fall with a power of the rank."""
    share = 1 / np.arange(1, values + 1) ** exponent
    return share / share.sum()

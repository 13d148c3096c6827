"""Invent the discharge table of a hospital that does not exist.

``python generate.py`` writes ``discharges.csv`` and the hierarchies beside itself, always the same bytes.
Nobody in it ever lived: names are strung together from syllables; dates, places and illnesses are drawn by
weight. What is true to life is the shape: few frequent and many rare diagnoses, wards that follow from
diagnoses, illnesses that follow from age, long stays that cost more, patients who come back, empty cells.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HERE = Path(__file__).parent
PATIENTS, STAYS = 15_500, 20_000
FIRST_DAY, DAYS = date(2023, 1, 1), 731  # two years of admissions
HEADER = "patient_id name birth_date sex zip admitted ward diagnosis length_of_stay cost"

# Ages in years: newborn, child, young adult, middle age, pensioner, very old; and their shares.
AGES = ((0, 1), (1, 18), (18, 45), (45, 65), (65, 80), (80, 98))
AGE_WEIGHTS = (6, 8, 20, 25, 27, 14)

# How likely an illness is at these ages.
PROFILES = {
    "anyone": (1, 2, 3, 3, 3, 3),
    "newborn": (1, 0, 0, 0, 0, 0),
    "young": (3, 6, 3, 1, 0.5, 0.3),
    "mother": (0, 0, 1, 0.02, 0, 0),
    "adult": (0, 0.2, 4, 4, 1.5, 0.5),
    "middle": (0, 0.1, 1, 4, 4, 2),
    "old": (0, 0, 0.2, 2, 5, 6),
    "very old": (0, 0, 0, 0.5, 3, 9),
}

# ward: larger unit, price of a day
WARDS = {
    "Cardiology": ("internal medicine", 620),
    "Gastroenterology": ("internal medicine", 480),
    "Pneumology": ("internal medicine", 470),
    "Nephrology": ("internal medicine", 510),
    "Oncology": ("internal medicine", 730),
    "General medicine": ("internal medicine", 390),
    "Geriatrics": ("internal medicine", 340),
    "General surgery": ("surgery", 690),
    "Trauma surgery": ("surgery", 720),
    "Urology": ("surgery", 560),
    "Ophthalmology": ("surgery", 520),
    "Ear nose and throat": ("surgery", 500),
    "Neurology": ("nerves and mind", 540),
    "Stroke unit": ("nerves and mind", 880),
    "Psychiatry": ("nerves and mind", 310),
    "Obstetrics": ("women and children", 550),
    "Neonatology": ("women and children", 910),
    "Paediatrics": ("women and children", 430),
    "Intensive care": ("acute care", 1650),
    "Admission ward": ("acute care", 450),
}


class Illness(NamedTuple):
    """One diagnosis: how frequent, at which age and sex, where it is treated and for how many days."""

    code: str
    block: str
    chapter: str
    weight: float
    profile: str
    sex: str
    ward: str
    days: float


# chapter, block, then: code, frequency, age profile, sex ("" = both), usual ward, usual days
ILLNESSES = """
infections | A00-A09 | A04 30 old - Gastroenterology 7; A08 45 young - Paediatrics 3
infections | A00-A09 | A09 80 anyone - Gastroenterology 4
infections | A30-A49 | A41 60 very_old - Intensive_care 11; A46 35 middle - General_medicine 6
neoplasms | C15-C26 | C18 60 old - General_surgery 11; C20 30 old - General_surgery 12
neoplasms | C15-C26 | C25 25 old - Oncology 9
neoplasms | C50-C63 | C50 70 middle f Oncology 4; C61 45 old m Urology 6
neoplasms | D10-D36 | D12 25 middle - Gastroenterology 2; D25 35 adult f General_surgery 4
metabolism | E10-E14 | E10 25 young - General_medicine 5; E11 90 middle - General_medicine 8
metabolism | E70-E90 | E86 50 very_old - Geriatrics 5; E87 35 very_old - Geriatrics 6
mind | F10-F19 | F10 130 adult - Psychiatry 7; F19 20 adult - Psychiatry 8
mind | F30-F39 | F32 70 adult - Psychiatry 26; F33 60 middle - Psychiatry 30
nerves and senses | G40-G47 | G40 70 anyone - Neurology 4; G45 60 old - Stroke_unit 4
nerves and senses | G40-G47 | G47 55 middle - Pneumology 2
nerves and senses | H25-H36 | H25 70 very_old - Ophthalmology 2; H35 25 old - Ophthalmology 2
nerves and senses | H80-H83 | H81 50 middle - Ear_nose_and_throat 3
circulation | I10-I15 | I10 170 old - Cardiology 3
circulation | I20-I25 | I20 140 middle - Cardiology 3; I21 150 old - Cardiology 6
circulation | I20-I25 | I25 160 old - Cardiology 3
circulation | I30-I52 | I47 35 adult - Cardiology 3; I48 210 old - Cardiology 3
circulation | I30-I52 | I50 300 very_old - Cardiology 8
circulation | I60-I69 | I61 25 old - Intensive_care 12; I63 170 old - Stroke_unit 9
circulation | I70-I89 | I70 100 old - General_surgery 7; I83 45 middle - General_surgery 2
breathing | J00-J22 | J06 45 young - Paediatrics 3; J18 190 very_old - Pneumology 8
breathing | J00-J22 | J20 70 young - Paediatrics 4
breathing | J30-J39 | J34 40 adult - Ear_nose_and_throat 3; J35 75 young - Ear_nose_and_throat 3
breathing | J40-J47 | J44 140 old - Pneumology 8; J45 30 young - Pneumology 4
digestion | K20-K31 | K21 40 middle - Gastroenterology 3; K25 30 old - Gastroenterology 6
digestion | K20-K31 | K29 90 anyone - Gastroenterology 3
digestion | K35-K46 | K35 85 young - General_surgery 4; K40 120 middle m General_surgery 2
digestion | K50-K64 | K52 60 anyone - Gastroenterology 3; K56 75 old - General_surgery 8
digestion | K50-K64 | K57 90 middle - General_surgery 7
digestion | K80-K87 | K80 160 middle - General_surgery 5; K85 45 adult - Gastroenterology 8
bones and muscles | M15-M25 | M16 110 old - Trauma_surgery 9; M17 115 old - Trauma_surgery 9
bones and muscles | M15-M25 | M23 50 adult - Trauma_surgery 2
bones and muscles | M50-M54 | M51 90 middle - Neurology 7; M54 120 middle - Neurology 5
kidney and bladder | N10-N19 | N10 35 adult f Urology 5; N17 45 very_old - Nephrology 10
kidney and bladder | N10-N19 | N18 45 old - Nephrology 8
kidney and bladder | N20-N51 | N20 85 adult - Urology 3; N39 110 very_old - Urology 6
kidney and bladder | N20-N51 | N40 60 old m Urology 6
birth | O60-O75 | O60 25 mother f Obstetrics 6; O68 55 mother f Obstetrics 4
birth | O80-O84 | O80 190 mother f Obstetrics 3; O82 90 mother f Obstetrics 5
birth | P05-P08 | P07 190 newborn - Neonatology 14
birth | P20-P61 | P22 70 newborn - Neonatology 6; P59 130 newborn - Neonatology 3
symptoms | R00-R19 | R07 90 middle - Admission_ward 1; R10 110 young - Admission_ward 2
symptoms | R50-R69 | R51 45 adult - Neurology 2; R55 110 old - Admission_ward 3
injuries | S00-S29 | S06 210 anyone - Trauma_surgery 2; S22 55 very_old - Trauma_surgery 8
injuries | S40-S59 | S42 85 anyone - Trauma_surgery 5; S52 110 anyone - Trauma_surgery 3
injuries | S70-S89 | S72 160 very_old - Trauma_surgery 14; S82 95 adult - Trauma_surgery 6
injuries | S70-S89 | S83 45 adult - Trauma_surgery 2
"""

WINTER = {"J06", "J18", "J20", "J44", "I21", "I50"}  # more of these from November to March
SYLLABLES = """
ba be bo da del di fa fen ga gil ha hel jo ka kel la lin lo ma mi mor na nel no or pa ra ren ri sa sel ta tir
va vel vi wen ya zo
"""
ENDINGS = "berg dal feld grin hol kamp lund mar nik rath sen stad ter vik wald"


def illnesses() -> list[Illness]:
    """Read the table above."""
    found = []
    for line in ILLNESSES.strip().splitlines():
        chapter, block, entries = (part.strip() for part in line.split("|"))
        for entry in entries.split(";"):
            code, weight, profile, sex, ward, days = entry.replace("very_old", "very+old").split()
            found.append(
                Illness(
                    code, block, chapter, float(weight), profile.replace("+", " "),
                    sex.strip("-"), ward.replace("_", " "), float(days),
                )
            )  # fmt: skip
    return found


class Dice:
    """Draws by weight, from the one generator whose numbers Python promises to keep: ``random()``."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed).random

    def below(self, limit: int) -> int:
        """Draw a whole number from 0 to ``limit`` - 1."""
        return int(self.random() * limit)

    def pick(self, items: Sequence[str]) -> str:
        """Draw one of equally likely items."""
        return items[self.below(len(items))]

    def weighted(self, cumulative: Sequence[float]) -> int:
        """Draw an index; ``cumulative`` holds the running sums of the weights."""
        return min(bisect(cumulative, self.random() * cumulative[-1]), len(cumulative) - 1)

    def bell(self) -> float:
        """Draw from (nearly) the standard normal distribution."""
        return math.fsum(self.random() for _ in range(12)) - 6  # fsum rounds once, on every version


class Patient(NamedTuple):
    """One invented person and the day of the first stay."""

    key: str
    name: str
    birth: date
    sex: str
    zip: str
    age: int
    first: int


def areas() -> tuple[list[str], list[float]]:
    """Return the postcodes around the hospital, most with a leading zero, and their running weights."""
    near = [f"04{number:03d}" for number in (*range(103, 180, 4), *range(205, 290, 6), *range(315, 360, 4))]
    around = [f"0{number:04d}" for number in range(4416, 4890, 17)]
    far = [f"{number:05d}" for number in (*range(6108, 6900, 66), *range(39104, 39600, 71))]
    codes = near + around + far
    share = {"near": 1.0, "around": 0.35, "far": 0.08}
    kinds = ["near"] * len(near) + ["around"] * len(around) + ["far"] * len(far)
    weights = [share[kind] / (1 + 0.12 * (place % 11)) for place, kind in enumerate(kinds)]
    return codes, list(accumulate(weights))


def patients(dice: Dice) -> list[Patient]:
    """Invent the persons."""
    syllables, endings = SYLLABLES.split(), ENDINGS.split()
    codes, weights = areas()
    ages = list(accumulate(AGE_WEIGHTS))
    keys = list(range(10_000, 10_000 + 4 * PATIENTS))
    for place in range(PATIENTS):  # a partial shuffle: keys say nothing about who came first
        other = place + dice.below(len(keys) - place)
        keys[place], keys[other] = keys[other], keys[place]
    found = []
    for key in keys[:PATIENTS]:
        name = "".join(dice.pick(syllables) for _ in range(2)).title()
        name += " " + (dice.pick(syllables) + dice.pick(endings)).title()
        group = dice.weighted(ages)
        youngest, oldest = AGES[group]
        days = int((youngest + (oldest - youngest) * dice.random()) * 365.25)
        if group == 0 and dice.random() < 0.8:
            days = dice.below(3)  # most newborn patients were born here
        first = dice.below(DAYS)
        sex = "f" if dice.random() < 0.53 else "m"
        birth = FIRST_DAY + timedelta(days=first - days)
        found.append(Patient(f"P{key}", name, birth, sex, codes[dice.weighted(weights)], group, first))
    return found


def stays(dice: Dice, persons: list[Patient]) -> Iterable[tuple[str, ...]]:
    """Invent the stays of these persons, one row each."""
    known = illnesses()
    chances = {
        (sex, group, winter): list(
            accumulate(
                illness.weight
                * PROFILES[illness.profile][group]
                / math.fsum(PROFILES[illness.profile])
                * (illness.sex in ("", sex))
                * (1.6 if winter and illness.code in WINTER else 1.0)
                for illness in known
            )
        )
        for sex in "fm"
        for group in range(len(AGES))
        for winter in (False, True)
    }
    others = [ward for ward, (unit, _) in WARDS.items() if unit in ("internal medicine", "acute care")]
    busy = list(accumulate((1, 2, 2, 3, 4, 4)[person.age] for person in persons))
    visits = list(range(PATIENTS)) + [dice.weighted(busy) for _ in range(STAYS - PATIENTS)]
    seen: dict[int, Illness] = {}
    for number in visits:
        person = persons[number]
        day = person.first if number not in seen else person.first + dice.below(DAYS - person.first)
        admitted = FIRST_DAY + timedelta(days=day)
        again = seen.get(number)
        if again and again.chapter != "birth" and dice.random() < 0.55:
            illness = again  # those who come back mostly come back with the same
        else:
            winter = admitted.month in (11, 12, 1, 2, 3)
            age = max(person.age, 1) if again else person.age
            illness = known[dice.weighted(chances[person.sex, age, winter])]
        seen[number] = illness
        usual = illness.chapter == "birth" or dice.random() < 0.72
        ward = illness.ward if usual else dice.pick(others)
        if person.age < 2 and illness.chapter != "birth" and ward != "Intensive care":
            ward = "Paediatrics"
        days = max(1, round(illness.days * (0.8 + 0.08 * person.age) * math.exp(0.55 * dice.bell())))
        price = WARDS[ward][1] * (days + 2.5) * math.exp(0.22 * dice.bell())
        area = "" if dice.random() < 0.02 else person.zip
        cost = "" if dice.random() < 0.03 else f"{price:.2f}"
        ward = "" if dice.random() < 0.015 else ward
        yield (
            person.key, person.name, person.birth.isoformat(), person.sex, area, admitted.isoformat(),
            ward, illness.code, str(days), cost,
        )  # fmt: skip


def rows(seed: int = 2024) -> list[tuple[str, ...]]:
    """Return the rows of the table in the order of admission."""
    dice = Dice(seed)
    return sorted(stays(dice, patients(dice)), key=lambda row: (row[5], row[0], row))


def hierarchies() -> dict[str, list[tuple[str, ...]]]:
    """Return the hierarchies that are files: value, group, larger group, everything."""
    return {
        "diagnosis": sorted((illness.code, illness.block, illness.chapter, "*") for illness in illnesses()),
        "ward": [(ward, unit, "*") for ward, (unit, _) in WARDS.items()],
    }


def write(folder: Path = HERE) -> None:
    """Write the table and the hierarchies into ``folder``."""
    (folder / "hierarchies").mkdir(exist_ok=True)
    tables = {folder / "discharges.csv": [tuple(HEADER.split()), *rows()]}
    tables |= {folder / "hierarchies" / f"{name}.csv": lines for name, lines in hierarchies().items()}
    for path, lines in tables.items():
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    write()
    print(f"wrote {HERE / 'discharges.csv'} and {HERE / 'hierarchies'}")

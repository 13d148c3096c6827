"""Write invented stays in a hospital as such tables arrive: three languages, and dirt in every other column.

``python examples/stays/generate.py FOLDER [ROWS]`` writes ``stays_de.csv`` (cp1252, semicolons, decimal comma),
``stays_en.csv`` (American dates) and ``stays_zh.csv``. Nobody in them ever lived. The same rows come out every time.
"""

from __future__ import annotations

import csv
import sys
from datetime import date, timedelta
from pathlib import Path
from random import Random

ROWS = 5000
HEADERS = {
    "de": ("Patnr", "Nachname", "GebDatum", "Geschlecht", "PLZ", "Aufnahme", "Station", "ICD", "Kosten", "Gewicht",
           "Bemerkung"),
    "en": ("case", "last_name", "dob", "sex", "zip", "admitted", "unit", "dx", "charges", "weight_kg", "notes"),
    "zh": ("病人编号", "姓名", "出生日期", "性别", "邮编", "入院日期", "科室", "疾病编码", "费用", "体重", "备注"),
}  # fmt: skip
NAMES = {
    "de": ("Müller", "Schulz", "Özdemir", "Krüger", "Weiß", "Lange", "Jäger", "Köhler"),
    "en": ("Smith", "Jones", "O'Hara", "Nguyen", "Garcia", "Brown", "Lee", "Walker"),
    "zh": ("王芳", "李伟", "张敏", "刘洋", "陈静", "杨磊", "赵强", "黄丽"),
}
WARDS = {
    "de": ("Innere I", "Innere II", "Chirurgie", "Kinder", "Geriatrie", "Augen", "HNO", "Neuro", "Uro"),
    "en": ("Medicine A", "Medicine B", "Surgery", "Pediatrics", "Geriatrics", "Eye", "ENT", "Neurology", "Urology"),
    "zh": ("内科一", "内科二", "外科", "儿科", "老年科", "眼科", "耳鼻喉科", "神经科", "泌尿科"),
}
CODES = ("E11.9", "I10", "J18.9", "K35.8", "F32.1", "M54.5", "N39.0", "S72.0", "C50.9", "B20", "I21.4", "J44.1")
REMARKS = {
    "de": ("kam am Abend mit starkem Husten aus {} und blieb", "stürzte zu Hause bei {} von der zweiten Stufe"),
    "en": ("came in the evening from {} with a bad cough", "fell from the second step at home in {} street"),
    "zh": ("傍晚从{}来院 咳嗽 严重 留院 观察 两天 出院", "在家中{}摔倒 从 第二级 台阶 上 跌落 骨折"),
}
DATES = {"de": "%d.%m.%Y", "en": "%m/%d/%Y", "zh": "%Y-%m-%d"}
NO_DATE = {"de": "00.00.0000", "en": "00/00/0000", "zh": "0000-00-00"}
UNKNOWN = {"de": "unbek.", "en": "unk", "zh": "不详"}


def rows(language: str, number: int) -> list[list[str]]:
    """Make the rows of one language: every person has one to four stays."""
    random = Random(f"stays {language}")  # invented people, the same ones every time
    form, found, person = DATES[language], [], 0
    while len(found) < number:
        person += 1
        born = date(1925, 1, 1) + timedelta(random.randrange(36500))
        own = [
            f"P{100000 + 7 * person}",
            random.choice(NAMES[language]) + ("" if language == "zh" else f"-{random.choice(NAMES[language])}"),
            born.strftime(form),
            random.choice("112") if random.random() < 0.99 else "9",
            f"{random.choice((10115, 10117, 20095, 80331, 50667)) + random.randrange(40):05}",
        ]
        for _ in range(random.choice((1, 1, 1, 2, 4))):
            stay = [
                (date(2023, 1, 1) + timedelta(random.randrange(700))).strftime(form),
                random.choice(WARDS[language]),
                random.choice(CODES),
                f"{random.lognormvariate(7.5, 0.6):.2f}".replace(".", "," if language == "de" else "."),
                str(random.randrange(45, 120)),
                random.choice(REMARKS[language]).format(f"{random.randrange(9999)}"),
            ]
            found.append(own + stay)
    found = found[:number]
    for position, dirt, share in (
        (2, NO_DATE[language], 0.005),
        (2, "", 0.01),
        (5, UNKNOWN[language], 0.01),
        (6, " ", 0.01),
        (9, UNKNOWN[language], 0.01),
        (9, "999", 0.01),
        (10, "", 0.3),
    ):
        for row in random.sample(found, max(3, int(share * number))):
            row[position] = dirt
    return found


def write(folder: Path, number: int = ROWS) -> None:
    """Write the three files."""
    for language, header in HEADERS.items():
        encoding, mark = ("cp1252", ";") if language == "de" else ("utf-8", ",")
        with (folder / f"stays_{language}.csv").open("w", encoding=encoding, newline="") as file:
            csv.writer(file, delimiter=mark).writerows([header, *rows(language, number)])


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else ROWS)

"""Recognising identifiers of persons by their form and their check digits: local, deterministic, a suggestion only.

The list serves HIPAA Safe Harbor (45 CFR 164.514(b)(2)(i), numbers in ``hipaa``), the European Union and China. A name,
a street or a face has no form: these are recognised by the name of a column, or by a person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from ipaddress import ip_address
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOOKED_AT = 2000
MOST = 0.8


@dataclass(frozen=True, slots=True)
class Identifier:
    """A kind of identifier: ``name`` for people, ``hipaa`` its number in the Safe Harbor list (0: none), ``area``.

    ``sure``: so rarely met by chance that a single value is worth a warning.
    """

    name: str
    pattern: re.Pattern[str]
    check: Callable[[str], bool]
    hipaa: int
    area: str = ""
    sure: bool = False

    def fits(self, text: str) -> bool:
        """Whether a text has the form, and its check digits are right."""
        return self.pattern.fullmatch(text) is not None and self.check(text)


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was found in a column: ``matched`` of ``looked_at`` distinct values fit the identifier."""

    identifier: Identifier
    matched: int
    looked_at: int

    @property
    def mostly(self) -> bool:
        """Whether the column as a whole holds this identifier."""
        return self.matched >= MOST * self.looked_at


def recognise(values: Sequence[str]) -> Recognised | None:
    """Name the identifier that most of the distinct values of a column fit, None where there is none.

    Of many values 2000 are looked at, chosen by their checksum, so that the answer does not depend on their order. An
    identifier that fits less than 80 % of them is reported only when chance hardly produces it.

    >>> recognise(["DE89370400440532013000", "GB82WEST12345698765432"]).identifier.name
    'IBAN'
    >>> recognise(["11010519491231002X"]).identifier.name  # the example of GB 11643-1999
    'resident identity number'
    >>> recognise(["flu", "ulcer"]) is None
    True
    """
    chosen = values
    if len(values) > LOOKED_AT:
        chosen = sorted(values, key=lambda text: (crc32(text.encode()), text))[:LOOKED_AT]
    stripped = [text.strip() for text in chosen]
    best: Recognised | None = None
    for identifier in IDENTIFIERS:
        matched = sum(identifier.fits(text) for text in stripped)
        found = Recognised(identifier, matched, len(stripped))
        worth = matched > 0 and (found.mostly or identifier.sure)
        if worth and (best is None or matched > best.matched):
            best = found
    return best


# --- check digits ----------------------------------------------------------------------------------------


def _any(_text: str) -> bool:
    return True


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdigit()]


def _luhn(text: str) -> bool:
    """Check by Luhn, ISO/IEC 7812-1: from the right, every second digit doubled, digits added, 0 modulo 10."""
    digits = _digits(text)[::-1]
    return sum(d if i % 2 == 0 else sum(divmod(2 * d, 10)) for i, d in enumerate(digits)) % 10 == 0


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        return date(year, month, day) <= date(2100, 1, 1)
    except ValueError:
        return False


def _resident(text: str) -> bool:
    """GB 11643-1999: date of birth, and ISO 7064 MOD 11-2 over 17 digits."""
    if not _is_date(int(text[6:10]), int(text[10:12]), int(text[12:14])):
        return False
    total = sum(int(d) * pow(2, 17 - i, 11) for i, d in enumerate(text[:17]))
    return "10X98765432"[total % 11] == text[17].upper()


_CREDIT = "0123456789ABCDEFGHJKLMNPQRTUWXY"


def _credit_code(text: str) -> bool:
    """GB 32100-2015: MOD 31 with weights 3^i over 17 characters."""
    total = sum(_CREDIT.index(c) * pow(3, i, 31) for i, c in enumerate(text[:17]))
    return _CREDIT[-total % 31] == text[17]


def _iban(text: str) -> bool:
    """ISO 13616: the first four characters to the end, letters as 10 to 35, 1 modulo 97."""
    plain = text.replace(" ", "").upper()
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


_VIN_VALUES = dict(zip("ABCDEFGHJKLMNPRSTUVWXYZ", [*range(1, 9), 1, 2, 3, 4, 5, 7, 9, *range(2, 10)], strict=True))
_VIN_WEIGHTS = (8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2)


def _vin(text: str) -> bool:
    """ISO 3779 with the check digit of 49 CFR 565: weighted sum modulo 11, 10 written X."""
    values = [_VIN_VALUES[c] if c.isalpha() else int(c) for c in text.upper()]
    return "0123456789X"[sum(v * w for v, w in zip(values, _VIN_WEIGHTS, strict=True)) % 11] == text[8].upper()


def _address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _social_security(text: str) -> bool:
    """Numbers that the United States may have given out."""
    area, group, serial = text[:3], text[4:6], text[7:]
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _german_tax(text: str) -> bool:
    """ISO 7064 MOD 11,10 over ten digits."""
    product = 10
    for digit in _digits(text)[:10]:
        product = 2 * ((digit + product) % 10 or 10) % 11
    return (11 - product) % 10 == int(text[-1])


def _spanish(text: str) -> bool:
    """DNI and NIE: the number modulo 23 gives the letter."""
    number = text[0].translate(str.maketrans("XYZxyz", "012012")) + text[1:].upper()
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number[:-1]) % 23] == number[-1]


_ODD_OF_DIGITS = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21)
_ODD_OF_LETTERS = (*_ODD_OF_DIGITS, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def _italian(text: str) -> bool:
    """Codice fiscale: values of odd and even places modulo 26."""
    plain = text.upper()
    even = sum(int(c) if c.isdigit() else ord(c) - 65 for c in plain[1:15:2])
    odd = sum(_ODD_OF_DIGITS[int(c)] if c.isdigit() else _ODD_OF_LETTERS[ord(c) - 65] for c in plain[0:15:2])
    return chr(65 + (even + odd) % 26) == plain[15]


def _french(text: str) -> bool:
    """NIR: 97 minus the number modulo 97; Corsica (2A, 2B) counts as 19 and 18."""
    plain = text.replace(" ", "").upper()
    return 97 - int(plain[:13].replace("2A", "19").replace("2B", "18")) % 97 == int(plain[13:])


def _dutch(text: str) -> bool:
    """BSN: the eleven test, with weight -1 for the last digit."""
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    return int(text) > 0 and sum(d * w for d, w in zip(_digits(text), weights, strict=True)) % 11 == 0


def _polish(text: str) -> bool:
    """PESEL: a date whose month tells the century, and weights 1, 3, 7, 9."""
    digits = _digits(text)
    century = {0: 1900, 1: 2000, 2: 2100, 3: 2200, 4: 1800}[int(text[2:4]) // 20]
    if not _is_date(century + int(text[:2]), int(text[2:4]) % 20, int(text[4:6])):
        return False
    return (sum(d * (1, 3, 7, 9)[i % 4] for i, d in enumerate(digits[:10])) + digits[10]) % 10 == 0


def _belgian(text: str) -> bool:
    """National register number: 97 minus the number (since 2000 with a 2 in front) modulo 97."""
    number, check = divmod(int("".join(map(str, _digits(text)))), 100)
    return check in (97 - number % 97, 97 - (2 * 10**9 + number) % 97)


def _swedish(text: str) -> bool:
    return 1 <= int(text[-9:-7] if not text[-5].isdigit() else text[-8:-6]) <= 12 and _luhn(_ten(text))


def _ten(text: str) -> str:
    return "".join(map(str, _digits(text)))[-10:]


def _british_health(text: str) -> bool:
    """NHS number: weights 10 to 2, modulo 11."""
    digits = _digits(text)
    return (11 - sum(d * w for d, w in zip(digits[:9], range(10, 1, -1), strict=True)) % 11) % 11 == digits[9]


def _german_health(text: str) -> bool:
    """KVNR: the letter as two digits, weights 1 and 2, digits of products added, modulo 10."""
    digits = _digits(f"{ord(text[0].upper()) - 64:02}{text[1:]}")
    return sum(sum(divmod(d * (1 + i % 2), 10)) for i, d in enumerate(digits[:-1])) % 10 == digits[-1]


def _coordinates(text: str) -> bool:
    latitude, longitude = map(float, re.findall(r"-?\d+\.\d+", text))
    return abs(latitude) <= 90 and abs(longitude) <= 180


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
IDENTIFIERS: tuple[Identifier, ...] = (
    Identifier("e-mail address", _re(r"[^@\s]+@[^@\s]+\.[^@\s]+"), _any, 6, sure=True),
    Identifier("web address", _re(r"(https?://|www\.)\S+"), _any, 14, sure=True),
    Identifier("IP address", _re(r"[0-9a-fA-F:.]{3,45}(?<=[0-9a-fA-F:])"), _address, 15, sure=True),
    Identifier("network device address", _re(r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"), _any, 13, sure=True),
    Identifier("UUID", _re(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"), _any, 18, sure=True),
    Identifier("IBAN", _re(r"[A-Za-z]{2}\d{2}( ?[0-9A-Za-z]){11,30}"), _iban, 10, "EU", sure=True),
    Identifier("payment card number", _re(r"\d{4}([ -]?\d{4}){2}[ -]?\d{1,7}"), _luhn, 10),
    Identifier("resident identity number", _re(r"[1-9]\d{16}[\dXx]"), _resident, 18, "China", sure=True),
    Identifier("mobile phone number of China", _re(r"(\+?86[- ]?)?1[3-9]\d{9}"), _any, 4, "China"),
    Identifier(
        "unified social credit code", _re(rf"[{_CREDIT}]{{2}}\d{{6}}[{_CREDIT}]{{10}}"), _credit_code, 18, "China"
    ),
    Identifier(
        "licence plate of China",
        re.compile(rf"[{_PROVINCES}][A-HJ-NP-Z][·]?[A-HJ-NP-Z0-9]{{4,5}}[A-HJ-NP-Z0-9挂学警港澳]"),
        _any,
        12,
        "China",
        sure=True,
    ),
    Identifier("social security number", _re(r"\d{3}-\d{2}-\d{4}"), _social_security, 7, "USA", sure=True),
    Identifier("vehicle identification number", _re(r"[A-HJ-NPR-Za-hj-npr-z0-9]{17}"), _vin, 12, sure=True),
    Identifier("IMEI of a device", _re(r"\d{15}"), _luhn, 13),
    Identifier("tax number of Germany", _re(r"[1-9]\d{10}"), _german_tax, 18, "EU"),
    Identifier("DNI or NIE of Spain", _re(r"(\d{8}|[XYZxyz]\d{7})[A-Za-z]"), _spanish, 18, "EU"),
    Identifier(
        "codice fiscale of Italy",
        _re(r"[A-Za-z]{6}[0-9LMNP-Vlmnp-v]{2}[A-Za-z][0-9LMNP-Vlmnp-v]{2}[A-Za-z][0-9LMNP-Vlmnp-v]{3}[A-Za-z]"),
        _italian,
        18,
        "EU",
        sure=True,
    ),
    Identifier("NIR of France", _re(r"[12378] ?\d{2} ?\d{2} ?(\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}"), _french, 18, "EU"),
    Identifier("BSN of the Netherlands", _re(r"\d{9}"), _dutch, 18, "EU"),
    Identifier("PESEL of Poland", _re(r"\d{11}"), _polish, 18, "EU"),
    Identifier("national number of Belgium", _re(r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}\.?\d{2}"), _belgian, 18, "EU"),
    Identifier("personnummer of Sweden", _re(r"(\d{2})?\d{6}[-+]?\d{4}"), _swedish, 18, "EU"),
    Identifier("NHS number of the United Kingdom", _re(r"\d{3} ?\d{3} ?\d{4}"), _british_health, 9),
    Identifier(
        "licence plate of Germany", re.compile(r"[A-ZÄÖÜ]{1,3}[- ][A-Z]{1,2} ?[1-9]\d{0,3}[EH]?"), _any, 12, "EU"
    ),
    Identifier("health insurance number of Germany", _re(r"[A-Za-z]\d{9}"), _german_health, 9, "EU"),
    Identifier(
        "pair of coordinates", _re(r"\(?-?\d{1,2}\.\d{2,}[,; ] ?-?\d{1,3}\.\d{2,}\)?"), _coordinates, 2, sure=True
    ),
    Identifier("licence plate of France", _re(r"[A-HJ-NP-TV-Z]{2}-\d{3}-[A-HJ-NP-TV-Z]{2}"), _any, 12, "EU"),
    Identifier("telephone number", _re(r"(\+\d|\(\d|0\d)[\d\s()/.-]{6,}\d"), _any, 4),
    Identifier("telephone number", _re(r"\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"), _any, 4),
)

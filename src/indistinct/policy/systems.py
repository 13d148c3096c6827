"""Classifications that are recognised by the form of their codes alone, without their titles, and countries.

ICD-10 (World Health Organization, and its national versions): a letter, two digits or a digit and a letter, a dot and
up to four more signs; without the dot it takes a header to know them. ATC (WHO Collaborating Centre for Drug Statistics
Methodology): levels of 1, 3, 4, 5 and 7 signs. The form of a code is no work under a licence; titles are, and none is
here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from indistinct.hierarchies.countries import is_country

if TYPE_CHECKING:
    from collections.abc import Sequence

MEDICAL = ("ICD-10", "ATC")
# what makes a file of a classification, and what stands in it
MADE_BY = {
    "ICD-10": ("icd10", "chapters and groups"),
    "ATC": ("atc", "chapters and groups"),
    "ISO 3166": ("countries", "subregions and regions"),
}
SHARE = 0.95
_LEAST = 4
_ATC = re.compile(r"[ABCDGHJLMNPRSV]\d\d(?:[A-Z](?:[A-Z](?:\d\d)?)?)?")
# with its dot: K204857 is the number of a patient
_ICD = re.compile(r"[A-Z]\d[0-9AB](?:\.[0-9X][0-9A-Z]{0,3})?[-+*!†]?")


def system_of(values: Sequence[str]) -> str:
    """Name the classification that nearly all codes have the form of: ``ICD-10``, ``ATC``, ``ISO 3166`` or none.

    Codes of three signs alone say nothing, nor do those that numbers of persons may look like: a quarter has to have
    the dot of ICD-10 or the five or seven signs of ATC, and the letters have to differ. Countries are told by names or
    by codes of three letters: those of two letters are those of many other things.

    >>> system_of(["J18.1", "K35.2", "I10", "E11.9"]), system_of(["C09AA05", "N02BE01", "A10BA02", "C07AB02"])
    ('ICD-10', 'ATC')
    >>> system_of(["Germany", "United-States", "China", "Iran"]), system_of(["CA", "DE", "IN", "AL"])
    ('ISO 3166', '')
    >>> system_of(["A12", "A13", "A14", "A15"]), system_of(["K204857", "A118230", "M550012", "L300417"])
    ('', '')
    """
    texts = [text.strip() for text in values]
    if len({text[:1] for text in texts}) < 3 or len(texts) < _LEAST:
        return ""
    for system, fits, is_telling in (
        ("ATC", _ATC.fullmatch, lambda text: len(text) > len("A10B")),
        ("ICD-10", _ICD.fullmatch, lambda text: "." in text),
        ("ISO 3166", is_country, lambda text: len(text) > len("DE")),
    ):
        fitting = [text for text in texts if fits(text)]
        if len(fitting) >= SHARE * len(texts) and 4 * sum(map(is_telling, fitting)) >= len(texts):
            return system
    return ""

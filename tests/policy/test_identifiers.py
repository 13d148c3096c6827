"""Identifiers by form and check digits: published examples of each kind, and what one wrong digit does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indistinct.policy.identifiers import IDENTIFIERS, recognise
from indistinct.policy.suggest import facts_of, suggest

# examples printed in standards, laws and by the issuing authorities
EXAMPLES = {
    "health insurance number of Germany": "A123456780",
    "pair of coordinates": "52.5200, 13.4050",
    "IBAN": "DE89370400440532013000",
    "payment card number": "4111 1111 1111 1111",
    "resident identity number": "11010519491231002X",
    "mobile phone number of China": "13812345678",
    "unified social credit code": "91350100M000100Y43",
    "licence plate of China": "京A12345",
    "social security number": "219-09-9999",
    "vehicle identification number": "1M8GDM9AXKP042788",
    "IMEI of a device": "490154203237518",
    "tax number of Germany": "86095742719",
    "DNI or NIE of Spain": "12345678Z",
    "codice fiscale of Italy": "RSSMRA85T10A562S",
    "NIR of France": "295109912611193",
    "BSN of the Netherlands": "111222333",
    "PESEL of Poland": "44051401359",
    "national number of Belgium": "85073003328",
    "personnummer of Sweden": "811218-9876",
    "NHS number of the United Kingdom": "943 476 5919",
    "licence plate of Germany": "M-AB 1234",
    "licence plate of France": "AB-123-CD",
    "e-mail address": "ann@example.org",
    "web address": "https://example.org/ann",
    "IP address": "2001:db8::1",
    "network device address": "00:1B:44:11:3A:B7",
    "UUID": "123e4567-e89b-12d3-a456-426614174000",
    "telephone number": "+49 30 1234567",
}
CHECKED = [name for name in EXAMPLES if name in {
    "IBAN", "payment card number", "resident identity number", "unified social credit code",
    "vehicle identification number", "IMEI of a device", "tax number of Germany", "DNI or NIE of Spain",
    "codice fiscale of Italy", "NIR of France", "BSN of the Netherlands", "PESEL of Poland",
    "national number of Belgium", "personnummer of Sweden", "NHS number of the United Kingdom",
    "health insurance number of Germany",
}]  # fmt: skip


def fitting(text):
    return {identifier.name for identifier in IDENTIFIERS if identifier.fits(text)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_each_kind_is_recognised(name):
    assert name in fitting(EXAMPLES[name])


@pytest.mark.parametrize("name", CHECKED)
def test_another_last_digit_is_refused(name):
    text = EXAMPLES[name]
    digits = "0123456789" if text[-1].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    others = [text[:-1] + digit for digit in digits if digit != text[-1]]
    assert sum(name in fitting(other) for other in others) <= 1  # no scheme lets two of nine others pass


def test_every_kind_has_an_example():
    assert {identifier.name for identifier in IDENTIFIERS} == set(EXAMPLES)


@pytest.mark.slow
@given(st.lists(st.text(max_size=20), max_size=8, unique=True))
def test_any_text_gets_an_answer(values):
    found = recognise(values)
    assert found is None or 0 < found.matched <= found.looked_at == len(values)


def test_the_order_of_many_values_does_not_matter():
    values = [f"a{i}@example.org" for i in range(3000)]
    assert recognise(values) == recognise(values[::-1])


def test_a_column_of_identifiers_is_identifying_and_a_few_of_them_are_mentioned():
    ibans = ["DE89370400440532013000", "GB82WEST12345698765432", "FR1420041010050500013M02606"]
    suggestion = suggest(facts_of("payment", ibans, [1, 1, 1]))
    assert (suggestion.role, suggestion.reason) == ("identifying", "all values look like an IBAN")
    remarks = ["paid", "open", "late", "see", "none", "ann@example.org"]
    assert suggest(facts_of("remark", remarks, [5] * 6)).reason.endswith("1 of 6 values look like an e-mail address")

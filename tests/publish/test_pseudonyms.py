"""Pseudonyms of a declared domain: what goes into the keyed message, and which keys are refused."""

import hashlib
import hmac
import json
from base64 import b32encode

import pyarrow as pa
import pytest

import indistinct as ind

KEY = bytes(range(1, 33))  # it ends with a blank, as random bytes may
TABLE = pa.table({"name": ["Ann", "Bob"], "nick": ["Bob", "Ann"], "age": [21, 21]})


def published(tmp_path, key=KEY, columns=("name",), **settings):
    (tmp_path / "key").write_bytes(key)
    own = {"role": "id", "action": "pseudonym", "key_file": str(tmp_path / "key"), **settings}
    names = {name: own if name in columns else {"role": "id"} for name in ("name", "nick")}
    policy = ind.Policy(attributes={**names, "age": {"role": "qi"}}, privacy=[{"model": "k_anonymity", "k": 2}])
    found = ind.anonymize(TABLE, policy).table
    return {name: set(found[name].to_pylist()) for name in columns}


def by_hand(*message, key=KEY):
    text = json.dumps(message) if len(message) > 1 else message[0]
    return b32encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode()[:20]


def test_domain_and_column_are_in_the_message(tmp_path):
    found = published(tmp_path, domain="study 17")["name"]
    assert found == {by_hand("study 17", "name", "Ann"), by_hand("study 17", "name", "Bob")}


def test_without_a_domain_pseudonyms_are_what_they_were(tmp_path):
    both = published(tmp_path, columns=("name", "nick"))
    assert both["name"] == both["nick"] == {by_hand("Ann", key=KEY.strip()), by_hand("Bob", key=KEY.strip())}


def test_another_recipient_and_another_column_get_others(tmp_path):
    here, there = (published(tmp_path, columns=("name", "nick"), domain=domain) for domain in ("a", "b"))
    assert not here["name"] & there["name"]
    assert not here["name"] & here["nick"], "the same names in two columns"
    assert published(tmp_path, domain="a")["name"] == here["name"], "the same recipient gets the same"


def test_no_two_messages_are_one():
    assert by_hand("a", "b", "c") != by_hand("a", 'b", "c', "")
    from indistinct.tables.identifiers import pseudonym

    assert len({pseudonym("c", KEY, "ab", "x"), pseudonym("bc", KEY, "a", "x"), pseudonym("c", KEY, "b", "xa")}) == 3


@pytest.mark.parametrize("key", [KEY[:31], KEY[:16], b"ab" * 31, b"0123456789abcdef" * 3])
def test_keys_below_32_bytes_are_refused(tmp_path, key):
    with pytest.raises(ind.PolicyError, match="at least 32 where a domain is declared: indistinct releases key FILE"):
        published(tmp_path, key, domain="a")


def test_hexadecimal_digits_are_the_bytes_they_stand_for(tmp_path):
    assert published(tmp_path, KEY.hex().encode() + b"\n", domain="a") == published(tmp_path, domain="a")
    assert published(tmp_path, b"sixteen bytes or")["name"]  # as ever, without a domain


def test_a_domain_of_the_other_kind_is_refused():
    with pytest.raises(ind.PolicyError, match=r"must be \[lowest, highest\]; the name of a domain goes with action"):
        ind.Attribute(role="qi", type="integer", domain="study 17")
    with pytest.raises(ind.PolicyError, match="must be a text, the name of the recipient"):
        ind.Attribute(role="id", action="pseudonym", key_env="KEY", domain=[0, 1])


def test_the_domain_stays_out_of_the_public_form(tmp_path):
    (tmp_path / "key").write_bytes(KEY)
    own = {"role": "id", "action": "pseudonym", "key_file": str(tmp_path / "key"), "domain": "study 17"}
    policy = ind.Policy(
        attributes={"name": own, "nick": {"role": "id"}, "age": {"role": "qi"}},
        privacy=[{"model": "k_anonymity", "k": 2}],
    )
    out = tmp_path / "out.csv"
    ind.anonymize(TABLE, policy, output=out)
    assert "study 17" not in (tmp_path / "out.csv.manifest.json").read_text()
    assert ind.verify(TABLE, out, policy).satisfied
    assert ind.verify_public(out).satisfied

"""Parameters of URLs and forms that hold a secret are hidden by their names; placeholders and innocent ones stay."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from plimsoll.study import Redactor
from plimsoll.study.secrets.sources import values_of_sources

HIDDEN = [
    "GET http://h/x?sig=s3cr3tword",
    "http://h/x?a=1&SIG=s3cr3tword%2F%3D&b=2",
    "https://b.blob.example/c?sv=2024&sp=r&sig=s3cr3tword%3D",
    "http://h/?key=s3cr3tword",
    "http://h/?key=a,s3cr3tword",
    "http://h/cb?code=s3cr3tword&state=s3cr3tword1",
    "https://s3/x?X-Amz-Algorithm=A&X-Amz-Credential=s3cr3tword%2F2026&X-Amz-Signature=s3cr3tword",
    "https://s3/x?x-amz-security-token=s3cr3tword",
    "https://g/x?X-Goog-Signature=s3cr3tword&X-Goog-Credential=s3cr3tword",
    "http://h/#access_token=s3cr3tword&token_type=b",
    "grant_type=authorization_code&code=s3cr3tword&client_id=a",
    "code=s3cr3tword&x=1",
    "client_secret=s3cr3tword",
    "http://h/?apikey=s3cr3tword",
    "http://h/?Api-Key=s3cr3tword",
    "http://h/?next=http%3A%2F%2Fx%3Fsig%3Ds3cr3tword%26b%3D1",
    r"a\u0026sig=s3cr3tword",
    "http://h/?a=1&amp;sig=s3cr3tword",
    "user[password]=s3cr3tword&a=1",
    "http://h/?user%5Bpassword%5D=s3cr3tword",
    "http_req_duration{name:http://h/?sig=s3cr3tword}",
    "AccountKey=s3cr3tword==;EndpointSuffix=x",
    "http://h/?refresh_token=s3cr3tword",
    "http://h/?id_token=s3cr3tword",
    "http://h/?SAMLResponse=s3cr3tword",
    "http://h/?subscription-key=s3cr3tword",
    "http://h/?sig=abc%26s3cr3tword",
    "http://h/?pass=s3cr3tword",
    "http://h/?To%6ben=s3cr3tword",
    "http://h/?a=1&%74%6F%6b%65%6E=s3cr3tword&b=2",
    "http://h/?To%256ben=s3cr3tword",
    "http://h/?To%25256ben=s3cr3tword",
    "http://h/?X-Amz%2DSignature=s3cr3tword",
    "http://h/?user%5B%70assword%5D=s3cr3tword",
    "http://h/?s%74ate=s3cr3tword1",
    "http://h/?next=http%3A%2F%2Fx%3FTo%256ben%3Ds3cr3tword%26b%3D1",
    "http://h/?next=http%253A%252F%252Fx%253Fsig%253Ds3cr3tword%2526b%253D1",
    "http_req_duration{name:http://h/?To%6ben=s3cr3tword}",
    "To%6ben=s3cr3tword",
    "c%6fde=s3cr3tword&x=1",
    'Get "http://h/?oauth_signature=s3cr3tword": dial tcp: refused',
]
INNOCENT = [
    "GET /orders?state=open&page=2",
    "GET /x?code=200",
    "/x?key=${KEY}",
    "/x?key={key}",
    "/x?key=:key",
    "/x?key=%s",
    "/x?key=%(key)s",
    "/x?sig=$1",
    "http://h/?key=<key>",
    "token=${X}",
    "token='${X}'",
    "token=$TOKEN",
    "password: <password>",
    "token={{ token }}",
    "select * from t where code=$1 and key=?",
    "p(95)<500",
    "checks{check:a=b}",
    "/x?page_size=10&sort=key",
    "/lookup?monkey=banana&encode=yes",
    "?X-Goog-Expires=3600",
    "?s%74ate=open&p%61ge=2",
    "/x?k%65y=%s&si%67=$1&k%65y={key}",
    "/lookup?m%6Fnkey=banana&%65ncode=yes&q=100%25=full",
    "/lookup?q=http%3A%2F%2Fx%3Fpage%3Dbanana%26b%3D1",
    "/lookup?q=http%253A%252F%252Fx%253Fpage%253Dbanana%2526b%253D1",
    "http://127.0.0.1:8000/issues/4?page=2",
]


@pytest.mark.parametrize("text", HIDDEN)
def test_a_secret_parameter_is_hidden_wherever_its_url_stands(text: str) -> None:
    clean = Redactor().text(text)
    assert "s3cr3tword" not in clean and Redactor().text(clean) == clean
    assert "s3cr3tword" not in Redactor().data({"errors": {text: 3}, "text": [text]}).__repr__()


def test_the_value_of_a_parameter_with_an_encoded_name_is_known_from_then_on() -> None:
    assert Redactor.for_data({"url": "http://h/?To%6ben=s3cr3t-word"}).text("it says s3cr3t-word") == "it says ***"


@pytest.mark.timeout(10)
@pytest.mark.parametrize("part", ["%41", "%3Fa%3D", "?%25", "&%25252525", "a%3D", "To%6ben", "%25"])
def test_long_encoded_texts_are_read_in_a_time_that_grows_with_their_length(part: str) -> None:
    text = part * (300_000 // len(part))
    assert Redactor().text(text) == text


@pytest.mark.parametrize("text", INNOCENT)
def test_what_stands_for_a_value_and_innocent_parameters_stay(text: str) -> None:
    assert Redactor().text(text) == text


def test_a_message_of_ours_may_name_a_key_that_holds_a_secret() -> None:
    text = "study.yaml:4: probes.otlp.token: must be text, is a number. Write text here: http://h/?sig=s3cr3tword"
    assert Redactor().message(text) == text.replace("s3cr3tword", "***")


def test_two_names_that_are_the_same_without_their_secrets_stay_two() -> None:
    data = Redactor().data({"GET http://h/?sig=aaa": 1, "GET http://h/?sig=bbb": 2, "metrics": 3})
    assert data == {"metrics": 3, "GET http://h/?sig=***": 1, "GET http://h/?sig=*** (2)": 2}


def test_a_request_that_is_called_like_a_secret_keeps_its_numbers() -> None:
    assert Redactor().data({"POST /oauth/token": 5, "http_reqs{name:token}": 6}) == {
        "POST /oauth/token": 5,
        "http_reqs{name:token}": 6,
    }


@pytest.mark.parametrize("secret", ['pl&nt <4>"q', "plänted/ü+1", "plain-planted", "p4nted"])
def test_a_declared_secret_is_hidden_in_each_form_of_it(secret: str) -> None:
    redactor = Redactor(declared=[secret])
    forms = [
        secret, quote(secret), quote(secret, safe=""), quote_plus(secret), quote(secret, safe="").lower(),
        json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(secret)[1:-1])[1:-1], html.escape(secret),
        base64.b64encode(secret.encode()).decode(), base64.urlsafe_b64encode(secret.encode()).decode(),
    ]  # fmt: skip
    for form in forms:
        if form.lower() == quote(secret, safe="").lower() and secret != secret.lower():
            continue
        assert redactor.text(f"it says {form}.") == "it says ***.", form


def test_a_declared_secret_is_hidden_in_base64_of_more_than_it() -> None:
    secret = "planted-secret-4"
    redactor = Redactor(declared=[secret])
    for before in ("", "m:", "me:", "you:", "user:"):
        for after in ("", "x", "xy", "xyz"):
            encoded = base64.b64encode(f"{before}{secret}{after}".encode()).decode()
            clean = redactor.text(f"authorization is {encoded}")
            assert "***" in clean and base64.b64encode(secret.encode()).decode()[4:12] not in clean, clean


def test_short_declared_secrets_are_hidden_as_whole_words_and_none_below_three_characters() -> None:
    redactor = Redactor(declared=["q7Z", "1234", "ab"])
    assert redactor.text("q7Z q7Zx 1234 12345 k=1234; ab") == "*** q7Zx *** 12345 k=***; ab"


def test_the_lines_of_a_key_are_hidden_each() -> None:
    key = "-----BEGIN KEY-----\nMIIBVgIBADANBg\nkqhkiG9w0BAQ\n-----END KEY-----"
    assert Redactor(declared=[key]).text("line: kqhkiG9w0BAQ, -----END KEY-----") == "line: ***, -----END KEY-----"


def test_variables_of_a_script_with_names_that_may_tell_are_known_unless_they_are_plain() -> None:
    redactor = Redactor.for_data({"env": {"STRIPE_KEY": "sk_live_42 xyz", "SORT_KEY": "name", "A_TOKEN": "${OTHER}"}})
    assert redactor.text("sk_live_42 xyz, name, ${OTHER}") == "***, name, ${OTHER}"


def test_a_tag_with_a_telling_name_is_hidden() -> None:
    redactor = Redactor()
    assert [redactor.tag(name, "value") for name in ("session_id", "api_key", "name", "scenario")] == [
        "***", "***", "value", "value",
    ]  # fmt: skip
    assert redactor.tag("token", "") == ""


def test_secret_sources_are_read_as_the_engine_does(tmp_path) -> None:
    (tmp_path / "vault.txt").write_text("a=from = file\nb=two\n")
    flags = [
        f"file={tmp_path}/vault.txt",
        f"file=name=v,filename={tmp_path}/vault.txt",
        "mock=name=m,default,k=v1,o=v=2",
    ]
    assert values_of_sources(flags) == ["from = file", "two", "from = file", "two", "v1", "v=2"]
    assert values_of_sources(["file=/does/not/exist", "file=/dev/zero", "vault=x=y,", "", "mock="]) == ["y"]


@pytest.mark.parametrize("secret", ['hello "world" 99x', 'pä"ss<w>&o\\rd 1', "Grün-geheim77", "Zq9Xk7-plm2"])
def test_a_declared_secret_is_hidden_whichever_of_its_bytes_a_url_encodes(secret: str) -> None:
    redactor = Redactor(declared=[secret])
    data = secret.encode()
    every = "".join(f"%{byte:02x}" for byte in data)
    all_but_quotes = "".join(chr(byte) if 0x20 < byte < 0x7F else f"%{byte:02X}" for byte in data)
    each_second = "".join(f"%{byte:02X}" if at % 2 else quote(bytes([byte])) for at, byte in enumerate(data))
    for form in (every, all_but_quotes, each_second):
        assert redactor.text(f"http://a/?x={form}&z=1%20") == "http://a/?x=***&z=1%20", form
        assert redactor.text(f"http://a/?x={quote(form)}&z=1") == "http://a/?x=***&z=1", form
    assert all_but_quotes in redactor.known  # the engine, which has the forms alone, writes it like this


def test_what_is_encoded_and_no_secret_stays_as_it_is() -> None:
    text = "http://a/?x=100%25%zz%F&y=\udcff%e4"
    assert Redactor(declared=["planted-secret"]).text(text) == text


@pytest.mark.parametrize("before", [65_520, 65_530, 65_535, 65_536, 131_065])
def test_a_text_is_never_cut_within_a_secret(before: int) -> None:
    secret = "tk-Envi-ron-7788"
    redactor = Redactor(declared=[secret, "ron-7788-and-more"])
    text, shown = "x" * before + secret + "y" * 70_000, ""
    while len(text) > 65_536:
        end = redactor.cut(text[:65_536])
        shown, text = shown + redactor.text(text[:end]), text[end:]
    assert shown + redactor.text(text) == "x" * before + "***" + "y" * 70_000

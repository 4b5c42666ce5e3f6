"""Constants out of statements, and back behind $n."""

from __future__ import annotations

import pytest

from plimsoll.probes.postgresql.statement_text import all_tokens, constants_of, filled, fingerprint, masked


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ALTER ROLE app PASSWORD 'hunter''22'", "ALTER ROLE app PASSWORD '…'"),
        (r"SELECT E'it\'s secret', $$se'cret$$, $x$sec$$ret$x$, U&'\0441'", "SELECT '…', '…', '…', '…'"),
        ("SELECT a -- secret\nFROM t /* secret\n */ WHERE b = 'x", "SELECT a FROM t WHERE b = '…'"),
        ('SELECT "it\'s a column" FROM t', 'SELECT "it\'s a column" FROM t'),
    ],
)
def test_a_shown_statement_has_no_string_constants(text: str, shown: str):
    assert masked(text) == shown


def test_numbers_are_hidden_where_asked_for():
    assert masked("SELECT 4111 FROM t2 WHERE a=1.5e3", numbers=True) == "SELECT … FROM t2 WHERE a=…"


@pytest.mark.parametrize(
    ("normalised", "sent", "constants"),
    [
        ("SELECT a FROM t WHERE j->>$1 = $2", "select a from t where j->>'k' = 'it''s'", {1: "'k'", 2: "'it''s'"}),
        ("SELECT a FROM t WHERE b>$1 LIMIT $2", "SELECT a FROM t WHERE b>-5 LIMIT 10", {1: "-5", 2: "10"}),
        ("SELECT a FROM t WHERE j->>$2=$1", "BEGIN; SELECT a FROM t WHERE j->>'k'=$1; COMMIT", {2: "'k'", 1: "$1"}),
        ("SELECT a FROM t WHERE b IS $1 OR c=$2", "SELECT a FROM t WHERE b IS true OR c=NULL", {1: "true", 2: "NULL"}),
        ("SELECT a /* x */ FROM t WHERE b=$1", "SELECT a\nFROM t -- here\nWHERE b=7;", {1: "7"}),
    ],
)  # fmt: skip
def test_a_sent_statement_tells_the_constants_of_the_normalised_one(normalised: str, sent: str, constants: dict):
    assert constants_of(normalised, sent) == constants


@pytest.mark.parametrize("sent", ["SELECT b FROM t WHERE c = 1", "SELECT a FROM t WHERE c = d", "", "SELECT a FROM t"])
def test_another_statement_tells_nothing(sent: str):
    assert constants_of("SELECT a FROM t WHERE c = $1", sent) is None


def test_a_statement_that_was_cut_off_tells_the_constants_before_its_end():
    normalised = "SELECT a FROM t WHERE j->>$1 = $2 AND j->>$3 = $4 ORDER BY c LIMIT $5"
    assert constants_of(normalised, "SELECT a FROM t WHERE j->>'x' = 'y' AND j->>'zz", cut=True) == {1: "'x'", 2: "'y'"}


def test_parameters_that_stay_are_numbered_from_one():
    assert filled("SELECT a FROM t WHERE j->>$3=$2 AND b=$2 AND c=$1;", {3: "'k'", 2: "$7"}) == (
        "SELECT a FROM t WHERE j->>'k'=$1 AND b=$1 AND c=$2",
        2,
    )


def test_a_typed_constant_becomes_a_cast_of_its_parameter():
    text = "SELECT a FROM t WHERE b > now() - interval $1 AND c = date $2"
    assert filled(text, {2: "'2020-01-01'"}) == (
        "SELECT a FROM t WHERE b > now() - $1::interval AND c = date '2020-01-01'",
        1,
    )


def test_statements_that_differ_in_constants_have_one_fingerprint():
    assert fingerprint("SELECT a FROM t WHERE b=-5 AND c = 'x';") == fingerprint("select a\nfrom t where b=$1 and c=$2")
    assert fingerprint("SELECT a FROM t WHERE b=1") != fingerprint("SELECT a FROM t WHERE d=1")


@pytest.mark.parametrize("text", ["'", "$$", "/* never closed", "a=-1--b", "$", "\x00é→", "E'\\", '"'])
def test_any_text_has_tokens_that_cover_it(text: str):
    assert "".join(token.text for token in all_tokens(text)) == text

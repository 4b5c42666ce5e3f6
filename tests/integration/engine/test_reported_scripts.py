"""What public reports say of other tools' scripts, tried here: values that are logged or thrown, options of texts,
thresholds without a condition."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from script_checks import checks_of, run_to_the_end

from plimsoll.engine import EngineConfig, EngineRun
from plimsoll.errors import ScriptError


def test_the_console_shows_what_json_cannot_say_and_fails_no_iteration(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """export default function () {
          const circle = { name: 'x' }; circle.self = circle;
          console.log(circle, 10n, Symbol('s'), new Error('broken'), undefined, null, { toJSON() { throw 1; } });
          console.log('end');
        }"""
    )
    run = EngineRun(EngineConfig(script=script)).begin()
    list(run.snapshots())
    assert run.result()["failure"] is None
    told = capfd.readouterr().err
    assert "[object Object] 10 Symbol(s) Error: broken undefined null [object Object]" in told and "end" in told, told


@pytest.mark.parametrize(
    ("thrown", "told"),
    [
        ("throw { a: 1 }", '{"a":1}'), ("throw 5", "5"), ("throw undefined", "undefined"), ("throw 'text'", "text"),
        ("return Promise.reject()", "undefined"), ("const o = {}; o.o = o; throw o", "object"),
    ],
)  # fmt: skip
def test_thrown_values_that_are_no_errors_are_told_as_they_are(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], thrown: str, told: str
) -> None:
    script = tmp_path / "script.js"
    script.write_text(f"export default function () {{ {thrown}; }}")
    run = EngineRun(EngineConfig(script=script)).begin()
    list(run.snapshots())
    run.result()
    assert f"the script threw: {told}" in capfd.readouterr().err


def test_numbers_may_be_texts_and_a_threshold_without_a_condition_is_shown(tmp_path: Path) -> None:
    script = tmp_path / "script.js"
    script.write_text(
        """import { Counter } from 'k6/metrics';
        const cc = new Counter('cc');
        export const options = { vus: __ENV.VUS, iterations: __ENV.ITERATIONS,
          thresholds: { 'cc{sub:one}': [], 'cc{sub:none}': [], 'cc{sub:two}': ['count>0'] } };
        export default function () { cc.add(2, { sub: 'one' }); cc.add(1, { sub: 'two' }); }
        export const handleSummary = (data) => ({ found: JSON.stringify(data.metrics) });"""
    )
    run = EngineRun(EngineConfig(script=script, env={"VUS": "2", "ITERATIONS": "6"})).begin()
    list(run.snapshots())
    found = json.loads(run.result()["handled"]["found"])
    assert found["iterations"]["values"]["count"] == 6
    assert [found[f"cc{{sub:{one}}}"]["values"]["count"] for one in ("one", "none", "two")] == [12, 0, 6]
    assert "thresholds" not in found["cc{sub:one}"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_none_is_refused_and_not_left_out(tmp_path: Path, value: str) -> None:
    script = tmp_path / "script.js"
    script.write_text(f"export const options = {{ vus: {value}, duration: '1s' }};\nexport default function () {{}}")
    with pytest.raises(ScriptError, match=f"options.vus: .*{value}"):
        EngineRun(EngineConfig(script=script))


def test_a_cut_emoji_is_sent_and_shown_as_the_replacement_character(
    tmp_path: Path, known_server: Callable[..., str], capfd: pytest.CaptureFixture[str]
) -> None:
    """As k6 has it: half of a pair of surrogates is what `text.slice(0, 3)` may leave."""
    script = tmp_path / "script.js"
    script.write_text(
        """import http from 'k6/http';
        export default function () {
          const cut = 'ab\\u{1F600}cd'.slice(0, 3), url = `${__ENV.URL}/echo`;
          console.log(cut, new Error(cut), { cut });
          const sent = http.post(url, { a: cut }, { headers: { 'X-A': 'plain' } }).json('body');
          const raw = http.post(url, cut).json('body'), tagged = http.get(url, { tags: { cut } }).status;
          console.log(`sent ${sent} ${raw} ${tagged}`);
          throw new Error(cut);
        }"""
    )
    run_to_the_end(script, env={"URL": known_server("--site")})
    told = capfd.readouterr().err
    assert "ab\ufffd Error: ab\ufffd" in told, told
    assert "sent a=ab%EF%BF%BD ab\ufffd 200" in told and "script.js:8: ab\ufffd" in told, told


def test_a_cut_emoji_names_groups_checks_and_cookies_as_the_replacement_character(
    tmp_path: Path, known_server: Callable[..., str], capfd: pytest.CaptureFixture[str]
) -> None:
    """They threw "Conversion from string to UTF-8 failed", or were shown as three of these characters."""
    script = tmp_path / "script.js"
    script.write_text(
        """import http from 'k6/http';
        import exec from 'k6/execution';
        import { check, group } from 'k6';
        export default function () {
          const cut = 'ab\\u{1F600}cd'.slice(0, 3), url = `${__ENV.URL}/echo`;
          exec.vu.metrics.tags[cut] = cut;
          group(cut, () => check(null, { [cut]: () => true }));
          http.cookieJar().set(url, 'name', cut);
          console.log(`cookies ${http.cookieJar().cookiesForURL(url).name}, tag ${exec.vu.metrics.tags['ab\\ufffd']}`);
          console.log(http.get(http.url`${url}?a=${cut}`).status);
        }"""
    )
    ended = run_to_the_end(script, env={"URL": known_server("--site")})
    told = capfd.readouterr().err
    assert "cookies ab\ufffd, tag ab\ufffd" in told and "200" in told, told
    assert checks_of(ended) == {"::ab\ufffd::ab\ufffd": (1, 0)}

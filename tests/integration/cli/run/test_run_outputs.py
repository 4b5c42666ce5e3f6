"""Raw samples in k6's forms and as Parquet, and what they say beside the summary."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.compute
import pyarrow.parquet
import pytest
from command_line import Cli
from test_run_flags import Heard, heard

__all__ = ["heard"]  # a fixture

COLUMNS = (
    "metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,"
    "service,status,subproto,tls_version,url,extra_tags,metadata"
)
SCRIPT = """import http from 'k6/http';
import { check, group } from 'k6';
import { Trend } from 'k6/metrics';
const own = new Trend('own_time', true);
export const options = { vus: 2, iterations: 6, tags: { run: 'x "q", y' }, thresholds: {
  http_req_duration: ['p(95)<60000'], 'http_req_duration{name:X}': ['avg<60000'] } };
export default function () {
  group('outer', () => {
    const r = http.get(`${__ENV.URL}/x`, { tags: { name: 'X', 'my,tag': 'a' } });
    check(r, { ok: () => true, bad: () => false });
  });
  own.add(1.5);
}
"""


def run(cli: Cli, heard: Heard, *flags: str, code: int = 0) -> dict[str, Any]:
    cli.write(script_js=SCRIPT)
    done = cli("run", "-q", "-e", f"URL={heard.url}", "--summary-export", "s.json", *flags, "script.js")
    assert done.returncode == code, done.stderr
    return {"stderr": done.stderr, "stdout": done.stdout, **json.loads((cli.folder / "s.json").read_text())}


def points(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    defined = {row["metric"]: row["data"] for row in rows if row["type"] == "Metric"}
    return defined, [row for row in rows if row["type"] == "Point"]


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_json_has_a_line_of_each_metric_and_of_each_sample(cli: Cli, heard: Heard, name: str) -> None:
    summary = run(cli, heard, "--out", f"json={name}")
    defined, found = points(cli.folder / name)
    assert set(defined) == {row["metric"] for row in found}
    count = {metric: sum(row["metric"] == metric for row in found) for metric in defined}
    assert count["http_reqs"] == count["own_time"] == count["iterations"] == 6 and count["checks"] == 12
    total = sum(row["data"]["value"] for row in found if row["metric"] == "data_received")
    assert total == summary["metrics"]["data_received"]["count"]
    duration = defined["http_req_duration"]
    assert (duration["type"], duration["contains"], duration["thresholds"]) == ("trend", "time", ["p(95)<60000"])
    assert [sub["suffix"] for sub in duration["submetrics"]] == ["expected_response:true", "name:X"]
    assert defined["data_received"]["contains"] == "data"
    request = next(row["data"] for row in found if row["metric"] == "http_reqs")
    assert request["tags"] == {
        "run": 'x "q", y', "scenario": "default", "group": "::outer", "name": "X", "url": "X", "my,tag": "a",
        "method": "GET", "status": "200", "proto": "HTTP/1.1", "expected_response": "true",
    }  # fmt: skip
    own = next(row["data"] for row in found if row["metric"] == "own_time")
    assert own["value"] == 1.5 and own["tags"]["group"] == "" and "metadata" not in own
    assert own["time"].startswith("20") and "T" in own["time"]


def test_csv_has_the_columns_of_k6(cli: Cli, heard: Heard) -> None:
    run(cli, heard, "--out", "csv=out.csv")
    with (cli.folder / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "metric_name",
        "timestamp",
        "metric_value",
        "check",
        "error",
        "error_code",
        "expected_response",
        "group",
        "method",
        "name",
        "proto",
        "scenario",
        "service",
        "status",
        "subproto",
        "tls_version",
        "url",
        "extra_tags",
        "metadata",
    ]
    checks = [row for row in rows if row["metric_name"] == "checks"]
    assert {row["check"] for row in checks} == {"ok", "bad"} and checks[0]["metric_value"] in ("1.000000", "0.000000")
    assert all(row["group"] == "::outer" for row in checks)
    request = next(row for row in rows if row["metric_name"] == "http_reqs")
    assert request["extra_tags"] == 'my,tag=a&run=x "q", y' and request["url"] == "X" and request["timestamp"].isdigit()


def test_parquet_has_a_row_of_each_sample(cli: Cli, heard: Heard) -> None:
    run(cli, heard, "--out", "parquet=out.parquet", "--out", "json=out.json", "--system-tags", "name,group,vu,iter")
    table = pyarrow.parquet.read_table(cli.folder / "out.parquet")
    assert table.num_rows == len(points(cli.folder / "out.json")[1])
    requests = table.filter(pyarrow.compute.equal(table["metric"], "http_reqs")).drop(["time"]).to_pylist()
    assert len(requests) == 6 and {row["vu"] for row in requests} == {1, 2}
    assert requests[0]["name"] == "X" and requests[0]["value"] == 1.0 and "status" not in requests[0]
    assert json.loads(requests[0]["extra_tags"]) == {"my,tag": "a", "run": 'x "q", y'}


def test_system_tags_say_which_tags_samples_carry(cli: Cli, heard: Heard) -> None:
    run(cli, heard, "--out", "json=out.json", "--system-tags", "url,ip,vu,iter,check")
    _, found = points(cli.folder / "out.json")
    request = next(row["data"] for row in found if row["metric"] == "http_reqs")
    assert request["tags"] == {"run": 'x "q", y', "my,tag": "a", "url": "X", "ip": "127.0.0.1"}
    assert {row["data"]["metadata"]["vu"] for row in found if row["metric"] == "own_time"} == {"1", "2"}
    iterations = sorted(int(row["data"]["metadata"]["iter"]) for row in found if row["metric"] == "own_time")
    assert iterations[0] == 0 and len(iterations) == 6
    assert {row["data"]["tags"]["check"] for row in found if row["metric"] == "checks"} == {"ok", "bad"}
    run(cli, heard, "--out", "json=out.json", "--system-tags", "")
    request = next(row["data"] for row in points(cli.folder / "out.json")[1] if row["metric"] == "http_reqs")
    assert request["tags"] == {"run": 'x "q", y', "my,tag": "a"}


def test_json_goes_to_standard_output_where_no_file_is_named(cli: Cli, heard: Heard) -> None:
    found = run(cli, heard, "--out", "json", "--no-summary")
    assert all(json.loads(line)["type"] in ("Metric", "Point") for line in found["stdout"].splitlines())


def test_a_full_disk_ends_the_samples_and_not_the_run(cli: Cli, heard: Heard) -> None:
    found = run(cli, heard, "--out", "json=/dev/full", "--out", "csv=out.csv", code=2)
    assert "raw samples are not complete: /dev/full" in found["stderr"] and found["metrics"]["iterations"]["count"] == 6
    assert len((cli.folder / "out.csv").read_text().splitlines()) > 6


def test_handle_summary_gets_groups_and_checks_as_k6_has_them(cli: Cli, heard: Heard) -> None:
    script = SCRIPT.replace("{ ok: () => true, bad: () => false }", "{ zeta: () => true, alpha: () => false }")
    script = script.replace("  own.add(1.5);", "  own.add(1.5); group('empty', () => {});")
    cli.write(script_js=script + "export const handleSummary = (data) => ({ stdout: JSON.stringify(data) });")
    data = json.loads(cli("run", "-q", "-e", f"URL={heard.url}", "script.js").stdout)
    assert set(data) == {"metrics", "root_group", "options", "state", "setup_data"}
    root = data["root_group"]
    assert (root["name"], root["path"], root["id"]) == ("", "", "d41d8cd98f00b204e9800998ecf8427e")
    assert [group["name"] for group in root["groups"]] == ["outer", "empty"]
    outer = root["groups"][0]
    assert (outer["path"], outer["id"]) == ("::outer", "c34b428ee7255085dfe7fef53d3394d5")
    assert [check["name"] for check in outer["checks"]] == ["zeta", "alpha"], "in the script's order"
    assert outer["checks"][0]["passes"] == 6 and outer["checks"][1]["fails"] == 6
    metrics = data["metrics"]
    assert metrics["data_sent"]["contains"] == "data" and metrics["http_req_duration"]["contains"] == "time"
    assert metrics["http_req_duration"]["thresholds"]["p(95)<60000"]["ok"] is True
    assert data["state"]["testRunDurationMs"] > 0 and data["state"]["isStdOutTTY"] is False


def test_checks_stand_in_the_order_in_which_the_script_made_them_whatever_their_group(cli: Cli) -> None:
    """As in k6 2.2; those outside of groups came first."""
    cli.write(
        script_js="""import { check, group } from 'k6';
    export const options = { vus: 1, iterations: 1 };
    export default function () {
      group('a', () => check(1, { first: () => true }));
      check(1, { second: () => true });
      group('b', () => check(1, { third: () => false }));
      check(1, { fourth: () => true });
    }"""
    )
    told = cli("run", "script.js").stdout
    places = [told.index(f" {name}") for name in ("first", "second", "third", "fourth")]
    assert places == sorted(places), told

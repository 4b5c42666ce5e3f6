"""Java virtual machines: a real one of this host, asked as jcmd asks it, and Jolokia's page as its reference has it."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from changing_server import ChangingServer, page, says

from plimsoll.errors import InputError, InputErrors
from plimsoll.probes import ProbeUnavailable, probes_for
from plimsoll.probes.jvm.jolokia import JolokiaProbe, jolokia_probe
from plimsoll.probes.jvm.local import JvmProbe
from plimsoll.study import Probes, ProcessSelector
from plimsoll.study.probes.jvm import JvmOptions

M = 1 << 20
APP = """
import java.util.*;
public class App {
  static List<byte[]> kept = new ArrayList<>();
  public static void main(String[] words) throws Exception {
    Scanner in = new Scanner(System.in);
    System.out.println("ready");
    while (in.hasNextLine()) {
      String word = in.nextLine();
      if (word.equals("keep")) for (int i = 0; i < 30; i++) kept.add(new byte[1 << 20]);
      if (word.equals("collect")) { for (int i = 0; i < 5; i++) System.gc(); }
      if (word.equals("threads")) for (int i = 0; i < 10; i++) {
        Thread one = new Thread(() -> { try { Thread.sleep(600000); } catch (Exception e) { } });
        one.setDaemon(true); one.start();
      }
      System.out.println("done");
    }
  }
}
"""
MISSING = "There is no Java on this machine, which tests need (`make jdk`). Debian's package is default-jdk-headless."
Tell = Callable[[str], None]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("javac") is None:
        pytest.fail(MISSING)
    folder = tmp_path_factory.mktemp("java")
    (folder / "App.java").write_text(APP)
    subprocess.run(["javac", "-d", str(folder), str(folder / "App.java")], check=True)
    return folder


@pytest.fixture
def machine(compiled: Path) -> Iterator[Callable[..., tuple[ProcessSelector, Tell]]]:
    """`machine("-Xmx128m")` starts one that does what it is told: (its selector, tell)."""
    running: list[subprocess.Popen[str]] = []

    def start(*flags: str) -> tuple[ProcessSelector, Tell]:
        command = ["java", "-Xmx128m", *flags, "-cp", str(compiled), "App"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(process)

        def tell(word: str) -> None:
            process.stdin.write(f"{word}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"

        assert process.stdout.readline() == "ready\n"
        return ProcessSelector(label="app", pid=process.pid), tell

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_a_machine_of_this_host_tells_heap_collections_and_threads(machine) -> None:
    selector, tell = machine("-XX:+UseSerialGC")
    probe = JvmProbe(selector, "app")
    [first] = probe.observe()
    assert first.source == "process:app" and first.values["heap_limit_bytes"] == 128 * M
    assert "gc_share" not in first.values and first.values["jvm_threads"] > 0
    tell("keep")
    tell("collect")
    tell("threads")
    until = time.monotonic() + 20  # a thread is counted a moment after it was started
    while probe.observe()[0].values["jvm_threads"] < first.values["jvm_threads"] + 10 and time.monotonic() < until:
        time.sleep(0.05)
    tell("collect")
    [second] = probe.observe()
    assert second.values["jvm_threads"] == first.values["jvm_threads"] + 10
    assert second.values["heap_used_bytes"] > 30 * M
    assert second.values["heap_share"] == pytest.approx(second.values["heap_used_bytes"] / (128 * M))
    assert second.values["gc_per_s"] > 0 and second.values["gc_share"] > 0
    assert probe.take_notes() == []


@pytest.mark.parametrize("flag", ["-XX:+UseG1GC", "-XX:+UseParallelGC"])
def test_other_collectors_are_understood(machine, flag: str) -> None:
    selector, tell = machine(flag)
    tell("keep")
    [found] = JvmProbe(selector, "app").observe()
    assert 30 * M < found.values["heap_used_bytes"] < found.values["heap_committed_bytes"] <= 128 * M


def test_a_machine_that_lets_nobody_attach_tells_the_rest_and_one_without_counters_its_heap(machine) -> None:
    probe = JvmProbe(machine("-XX:+DisableAttachMechanism")[0], "app")
    [found] = probe.observe()
    assert set(found.values) == {"jvm_threads"}
    [note] = probe.take_notes()
    assert "no heap" in note and "use Jolokia or jmx_exporter" in note
    probe.observe()
    assert probe.take_notes() == []
    bare = JvmProbe(machine("-XX:-UsePerfData")[0], "app")
    [found] = bare.observe()
    assert "heap_used_bytes" in found.values and "jvm_threads" not in found.values
    assert "no collections and threads" in bare.take_notes()[0]


def test_a_process_without_a_machine_is_told_and_a_machine_that_ends_leaves_a_gap(machine) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        with pytest.raises(ProbeUnavailable, match="none of its processes has a Java virtual machine"):
            JvmProbe(ProcessSelector(label="app", pid=other.pid), "app").observe()
        assert other.poll() is None
        other.kill()
    selector, _ = machine()
    found = [selector.pid]
    probe = JvmProbe(selector, "app", find=lambda _: _roots(found[0]))
    probe.observe()
    subprocess.run(["kill", "-9", str(found[0])], check=True)
    with pytest.raises(ProbeUnavailable):
        _until_gone(probe)
    found[0] = machine()[0].pid
    assert "heap_used_bytes" in probe.observe()[0].values


def _roots(pid: int) -> list:
    import psutil

    return [psutil.Process(pid)] if psutil.pid_exists(pid) else []


def _until_gone(probe: JvmProbe) -> None:
    for _ in range(200):
        probe.observe()
        time.sleep(0.05)


# Jolokia (jolokia.org/reference/html/manual, "Jolokia protocol": bulk requests, reading a pattern).
def answered(heap: int, gc_ms: int, cpu_ns: int, started: int = 1_790_000_000_000) -> Callable[[bytes], str]:
    values = {
        "java.lang:type=Memory": {
            "HeapMemoryUsage": {"init": 1, "committed": 268435456, "max": 536870912, "used": heap}
        },
        "java.lang:type=Threading": {"ThreadCount": 44},
        "java.lang:type=GarbageCollector,name=*": {
            "java.lang:name=Young,type=GarbageCollector": {"CollectionTime": gc_ms, "CollectionCount": 10},
            "java.lang:name=Old,type=GarbageCollector": {"CollectionTime": 50, "CollectionCount": 1},
        },
        "java.lang:type=OperatingSystem": {
            "ProcessCpuTime": cpu_ns, "OpenFileDescriptorCount": 90, "MaxFileDescriptorCount": 1024
        },
        "java.lang:type=Runtime": {"StartTime": started},
    }  # fmt: skip

    def answer(request: bytes) -> str:
        head, _, body = request.partition(b"\r\n\r\n")
        assert head.startswith(b"POST /jolokia/ HTTP/1.1") and b"application/json" in head
        asked = json.loads(body)
        return json.dumps(
            [
                {"request": one, "value": values[one["mbean"]], "timestamp": 1_790_000_000, "status": 200}
                for one in asked
            ]
        )

    return answer


@pytest.fixture
def jolokia(server: ChangingServer, closed) -> Callable[..., JolokiaProbe]:
    def make(**options: object) -> JolokiaProbe:
        given = JvmOptions.model_validate({"url": f"{server.url}/jolokia", "label": "shop", **options})
        return closed(jolokia_probe(given, key="probes.jvm[0]"))

    return make


def test_jolokia_tells_the_same_by_our_names(server: ChangingServer, jolokia) -> None:
    probe = jolokia(host="app1")
    server.answer = says(answered(100 * M, 1000, 10**9))
    [first] = probe.observe()
    assert first.source == "process:shop@app1" and first.at_unix is not None
    assert first.values == {
        "heap_used_bytes": 100 * M, "heap_committed_bytes": 256 * M, "heap_limit_bytes": 512 * M,
        "heap_share": pytest.approx(100 / 512), "threads": 44, "open_files": 90, "open_files_limit": 1024,
    }  # fmt: skip
    server.answer = says(answered(200 * M, 1200, 3 * 10**9))
    [second] = probe.observe()
    ratio = second.values["cpu_cores_used"] / second.values["gc_share"]
    assert ratio == pytest.approx(10) and second.values["gc_per_s"] == 0  # 2 s of CPU beside 0.2 s of collections
    assert jolokia().source == "process:shop"


def test_a_machine_that_was_restarted_is_noted_and_has_no_rates_once(server: ChangingServer, jolokia) -> None:
    probe = jolokia()
    server.answer = says(answered(100 * M, 1000, 10**9))
    probe.observe()
    server.answer = says(answered(10 * M, 9000, 9 * 10**9, started=1_790_000_060_000))  # busier than before at once
    [found] = probe.observe()
    assert "cpu_cores_used" not in found.values
    assert probe.take_notes() == ["process:shop: the Java virtual machine was restarted; its counters began anew."]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page("<html>"), "gave no JSON. Give the URL of Jolokia"),
        (page('{"a": 1}'), "gave JSON that is not Jolokia's"),
        (page("[1, 2]"), "gave JSON that is not Jolokia's"),
        (
            page('[{"status": 403, "error": "java.lang.Exception : Reading attribute is forbidden"}]'),
            "is forbidden. Allow",
        ),
        (page("{}", status=401), "answered with status 401. Give its credentials"),
        (page("{}", status=404), "answered with status 404. Correct the path"),
    ],
)
def test_a_page_that_is_no_jolokia_or_refuses_is_told(server: ChangingServer, jolokia, answer, words: str) -> None:
    server.answer = answer
    with pytest.raises(ProbeUnavailable, match=words):
        jolokia().observe()


def test_what_one_bean_refuses_leaves_out_its_values_only(server: ChangingServer, jolokia) -> None:
    def partly(request: bytes) -> str:
        answers = json.loads(answered(100 * M, 1000, 10**9)(request))
        answers[0] = {"request": answers[0]["request"], "status": 403, "error": "no"}
        answers[1]["value"] = {"ThreadCount": "many"}
        return json.dumps(answers)

    server.answer = says(partly)
    assert set(jolokia().observe()[0].values) == {"open_files", "open_files_limit"}


def test_headers_come_from_the_environment_and_passwords_stay_out_of_messages(
    server: ChangingServer, closed, monkeypatch
) -> None:
    options = JvmOptions(url=f"{server.url.replace('//', '//u:pl4nted@')}/jolokia", headers={"X-Key": "${JOLOKIA_KEY}"})
    with pytest.raises(InputError, match=r"probes.jvm\[0\].headers: the environment has no JOLOKIA_KEY"):
        jolokia_probe(options, key="probes.jvm[0]")
    monkeypatch.setenv("JOLOKIA_KEY", "k3y")
    server.answer = page("no", status=500)
    with pytest.raises(ProbeUnavailable) as told:
        closed(jolokia_probe(options, key="probes.jvm[0]")).observe()
    assert "pl4nted" not in str(told.value) and b"X-Key: k3y" in server.requests[0]


def test_a_study_gets_the_machines_it_asks_for_and_a_label_that_none_has_is_a_mistake() -> None:
    app = ProcessSelector(label="app", pid=1)
    base = {"host": False, "network": False, "processes": False, "core_speed": False}
    wanted = Probes.model_validate({**base, "jvm": [{"process": "app"}, {"url": "http://h/jolokia", "host": "h"}]})
    assert {probe.source for probe in probes_for(wanted, [app])} == {"process:app", "process:jvm@h"}
    wanted = Probes.model_validate({**base, "jvm": [{"process": "ap"}]})
    with pytest.raises(InputErrors, match=r"probes.jvm\[0\].process: no process .* 'ap'. Use one of app."):
        probes_for(wanted, [app])

"""Programs that end, crash and fork."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import forms
from conftest import until
from libraries import open_stripe
from servers import Answer, Backstop, Body, Request, provider_of

from backstop_reporter import watch

PROGRAM = Path(__file__).parent / "program.py"


@contextmanager
def program(name: str, provider_port: int, backstop: Backstop, folder: str = "") -> Iterator[subprocess.Popen[bytes]]:
    args = [sys.executable, str(PROGRAM), name, str(provider_port), str(backstop.server.port), folder]
    with subprocess.Popen(args) as started:
        try:
            yield started
        finally:
            started.kill()


def states(reports: list[Body], charge: str) -> list[str]:
    return [report["state"] for report in reports if report["subject"] == charge]


def test_the_end_of_a_program_sends_its_last_reports(backstop: Backstop) -> None:
    def answer_late(reports: object) -> str:
        time.sleep(0.3)
        return "no"

    backstop.refuse_all = answer_late
    with provider_of(forms.answer_as_stripe) as provider, program("refund", provider.server.port, backstop) as it:
        assert it.wait(30) == 0
    assert states(backstop.reports, "ch_1")[-1] == "completed"


def test_a_program_ends_within_seconds_while_backstop_is_silent_and_the_next_sends_its_reports(
    backstop: Backstop, tmp_path: Path
) -> None:
    backstop.is_answering.clear()
    with provider_of(forms.answer_as_stripe) as provider:
        with program("refund", provider.server.port, backstop, str(tmp_path)) as it:
            until("the call", lambda: provider.requests)
            called_at = time.monotonic()
            assert it.wait(30) == 0
            assert time.monotonic() - called_at < 8
        backstop.is_answering.set()
        with program("refund", provider.server.port, backstop, str(tmp_path)) as it:
            assert it.wait(30) == 0
    assert len({report["idempotency_key"] for report in backstop.reports if report["state"] == "completed"}) == 2
    assert list(tmp_path.iterdir()) == []


def test_reports_the_end_of_an_operation_whose_program_was_killed_during_the_call(
    backstop: Backstop, tmp_path: Path
) -> None:
    hangs = threading.Event()

    def answer(request: Request) -> Answer:
        hangs.wait(30)
        return None

    def spooled() -> str:
        return "".join(file.read_text() for file in tmp_path.iterdir())

    with provider_of(answer) as provider, program("refund", provider.server.port, backstop, str(tmp_path)) as it:
        until("the call", lambda: provider.requests and backstop.reports and "executing" in spooled())
        it.send_signal(signal.SIGKILL)
        it.wait(30)
        hangs.set()
    executing = backstop.reports[0]
    client = open_stripe("http://127.0.0.1:1")
    reporter = watch(client, base_url=backstop.url, key="k", connection_id="con_1", spool_folder=tmp_path)
    assert reporter.close()
    assert len(backstop.reports) == 2
    reason = "The program ended before the answer of the provider was reported"
    ended = {**executing, "state": "failed", "reason": reason, "ended_at": backstop.reports[1]["ended_at"]}
    assert backstop.reports[1] == ended
    assert list(tmp_path.iterdir()) == []


def test_forked_workers_report_their_own_calls(backstop: Backstop, tmp_path: Path) -> None:
    with (
        provider_of(forms.answer_as_stripe) as provider,
        program("prefork", provider.server.port, backstop, str(tmp_path)) as it,
    ):
        assert it.wait(60) == 0
    assert states(backstop.reports, "ch_parent") == ["executing", "completed"]
    for worker in range(3):
        assert states(backstop.reports, f"ch_{worker}").count("completed") == 5
    assert list(tmp_path.iterdir()) == []


def test_a_forked_worker_takes_over_the_reports_of_a_killed_one(backstop: Backstop, tmp_path: Path) -> None:
    """A worker that never calls sends them, too."""
    client = open_stripe("http://127.0.0.1:1")
    reporter = watch(client, base_url=backstop.url, key="k", connection_id="con_1", spool_folder=tmp_path)
    report = {"connection_id": "con_1", "kind": "refund", "subject": "ch_1", "idempotency_key": "a"}
    line = {"save": {"id": "con_1 a", "body": {**report, "state": "completed"}}}
    (tmp_path / "host.1.abc.ndjson").write_text(json.dumps(line) + "\n")
    child = os.fork()
    if child == 0:
        until("the report", lambda: reporter.status().delivered == 1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert [it["idempotency_key"] for it in backstop.reports] == ["a"]
    assert reporter.close()


def test_a_fork_while_threads_report_leaves_no_lock(backstop: Backstop) -> None:
    with provider_of(forms.answer_as_stripe) as provider, program("busy", provider.server.port, backstop) as it:
        assert it.wait(60) == 0
    assert states(backstop.reports, "ch_child").count("completed") == 20

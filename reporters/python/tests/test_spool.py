"""The files of waiting reports. Reporters of other languages read and write the same."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from conftest import until
from servers import Backstop

from backstop_reporter import Problem
from backstop_reporter import spool as spool_module
from backstop_reporter.backstop_api import BackstopApi
from backstop_reporter.report import Report, ReportBody, to_line
from backstop_reporter.report_queue import ReportQueue
from backstop_reporter.spool import FileSpool

ENDED = f"{socket.gethostname()}.2147483646.abc.ndjson"
IN_USE = f"{socket.gethostname()}.{os.getppid()}.abc.ndjson"


def report(key: str, **more: Any) -> Report:
    body: Any = {"connection_id": "con_1", "kind": "refund", "subject": "pi_1", "idempotency_key": key}
    return Report(cast(ReportBody, {**body, "state": "executing", **more}))


def fail(problem: Problem) -> None:
    pytest.fail(str(problem))


def lines(*keys: str) -> str:
    """What the reporter of Node writes."""
    saved = [{"save": {"id": f"con_1 {key}", "body": report(key).body}} for key in keys]
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in saved)


def mode(path: Path) -> str:
    return oct(path.stat().st_mode & 0o777)


@pytest.fixture
def problems() -> list[Problem]:
    return []


@pytest.fixture
def spool(tmp_path: Path, problems: list[Problem]) -> FileSpool:
    return FileSpool(tmp_path, problems.append)


@pytest.fixture(autouse=True)
def wide_rights() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def keys(reports: list[Report]) -> list[str]:
    return [it.body["idempotency_key"] for it in reports]


def test_a_starting_process_takes_over_the_waiting_reports_of_one_that_has_ended(
    tmp_path: Path, spool: FileSpool
) -> None:
    (tmp_path / ENDED).write_text(f'{lines("a", "b")}{{"remove":"con_1 a"}}\n{{"sav')
    assert keys(spool.load()) == ["b"]
    spool.close()
    (file,) = tmp_path.iterdir()
    assert file.read_text() == lines("b")
    assert file.name.startswith(f"{socket.gethostname()}.{os.getpid()}.")


def test_leaves_the_files_of_processes_that_run(tmp_path: Path, spool: FileSpool) -> None:
    (tmp_path / IN_USE).write_text(lines("a"))
    spool.save(report("b"))
    until("the line", lambda: len(list(tmp_path.iterdir())) == 2)
    other = FileSpool(tmp_path, fail)
    assert other.load() == []
    spool.close()
    assert len(list(tmp_path.iterdir())) == 2


def test_writes_each_report_and_removes_its_file_if_everything_was_delivered(tmp_path: Path, spool: FileSpool) -> None:
    spool.save(report("a"))
    until("the line", lambda: [it.read_text() for it in tmp_path.iterdir()] == [lines("a")])
    spool.remove("con_1 a")
    spool.close()
    assert list(tmp_path.iterdir()) == []


def test_rewrites_a_large_file_that_is_mostly_about_delivered_reports(tmp_path: Path, spool: FileSpool) -> None:
    for count in range(8_000):
        spool.save(report(f"k{count}"))
        if count != 5:
            spool.remove(f"con_1 k{count}")
    spool.close()
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size < 1_048_576
    assert mode(file) == "0o600"
    file = file.rename(tmp_path / ENDED)
    assert keys(FileSpool(tmp_path, fail).load()) == ["k5"]


def test_reads_many_waiting_reports_again_only_when_the_file_has_doubled(
    spool: FileSpool, monkeypatch: pytest.MonkeyPatch
) -> None:
    serialised: list[Report] = []

    def count(report: Report) -> dict[str, Any]:
        serialised.append(report)
        return to_line(report)

    monkeypatch.setattr(spool_module, "to_line", count)
    for number in range(9_000):
        spool.save(report(f"k{number}"))
    # Writes the file, so that each later report is written by itself.
    spool.close()
    for number in range(200):
        spool.save(report(f"more{number}"))
        spool.close()
    saved = 9_200
    attempts = 2
    assert saved < len(serialised) <= saved + attempts * saved


def test_a_call_does_not_wait_while_a_file_is_rewritten_and_what_it_saves_then_is_kept(
    tmp_path: Path, spool: FileSpool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins, may_go_on = threading.Event(), threading.Event()
    was_free: list[bool] = []

    def wait_in_rewrite(report: Report) -> dict[str, Any]:
        if threading.current_thread().name == "backstop-spool" and not begins.is_set():
            begins.set()
            was_free.append(may_go_on.wait(10))
        return to_line(report)

    monkeypatch.setattr(spool_module, "to_line", wait_in_rewrite)
    for key in ("a", "b"):
        spool.save(report(key))
    for number in range(50_000):
        if begins.is_set():
            break
        spool.save(report(f"k{number}"))
        spool.remove(f"con_1 k{number}")
    until("the begin of a rewrite", begins.is_set)
    spool.remove("con_1 a")
    spool.save(report("c"))
    may_go_on.set()
    spool.close()
    assert was_free == [True]
    (file,) = tmp_path.iterdir()
    assert file.stat().st_size < 1_048_576
    file.rename(tmp_path / ENDED)
    assert keys(FileSpool(tmp_path, fail).load()) == ["b", "c"]


def test_no_other_account_can_read_a_folder_and_its_files(tmp_path: Path, problems: list[Problem]) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    folder.chmod(0o777)
    for name in (ENDED, IN_USE):
        (folder / name).write_text(lines(name))
    spool = FileSpool(folder, problems.append)
    assert keys(spool.load()) == [ENDED]
    spool.close()
    assert [mode(folder), *map(mode, folder.iterdir())] == ["0o700", "0o600", "0o600"]
    new = FileSpool(tmp_path / "new", problems.append)
    new.save(report("a"))
    new.close()
    assert [mode(tmp_path / "new"), *map(mode, (tmp_path / "new").iterdir())] == ["0o700", "0o600"]
    assert problems == []


def test_a_folder_of_all_accounts_keeps_its_rights_and_the_files_in_it_do_not(
    tmp_path: Path, spool: FileSpool, problems: list[Problem]
) -> None:
    tmp_path.chmod(0o1777)
    spool.save(report("a"))
    spool.close()
    assert [mode(tmp_path), *map(mode, tmp_path.iterdir())] == ["0o777", "0o600"]
    assert "Use a folder of its own" in str(problems[0])


def test_says_that_a_folder_cannot_be_written(tmp_path: Path, problems: list[Problem]) -> None:
    (tmp_path / "file").touch()
    spool = FileSpool(tmp_path / "file", problems.append)
    spool.save(report("a"))
    assert spool.load() == []
    spool.close()
    assert {problem.kind for problem in problems} == {"spool"}


def test_a_restart_sends_what_waits_and_a_minute_later_the_end_of_a_call_in_progress(
    tmp_path: Path, backstop: Backstop
) -> None:
    ended = {"save": {"id": "con_1 b", "body": report("b", state="completed").body}}
    (tmp_path / ENDED).write_text(lines("a") + json.dumps(ended) + "\n")

    def start() -> ReportQueue:
        return ReportQueue(BackstopApi(backstop.url, "k"), 10, FileSpool(tmp_path, fail), fail)

    queue = start()
    until("the report", lambda: queue.status().delivered == 1)
    assert [it["state"] for it in backstop.reports] == ["completed"]
    assert queue.status().queued == 1
    # The call is repeated within a minute after the crash.
    assert queue.add(report("a")).result(10)
    queue.stop()
    (file,) = tmp_path.iterdir()
    file.rename(tmp_path / ENDED)
    queue = start()
    assert queue.flush(10)
    queue.stop()
    assert [it["state"] for it in backstop.reports] == ["completed", "executing", "failed"]
    assert backstop.reports[-1]["reason"] == "The program ended before the answer of the provider was reported"
    assert list(tmp_path.iterdir()) == []

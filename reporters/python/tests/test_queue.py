"""The queue of reports, with a real connection to a server that stands in for Backstop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from email.utils import formatdate
from typing import Any, cast

import pytest
from conftest import until
from servers import Answer, Backstop, Body

from backstop_reporter import ApiProblem, Problem, backoff, report_queue
from backstop_reporter.backstop_api import BackstopApi
from backstop_reporter.report import Report, ReportBody, iso_time, now_ms
from backstop_reporter.report_queue import ReportQueue

Make = Callable[..., ReportQueue]


@pytest.fixture
def problems() -> list[Problem]:
    return []


@pytest.fixture
def make(backstop: Backstop, problems: list[Problem]) -> Iterator[Make]:
    queues: list[ReportQueue] = []

    def create(max_queued: int = 100) -> ReportQueue:
        queue = ReportQueue(BackstopApi(backstop.url, "bsk_test"), max_queued, None, problems.append)
        queues.append(queue)
        return queue

    yield create
    for queue in queues:
        queue.stop()


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backoff, "FIRST_PAUSE_MS", 20)
    monkeypatch.setattr(backoff, "LONGEST_PAUSE_MS", 100)


def report_of(key: str, not_before_ms: float | None = None, **more: Any) -> Report:
    body: Any = {"connection_id": "con_1", "kind": "refund", "subject": "pi_1", "idempotency_key": key}
    body |= {"state": "executing", "executing_at": iso_time(now_ms()), **more}
    return Report(cast(ReportBody, body), not_before_ms)


def delivered(future: Future[bool]) -> bool:
    return future.result(10)


def keys(reports: list[Body]) -> list[str]:
    return [report["idempotency_key"] for report in reports]


def problem(status: int, code: str = "x", **more: Any) -> tuple[int, Body]:
    return status, {"status": status, "code": code, "title": "X", "detail": code, **more}


def test_everything_that_waits_goes_into_the_next_batch_on_one_connection(make: Make, backstop: Backstop) -> None:
    queue = make(1_000)
    backstop.is_answering.clear()
    queue.add(report_of("first"))
    until("the first request", lambda: backstop.server.connections == 1)
    waiting = [queue.add(report_of(f"k{count}")) for count in range(300)]
    backstop.is_answering.set()
    assert all(delivered(future) for future in waiting)
    sizes = [len(batch) for batch in backstop.batches]
    assert sum(sizes) == 301
    assert max(sizes) == 200 and len(sizes) <= 4
    assert backstop.server.connections == 1
    assert backstop.requests[0].header("Authorization") == "Bearer bsk_test"


def test_a_connection_that_the_server_closed_is_opened_again_at_once(
    make: Make, backstop: Backstop, problems: list[Problem]
) -> None:
    queue = make()
    backstop.server.closes_after_answer = True
    for count in range(3):
        assert delivered(queue.add(report_of(f"k{count}")))
    assert problems == []


def test_while_down_each_operation_waits_and_is_sent_once_with_its_own_times(
    make: Make, backstop: Backstop, short_pauses: None
) -> None:
    queue = make()
    backstop.is_down = True
    times = []
    for count in range(10):
        executing = report_of(f"k{count}")
        times.append(executing.body["executing_at"])
        queue.add(executing)
        queue.add(report_of(f"k{count}", state="completed", ended_at=iso_time(now_ms())))
    until("a failure", lambda: queue.status().last_error)
    assert (queue.status().queued, queue.status().delivered) == (10, 0)
    backstop.is_down = False
    until("all reports", lambda: queue.status().queued == 0)
    assert keys(backstop.reports) == [f"k{count}" for count in range(10)]
    assert [report["executing_at"] for report in backstop.reports] == times
    assert {report["state"] for report in backstop.reports} == {"completed"}
    # The first attempt after a failure sends one report.
    assert [len(batch) for batch in backstop.batches] == [1, 9]
    assert queue.status().last_error is None


def test_while_down_it_is_reported_once_and_calls_do_not_wait(
    make: Make, backstop: Backstop, problems: list[Problem]
) -> None:
    queue = make()
    backstop.is_down = True
    assert not delivered(queue.add(report_of("a")))
    connections = backstop.server.connections
    assert not any(queue.add(report_of(f"b{count}")).result(0) for count in range(50))
    assert backstop.server.connections == connections
    assert [it.kind for it in problems] == ["undelivered"]
    assert "1 reports wait: No answer from" in str(problems[0])


def test_the_oldest_operation_is_dropped_counted_and_reported(
    make: Make, backstop: Backstop, problems: list[Problem]
) -> None:
    queue = make(2)
    backstop.is_down = True
    delivered(queue.add(report_of("a")))
    for key in ("b", "c"):
        queue.add(report_of(key))
    assert (queue.status().queued, queue.status().dropped) == (2, 1)
    assert [it.report.body["idempotency_key"] for it in problems if it.report is not None] == ["a"]
    backstop.is_down = False
    assert queue.flush(10)
    assert keys(backstop.reports) == ["b", "c"]


def test_flush_returns_false_after_its_time_and_true_once_everything_is_sent(make: Make, backstop: Backstop) -> None:
    queue = make()
    backstop.is_down = True
    queue.add(report_of("a"))
    assert not queue.flush(0.4)
    backstop.is_down = False
    assert queue.flush(10)


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("status", [401, 403, 404, 429, 500, 503])
def test_a_report_waits_after_a_status_that_may_pass(
    status: int, is_whole: bool, make: Make, backstop: Backstop, short_pauses: None
) -> None:
    queue = make()
    if is_whole:
        backstop.refuse_all = lambda reports: problem(status)
    else:
        backstop.refuse = lambda report: problem(status)
    assert not delivered(queue.add(report_of("a")))
    assert (queue.status().queued, queue.status().refused) == (1, 0)
    backstop.refuse_all, backstop.refuse = (lambda reports: "no"), (lambda report: None)
    until("the report", lambda: keys(backstop.reports) == ["a"])


def test_a_report_about_an_unknown_connection_waits_and_delays_no_other(
    make: Make, backstop: Backstop, problems: list[Problem]
) -> None:
    queue = make()
    backstop.refuse = lambda it: problem(404, "not_found") if it["connection_id"] == "con_unknown" else None
    assert not delivered(queue.add(report_of("a", connection_id="con_unknown")))
    assert all(delivered(queue.add(report_of(f"b{count}"))) for count in range(10))
    assert queue.status().queued == 1
    assert [str(it) for it in problems] == ["1 reports wait: not_found"]


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_refusal_that_is_about_all_reports_pauses_them(status: int, make: Make, backstop: Backstop) -> None:
    queue = make()
    backstop.refuse = lambda report: problem(status)
    assert not delivered(queue.add(report_of("a")))
    assert not queue.add(report_of("b")).result(0)
    assert len(backstop.batches) == 1


def test_waits_for_as_long_as_backstop_asks(make: Make, backstop: Backstop, short_pauses: None) -> None:
    queue = make()
    asked: list[float] = []

    def refuse_once(reports: list[Body]) -> Answer | str:
        asked.append(time.monotonic())
        backstop.server.answer_headers = {"Retry-After": "1"} if len(asked) == 1 else {}
        return problem(429) if len(asked) == 1 else "no"

    backstop.refuse_all = refuse_once
    queue.add(report_of("a"))
    until("the report", lambda: keys(backstop.reports) == ["a"])
    assert asked[1] - asked[0] >= 0.99


def test_a_refused_report_is_sent_once_more_without_its_times_and_then_counted(
    make: Make, backstop: Backstop, problems: list[Problem]
) -> None:
    queue = make()
    backstop.refuse = lambda report: problem(409, "idempotency_conflict")
    assert not delivered(queue.add(report_of("a")))
    assert ["executing_at" in batch[0] for batch in backstop.batches] == [True, False]
    assert (queue.status().queued, queue.status().refused) == (0, 1)
    assert [it.kind for it in problems] == ["refused"]


def test_a_repeated_call_that_the_provider_answers_as_before_is_one_operation(make: Make, backstop: Backstop) -> None:
    queue = make()
    assert delivered(queue.add(report_of("a")))
    backstop.refuse = lambda it: problem(409, "idempotency_conflict") if "executing_at" in it else None
    assert delivered(queue.add(report_of("a")))
    assert (queue.status().queued, queue.status().delivered, queue.status().refused) == (0, 2, 0)


@pytest.mark.parametrize("status", [400, 413])
def test_a_report_for_which_a_batch_is_refused_blocks_no_other(
    status: int, make: Make, backstop: Backstop, problems: list[Problem]
) -> None:
    queue = make(1_000)

    def refuse(reports: list[Body]) -> Answer | str:
        is_bad = any(report["subject"] == "bad" for report in reports)
        return problem(status, "invalid_request") if is_bad else "no"

    backstop.refuse_all = refuse
    backstop.is_answering.clear()
    queue.add(report_of("first"))
    until("the first request", lambda: backstop.server.connections == 1)
    for count in range(100):
        queue.add(report_of(f"k{count}", subject="bad" if count == 70 else "pi_1"))
    backstop.is_answering.set()
    assert queue.flush(10)
    assert keys(backstop.reports) == ["first", *(f"k{count}" for count in range(100) if count != 70)]
    assert (queue.status().refused, [it.kind for it in problems]) == (1, ["refused"])
    # Halves are sent apart.
    assert len(backstop.batches) < 25


def add_waiting(queue: ReportQueue, backstop: Backstop, count: int) -> None:
    """Adds `count` reports that go into one batch, after the report `first`."""
    backstop.is_answering.clear()
    queue.add(report_of("first"))
    until("the first request", lambda: backstop.server.connections == 1)
    for number in range(count):
        queue.add(report_of(f"k{number}"))
    backstop.is_answering.set()


@pytest.mark.parametrize("answer", ["Bad Request", {"code": "BadRequest"}, {"code": 7}, ["code"]])
@pytest.mark.parametrize("status", [400, 409, 413, 415, 422])
def test_a_refusal_by_a_proxy_makes_all_reports_wait(
    status: int, answer: Any, make: Make, backstop: Backstop, problems: list[Problem], short_pauses: None
) -> None:
    queue = make()
    backstop.refuse_all = lambda reports: (status, answer)
    add_waiting(queue, backstop, 3)
    until("some attempts", lambda: len(backstop.batches) >= 4)
    assert (queue.status().queued, queue.status().refused) == (4, 0)
    backstop.refuse_all = lambda reports: "no"
    until("all reports", lambda: queue.status().queued == 0)
    assert sorted(keys(backstop.reports)) == ["first", "k0", "k1", "k2"]
    assert [it.kind for it in problems] == ["undelivered"]


def test_a_batch_that_is_still_in_progress_is_not_lost(make: Make, backstop: Backstop, short_pauses: None) -> None:
    queue = make()
    backstop.refuse_all = lambda reports: problem(409, "conflict")
    assert not delivered(queue.add(report_of("a")))
    assert (queue.status().queued, queue.status().refused) == (1, 0)
    backstop.refuse_all = lambda reports: "no"
    until("the report", lambda: keys(backstop.reports) == ["a"])


@pytest.mark.parametrize("status", [403, 404, 500])
def test_an_outage_that_is_answered_pauses_everything_and_is_told_once(
    status: int, make: Make, backstop: Backstop, problems: list[Problem], short_pauses: None
) -> None:
    queue = make()
    add_waiting(queue, backstop, 5)
    until("all reports", lambda: queue.status().queued == 0)
    backstop.batches.clear()
    backstop.refuse_all = lambda reports: problem(status)
    assert not delivered(queue.add(report_of("a")))
    assert not any(queue.add(report_of(f"b{count}")).result(0) for count in range(5))
    until("some attempts", lambda: len(backstop.batches) >= 8)
    assert {len(batch) for batch in backstop.batches} == {1}
    backstop.refuse_all = lambda reports: "no"
    until("all reports", lambda: queue.status().queued == 0)
    assert (queue.status().delivered, queue.status().refused) == (12, 0)
    assert [it.kind for it in problems] == ["undelivered"]


def test_a_report_that_a_proxy_refuses_blocks_no_other(make: Make, backstop: Backstop, short_pauses: None) -> None:
    queue = make()

    def refuse(reports: list[Body]) -> Answer | str:
        return (403, "Blocked") if "k7" in keys(reports) else "no"

    backstop.refuse_all = refuse
    add_waiting(queue, backstop, 20)
    until("the others", lambda: queue.status().delivered == 20)
    assert (queue.status().queued, queue.status().refused) == (1, 0)


def test_a_proxy_that_takes_only_small_requests_gets_smaller_batches(
    make: Make, backstop: Backstop, short_pauses: None
) -> None:
    queue = make(1_000)
    backstop.refuse_all = lambda reports: (413, "Too large") if len(reports) > 120 else "no"
    add_waiting(queue, backstop, 600)
    until("all reports", lambda: queue.status().queued == 0)
    assert len(backstop.batches) < 40


def http_date(in_s: float) -> str:
    return formatdate(time.time() + in_s, usegmt=True)


@pytest.mark.parametrize(
    ("header", "least_ms", "most_ms"),
    [
        ("7", 7_000, 7_000),
        ("86400", 3_600_000, 3_600_000),
        ("9" * 5_000, 3_600_000, 3_600_000),
        (http_date(86_400), 3_600_000, 3_600_000),
        (http_date(1_800), 1_000_000, 1_800_000),
        (http_date(-60), 0, 0),
    ],
    ids=["seconds", "a day", "a long number", "a date tomorrow", "a date soon", "a date before"],
)
def test_backstop_may_ask_for_a_wait_of_an_hour_at_most(
    header: str, least_ms: float, most_ms: float, backstop: Backstop
) -> None:
    backstop.server.answer_headers = {"Retry-After": header}
    backstop.refuse_all = lambda reports: problem(503)
    with pytest.raises(ApiProblem) as refused:
        BackstopApi(backstop.url, "bsk_test").report([report_of("a").body])
    assert refused.value.retry_after_ms is not None
    assert least_ms <= refused.value.retry_after_ms <= most_ms


def test_an_answer_of_something_else_does_not_lose_reports(make: Make, backstop: Backstop, short_pauses: None) -> None:
    queue = make()
    backstop.refuse_all = lambda reports: (200, "Welcome")
    assert not delivered(queue.add(report_of("a")))
    assert "did not answer as Backstop does" in str(queue.status().last_error)
    backstop.refuse_all = lambda reports: "no"
    until("the report", lambda: keys(backstop.reports) == ["a"])


def test_sends_the_key_to_no_server_without_a_certificate(backstop: Backstop) -> None:
    url = backstop.url.replace("http:", "https:")
    queue = ReportQueue(BackstopApi(url, "bsk_test"), 100, None, lambda problem: None)
    assert not delivered(queue.add(report_of("a")))
    assert "SSL" in str(queue.status().last_error)
    queue.stop()
    assert backstop.requests == []


def test_a_temporary_failure_is_reported_after_its_time(make: Make, backstop: Backstop) -> None:
    queue = make()
    began = time.monotonic()
    queue.add(report_of("a", now_ms() + 300, state="failed"))
    until("the failure", lambda: backstop.reports)
    assert time.monotonic() - began >= 0.29


def test_a_temporary_failure_is_not_reported_if_the_call_is_repeated(make: Make, backstop: Backstop) -> None:
    queue = make()
    queue.add(report_of("a", now_ms() + 60_000, state="failed"))
    queue.add(report_of("a"))
    queue.add(report_of("a", state="completed"))
    assert queue.flush(10)
    assert "failed" not in [report["state"] for report in backstop.reports]
    assert backstop.reports[-1]["state"] == "completed"


def test_an_operation_that_ended_while_backstop_was_down_neither_fails_nor_begins_again(
    make: Make, backstop: Backstop
) -> None:
    queue = make()
    backstop.is_down = True
    delivered(queue.add(report_of("a", state="completed", provider_ref="re_1")))
    queue.add(report_of("a"))
    queue.add(report_of("a", now_ms() + 60_000, state="failed", reason="timeout"))
    backstop.is_down = False
    assert queue.flush(10)
    assert [(it["state"], it["provider_ref"]) for it in backstop.reports] == [("completed", "re_1")]


def test_threads_report_at_the_same_time(make: Make, backstop: Backstop) -> None:
    queue = make(10_000)
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda count: queue.add(report_of(f"k{count}")), range(2_000)))
    assert queue.flush(30)
    assert sorted(keys(backstop.reports)) == sorted(f"k{count}" for count in range(2_000))
    assert queue.status().delivered == 2_000


def test_the_thread_ends_without_work_and_begins_again(
    make: Make, backstop: Backstop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_queue, "_IDLE_S", 0.02)
    queue = make()
    for count in range(2):
        assert delivered(queue.add(report_of(f"k{count}")))
        until("the end of the thread", lambda: not _threads())
    assert keys(backstop.reports) == ["k0", "k1"]


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "backstop-reporter"]

"""What a reporter does to the calls of a program: nothing but a short wait."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import forms
import pytest
from conftest import Watch, until, without_times
from libraries import load, open_chargebee, open_stripe, stripe_module
from servers import Answer, Backstop, Provider, Request, provider_of

from backstop_reporter import Problem, Reporter, WatchedCall, watch

CHARGE = {"charge": "ch_1"}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with provider_of(forms.answer_as_stripe) as started:
        yield started


@pytest.fixture
def client(provider: Provider) -> Any:
    return open_stripe(provider.server.url)


def needs_async() -> None:
    if not hasattr(load("stripe").RefundService, "create_async"):
        pytest.skip("This version has no async calls")


def test_reports_before_and_after_a_call_with_the_key_that_the_provider_gets(
    client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    seen: list[int] = []

    def answer(request: Request) -> Answer:
        seen.append(len(backstop.reports))
        return forms.answer_as_stripe(request)

    provider.answer = answer
    reporter: Reporter = watching(client, run_id=lambda: "run_7", wait_ms=50)
    client.refunds.create({**CHARGE, "amount": 10, "currency": "EUR"})
    assert reporter.flush()
    common = {"kind": "refund", "subject": "ch_1", "amount": 10, "currency": "eur", "run_id": "run_7"}
    common["idempotency_key"] = provider.requests[0].header("Idempotency-Key")
    end = {"state": "completed", "provider_ref": "re_1", "provider_request_id": "req_1"}
    assert without_times(backstop.reports) == [{**common, "state": "executing"}, {**common, **end}]
    # The first report may be late, because the library and the connection are new.
    provider.server.answer_headers["Original-Request"] = "req_0"
    client.refunds.create(CHARGE)
    assert seen[-1] == 3
    assert reporter.flush()
    assert backstop.reports[-1]["provider_request_id"] == "req_0"


def test_a_call_waits_at_most_its_time_and_then_not_until_backstop_answers_in_time(
    client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    client.refunds.list()
    reporter = watching(client, wait_ms=50)
    backstop.is_answering.clear()
    began = time.monotonic()
    client.refunds.create(CHARGE)
    assert 0.05 <= time.monotonic() - began < 0.5
    began = time.monotonic()
    for _ in range(40):
        client.refunds.create(CHARGE)
    assert time.monotonic() - began < 40 * 0.05 / 2
    backstop.is_answering.set()
    until("the reports", lambda: reporter.status().queued == 0)
    assert len({report["idempotency_key"] for report in backstop.reports}) == 41

    def is_reported_before() -> bool:
        client.refunds.create(CHARGE)
        return any(it.get("state") == "executing" for it in backstop.reports[-2:])

    until("a call that waits again", is_reported_before)


def test_a_call_that_the_library_repeats_waits_once(
    client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    def answer_late(reports: object) -> str:
        time.sleep(0.04)
        return "no"

    backstop.refuse_all = answer_late
    reporter = watching(client, wait_ms=50)
    provider.failing = [500, 503, None]
    began = time.monotonic()
    client.refunds.create(CHARGE, {"max_network_retries": 3})
    assert 0.04 <= time.monotonic() - began < 0.12
    assert reporter.flush()
    assert len(provider.requests) == 4
    assert len({report["idempotency_key"] for report in backstop.reports}) == 1
    assert backstop.reports[-1]["state"] == "completed"
    assert "failed" not in [report["state"] for report in backstop.reports]


def test_a_lost_connection_and_a_timeout_raise_as_before_and_may_have_been_executed(
    client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    stripe = load("stripe")
    reporter = watching(client)
    provider.failing = [None]
    with pytest.raises(stripe.APIConnectionError):
        client.refunds.create(CHARGE)
    assert reporter.flush()
    assert backstop.reports[-1]["state"] == "failed"
    assert "network" in backstop.reports[-1]["reason"].lower()

    hangs = threading.Event()
    provider.answer = lambda request: (200, {"id": "re_1"}) if hangs.wait(10) else None
    slow = open_stripe(provider.server.url, http_client=stripe.RequestsClient(timeout=0.1))
    reporter = watching(slow)
    with pytest.raises(stripe.APIConnectionError):
        slow.refunds.create(CHARGE)
    hangs.set()
    # Such a failure is reported after a minute, unless the call is repeated.
    assert reporter.status().queued == 1


@pytest.mark.parametrize(("status", "waits"), [(400, 0), (402, 0), (404, 0), (409, 1), (429, 1), (500, 1)])
def test_only_a_failure_that_may_pass_waits_for_a_repeat(
    status: int, waits: int, client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    reporter = watching(client)
    provider.failing = [status]
    with pytest.raises(load("stripe").StripeError):
        client.refunds.create(CHARGE)
    client.refunds.create({"charge": "ch_2"})
    until("the later reports", lambda: any(report["state"] == "completed" for report in backstop.reports))
    assert [report["state"] for report in backstop.reports].count("failed") == 1 - waits
    assert reporter.flush()
    failed = [report["reason"] for report in backstop.reports if report["state"] == "failed"]
    assert failed == [f"Error {status}"]


def test_a_call_that_is_repeated_with_its_key_is_one_operation(
    client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    reporter = watching(client)
    provider.failing = [500]
    for _ in range(2):
        try:
            client.refunds.create(CHARGE, {"idempotency_key": "once"})
        except load("stripe").APIError:
            continue
    provider.failing = [503]
    for _ in range(2):
        try:
            client.subscriptions.cancel("sub_1")
        except load("stripe").APIError:
            continue
    assert reporter.flush()
    assert "failed" not in [report["state"] for report in backstop.reports]
    ended = [report for report in backstop.reports if report["state"] == "completed"]
    assert [report["subject"] for report in ended] == ["ch_1", "sub_1"]
    assert len({report["idempotency_key"] for report in backstop.reports}) == 2


def test_the_event_loop_runs_while_a_call_waits(
    client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    needs_async()
    reporter = watching(client, wait_ms=50)
    backstop.is_answering.clear()
    turns: list[float] = []

    async def run() -> None:
        async def turn() -> None:
            while True:
                turns.append(time.monotonic())
                await asyncio.sleep(0.001)

        turning = asyncio.create_task(turn())
        before = len(provider.requests)
        call = asyncio.create_task(client.refunds.create_async(CHARGE))
        while len(provider.requests) == before:
            await asyncio.sleep(0.001)
        turning.cancel()
        await call
        await asyncio.gather(*(client.refunds.create_async(CHARGE) for _ in range(20)))

    asyncio.run(run())
    assert len(turns) >= 10
    backstop.is_answering.set()
    assert reporter.flush()
    ended = [report for report in backstop.reports if report["state"] == "completed"]
    assert len({report["idempotency_key"] for report in ended}) == 21


def test_a_cancelled_task_ends_its_operation(
    client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    needs_async()
    reporter = watching(client)
    hangs = threading.Event()
    provider.answer = lambda request: (200, {"id": "re_1"}) if hangs.wait(10) else None

    async def run() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.refunds.create_async(CHARGE), 0.2)

    asyncio.run(run())
    hangs.set()
    assert reporter.flush()
    assert (backstop.reports[-1]["state"], backstop.reports[-1]["reason"]) == ("failed", "CancelledError")


def test_a_function_chooses_the_connection_by_the_account(client: Any, watching: Watch, backstop: Backstop) -> None:
    seen: list[WatchedCall] = []

    def choose(call: WatchedCall) -> str | None:
        seen.append(call)
        return None if call.amount == 1 else f"con_{call.account}"

    reporter = watching(client, connection_id=choose)
    client.refunds.create({**CHARGE, "amount": 1}, {"stripe_account": "acct_1"})
    client.refunds.create({**CHARGE, "amount": 2}, {"stripe_account": "acct_2"})
    client.refunds.create(CHARGE, {"headers": {"Stripe-Context": "ctx_1"}})
    assert reporter.flush()
    assert {report["connection_id"] for report in backstop.reports} == {"con_acct_2", "con_ctx_1"}
    assert seen[0] == WatchedCall("refunds.create", "refund", "ch_1", 1, None, "acct_1")


def test_makes_the_call_also_if_the_reporter_itself_fails(client: Any, watching: Watch, backstop: Backstop) -> None:
    problems: list[Problem] = []

    def fail(problem: Problem) -> None:
        problems.append(problem)
        raise RuntimeError("also this")

    tenants: dict[str, str] = {}
    watching(client, connection_id=lambda call: tenants["no such tenant"], on_problem=fail)
    assert client.refunds.create(CHARGE).id == "re_1"
    assert [str(problem) for problem in problems] == [
        "a call of refunds.create was not reported: KeyError('no such tenant')"
    ]
    assert backstop.reports == []


def test_reports_nothing_after_close_and_watches_a_client_once(
    client: Any, watching: Watch, backstop: Backstop
) -> None:
    subscription = client.subscriptions.retrieve("sub_1")
    with watching(client) as closed:
        with pytest.raises(TypeError, match="already watched"):
            watching(client)
        other = client.subscriptions.retrieve("sub_1")
    for cancelled in (subscription, other):
        cancelled.cancel()
    client.refunds.create(CHARGE)
    assert (backstop.reports, closed.status().queued) == ([], 0)
    with watching(client) as reporter:
        client.refunds.create(CHARGE)
    assert (reporter.status().queued, reporter.status().delivered) == (0, 2)


def test_refuses_what_it_cannot_watch(client: Any, backstop: Backstop) -> None:
    options: dict[str, Any] = {"base_url": backstop.url, "key": "k", "connection_id": "con_1"}
    for unknown in (object(), threading, "stripe"):
        with pytest.raises(TypeError, match="Pass a client of stripe"):
            watch(unknown, **options)
    for wrong in ({"wait_ms": 51}, {"wait_ms": -1}, {"max_queued": 0}, {"base_url": "backstop"}, {"key": "ä\n"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            watch(client, **{**options, **wrong})
    watch(client, **options).close()


def test_the_module_of_stripe_is_watched_with_every_http_client_and_no_other_client(
    client: Any, provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    with stripe_module(provider.server.url) as stripe:
        reporter = watching(stripe)
        client.refunds.create({"charge": "ch_of_client"})
        stripe.Refund.create(charge="ch_1")
        stripe.default_http_client = stripe.RequestsClient()
        stripe.Refund.create(charge="ch_2")
        assert type(stripe.default_http_client) is stripe.RequestsClient
        assert reporter.close()
        stripe.Refund.create(charge="ch_3")
    assert {report["subject"] for report in backstop.reports} == {"ch_1", "ch_2"}


def test_an_http_client_of_the_program_keeps_its_state_and_is_not_changed(
    provider: Provider, watching: Watch, backstop: Backstop
) -> None:
    stripe = load("stripe")

    class Counting(stripe.RequestsClient):  # type: ignore[misc, name-defined]
        count = 0
        calls = 0

        def request_with_retries(self, *args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            return super().request_with_retries(*args, **kwargs)

        def request(self, *args: Any, **kwargs: Any) -> Any:
            self.count += 1
            return super().request(*args, **kwargs)

    http_client = Counting()
    watched = open_stripe(provider.server.url, http_client=http_client)
    shared = open_stripe(provider.server.url, http_client=http_client)
    reporter = watching(watched)
    watched.refunds.create(CHARGE)
    shared.refunds.create({"charge": "ch_2"})
    assert (http_client.count, http_client.calls) == (2, 2)
    assert reporter.flush()
    assert {report["subject"] for report in backstop.reports} == {"ch_1"}


def test_clients_of_chargebee_are_watched_one_by_one_and_keep_the_headers_of_the_caller(
    watching: Watch, backstop: Backstop
) -> None:
    if hasattr(load("chargebee"), "configure"):
        pytest.skip("Version 2 has one configuration")
    with provider_of(forms.answer_as_chargebee) as started:
        watched, other, third = (open_chargebee(started.server.port) for _ in range(3))
        reporter = watching(watched)
        second = watching(third, connection_id="con_3")
        headers = {"chargebee-request-origin-user": "agent-7"}
        for subject in ("inv_1", "inv_2"):
            watched.Invoice.refund(subject, headers=headers)
        other.Invoice.refund("inv_3")
        third.Invoice.refund("inv_4")
        assert reporter.close() and second.close()
        watched.Invoice.refund("inv_5")
    sent = [request.header("chargebee-idempotency-key") for request in started.requests]
    assert sent[0] != sent[1] and [key is None for key in sent] == [False, False, True, False, True]
    assert headers == {"chargebee-request-origin-user": "agent-7"}
    reported = {(report["connection_id"], report["subject"]) for report in backstop.reports}
    assert reported == {("con_1", "inv_1"), ("con_1", "inv_2"), ("con_3", "inv_4")}


def test_threads_call_at_the_same_time(client: Any, provider: Provider, watching: Watch, backstop: Backstop) -> None:
    reporter = watching(client)
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda count: client.refunds.create({"charge": f"ch_{count}"}), range(200)))
    assert reporter.flush()
    ended = [report for report in backstop.reports if report["state"] == "completed"]
    assert sorted(report["subject"] for report in ended) == sorted(f"ch_{count}" for count in range(200))
    sent = {request.header("Idempotency-Key") for request in provider.requests}
    assert {report["idempotency_key"] for report in backstop.reports} == sent

"""The conformance driver, against a small runner that asks for one call after the other."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import forms
import pytest
from libraries import load
from servers import Answer, Backstop, LocalServer, Request, provider_of

DRIVER = Path(__file__).parent.parent / "conformance" / "driver.py"


class Runner:
    """Gives the driver its steps."""

    def __init__(self) -> None:
        self.steps: queue.Queue[Any] = queue.Queue()
        self.results: queue.Queue[Any] = queue.Queue()
        self.server = LocalServer(self._next)

    def _next(self, request: Request) -> Answer:
        assert request.path == "/next"
        self.results.put(json.loads(request.body))
        return 200, self.steps.get()

    def play(self, step: str, **more: Any) -> Any:
        self.steps.put({"step": step, **more})
        return self.results.get(timeout=30)


@contextmanager
def running(*args: str) -> Iterator[Runner]:
    runner = Runner()
    environment = {**os.environ, "CONFORMANCE_URL": runner.server.url}
    with subprocess.Popen([sys.executable, str(DRIVER), *args], env=environment) as driver:
        try:
            assert runner.results.get(timeout=30) is None
            yield runner
            runner.steps.put({"step": "exit"})
            assert driver.wait(30) == 0
        finally:
            driver.kill()
            runner.server.stop()


STRIPE_CALLS = [
    {"method": "refunds.create", "params": {"payment_intent": "pi_1", "amount": 5}, "idempotency_key": "k-1"},
    {"method": "refunds.create", "params": {"charge": "ch_1"}, "account": "acct_1", "max_retries": 1},
    {"method": "subscriptions.cancel", "id": "sub_1", "params": {}},
    {"method": "terminal.readers.refundPayment", "id": "tmr_1", "params": {"payment_intent": "pi_1"}},
    {"method": "subscriptionSchedules.update", "id": "sub_sched_1", "params": {"end_behavior": "cancel"}},
    {"method": "creditNotes.create", "params": {"invoice": "in_1", "refund_amount": 5}},
    {"method": "charges.refunds.create", "id": "ch_1", "params": {"amount": 5}},
    {"method": "refunds.update", "id": "re_1", "params": {"metadata": {"a": "1"}}},
    {"method": "refunds.retrieve", "id": "re_1", "params": {}},
    {"method": "refunds.list", "params": {"limit": 3}},
    {"method": "no.such", "params": {}},
]


@pytest.mark.parametrize("args", [[], ["--async"]], ids=["threads", "async"])
def test_stripe(args: list[str], backstop: Backstop) -> None:
    if args and not hasattr(load("stripe").RefundService, "create_async"):
        pytest.skip("This version has no async calls")
    with provider_of(forms.answer_as_stripe) as provider, running(*args) as runner:
        assert runner.play("watch", **_options("stripe", provider.server.url, backstop)) == {"ok": True}
        calls = runner.play("call", calls=STRIPE_CALLS)["calls"]
        assert [call.get("value", {}).get("id") for call in calls[:6]] == [
            *("re_1", "re_1", "sub_1", "tmr_1", "sub_sched_1", "cn_1")
        ]
        assert [next(iter(call)) for call in calls] == ["ok"] * 10 + ["unsupported"]
        assert runner.play("flush", timeout_ms=10_000) == {"flushed": True}
        assert runner.play("status") == {"queued": 0, "delivered": 12, "dropped": 0, "refused": 0}
        refused = runner.play("call", calls=[{"method": "refunds.create", "params": {"charge": "ch_1", "amount": 666}}])
        assert "Too much" in refused["calls"][0]["error"]
        assert runner.play("close", timeout_ms=10_000) == {"flushed": True}
    assert {"k-1"} < {report["idempotency_key"] for report in backstop.reports}


def test_paddle_and_chargebee(backstop: Backstop, tmp_path: Path) -> None:
    load("paddle_billing")
    load("chargebee")
    with provider_of(forms.answer_as_paddle) as provider, running() as runner:
        runner.play("watch", **{**_options("paddle", provider.server.url, backstop), "spool_folder": str(tmp_path)})
        params = {"action": "refund", "reason": "r", "transaction_id": "txn_1", "type": "full"}
        calls: list[dict[str, Any]] = [
            {"method": "adjustments.create", "params": params},
            {"method": "subscriptions.cancel", "id": "sub_1", "params": {}},
        ]
        assert [call["value"] for call in runner.play("call", calls=calls)["calls"]] == [
            {"id": "adj_1"},
            {"id": "sub_1"},
        ]
        assert runner.play("close", timeout_ms=10_000) == {"flushed": True}
        assert [report["state"] for report in backstop.reports].count("awaiting_review") == 1
    if hasattr(load("chargebee"), "configure"):
        return
    with provider_of(forms.answer_as_chargebee) as provider, running() as runner:
        runner.play("watch", **_options("chargebee", provider.server.url, backstop))
        record = {"transaction": {"amount": 5, "payment_method": "cash", "date": 1}}
        calls = [
            {"method": "invoice.recordRefund", "id": "inv_1", "params": record, "idempotency_key": "k-2"},
            {"method": "subscription.cancelForItems", "id": "sub_1", "params": {"end_of_term": True}, "max_retries": 2},
            {"method": "subscription.delete", "id": "sub_1", "params": {}},
        ]
        assert all(call.get("ok") for call in runner.play("call", calls=calls)["calls"])
        assert runner.play("close", timeout_ms=10_000) == {"flushed": True}
        assert "k-2" in {report["idempotency_key"] for report in backstop.reports}


def _options(library: str, url: str, backstop: Backstop) -> dict[str, Any]:
    return {
        "library": library,
        "provider_url": url,
        "backstop_url": backstop.url,
        "key": "bsk_test",
        "connection_id": "con_1",
        "spool_folder": None,
        "max_queued": 10_000,
    }

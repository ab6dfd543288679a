"""Makes the calls that the conformance runner asks for, with a watched client of a provider's library.

It reads steps from CONFORMANCE_URL until the step `exit`. With --async, calls of Stripe use the async methods.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import sys
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlsplit

from backstop_reporter import Reporter, watch

Step = dict[str, Any]


class Unsupported(Exception):
    """The library has no such call."""


class StripeCalls:
    """Calls of a StripeClient."""

    def __init__(self, url: str) -> None:
        stripe = importlib.import_module("stripe")
        self.client = stripe.StripeClient("sk_test_1", base_addresses={"api": url})

    def prepare(self, call: Step, is_async: bool) -> Callable[[], Any]:
        """Returns a function that makes the call."""
        options = {
            "idempotency_key": call.get("idempotency_key"),
            "stripe_account": call.get("account"),
            "max_network_retries": call.get("max_retries", 0),
        }
        options = {name: value for name, value in options.items() if value is not None}
        suffix = "_async" if is_async else ""
        params, method, id = call.get("params") or {}, call["method"], call.get("id")
        if method in ("charges.refunds.create", "charges.refund"):
            path = f"/v1/charges/{quote(id or '', safe='')}/{'refund' if method == 'charges.refund' else 'refunds'}"
            send = getattr(self.client, f"raw_request{suffix}", None)
            if send is None:
                raise Unsupported("This version has no raw requests")
            return lambda: send("post", path, **params, **options)
        target: Any = getattr(self.client, "v1", self.client)
        for name in method.split("."):
            target, parent = getattr(target, _snake(name), None), target
            if target is None:
                raise Unsupported(f"stripe has no {method}")
        target = getattr(parent, f"{target.__name__}{suffix}")
        return lambda: target(*([] if id is None else [id]), params, options)

    def id_of(self, answer: Any) -> Any:
        """The id of the object in an answer."""
        data = getattr(answer, "data", None)
        return data.get("id") if isinstance(data, dict) else getattr(answer, "id", None)


class PaddleCalls:
    """Calls of a client of paddle_billing, by its own method for requests."""

    def __init__(self, url: str) -> None:
        paddle = importlib.import_module("paddle_billing")
        self.client = paddle.Client("pdl", paddle.Options(SimpleNamespace(base_url=url)))

    def prepare(self, call: Step, is_async: bool) -> Callable[[], Any]:
        """Returns a function that makes the call."""
        method, id = call["method"], call.get("id")
        if method not in ("adjustments.create", "subscriptions.cancel"):
            raise Unsupported(f"paddle has no {method}")
        path = "/adjustments" if method == "adjustments.create" else f"/subscriptions/{quote(id or '', safe='')}/cancel"
        return lambda: self.client.post_raw(path, call.get("params") or {})

    def id_of(self, answer: Any) -> Any:
        """The id of the object in an answer."""
        return answer.json().get("data", {}).get("id")


class ChargebeeCalls:
    """Calls of a client of chargebee."""

    def __init__(self, url: str) -> None:
        self.library = importlib.import_module("chargebee")
        parts = urlsplit(url)
        site, _, domain = parts.netloc.partition(".")
        self.library.Chargebee.verify_ca_certs = False
        environment = importlib.import_module("chargebee.environment").Environment
        environment.chargebee_domain, environment.protocol = domain, parts.scheme
        self.client = self.library.Chargebee("key", site)

    def prepare(self, call: Step, is_async: bool) -> Callable[[], Any]:
        """Returns a function that makes the call."""
        resource, _, name = call["method"].partition(".")
        target = getattr(getattr(self.client, resource[:1].upper() + resource[1:], None), _snake(name), None)
        if target is None:
            raise Unsupported(f"chargebee has no {call['method']}")
        key, retries = call.get("idempotency_key"), call.get("max_retries", 0)
        headers = {} if key is None else {"headers": {"chargebee-idempotency-key": key}}
        if hasattr(self.client, "update_retry_config"):
            config = importlib.import_module("chargebee.retry_config").RetryConfig
            self.client.update_retry_config(config(enabled=retries > 0, max_retries=retries, delay_ms=1))
        params = call.get("params") or {}
        ids = [] if call.get("id") is None else [call["id"]]
        return lambda: target(*ids, *([params] if params else []), **headers)

    def id_of(self, answer: Any) -> Any:
        """Answers have several objects, and no id of their own."""
        return None


Calls = StripeCalls | PaddleCalls | ChargebeeCalls


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", r"_\1", name).lower()


class Driver:
    """Carries out the steps."""

    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async
        self.calls: Calls | None = None
        # Connections of asynchronous clients belong to one event loop.
        self.loop = asyncio.new_event_loop()
        self.reporter: Reporter | None = None

    def carry_out(self, step: Step) -> Step:
        """Returns the result of a step."""
        name = step["step"]
        if name == "watch":
            return self.watch(step)
        assert self.calls is not None, "No client is open"
        if name == "call":
            return {"calls": self.make_calls(step["calls"])}
        if self.reporter is None:
            return {"flushed": True}
        if name == "status":
            status = self.reporter.status()
            return {field: getattr(status, field) for field in ("queued", "delivered", "dropped", "refused")}
        timeout_s = step["timeout_ms"] / 1000
        return {"flushed": self.reporter.flush(timeout_s) if name == "flush" else self.reporter.close(timeout_s)}

    def watch(self, step: Step) -> Step:
        """Opens a client and watches it."""
        kinds: dict[str, type[Calls]] = {"stripe": StripeCalls, "paddle": PaddleCalls, "chargebee": ChargebeeCalls}
        try:
            calls = self.calls = kinds[step["library"]](step["provider_url"])
        except ImportError as error:
            return {"unsupported": str(error)}
        self.reporter = None
        if not step.get("watched", True):
            return {"ok": True}
        self.reporter = watch(
            calls.client,
            base_url=step["backstop_url"],
            key=step["key"],
            connection_id=step["connection_id"],
            spool_folder=step.get("spool_folder"),
            max_queued=step.get("max_queued", 10_000),
        )
        return {"ok": True}

    def make_calls(self, calls: list[Step]) -> list[Step]:
        """Makes all calls at once."""
        if self.is_async and isinstance(self.calls, StripeCalls):
            return self.loop.run_until_complete(self._make_calls_async(calls))
        with ThreadPoolExecutor(len(calls)) as threads:
            return list(threads.map(self._make_call, calls))

    async def _make_calls_async(self, calls: list[Step]) -> list[Step]:
        return list(await asyncio.gather(*(self._make_call_async(call) for call in calls)))

    def _make_call(self, call: Step) -> Step:
        assert self.calls is not None
        began = time.perf_counter()
        try:
            make = self.calls.prepare(call, False)
            began = time.perf_counter()
            return _success(began, self.calls.id_of(make()))
        except Unsupported as reason:
            return {"unsupported": str(reason), "ms": 0}
        except Exception as error:
            return _failure(began, error)

    async def _make_call_async(self, call: Step) -> Step:
        assert self.calls is not None
        began = time.perf_counter()
        try:
            make = self.calls.prepare(call, True)
            began = time.perf_counter()
            return _success(began, self.calls.id_of(await make()))
        except Unsupported as reason:
            return {"unsupported": str(reason), "ms": 0}
        except Exception as error:
            return _failure(began, error)


def _success(began: float, id: Any) -> Step:
    return {"ok": True, "ms": (time.perf_counter() - began) * 1000, "value": {} if id is None else {"id": id}}


def _failure(began: float, error: Exception) -> Step:
    return {"error": str(error) or type(error).__name__, "ms": (time.perf_counter() - began) * 1000}


def main() -> None:
    """Carries out steps until the runner sends `exit`."""
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    url = f"{os.environ['CONFORMANCE_URL'].rstrip('/')}/next"
    driver = Driver("--async" in sys.argv)
    result: Step | None = None
    while True:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(url, json.dumps(result).encode(), headers)
        with urllib.request.urlopen(request) as response:
            step = json.load(response)
        if step["step"] == "exit":
            return
        try:
            result = driver.carry_out(step)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()

"""Turns the requests that a library sends into reports."""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from .backstop_api import new_key
from .problems import OnProblem, Problem
from .report import REPEAT_WITHIN_MS, Report, ReportBody, iso_time, now_ms
from .report_queue import ReportQueue
from .watched_sdks.sdk import IN_ANSWER, Failure, ProviderCall, Route, SentRequest

T = TypeVar("T")

_MOST_REPEATABLE = 1_000


@dataclass(frozen=True)
class WatchedCall:
    """A refund or cancellation that a reporter is about to report."""

    method: str
    """The method of the library that makes such requests, as Backstop names it, e.g. `refunds.create`."""
    kind: Literal["refund", "cancellation"]
    subject: str
    """The payment or subscription."""
    amount: int | None
    """Minor units; None if the request does not say it."""
    currency: str | None
    account: str | None
    """The account that the request is for: the header `Stripe-Account`, or else `Stripe-Context`."""


@dataclass(frozen=True)
class RecorderOptions:
    """`wait_ms` is the longest wait of a request for its report."""

    routes: Sequence[Route]
    queue: ReportQueue
    wait_ms: float
    connection_id: str | Callable[[WatchedCall], str | None]
    run_id: str | Callable[[], str | None] | None
    on_problem: OnProblem


class Recorder:
    """Reports requests. No function raises."""

    def __init__(self, options: RecorderOptions) -> None:
        self.options = options
        self.repeatable = _Repeatable()
        self.is_prompt = True
        """True if the last report was delivered in time. While Backstop is slow or down, requests do not wait."""
        self._routes = options.routes

    def stop(self) -> None:
        """Ends the reporting, also for clients that were made from the watched client."""
        self._routes = ()

    def begin(self, verb: str, url: str, read: Callable[[], SentRequest]) -> ReportedRequest | None:
        """Begins to report a request that is about to be sent. Returns None if it is not reported.

        `read` reads the request, and is called only for requests that can refund or cancel.
        """
        match = self.attempt(url, lambda: _find_route(self._routes, verb, url))
        if match is None:
            return None
        route, id, path = match
        return self.attempt(route.name, lambda: self._begin(route, id, f"{route.verb} {path}", read()))

    def _begin(self, route: Route, id: str, where: str, request: SentRequest) -> ReportedRequest | None:
        found = route.read(id, request.params, None)
        if found is None:
            return None
        given = request.idempotency_key if route.idempotent_by == "key" else None
        repeated_as = f"{where} {request.account or ''}" if route.idempotent_by == "path" else given
        earlier = self.repeatable.find(repeated_as)
        key = given or earlier or new_key()
        before = None if found == IN_ANSWER else self.common(route, request, found, key)
        if found != IN_ANSWER and before is None:
            return None
        if route.idempotent_by == "key" and given is None and request.add_key is not None:
            request.add_key(key)
        reported = ReportedRequest(self, route, id, request, before, key, repeated_as or key)
        if before is not None:
            reported.report_begin(is_repeat=earlier is not None)
        return reported

    def common(self, route: Route, request: SentRequest, found: ProviderCall, key: str) -> ReportBody | None:
        """The fields that all reports of an operation have; None for a call of no connection."""
        call = WatchedCall(route.name, found.kind, found.subject, found.amount, found.currency, request.account)
        connection_id, run_id = self.options.connection_id, self.options.run_id
        connection = connection_id(call) if callable(connection_id) else connection_id
        if connection is None:
            return None
        run = run_id() if callable(run_id) else run_id
        if not isinstance(connection, str) or not isinstance(run, str | None):
            raise TypeError("connection_id and run_id: return a text or None")
        body: ReportBody = {
            "connection_id": connection,
            "kind": found.kind,
            "subject": found.subject,
            "idempotency_key": key,
            "state": "executing",
        }
        if found.amount is not None:
            body["amount"] = found.amount
        if found.currency is not None:
            body["currency"] = found.currency.lower()
        if run is not None:
            body["run_id"] = run
        return body

    def attempt(self, method: str, work: Callable[[], T]) -> T | None:
        """Runs code of the reporter, whose errors must not reach the caller."""
        try:
            return work()
        except Exception as error:
            self.options.on_problem(Problem("unreadable", error, method=method))
            return None


class ReportedRequest:
    """One request that is reported. No function raises."""

    def __init__(
        self,
        recorder: Recorder,
        route: Route,
        id: str,
        request: SentRequest,
        before: ReportBody | None,
        key: str,
        repeated_as: str,
    ) -> None:
        self._recorder = recorder
        self._route = route
        self._id = id
        self._request = request
        self._before = before
        self._key = key
        self._repeated_as = repeated_as
        self._began = iso_time(now_ms())
        self._delivery: Future[bool] | None = None

    def report_begin(self, is_repeat: bool) -> None:
        """Reports the request before it is sent."""
        recorder, before = self._recorder, self._before
        if before is None:
            return
        report = Report({**before, "executing_at": self._began})
        started_at = time.monotonic()
        delivery = recorder.attempt(self._route.name, lambda: recorder.options.queue.add(report))
        if delivery is None:
            return
        may_wait = recorder.is_prompt and not is_repeat

        def note(done: Future[bool]) -> None:
            recorder.is_prompt = done.result() and (time.monotonic() - started_at) * 1000 <= recorder.options.wait_ms

        delivery.add_done_callback(note)
        # A library may repeat a request several times, and its call must wait for one report only.
        self._delivery = delivery if may_wait else None

    def wait(self) -> None:
        """Returns when the request may be sent."""
        if self._delivery is None:
            return
        try:
            self._delivery.result(self._recorder.options.wait_ms / 1000)
        except concurrent.futures.TimeoutError:
            self._recorder.is_prompt = False

    async def wait_async(self) -> None:
        """Returns when the request may be sent. Without an event loop of asyncio it does not wait."""
        if self._delivery is None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        waiting = asyncio.wrap_future(self._delivery, loop=loop)
        done, _ = await asyncio.wait([waiting], timeout=self._recorder.options.wait_ms / 1000)
        if not done:
            self._recorder.is_prompt = False

    def succeed(self, answer: Any, request_id: str | None = None) -> None:
        """Reports the answer of the provider. `request_id` is the id that the answer gives the request."""
        self._attempt(lambda: self._succeed(answer, request_id))

    def fail(self, failure: Failure, request_id: str | None = None) -> None:
        """Reports that the request failed."""
        self._attempt(lambda: self._fail(failure, request_id))

    def try_to_read(self, work: Callable[[], None]) -> None:
        """Runs code that reads an answer. Its error is a problem of the reporter, and not of the call."""
        self._attempt(work)

    def _attempt(self, work: Callable[[], None]) -> None:
        self._recorder.attempt(self._route.name, work)

    def _succeed(self, answer: Any, request_id: str | None) -> None:
        self._recorder.repeatable.forget(self._repeated_as)
        common = self._before
        if common is None:
            known = self._route.read(self._id, self._request.params, answer)
            if not isinstance(known, ProviderCall):
                return
            common = self._recorder.common(self._route, self._request, known, self._key)
        if common is None:
            return
        outcome = self._route.read_outcome(answer)
        body: ReportBody = {**common, "state": outcome.state}
        if outcome.provider_ref is not None:
            body["provider_ref"] = outcome.provider_ref
        self._report_end(body, request_id, None)

    def _fail(self, failure: Failure, request_id: str | None) -> None:
        until_ms = now_ms() + REPEAT_WITHIN_MS
        if failure.is_refusal:
            self._recorder.repeatable.forget(self._repeated_as)
        elif self._route.idempotent_by != "nothing":
            self._recorder.repeatable.add(self._repeated_as, self._key, until_ms)
        if self._before is not None:
            body: ReportBody = {**self._before, "state": "failed", "reason": failure.reason}
            self._report_end(body, request_id, None if failure.is_refusal else until_ms)

    def _report_end(self, body: ReportBody, request_id: str | None, not_before_ms: float | None) -> None:
        body["executing_at"] = self._began
        if body["state"] != "awaiting_review":
            body["ended_at"] = iso_time(now_ms())
        if request_id is not None:
            body["provider_request_id"] = request_id
        self._recorder.options.queue.add(Report(body, not_before_ms))


def _find_route(routes: Sequence[Route], verb: str, url: str) -> tuple[Route, str, str] | None:
    path = urlsplit(url).path
    for route in routes:
        match = route.path.search(path) if route.verb == verb.upper() else None
        if match is not None:
            return route, unquote(match[1]) if match.re.groups else "", path
    return None


class _Repeatable:
    """Remembers the requests that failed temporarily, so that a repeat of one is the same operation.

    Each step is one operation of a dict, which threads may make at the same time.
    """

    def __init__(self) -> None:
        self._requests: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def find(self, name: str | None) -> str | None:
        known = self._requests.get(name) if name is not None else None
        return known[0] if known is not None and known[1] > now_ms() else None

    def forget(self, name: str) -> None:
        self._requests.pop(name, None)

    def add(self, name: str, key: str, until_ms: float) -> None:
        if len(self._requests) >= _MOST_REPEATABLE:
            self._requests.popitem(last=False)
        self._requests[name] = (key, until_ms)

"""The requests of `chargebee` are watched at the function through which each of its calls passes."""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..recorder import Recorder, ReportedRequest
from .sdk import (
    Failure,
    Outcome,
    ProviderCall,
    Route,
    SentRequest,
    amount_at,
    failure_of_answer,
    failure_of_error,
    header_at,
    text_at,
)
from .sending import send_reported, send_reported_async

_KEY = "chargebee-idempotency-key"
_FAILED = ("failure", "timeout", "late_failure", "voided")


def _refund(name: str, path: str, amount_name: str) -> Route:
    """`amount_name` is the name of the amount in the form."""
    return Route(
        name,
        "POST",
        re.compile(path),
        lambda subject, params, _answer: ProviderCall("refund", subject, amount_at(params, amount_name)),
        _refund_outcome,
        "key",
    )


def _refund_outcome(answer: Any) -> Outcome:
    has_failed = text_at(answer, "transaction.status") in _FAILED
    provider_ref = text_at(answer, "transaction.id") or text_at(answer, "credit_note.id")
    return Outcome("failed" if has_failed else "completed", provider_ref)


def _cancellation(name: str, path: str) -> Route:
    return Route(
        name,
        "POST",
        re.compile(path),
        lambda subject, _params, _answer: ProviderCall("cancellation", subject),
        lambda _answer: Outcome("completed"),
        "key",
    )


class ChargebeeSdk:
    """`chargebee`: a client of version 3, or the module of version 2, whose calls use its configuration."""

    # The library sends the slashes of an id as they are.
    routes = (
        _refund("invoice.refund", r"/invoices/(.+)/refund$", "refund_amount"),
        _refund("invoice.recordRefund", r"/invoices/(.+)/record_refund$", "transaction[amount]"),
        _refund("creditNote.refund", r"/credit_notes/(.+)/refund$", "refund_amount"),
        _refund("creditNote.recordRefund", r"/credit_notes/(.+)/record_refund$", "transaction[amount]"),
        _refund("transaction.refund", r"/transactions/(.+)/refund$", "amount"),
        _refund("transaction.recordRefund", r"/transactions/(.+)/record_refund$", "amount"),
        _cancellation("subscription.cancel", r"/subscriptions/(.+)/cancel$"),
        _cancellation("subscription.cancelForItems", r"/subscriptions/(.+)/cancel_for_items$"),
        _cancellation("subscription.delete", r"/subscriptions/(.+)/delete$"),
    )

    def recognises(self, client: Any) -> bool:
        """True for a client of version 3 and the module of version 2."""
        if _http_module() is None:
            return False
        if isinstance(client, ModuleType):
            return client.__name__ == "chargebee" and hasattr(client, "configure")
        return callable(getattr(getattr(client, "env", None), "api_url", None))

    def watch_requests(self, client: Any, recorder: Recorder) -> Callable[[], None]:
        """Watches the requests with the environment of a client, or all that no client has."""
        env = None if isinstance(client, ModuleType) else client.env
        entry = (env, recorder)
        with _watching.lock:
            _watching.entries.append(entry)
            _watching.replace_request()

        def stop() -> None:
            with _watching.lock:
                _watching.entries.remove(entry)

        return stop


def _http_module() -> Any:
    module = sys.modules.get("chargebee.http_request")
    return module if callable(getattr(module, "request", None)) else None


class _Watching:
    """The one function `request` of the library, which has no HTTP client of its own for each client."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.entries: list[tuple[Any, Recorder]] = []
        self._replaced: Any = None

    def replace_request(self) -> None:
        """Replaces the function once. It stays replaced, because another tool may have replaced it since."""
        module = _http_module()
        if self._replaced is not None and self._replaced is module:
            return
        self._replaced = module
        original = module.request
        signature = inspect.signature(original)

        def request(*args: Any, **kwargs: Any) -> Any:
            if not self.entries:
                return original(*args, **kwargs)
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return original(*args, **kwargs)
            given = bound.arguments
            recorder = self._recorder_of(given.get("env"))

            def begin() -> ReportedRequest | None:
                if recorder is None:
                    return None
                return recorder.begin(str(given["method"]), str(given["url"]), lambda: _read_request(given))

            def send() -> Any:
                return original(*bound.args, **bound.kwargs)

            if given.get("use_async_client"):
                return _send_async(send, begin)
            return send_reported(send, begin(), _report_answer, _read_error)

        module.request = request

    def _recorder_of(self, env: Any) -> Recorder | None:
        entries = list(self.entries)
        own = (recorder for other, recorder in entries if other is not None and other is env)
        of_module = (recorder for other, recorder in entries if other is None)
        return next(own, None) or next(of_module, None)


_watching = _Watching()


async def _send_async(send: Callable[[], Any], begin: Callable[[], ReportedRequest | None]) -> Any:
    return await send_reported_async(send, begin(), _report_answer, _read_error)


def _read_request(given: dict[str, Any]) -> SentRequest:
    headers = given.get("headers")

    def add_key(key: str) -> None:
        # A copy, because the caller may use the same headers for another call.
        given["headers"] = {**(headers or {}), _KEY: key}

    return SentRequest(given.get("params"), None, header_at(headers, _KEY), add_key)


def _report_answer(response: Any, reported: ReportedRequest) -> None:
    reported.succeed(response[0])


def _read_error(error: BaseException) -> Failure:
    """The library raises each answer with an error. Without `api_error_code` its error has no status."""
    status = getattr(error, "http_status_code", None)
    if not isinstance(status, int):
        return failure_of_error(error)
    return failure_of_answer(status, text_at(getattr(error, "json_obj", None), "message"))

"""The requests of `stripe` are watched at its HTTP client, so every form of a call is read as it is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from ..recorder import Recorder, ReportedRequest
from .sdk import (
    Failure,
    SentRequest,
    failure_of_answer,
    form_fields,
    header_at,
    text_at,
)
from .sending import send_reported, send_reported_async
from .stripe_routes import STRIPE_ROUTES
from .twin import twin_of

_KEY = "Idempotency-Key"
_PARAMETERS = ("method", "url", "headers", "post_data")


class StripeSdk:
    """`stripe`, version 8 or newer: a `StripeClient`, or the module for calls like `stripe.Refund.create`."""

    routes = STRIPE_ROUTES

    def recognises(self, client: Any) -> bool:
        """True for a StripeClient and for the module."""
        if isinstance(client, ModuleType):
            return client.__name__ == "stripe" and hasattr(_requestor_class(client), "_get_http_client")
        return callable(getattr(getattr(getattr(client, "_requestor", None), "_client", None), "request", None))

    def watch_requests(self, client: Any, recorder: Recorder) -> Callable[[], None]:
        """Watches the HTTP client of a StripeClient, or each HTTP client that the module uses for its own calls."""
        if isinstance(client, ModuleType):
            return _watch_module(client, recorder)
        requestor = client._requestor
        original = requestor._client
        watching = requestor._client = _watching(original, recorder)

        def stop() -> None:
            if requestor._client is watching:
                requestor._client = original

        return stop


def _requestor_class(module: ModuleType) -> Any:
    return getattr(getattr(module, "_api_requestor", None), "_APIRequestor", None)


def _watch_module(module: ModuleType, recorder: Recorder) -> Callable[[], None]:
    """The module makes its HTTP client at its first call, and a program may replace it."""
    requestor = _requestor_class(module)
    original = requestor._get_http_client
    last: tuple[Any, Any] = (None, None)

    def get_http_client(self: Any) -> Any:
        nonlocal last
        found = original(self)
        if self._client is not None:
            return found
        known, watching = last
        if known is not found:
            watching = _watching(found, recorder)
            last = (found, watching)
        return watching

    requestor._get_http_client = get_http_client

    def stop() -> None:
        if requestor._get_http_client is get_http_client:
            requestor._get_http_client = original

    return stop


def _watching(original: Any, recorder: Recorder) -> Any:
    def request(*args: Any, **kwargs: Any) -> Any:
        reported = _begin(recorder, args, kwargs)
        return send_reported(lambda: original.request(*args, **kwargs), reported, _report_answer)

    async def request_async(*args: Any, **kwargs: Any) -> Any:
        reported = _begin(recorder, args, kwargs)
        return await send_reported_async(lambda: original.request_async(*args, **kwargs), reported, _report_answer)

    return twin_of(original, {"request": request, "request_async": request_async})


def _begin(recorder: Recorder, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ReportedRequest | None:
    given = {**dict(zip(_PARAMETERS, args, strict=False)), **kwargs}
    verb, url = given.get("method"), given.get("url")
    if not isinstance(verb, str) or not isinstance(url, str):
        return None
    return recorder.begin(verb, url, lambda: _read_request(url, given.get("headers"), given.get("post_data")))


def _read_request(url: str, headers: Any, body: Any) -> SentRequest:
    return SentRequest(
        form_fields(urlsplit(url).query, body),
        header_at(headers, "Stripe-Account") or header_at(headers, "Stripe-Context"),
        header_at(headers, _KEY),
        # The library sends the same headers when it repeats the request.
        lambda key: headers.__setitem__(_KEY, key),
    )


def _report_answer(response: Any, reported: ReportedRequest) -> None:
    body, status, headers = response
    # A repeated answer names the request that was executed.
    request_id = header_at(headers, "Original-Request") or header_at(headers, "Request-Id")
    try:
        answer = json.loads(body)
    except ValueError as error:
        failure = Failure(False, f"The answer is no JSON: {error}"[:500])
        reported.fail(failure if status < 400 else failure_of_answer(status, None), request_id)
        return
    if 200 <= status < 300:
        reported.succeed(answer, request_id)
    else:
        message = text_at(answer, "error.message") or text_at(answer, "error_description")
        reported.fail(failure_of_answer(status, message), request_id)

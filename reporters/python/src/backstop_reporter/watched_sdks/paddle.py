"""The requests of `paddle-python-sdk` are watched at its session of `requests`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ..recorder import Recorder, ReportedRequest
from .sdk import (
    Failure,
    InAnswer,
    Outcome,
    ProviderCall,
    Route,
    SentRequest,
    amount_at,
    failure_of_answer,
    failure_of_error,
    text_at,
    value_at,
)
from .sending import send_reported
from .twin import twin_of

_PARAMETERS = ("method", "url", "params", "data")


def _read_adjustment(_id: str, params: Any, _answer: Any) -> ProviderCall | InAnswer | None:
    subject = text_at(params, "transaction_id")
    if text_at(params, "action") != "refund" or subject is None:
        return None
    return ProviderCall("refund", subject, _amount_of_items(params))


def _amount_of_items(params: Any) -> int | None:
    """The sum of the items' amounts, if each item has one and the amounts include tax, as the refunded total does."""
    items = value_at(params, "items")
    if not isinstance(items, list) or not items or text_at(params, "tax_mode") == "external":
        return None
    amounts = [amount_at(item, "amount") if text_at(item, "type") == "partial" else None for item in items]
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _adjustment_outcome(answer: Any) -> Outcome:
    provider_ref = text_at(answer, "data.id")
    match text_at(answer, "data.status"):
        case "pending_approval":
            return Outcome("awaiting_review", provider_ref)
        case "rejected":
            return Outcome("rejected", provider_ref)
        case _:
            return Outcome("completed", provider_ref)


class PaddleSdk:
    """`paddle-python-sdk`, version 1. The API has no idempotency keys."""

    routes = (
        Route(
            "adjustments.create",
            "POST",
            re.compile(r"^/adjustments$"),
            _read_adjustment,
            _adjustment_outcome,
            "nothing",
        ),
        Route(
            "subscriptions.cancel",
            "POST",
            re.compile(r"^/subscriptions/([^/]+)/cancel$"),
            lambda id, _params, _answer: ProviderCall("cancellation", id),
            lambda _answer: Outcome("completed"),
            "nothing",
        ),
    )

    def recognises(self, client: Any) -> bool:
        """True for a client of `paddle_billing`."""
        has_session = callable(getattr(getattr(client, "client", None), "request", None))
        return has_session and hasattr(client, "adjustments") and callable(getattr(client, "post_raw", None))

    def watch_requests(self, client: Any, recorder: Recorder) -> Callable[[], None]:
        """Watches the session of a client."""
        original = client.client

        def request(*args: Any, **kwargs: Any) -> Any:
            given = {**dict(zip(_PARAMETERS, args, strict=False)), **kwargs}
            verb, url = str(given.get("method")), str(given.get("url"))
            reported = recorder.begin(verb, url, lambda: SentRequest(json.loads(given.get("data") or "null")))
            return send_reported(lambda: original.request(*args, **kwargs), reported, _report_answer)

        watching = client.client = twin_of(original, {"request": request})

        def stop() -> None:
            if client.client is watching:
                client.client = original

        return stop


def _report_answer(response: Any, reported: ReportedRequest) -> None:
    status = response.status_code
    try:
        answer = json.loads(response.text)
    except ValueError as error:
        reported.fail(failure_of_error(error) if status < 400 else failure_of_answer(status, None))
        return
    refusal = value_at(answer, "error")
    if refusal is not None:
        reported.fail(_read_failure(refusal))
    elif status < 400:
        reported.succeed(answer)
    else:
        reported.fail(failure_of_answer(status, None))


def _read_failure(error: Any) -> Failure:
    is_refusal = text_at(error, "type") == "request_error" and text_at(error, "code") != "too_many_requests"
    return Failure(is_refusal, (text_at(error, "detail") or text_at(error, "code") or "unknown error")[:500])

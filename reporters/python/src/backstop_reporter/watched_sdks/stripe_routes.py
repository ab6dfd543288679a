"""The requests that refund or cancel at Stripe."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .sdk import IN_ANSWER, InAnswer, Outcome, ProviderCall, Route, amount_at, id_at, text_at

_Read = Callable[[str, Any, Any], ProviderCall | InAnswer | None]


def _refund_outcome(answer: Any) -> Outcome:
    has_failed = text_at(answer, "status") in ("failed", "canceled")
    return Outcome("failed" if has_failed else "completed", id_at(answer, "id"))


def _completed(_answer: Any) -> Outcome:
    return Outcome("completed")


def _cancellation_of(subject: str | None) -> ProviderCall | None:
    return None if subject is None else ProviderCall("cancellation", subject)


def _is_set(params: Any, name: str) -> bool:
    """The API takes `false` and the empty text as unset."""
    value = text_at(params, name)
    return value is not None and value.lower() != "false"


def _sets_end(params: Any) -> bool:
    """True if the parameters of a subscription set its end."""
    return _is_set(params, "cancel_at_period_end") or _is_set(params, "cancel_at")


def _ends_with_schedule(schedule: Any) -> bool:
    return text_at(schedule, "end_behavior") == "cancel"


def _cancellation_by_schedule(schedule: Any) -> ProviderCall | None:
    """The subscription of a schedule that ends it. The subscription may begin later."""
    if not _ends_with_schedule(schedule):
        return None
    return _cancellation_of(id_at(schedule, "subscription") or text_at(schedule, "id"))


def _schedule_outcome(schedule: Any) -> Outcome:
    return Outcome("completed", id_at(schedule, "subscription"))


def _payment_at(value: Any) -> str | None:
    return id_at(value, "payment_intent") or id_at(value, "charge")


def _read_refund(_id: str, params: Any, answer: Any) -> ProviderCall | InAnswer | None:
    subject = _payment_at(params) or text_at(params, "customer") or _payment_at(answer)
    if subject is None:
        return IN_ANSWER if answer is None else None
    return ProviderCall("refund", subject, amount_at(params, "amount"), text_at(params, "currency"))


def _read_refund_of_charge(charge: str, params: Any, _answer: Any) -> ProviderCall:
    """The charge is in the path."""
    return ProviderCall("refund", charge, amount_at(params, "amount"))


def _refund_of_note(answer: Any) -> str | None:
    """The refund that a credit note made: in `refunds`, or in `refund` before API version 2025-03-31."""
    return id_at(answer, "refunds.0.refund") or id_at(answer, "refund")


def _read_credit_note(_id: str, params: Any, answer: Any) -> ProviderCall | InAnswer | None:
    # Only the answer names the refund, and no event of the refund names the invoice.
    amount = amount_at(params, "refund_amount")
    if not amount:
        return None
    if answer is None:
        return IN_ANSWER
    subject = _refund_of_note(answer)
    return None if subject is None else ProviderCall("refund", subject, amount, text_at(answer, "currency"))


def _read_release(id: str, _params: Any, answer: Any) -> ProviderCall | InAnswer | None:
    # An authorization that is released counts as refunded. A payment that was never authorized has no charge.
    if answer is None:
        return IN_ANSWER
    return None if id_at(answer, "latest_charge") is None else ProviderCall("refund", id)


def _read_reader_refund(_id: str, params: Any, _answer: Any) -> ProviderCall | None:
    subject = _payment_at(params)
    return None if subject is None else ProviderCall("refund", subject, amount_at(params, "amount"))


def _read_cancellation(id: str, _params: Any, _answer: Any) -> ProviderCall | None:
    return _cancellation_of(id)


def _read_update(id: str, params: Any, _answer: Any) -> ProviderCall | None:
    return _cancellation_of(id) if _sets_end(params) else None


def _read_new_subscription(_id: str, params: Any, answer: Any) -> ProviderCall | InAnswer | None:
    if not _sets_end(params):
        return None
    return IN_ANSWER if answer is None else _cancellation_of(text_at(answer, "id"))


def _read_new_schedule(_id: str, _params: Any, answer: Any) -> ProviderCall | InAnswer | None:
    return IN_ANSWER if answer is None else _cancellation_by_schedule(answer)


def _read_schedule_update(_id: str, params: Any, answer: Any) -> ProviderCall | InAnswer | None:
    has_phases = any(name.startswith("phases[") for name in params)
    if not has_phases and not _ends_with_schedule(params):
        return None
    return _read_new_schedule(_id, params, answer)


def _post(name: str, path: str, read: _Read, read_outcome: Callable[[Any], Outcome] = _completed) -> Route:
    return Route(name, "POST", re.compile(f"^/v1/{path}$"), read, read_outcome, "key")


def _delete(name: str, path: str, read: _Read) -> Route:
    # The API ignores idempotency keys of a DELETE.
    return Route(name, "DELETE", re.compile(f"^/v1/{path}$"), read, _completed, "path")


def _charge_outcome(charge: Any) -> Outcome:
    # The oldest way to refund answers with the charge, whose newest refund is the first.
    return Outcome("completed", id_at(charge, "refunds.data.0"))


STRIPE_ROUTES = (
    _post("refunds.create", "refunds", _read_refund, _refund_outcome),
    _post("charges.refunds.create", "charges/([^/]+)/refunds", _read_refund_of_charge, _refund_outcome),
    _post("charges.refund", "charges/([^/]+)/refund", _read_refund_of_charge, _charge_outcome),
    _post(
        "creditNotes.create",
        "credit_notes",
        _read_credit_note,
        lambda note: Outcome("completed", _refund_of_note(note)),
    ),
    _post("paymentIntents.cancel", "payment_intents/([^/]+)/cancel", _read_release),
    _post(
        "terminal.readers.refundPayment",
        "terminal/readers/([^/]+)/refund_payment",
        _read_reader_refund,
        lambda reader: Outcome("completed", id_at(reader, "action.refund_payment.refund")),
    ),
    _delete("subscriptions.cancel", "subscriptions/([^/]+)", _read_cancellation),
    _delete("subscriptions.cancel", "customers/[^/]+/subscriptions/([^/]+)", _read_cancellation),
    _post("subscriptions.update", "subscriptions/([^/]+)", _read_update),
    _post("subscriptions.update", "customers/[^/]+/subscriptions/([^/]+)", _read_update),
    _post("subscriptions.create", "subscriptions", _read_new_subscription),
    _post("subscriptions.create", "customers/[^/]+/subscriptions", _read_new_subscription),
    _post("subscriptionSchedules.create", "subscription_schedules", _read_new_schedule, _schedule_outcome),
    _post("subscriptionSchedules.update", "subscription_schedules/([^/]+)", _read_schedule_update, _schedule_outcome),
    _post(
        "subscriptionSchedules.cancel", "subscription_schedules/([^/]+)/cancel", _read_cancellation, _schedule_outcome
    ),
)

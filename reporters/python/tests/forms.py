"""Forms of the calls of the libraries, what a reporter says of each, and what the provider answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from servers import Answer, Body, Request


@dataclass(frozen=True)
class Form:
    """`reported` is the last report without connection, key and times; None if there must be none."""

    name: str
    call: Callable[[Any], Any]
    reported: Body | None
    failing: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name


def refund(**more: Any) -> Body:
    return {"kind": "refund", "subject": "pi_1", "amount": 500, "state": "completed", "provider_ref": "re_1", **more}


def cancellation(**more: Any) -> Body:
    return {"kind": "cancellation", "subject": "sub_1", "state": "completed", **more}


def without(body: Body, *names: str) -> Body:
    return {name: value for name, value in body.items() if name not in names}


REFUSED = without(refund(amount=666, state="failed", reason="Too much"), "provider_ref")
P = {"payment_intent": "pi_1", "amount": 500}

STRIPE: list[Form] = [
    Form("parameters", lambda c: c.refunds.create(dict(P)), refund()),
    Form("amount as a text", lambda c: c.refunds.create({**P, "amount": "500"}), refund()),
    Form(
        "nested parameters and letters outside of ASCII",
        lambda c: c.refunds.create({**P, "metadata": {"a&b": "ä=€ 1"}, "expand": ["charge"]}),
        refund(),
    ),
    Form("a charge", lambda c: c.refunds.create({"charge": "ch_1"}), without(refund(subject="ch_1"), "amount")),
    Form(
        "a cash balance",
        lambda c: c.refunds.create(
            {"customer": "cus_1", "amount": 500, "currency": "EUR", "origin": "customer_balance"}
        ),
        refund(subject="cus_1", currency="eur"),
    ),
    Form("no parameters", lambda c: c.refunds.create(), without(refund(), "amount")),
    Form(
        "key, account and retries",
        lambda c: c.refunds.create(
            dict(P), {"idempotency_key": "k-1", "stripe_account": "acct_1", "max_network_retries": 2}
        ),
        refund(),
    ),
    Form("another API key", lambda c: c.refunds.create(dict(P), {"api_key": "sk_other"}), refund()),
    Form("own headers", lambda c: c.refunds.create(dict(P), {"headers": {"X-Trace": "1"}}), refund()),
    Form("a refusal", lambda c: c.refunds.create({**P, "amount": 666}), REFUSED),
    Form("a failed refund", lambda c: c.refunds.create({**P, "amount": 777}), refund(amount=777, state="failed")),
    Form("a repeat", lambda c: c.refunds.create(dict(P), {"max_network_retries": 1}), refund(), (500,)),
    Form(
        "a repeated cancellation",
        lambda c: c.subscriptions.cancel("sub_1", {}, {"max_network_retries": 1}),
        cancellation(),
        (503,),
    ),
    Form("a cancellation", lambda c: c.subscriptions.cancel("sub_1"), cancellation()),
    Form("with parameters", lambda c: c.subscriptions.cancel("sub_1", {"prorate": True}), cancellation()),
    Form("an id with signs", lambda c: c.subscriptions.cancel("sub_1/2"), cancellation(subject="sub_1/2")),
    Form(
        "an end with the period",
        lambda c: c.subscriptions.update("sub_1", {"cancel_at_period_end": True}),
        cancellation(),
    ),
    Form("an end at a time", lambda c: c.subscriptions.update("sub_1", {"cancel_at": 1_900_000_000}), cancellation()),
    Form("no end", lambda c: c.subscriptions.update("sub_1", {"cancel_at_period_end": False}), None),
    Form("an end that is unset", lambda c: c.subscriptions.update("sub_1", {"cancel_at": ""}), None),
    Form(
        "a new subscription with an end",
        lambda c: c.subscriptions.create({"customer": "cus_1", "cancel_at_period_end": True}),
        cancellation(),
    ),
    Form(
        "a credit note with a refund",
        lambda c: c.credit_notes.create({"invoice": "in_1", "refund_amount": 500}),
        refund(subject="re_1", currency="eur"),
    ),
    Form("a credit note", lambda c: c.credit_notes.create({"invoice": "in_1", "refund_amount": 0}), None),
    Form(
        "a released authorization",
        lambda c: c.payment_intents.cancel("pi_1"),
        without(refund(), "amount", "provider_ref"),
    ),
    Form(
        "a refund at a card reader",
        lambda c: c.terminal.readers.refund_payment("tmr_1", dict(P)),
        refund(),
    ),
    Form(
        "a schedule that ends",
        lambda c: c.subscription_schedules.update("sub_sched_1", {"end_behavior": "cancel"}),
        cancellation(provider_ref="sub_1"),
    ),
    Form(
        "a new schedule",
        lambda c: c.subscription_schedules.create({"customer": "cus_1", "end_behavior": "cancel"}),
        cancellation(provider_ref="sub_1"),
    ),
    Form(
        "a cancelled schedule",
        lambda c: c.subscription_schedules.cancel("sub_sched_1"),
        cancellation(subject="sub_sched_1", provider_ref="sub_1"),
    ),
    Form("a list", lambda c: [it.id for it in c.refunds.list({"limit": 3}).auto_paging_iter()], None),
    Form("a refund that is read", lambda c: c.refunds.retrieve("re_1"), None),
    Form("a refund that is changed", lambda c: c.refunds.update("re_1", {"metadata": {"a": "1"}}), None),
]

STRIPE_RAW: list[Form] = [
    Form("a raw refund", lambda c: c.raw_request("post", "/v1/refunds", **P), refund()),
    Form("a raw cancellation", lambda c: c.raw_request("delete", "/v1/subscriptions/sub_1"), cancellation()),
    Form(
        "the old path of a cancellation",
        lambda c: c.raw_request("delete", "/v1/customers/cus_1/subscriptions/sub_1"),
        cancellation(),
    ),
    Form(
        "the old path of a refund",
        lambda c: c.raw_request("post", "/v1/charges/ch_1/refunds", amount=500),
        refund(subject="ch_1"),
    ),
    Form(
        "the oldest path of a refund",
        lambda c: c.raw_request("post", "/v1/charges/ch_1/refund", amount=500),
        refund(subject="ch_1"),
    ),
    Form("a raw request of version 2", lambda c: c.raw_request("post", "/v2/core/accounts", amount=1), None),
]

STRIPE_MODULE: list[Form] = [
    Form("a refund", lambda s: s.Refund.create(**P, idempotency_key="k-2", stripe_account="acct_1"), refund()),
    Form("a cancellation", lambda s: s.Subscription.cancel("sub_1"), cancellation()),
    Form("an object", lambda s: s.Subscription.retrieve("sub_1").cancel(), cancellation()),
    Form(
        "an end",
        lambda s: s.Subscription.modify("sub_1", cancel_at_period_end=True, api_key="sk_other"),
        cancellation(),
    ),
    Form("a refusal", lambda s: s.Refund.create(payment_intent="pi_1", amount=666), REFUSED),
    Form("a list", lambda s: s.Refund.list(limit=3).data, None),
]

_ASYNC = {"expand": ["charge"]}
STRIPE_ASYNC: list[Form] = [
    Form("a refund", lambda c: c.refunds.create_async({**P, **_ASYNC}), refund()),
    Form("a cancellation", lambda c: c.subscriptions.cancel_async("sub_1"), cancellation()),
    Form("a refusal", lambda c: c.refunds.create_async({**P, "amount": 666}), REFUSED),
    Form("a repeat", lambda c: c.refunds.create_async(dict(P), {"max_network_retries": 1}), refund(), (500,)),
    Form("a list", lambda c: c.refunds.list_async({"limit": 3}), None),
]


def answer_as_stripe(request: Request) -> Answer:
    path, _, _ = request.path.partition("?")
    if "amount=666" in request.body:
        return 400, {"error": {"type": "invalid_request_error", "message": "Too much"}}
    if request.method == "GET" and path == "/v1/refunds":
        return 200, {"object": "list", "data": [{"id": "re_1", "object": "refund"}], "has_more": False, "url": path}
    if "/refunds" in path:
        status = "failed" if "amount=777" in request.body else "succeeded"
        return 200, {"id": "re_1", "object": "refund", "status": status, "payment_intent": "pi_1"}
    if path.endswith("/refund"):
        return 200, {"id": "ch_1", "object": "charge", "refunds": {"data": [{"id": "re_1"}]}}
    if "credit_notes" in path:
        return 200, {"id": "cn_1", "object": "credit_note", "currency": "eur", "refunds": [{"refund": "re_1"}]}
    if "payment_intents" in path:
        return 200, {"id": "pi_1", "object": "payment_intent", "latest_charge": "ch_1"}
    if "readers" in path:
        return 200, {"id": "tmr_1", "object": "terminal.reader", "action": {"refund_payment": {"refund": "re_1"}}}
    if "subscription_schedules" in path:
        schedule = {"id": "sub_sched_1", "subscription": "sub_1", "end_behavior": "cancel"}
        return 200, {"object": "subscription_schedule", **schedule}
    return 200, {"id": "sub_1", "object": "subscription", "status": "canceled"}


def _adjustment(more: Body) -> Callable[[Any], Any]:
    body: Body = {"action": "refund", "reason": "r", "transaction_id": "txn_1", **more}

    def call(client: Any) -> Any:
        from paddle_billing.Entities import Shared
        from paddle_billing.Resources.Adjustments.Operations import CreateAdjustment, CreateAdjustmentItem

        if not hasattr(CreateAdjustment, "partial"):
            return client.post_raw("/adjustments", body).json()
        kind = Shared.AdjustmentActionType("partial")
        items = [CreateAdjustmentItem(item["item_id"], kind, item["amount"]) for item in body.get("items", [])]
        common = {**body, "action": Shared.Action(body["action"])}
        if "tax_mode" in body:
            common["tax_mode"] = Shared.AdjustmentTaxMode(body["tax_mode"])
        create = CreateAdjustment.partial(**{**common, "items": items}) if items else CreateAdjustment.full(**common)
        return client.adjustments.create(create)

    return call


def _paddle_item(amount: str) -> Body:
    return {"item_id": "txnitm_1", "type": "partial", "amount": amount}


def _cancel_paddle(client: Any) -> Any:
    from paddle_billing.Entities.Subscriptions import SubscriptionEffectiveFrom
    from paddle_billing.Resources.Subscriptions.Operations import CancelSubscription

    return client.post_raw("/subscriptions/sub_1/cancel", CancelSubscription(SubscriptionEffectiveFrom("immediately")))


_REVIEW = {"kind": "refund", "subject": "txn_1", "state": "awaiting_review", "provider_ref": "adj_1"}
_IN_PART = [_paddle_item("300"), _paddle_item("200")]

PADDLE: list[Form] = [
    Form("a refund in full", _adjustment({}), _REVIEW),
    Form("a refund in part", _adjustment({"items": _IN_PART}), {**_REVIEW, "amount": 500}),
    Form("an amount without tax", _adjustment({"items": _IN_PART, "tax_mode": "external"}), _REVIEW),
    Form(
        "a raw refund",
        lambda c: c.post_raw("/adjustments", {"action": "refund", "transaction_id": "txn_1"}).json(),
        _REVIEW,
    ),
    Form("a credit", _adjustment({"action": "credit"}), None),
    Form(
        "a refusal",
        _adjustment({"items": [_paddle_item("666")]}),
        {"kind": "refund", "subject": "txn_1", "amount": 666, "state": "failed", "reason": "Too much"},
    ),
    Form("a cancellation", lambda c: _cancel_paddle(c).json(), cancellation()),
    Form(
        "a cancellation without parameters",
        lambda c: c.post_raw("/subscriptions/sub_1/cancel").json(),
        cancellation(),
    ),
    Form("a subscription that is read", lambda c: c.get_raw("/subscriptions/sub_1").json(), None),
]


def answer_as_paddle(request: Request) -> Answer:
    if "666" in request.body:
        return 400, {"error": {"type": "request_error", "code": "too_much", "detail": "Too much"}, "meta": {}}
    totals = {name: "500" for name in ("subtotal", "tax", "total", "fee", "earnings", "retained_fee")}
    adjustment = {
        "id": "adj_1",
        "action": "refund",
        "type": "full",
        "status": "pending_approval",
        "transaction_id": "txn_1",
        "customer_id": "ctm_1",
        "reason": "r",
        "currency_code": "EUR",
        "items": [],
        "totals": {**totals, "currency_code": "EUR"},
        "created_at": "2026-01-01T00:00:00+00:00",
        "tax_rates_used": [],
    }
    data = adjustment if request.path.startswith("/adjustments") else {"id": "sub_1"}
    return 200, {"data": data, "meta": {"request_id": "r-1"}}


def _chargebee_refund(**more: Any) -> Body:
    return {"kind": "refund", "subject": "inv_1", "amount": 500, "state": "completed", "provider_ref": "txn_1", **more}


_KEYED = {"chargebee-idempotency-key": "k-1", "chargebee-request-origin-user": "agent-7"}

CHARGEBEE: list[Form] = [
    Form("a refund", lambda c: c.Invoice.refund("inv_1", {"refund_amount": 500}), _chargebee_refund()),
    Form("a refund of the rest", lambda c: c.Invoice.refund("inv_1"), without(_chargebee_refund(), "amount")),
    Form(
        "own headers",
        lambda c: c.Invoice.refund("inv_1", {"refund_amount": 500}, headers=dict(_KEYED)),
        _chargebee_refund(),
    ),
    Form(
        "a recorded refund",
        lambda c: c.Invoice.record_refund(
            "inv_1", {"transaction": {"amount": 500, "payment_method": "cash", "date": 1}}
        ),
        _chargebee_refund(),
    ),
    Form(
        "a credit note",
        lambda c: c.CreditNote.refund("cn_1", {"refund_amount": 500}),
        _chargebee_refund(subject="cn_1"),
    ),
    Form("a transaction", lambda c: c.Transaction.refund("t_1", {"amount": 500}), _chargebee_refund(subject="t_1")),
    Form(
        "an id with signs", lambda c: c.Invoice.refund("a b/c"), without(_chargebee_refund(subject="a b/c"), "amount")
    ),
    Form(
        "a refusal",
        lambda c: c.Invoice.refund("inv_1", {"refund_amount": 666}),
        without(_chargebee_refund(amount=666, state="failed", reason="Too much"), "provider_ref"),
    ),
    Form("a cancellation", lambda c: c.Subscription.cancel("sub_1", {"end_of_term": True}), cancellation()),
    Form(
        "a cancellation of items",
        lambda c: c.Subscription.cancel_for_items("sub_1", {"cancel_option": "immediately"}),
        cancellation(),
    ),
    Form("a subscription that is deleted", lambda c: c.Subscription.delete("sub_1"), cancellation()),
    Form("a subscription that is read", lambda c: c.Subscription.retrieve("sub_1"), None),
]


def answer_as_chargebee(request: Request) -> Answer:
    if "666" in request.body:
        code = {"api_error_code": "invalid_request", "error_code": "invalid_request", "type": "invalid_request"}
        return 400, {"message": "Too much", **code}
    if "subscriptions" in request.path:
        return 200, {"subscription": {"id": "sub_1", "object": "subscription"}, "customer": {"id": "cus_1"}}
    transaction = {"id": "txn_1", "object": "transaction", "status": "success"}
    return 200, {"transaction": transaction, "invoice": {"id": "inv_1"}, "credit_note": {"id": "cn_1"}}

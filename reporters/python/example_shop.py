"""The software of a shop that bills through three providers. It knows nothing of Backstop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from paddle_billing.Entities.Shared import Action, AdjustmentActionType
from paddle_billing.Entities.Subscriptions import SubscriptionEffectiveFrom
from paddle_billing.Resources.Adjustments.Operations import CreateAdjustment, CreateAdjustmentItem
from paddle_billing.Resources.Subscriptions.Operations import CancelSubscription


@dataclass(frozen=True)
class ShopClients:
    """A `stripe.StripeClient`, a `paddle_billing.Client` and a `chargebee.Chargebee`."""

    stripe: Any
    paddle: Any
    chargebee: Any


@dataclass(frozen=True)
class Purchases:
    """What the shop's customers bought, by the ids of the providers."""

    payments: tuple[str, str, str]
    """Payments to refund in whole, in part, and by the charge."""
    subscriptions: tuple[str, str, str]
    """Subscriptions to cancel now, later, and by a raw request."""
    transactions: tuple[str, str]
    """Transactions to refund in whole and in part."""
    item: str
    """The item of the second transaction."""
    resold: tuple[str, str]
    """Subscriptions to cancel now and later."""
    invoice: str
    credit_note: str
    billed: tuple[str, str]
    """Subscriptions to cancel now and later."""


def calls_of_shop(clients: ShopClients, bought: Purchases) -> list[Callable[[], Any]]:
    """The shop's refunds and cancellations, each of them one call of a library."""
    stripe, paddle, chargebee = clients.stripe, clients.paddle, clients.chargebee
    payments, subscriptions = bought.payments, bought.subscriptions
    refund, part = Action("refund"), AdjustmentActionType("partial")
    return [
        lambda: stripe.v1.refunds.create({"payment_intent": payments[0]}),
        lambda: stripe.v1.refunds.create({"payment_intent": payments[1], "amount": 700}),
        lambda: stripe.v1.refunds.create(
            {"charge": payments[2], "amount": 300}, {"idempotency_key": f"goodwill-{payments[2]}"}
        ),
        lambda: stripe.v1.subscriptions.cancel(subscriptions[0]),
        lambda: stripe.v1.subscriptions.update(subscriptions[1], {"cancel_at_period_end": True}),
        lambda: stripe.raw_request("delete", f"/v1/subscriptions/{subscriptions[2]}"),
        lambda: paddle.adjustments.create(
            CreateAdjustment.full(action=refund, reason="r", transaction_id=bought.transactions[0])
        ),
        lambda: paddle.adjustments.create(
            CreateAdjustment.partial(
                action=refund,
                reason="r",
                transaction_id=bought.transactions[1],
                items=[CreateAdjustmentItem(bought.item, part, "900")],
            )
        ),
        lambda: paddle.subscriptions.cancel(
            bought.resold[0], CancelSubscription(SubscriptionEffectiveFrom("immediately"))
        ),
        lambda: paddle.subscriptions.cancel(bought.resold[1], CancelSubscription()),
        lambda: chargebee.Invoice.refund(bought.invoice, {"refund_amount": 800}),
        lambda: chargebee.CreditNote.refund(bought.credit_note),
        lambda: chargebee.Subscription.cancel_for_items(bought.billed[0], {"cancel_option": "immediately"}),
        lambda: chargebee.Subscription.cancel_for_items(bought.billed[1], {"end_of_term": True}),
    ]

"""The shop in Python, with reporters beside its libraries. Reads orders as lines of JSON, and answers each with a line."""

from __future__ import annotations

import json
import sys
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import paddle_billing
import stripe
from chargebee import Chargebee
from chargebee.environment import Environment
from example_shop import Purchases, ShopClients, calls_of_shop

from backstop_reporter import watch

settings = json.loads(sys.argv[1])
key = settings["provider_key"]
biller = urlsplit(settings["subscription"]["url"])
site, _, Environment.chargebee_domain = biller.netloc.partition(".")
Environment.protocol = biller.scheme
Chargebee.verify_ca_certs = False
clients = ShopClients(
    stripe.StripeClient(key, base_addresses={"api": settings["processor"]["url"]}),
    paddle_billing.Client(key, paddle_billing.Options(SimpleNamespace(base_url=settings["reseller"]["url"]))),
    Chargebee(key, site),
)
watched = [
    (clients.stripe, settings["processor"]),
    (clients.paddle, settings["reseller"]),
    (clients.chargebee, settings["subscription"]),
]
reporters = [
    watch(
        client,
        base_url=settings["backstop_url"],
        key=settings["backstop_key"],
        connection_id=account["connection_id"],
        on_problem=lambda problem: None,
    )
    for client, account in watched
]


def make_calls(bought: dict) -> list[float]:
    """Refunds and cancels what was bought. Returns the milliseconds of each call."""
    durations = []
    for call in calls_of_shop(clients, Purchases(**bought)):
        began = time.perf_counter()
        call()
        durations.append((time.perf_counter() - began) * 1000)
    return durations


def counts() -> dict[str, int]:
    """The counts of all reporters together."""
    statuses = [reporter.status() for reporter in reporters]
    return {name: sum(getattr(status, name) for status in statuses) for name in ("queued", "dropped", "refused")}


for line in sys.stdin:
    order = json.loads(line)
    print(json.dumps(make_calls(order["bought"]) if order["do"] == "calls" else counts()), flush=True)
for reporter in reporters:
    reporter.close(1)

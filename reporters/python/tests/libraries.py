"""Opens clients of the libraries for a local provider."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest


def load(name: str) -> Any:
    """Imports a library. Skips the test where the library does not support this Python."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} needs a newer Python")
    return importlib.import_module(name)


def open_stripe(url: str, **more: Any) -> Any:
    stripe = load("stripe")
    stripe._http_client.HTTPClient.INITIAL_DELAY = 0.001
    stripe.max_network_retries = 0
    addresses = {name: url for name in ("api", "connect", "files", "meter_events")}
    return stripe.StripeClient("sk_test_1", base_addresses=addresses, **more)


@contextmanager
def stripe_module(url: str) -> Iterator[Any]:
    """The module `stripe` for calls like stripe.Refund.create, as a program sets it up."""
    stripe = load("stripe")
    before = stripe.api_base
    stripe.api_key, stripe.api_base, stripe.max_network_retries = "sk_test_1", url, 0
    stripe.default_http_client = None
    yield stripe
    stripe.api_key, stripe.api_base, stripe.default_http_client = None, before, None


def open_paddle(url: str) -> Any:
    paddle = load("paddle_billing")
    return paddle.Client("pdl", paddle.Options(SimpleNamespace(base_url=url)))


def open_chargebee(port: int, **more: Any) -> Any:
    """A client of version 3, or the module of version 2."""
    chargebee = load("chargebee")
    # The address of a site is <site>.<domain>.
    site, domain = "127", f"0.0.1:{port}"
    if hasattr(chargebee, "configure"):
        main = importlib.import_module("chargebee.main")
        main.ChargeBee.verify_ca_certs = False
        main.Environment.chargebee_domain, main.Environment.protocol = domain, "http"
        chargebee.configure("key", site)
        return chargebee
    chargebee.Chargebee.verify_ca_certs = False
    environment = chargebee.environment.Environment
    environment.chargebee_domain, environment.protocol = domain, "http"
    return chargebee.Chargebee("key", site, **more)

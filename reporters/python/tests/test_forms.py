"""Every form of a call, with and without a reporter. What the library sends, returns and raises must be the same."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import forms
import pytest
from conftest import Watch, without_times
from forms import Form
from libraries import load, open_chargebee, open_paddle, open_stripe, stripe_module
from servers import Answer, Backstop, Provider, Request, provider_of

Open = Callable[[Provider], AbstractContextManager[Any]]

# Durations of earlier calls and random numbers of a request.
VOLATILE = ("x-stripe-client-telemetry", "x-transaction-id", "host")
KEYS = ("idempotency-key", "chargebee-idempotency-key")


class Played:
    """A call, what it sent and what became of it."""

    def __init__(self, call: Callable[[Any], Any], client: Any, provider: Provider) -> None:
        self.error: BaseException | None = None
        try:
            value = call(client)
            self.outcome = repr(asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value)
        except Exception as error:
            self.error = error
            self.outcome = f"{type(error).__name__}: {error}"
        self.requests = provider.take()

    def comparable(self) -> list[tuple[str, str, str, list[tuple[str, str]]]]:
        """The requests without what differs between any two calls."""
        shown = []
        for request in self.requests:
            headers = [(name, value) for name, value in request.headers if not _is_volatile(name, value)]
            shown.append((request.method, request.path, request.body, headers))
        return shown


async def _awaited(value: Any) -> Any:
    return await value


def _is_volatile(name: str, value: str) -> bool:
    is_generated_key = name.lower() in KEYS and not value.startswith("k-")
    return name.lower() in VOLATILE or is_generated_key


def check(form: Form, open: Open, answer: Callable[[Request], Answer], watch: Watch, backstop: Backstop) -> None:
    with provider_of(answer) as provider, open(provider) as client:
        provider.failing = list(form.failing)
        plain = Played(form.call, client, provider)
    with provider_of(answer) as provider, open(provider) as client:
        reporter = watch(client)
        provider.failing = list(form.failing)
        watched = Played(form.call, client, provider)
        assert reporter.close(5)
    plain_port, watched_port = plain.requests[0].header("host"), watched.requests[0].header("host")
    assert watched.outcome.replace(str(watched_port), str(plain_port)) == _same_id(plain.outcome, watched.outcome)
    assert watched.comparable() == plain.comparable()
    if form.reported is None:
        assert backstop.reports == []
        return
    last = without_times(backstop.reports)[-1]
    key = last.pop("idempotency_key")
    assert last.pop("provider_request_id", None) == ("req_1" if answer is forms.answer_as_stripe else None)
    assert last == form.reported
    assert {report["idempotency_key"] for report in backstop.reports} == {key}
    if form.reported["state"] != "failed":
        assert plain.error is None
    sent = [value for name, value in watched.requests[-1].headers if name.lower() in KEYS]
    assert sent in ([], [key])
    has_keys = answer is not forms.answer_as_paddle and watched.requests[-1].method == "POST"
    assert bool(sent) == has_keys


def _same_id(plain: str, watched: str) -> str:
    """Gives the address of an object in a text to another text."""
    import re

    addresses = re.findall(r"0x[0-9a-f]+", watched)
    return re.sub(r"0x[0-9a-f]+", lambda _: addresses.pop(0) if addresses else "", plain)


@pytest.mark.parametrize("form", forms.STRIPE, ids=str)
def test_stripe_client(form: Form, watching: Watch, backstop: Backstop) -> None:
    check(form, lambda it: nullcontext(open_stripe(it.server.url)), forms.answer_as_stripe, watching, backstop)


@pytest.mark.parametrize("form", forms.STRIPE_RAW, ids=str)
def test_raw_requests_of_stripe(form: Form, watching: Watch, backstop: Backstop) -> None:
    if not hasattr(load("stripe").StripeClient, "raw_request"):
        pytest.skip("This version has no raw requests")
    check(form, lambda it: nullcontext(open_stripe(it.server.url)), forms.answer_as_stripe, watching, backstop)


@pytest.mark.parametrize("form", forms.STRIPE_MODULE, ids=str)
def test_stripe_module(form: Form, watching: Watch, backstop: Backstop) -> None:
    check(form, lambda it: stripe_module(it.server.url), forms.answer_as_stripe, watching, backstop)


@pytest.mark.parametrize("form", forms.STRIPE_ASYNC, ids=str)
def test_stripe_async(form: Form, watching: Watch, backstop: Backstop) -> None:
    if not hasattr(load("stripe").RefundService, "create_async"):
        pytest.skip("This version has no async calls")
    check(form, lambda it: nullcontext(open_stripe(it.server.url)), forms.answer_as_stripe, watching, backstop)


@pytest.mark.parametrize("form", forms.PADDLE, ids=str)
def test_paddle(form: Form, watching: Watch, backstop: Backstop) -> None:
    check(form, lambda it: nullcontext(open_paddle(it.server.url)), forms.answer_as_paddle, watching, backstop)


@pytest.mark.parametrize("form", forms.CHARGEBEE, ids=str)
def test_chargebee(form: Form, watching: Watch, backstop: Backstop) -> None:
    check(form, lambda it: nullcontext(open_chargebee(it.server.port)), forms.answer_as_chargebee, watching, backstop)


@pytest.mark.parametrize("form", forms.CHARGEBEE, ids=str)
def test_chargebee_async(form: Form, watching: Watch, backstop: Backstop) -> None:
    if not hasattr(
        getattr(load("chargebee"), "environment", None) and load("chargebee").environment.Environment,
        "use_async_client",
    ):
        pytest.skip("This version has no async calls")

    def open(provider: Provider) -> AbstractContextManager[Any]:
        return nullcontext(open_chargebee(provider.server.port, use_async_client=True))

    check(form, open, forms.answer_as_chargebee, watching, backstop)

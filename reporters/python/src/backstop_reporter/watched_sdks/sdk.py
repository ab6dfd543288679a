"""What the reporter knows about the official library of a provider."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from ..recorder import Recorder

InAnswer = Literal["in_answer"]
IN_ANSWER: InAnswer = "in_answer"


@dataclass(frozen=True)
class ProviderCall:
    """A refund or cancellation, as a request and its answer show it."""

    kind: Literal["refund", "cancellation"]
    subject: str
    """The payment or subscription."""
    amount: int | None = None
    """Minor units; None if the request does not say it, for example to refund all that is left."""
    currency: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What the provider answered. `provider_ref` is its id of the refund or cancellation."""

    state: Literal["completed", "awaiting_review", "failed", "rejected"]
    provider_ref: str | None = None


@dataclass(frozen=True)
class Failure:
    """What a failed request says about the refund or cancellation."""

    is_refusal: bool
    """True if the provider refused the request, so that a repeat would fail too. Else it may have been executed."""
    reason: str


@dataclass(frozen=True)
class Route:
    """A request that can refund or cancel."""

    name: str
    """The method of the library that makes the request, as Backstop names it, e.g. `refunds.create`."""
    verb: Literal["POST", "DELETE"]
    path: re.Pattern[str]
    """The path without the query. The first group is the id in it."""
    read: Callable[[str, Any, Any], ProviderCall | InAnswer | None]
    """Reads what a request does, from the id, the parameters and the answer, which is None before the answer.

    None if it neither refunds nor cancels, `in_answer` if only the answer shows it. Parameters are as the provider
    reads them: the values of a form are texts.
    """
    read_outcome: Callable[[Any], Outcome]
    idempotent_by: Literal["key", "path", "nothing"]
    """How the provider recognises a repeat of a request, so that both are one operation: by its idempotency key, by its
    path (a subscription is cancelled once), or not at all."""


@dataclass(frozen=True)
class SentRequest:
    """A request that a library is about to send."""

    params: Any
    account: str | None = None
    idempotency_key: str | None = None
    add_key: Callable[[str], None] | None = None
    """Adds an idempotency key to the request; None if the provider has none."""


class Sdk(Protocol):
    """The official library of a provider."""

    @property
    def routes(self) -> Sequence[Route]:
        """The requests that are watched."""

    def recognises(self, client: Any) -> bool:
        """True if an object is a client of this library whose requests can be watched."""

    def watch_requests(self, client: Any, recorder: Recorder) -> Callable[[], None]:
        """Shows each request of the client to the recorder. Returns a function that ends it."""


def value_at(value: Any, path: str) -> Any:
    """The value at a path of names and indexes, e.g. `refunds.0.refund`."""
    for name in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal():
            value = value[int(name)] if int(name) < len(value) else None
        else:
            return None
    return value


def text_at(value: Any, path: str) -> str | None:
    """The text at a path; None if there is none."""
    found = value_at(value, path)
    return found if isinstance(found, str) and found else None


def amount_at(value: Any, name: str) -> int | None:
    """An amount in minor units, also as a text; None if there is none. The name may have dots and brackets."""
    found = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(found, str) and re.fullmatch(r"[0-9]{1,15}", found):
        return int(found)
    is_amount = isinstance(found, int) and not isinstance(found, bool) and 0 <= found < 2**53
    return found if is_amount else None


def id_at(value: Any, path: str) -> str | None:
    """The id at a path, or the id of the whole object at that path."""
    return text_at(value, path) or text_at(value, f"{path}.id")


def header_at(headers: Any, name: str) -> str | None:
    """The text of a header, whose name may be spelled in any case."""
    for other in headers or ():
        if isinstance(other, str) and other.lower() == name.lower():
            value = headers[other]
            return value if isinstance(value, str) and value else None
    return None


def form_fields(*forms: Any) -> dict[str, str]:
    """The fields of forms by their whole names, e.g. `transaction[amount]`."""
    texts = [form for form in forms if isinstance(form, str)]
    return dict(pair for text in texts for pair in parse_qsl(text, keep_blank_values=True))


_TEMPORARY = (408, 409, 425, 429)
"""Statuses of temporary failures. After any of them the same call may still succeed, or may have succeeded."""


def failure_of_answer(status: int, message: str | None) -> Failure:
    """The failure of a request that was answered with an error."""
    is_refusal = 400 <= status < 500 and status not in _TEMPORARY
    return Failure(is_refusal, (message or f"HTTP {status}")[:500])


def failure_of_error(error: BaseException) -> Failure:
    """The failure of a request without a readable answer."""
    return Failure(False, (str(error) or type(error).__name__)[:500])

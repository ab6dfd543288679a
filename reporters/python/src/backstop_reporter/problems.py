"""What can go wrong between a program and Backstop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from .report import Report

_CODES_OF_REFUSED_BATCHES = frozenset({"invalid_request", "malformed_json", "payload_too_large"})
_logger = logging.getLogger("backstop_reporter")


class NoAnswer(Exception):
    """Backstop cannot be reached, the connection broke, or the answer took too long."""


class ApiProblem(Exception):
    """Backstop refused a request or one report of it.

    `code` is one of the API's error codes, or `unknown` if something else answered, such as a proxy. `errors` has the
    refused fields. `retry_after_ms` is the wait that the answer asks for, at most one hour.
    """

    def __init__(self, status: int, problem: Any, retry_after_ms: float | None = None) -> None:
        known = problem if isinstance(problem, dict) and isinstance(problem.get("code"), str) else {}
        super().__init__(known.get("detail") or f"The server answered {status} without a problem document")
        self.status = status
        self.code: str = known.get("code", "unknown")
        self.errors: list[Any] = known.get("errors") or []
        self.retry_after_ms = retry_after_ms

    @property
    def is_final(self) -> bool:
        """True if Backstop will refuse this report also later. A key or a connection can be corrected meanwhile."""
        return self.status in (400, 409, 413, 415, 422)

    @property
    def refuses_batch(self) -> bool:
        """True if Backstop refuses a whole batch for its size or for a report in it.

        A proxy may answer the same statuses, and Backstop answers 409 if an earlier attempt is still in progress. Both
        may pass, so no report may be lost by them.
        """
        return self.status in (400, 413) and self.code in _CODES_OF_REFUSED_BATCHES

    @property
    def is_about_all(self) -> bool:
        """True if the next report would fail, too: the key is refused, or the server is overloaded or unavailable."""
        return self.status in (401, 408, 425, 429, 502, 503, 504)

    @property
    def may_be_repeat(self) -> bool:
        """True if the report may be one of a repeated call, whose times differ from those of the first call."""
        return self.status == 400 or self.code == "idempotency_conflict"


@dataclass(frozen=True)
class Problem:
    """A loss or delay of reports, as `on_problem` gets it.

    `undelivered`: Backstop does not answer, or refuses the key; `queued` reports wait. `dropped`: too many waited, so
    the oldest was lost. `refused`: Backstop refuses this report, so it was lost. `unreadable`: a call could not be
    read, so it was made without a report. `spool`: the files of the spool cannot be read or written.
    """

    kind: Literal["undelivered", "dropped", "refused", "unreadable", "spool"]
    error: BaseException | None = None
    queued: int = 0
    report: Report | None = None
    method: str = ""

    def __str__(self) -> str:
        body = self.report.body if self.report is not None else None
        name = f"{body['kind']} of {body['subject']} ({body['state']})" if body is not None else ""
        return {
            "undelivered": f"{self.queued} reports wait: {self.error}",
            "dropped": f"a report was lost, because too many wait: {name}",
            "refused": f"a report was refused: {name}: {self.error}",
            "unreadable": f"a call of {self.method} was not reported: {self.error!r}",
            "spool": f"the spool of reports failed: {self.error}",
        }[self.kind]


OnProblem = Callable[[Problem], None]


def log_problem(problem: Problem) -> None:
    """The default of `on_problem`: a warning of the logger `backstop_reporter`."""
    _logger.warning("Backstop: %s", problem)


def guard(on_problem: OnProblem) -> OnProblem:
    """Returns a function whose errors do not reach the call that is reported."""

    def safe(problem: Problem) -> None:
        try:
            on_problem(problem)
        except Exception:
            _logger.debug("on_problem failed", exc_info=True)

    return safe

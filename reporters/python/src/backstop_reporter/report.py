"""What a program did, as Backstop takes it, and how two reports of one operation become one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, TypedDict, cast

State = Literal["executing", "awaiting_review", "completed", "rejected", "failed"]


class _Required(TypedDict):
    connection_id: str
    kind: Literal["refund", "cancellation"]
    subject: str
    idempotency_key: str
    state: State


class ReportBody(_Required, total=False):
    """The fields of a report. Times are ISO 8601 in UTC, amounts are minor units."""

    amount: int
    currency: str
    run_id: str
    provider_ref: str
    provider_request_id: str
    executing_at: str
    ended_at: str
    reason: str


REPEAT_WITHIN_MS = 60_000
"""How long a temporary failure waits before it is reported, because software often repeats such a call."""

_LOST_END = "The program ended before the answer of the provider was reported"


@dataclass(frozen=True, eq=False)
class Report:
    """One report. A later report of the same operation replaces an unsent earlier one."""

    body: ReportBody
    not_before_ms: float | None = None
    """Milliseconds since the epoch before which the report is not sent; None if it may be sent at once."""

    @property
    def id(self) -> str:
        """Identifies the operation among all reports."""
        return f"{self.body['connection_id']} {self.body['idempotency_key']}"

    @property
    def has_end(self) -> bool:
        """False if the call of the report was still in progress."""
        return self.body["state"] != "executing"


def merge_reports(queued: Report, following: Report) -> Report:
    """Returns the report to keep of two reports of one operation.

    Each report is complete, so one is enough. A repeated call with the same idempotency key begins again only after a
    failure that may have been temporary; otherwise the provider repeats its first answer. A failure of the repeated
    call does not undo what the provider answered before.
    """
    has_ended = queued.has_end and queued.not_before_ms is None
    state = following.body["state"]
    if has_ended and state == "executing":
        return queued
    if has_ended and state == "failed" and queued.body["state"] != "failed":
        return queued
    began = queued.body.get("executing_at")
    if began is None:
        return following
    return Report({**following.body, "executing_at": began}, following.not_before_ms)


def end_after_crash(report: Report, now: float) -> Report:
    """Returns the end of a call whose process ended during the call.

    The call may have been executed, which `failed` does not deny. The report waits, because the software may repeat
    the call. `now` is in milliseconds since the epoch.
    """
    body: ReportBody = {**report.body, "state": "failed", "reason": _LOST_END, "ended_at": iso_time(now)}
    return Report(body, now + REPEAT_WITHIN_MS)


def without_times(body: ReportBody) -> ReportBody:
    """The report of a repeated call with the same idempotency key, whose first call had other times."""
    kept = {name: value for name, value in body.items() if name not in ("executing_at", "ended_at")}
    return cast(ReportBody, kept)


def now_ms() -> float:
    """Milliseconds since the epoch."""
    return time.time() * 1000


def iso_time(at_ms: float) -> str:
    """A time as the API takes it, e.g. 2026-11-30T05:00:00.000Z."""
    at = datetime.fromtimestamp(at_ms / 1000, timezone.utc)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_line(report: Report) -> dict[str, Any]:
    """The report as a spool file keeps it."""
    line: dict[str, Any] = {"id": report.id, "body": report.body}
    return line if report.not_before_ms is None else {**line, "notBeforeMs": report.not_before_ms}


def from_line(line: Any) -> Report:
    """Reads a report of a spool file. Raises an error if it is none."""
    body = line["body"]
    texts = ("connection_id", "kind", "subject", "idempotency_key", "state")
    not_before_ms = line.get("notBeforeMs")
    if not all(isinstance(body[name], str) for name in texts) or not isinstance(not_before_ms, int | float | None):
        raise ValueError("This line has no report")
    return Report(cast(ReportBody, body), not_before_ms)

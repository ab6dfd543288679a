"""Sends a request with the reports before and after it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ..recorder import ReportedRequest
from .sdk import Failure, failure_of_error

T = TypeVar("T")

ReportAnswer = Callable[[Any, ReportedRequest], None]
ReadError = Callable[[BaseException], Failure]


def send_reported(
    send: Callable[[], T],
    reported: ReportedRequest | None,
    report_answer: ReportAnswer,
    read_error: ReadError = failure_of_error,
) -> T:
    """Sends a request. Raises what `send` raises."""
    if reported is None:
        return send()
    try:
        reported.wait()
        response = send()
    except BaseException as error:
        failed_by = error
        reported.try_to_read(lambda: reported.fail(read_error(failed_by)))
        raise
    reported.try_to_read(lambda: report_answer(response, reported))
    return response


async def send_reported_async(
    send: Callable[[], Awaitable[T]],
    reported: ReportedRequest | None,
    report_answer: ReportAnswer,
    read_error: ReadError = failure_of_error,
) -> T:
    """Sends a request without blocking the event loop. Raises what `send` raises."""
    if reported is None:
        return await send()
    try:
        await reported.wait_async()
        response = await send()
    except BaseException as error:
        failed_by = error
        reported.try_to_read(lambda: reported.fail(read_error(failed_by)))
        raise
    reported.try_to_read(lambda: report_answer(response, reported))
    return response

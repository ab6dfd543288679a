from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from servers import Backstop, Body

from backstop_reporter import Reporter, watch


@pytest.fixture
def backstop() -> Iterator[Backstop]:
    server = Backstop()
    yield server
    server.stop()


Watch = Callable[..., Reporter]


@pytest.fixture
def watching(backstop: Backstop) -> Iterator[Watch]:
    """Watches clients until the end of the test."""
    reporters: list[Reporter] = []

    def start(client: Any, **options: Any) -> Reporter:
        given = {"base_url": backstop.url, "key": "bsk_test", "connection_id": "con_1", "on_problem": lambda _: None}
        reporter = watch(client, **{**given, **options})
        reporters.append(reporter)
        return reporter

    yield start
    backstop.is_answering.set()
    for reporter in reporters:
        reporter.close(0.1)


def until(what: str, is_true: Callable[[], object], seconds: float = 20) -> None:
    """Waits until something is true. Fails after the time."""
    ends_at = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < ends_at, f"Not within {seconds} seconds: {what}"
        time.sleep(0.005)


def without_times(reports: list[Body]) -> list[Body]:
    """The reports without connection and times, after a check that they are there."""
    for report in reports:
        assert report["connection_id"] == "con_1"
        assert report["executing_at"].endswith("Z")
        assert ("ended_at" in report) == (report["state"] not in ("executing", "awaiting_review"))
    hidden = ("connection_id", "executing_at", "ended_at")
    return [{name: value for name, value in report.items() if name not in hidden} for report in reports]

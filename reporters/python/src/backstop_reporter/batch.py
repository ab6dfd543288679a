"""Which reports one request has."""

from __future__ import annotations

import json
from collections.abc import Iterable

from .report import Report

MOST_AT_ONCE = 200
_MOST_BYTES = 500_000


def fill_batch(due: Iterable[Report], most: int) -> list[Report]:
    """Takes the first reports, up to `most`."""
    batch: list[Report] = []
    size = 0
    for report in due:
        size += len(json.dumps(report.body))
        if batch and size > _MOST_BYTES:
            break
        batch.append(report)
        if len(batch) >= most:
            break
    return batch

"""Which reports one request has."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Sequence

from .problems import ApiProblem
from .report import Report

_MOST_BYTES = 500_000
_ITEM = re.compile(r"^body\.items[.\[](\d+)")


def fill_batch(due: Iterable[Report], alone: Container[str], most: int) -> list[Report]:
    """Takes up to `most` reports. One whose id is in `alone` is the only one of its batch."""
    batch: list[Report] = []
    size = 0
    for report in due:
        is_alone = report.id in alone
        if is_alone and batch:
            continue
        size += len(json.dumps(report.body))
        if batch and size > _MOST_BYTES:
            break
        batch.append(report)
        if is_alone or len(batch) >= most:
            break
    return batch


def reports_at_fault(batch: Sequence[Report], problem: ApiProblem) -> Sequence[Report]:
    """The reports for which a batch was refused as a whole; all if the problem names none."""
    paths = [str(error.get("path")) for error in problem.errors if isinstance(error, dict)]
    indexes = {int(match[1]) for match in map(_ITEM.match, paths) if match is not None}
    return [batch[index] for index in indexes if index < len(batch)] or batch

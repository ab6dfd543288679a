"""What a reporter says of itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Status:
    """The state of a reporter."""

    queued: int
    """Operations whose newest report is not delivered yet."""
    delivered: int
    dropped: int
    refused: int
    last_error: str | None
    """The last failure; None after a delivery."""

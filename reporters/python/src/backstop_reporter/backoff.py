"""Pauses between attempts while Backstop is down."""

from __future__ import annotations

import random
import time

FIRST_PAUSE_MS = 1_000
LONGEST_PAUSE_MS = 30_000


class Backoff:
    """Pauses that grow with each failure, from 1 to 30 seconds."""

    def __init__(self) -> None:
        self.failures = 0
        self._paused_until = 0.0

    def left_s(self) -> float:
        """The seconds of the pause that are left; 0 or less if there is none."""
        return self._paused_until - time.monotonic()

    def fail(self, asked_ms: float) -> None:
        """Begins a pause of at least `asked_ms`."""
        longest_ms = min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** min(self.failures, 5))
        self.failures += 1
        self._paused_until = time.monotonic() + max(longest_ms * random.uniform(0.5, 1), asked_ms) / 1000

    def interrupt(self) -> None:
        """Ends the pause. The next one is as long as it would have been."""
        self._paused_until = 0.0

    def succeed(self) -> None:
        """The next pause is the first again."""
        self.failures = 0

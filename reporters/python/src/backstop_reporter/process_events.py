"""Forks and the end of the process, for all queues of reports."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .report_queue import ReportQueue

_EXIT_S = 2.0
"""The time for all reports at the end of the process."""

_queues: weakref.WeakSet[ReportQueue] = weakref.WeakSet()
_lock = threading.Lock()


def add(queue: ReportQueue) -> None:
    """From now on the queue works after a fork, and is flushed at the end of the process."""
    with _lock:
        _queues.add(queue)


def remove(queue: ReportQueue) -> None:
    """Ends `add`."""
    with _lock:
        _queues.discard(queue)


def _begin_in_child() -> None:
    global _lock
    # Another thread may have held the lock during the fork. It does not exist here.
    _lock = threading.Lock()
    for queue in list(_queues):
        queue.begin_in_child()


def _end() -> None:
    ends_at = time.monotonic() + _EXIT_S
    with _lock:
        queues = list(_queues)
    for queue in queues:
        queue.end_with_process(max(0.0, ends_at - time.monotonic()))


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)

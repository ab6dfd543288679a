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
_lock = threading.RLock()
_locked: list[ReportQueue] = []


def add(queue: ReportQueue) -> None:
    """From now on the queue works after a fork, and is flushed at the end of the process."""
    with _lock:
        _queues.add(queue)


def remove(queue: ReportQueue) -> None:
    """Ends `add`."""
    with _lock:
        _queues.discard(queue)


def _before_fork() -> None:
    # A lock that another thread holds during the fork would stay locked in the child.
    _lock.acquire()
    _locked.extend(_queues)
    for queue in _locked:
        queue.lock.acquire()


def _after_fork_in_parent() -> None:
    for queue in _locked:
        queue.lock.release()
    _locked.clear()
    _lock.release()


def _after_fork_in_child() -> None:
    global _lock
    queues = list(_locked)
    _locked.clear()
    _lock = threading.RLock()
    for queue in queues:
        queue.begin_in_child()


def _end() -> None:
    ends_at = time.monotonic() + _EXIT_S
    with _lock:
        queues = list(_queues)
    for queue in queues:
        queue.end_with_process(max(0.0, ends_at - time.monotonic()))


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)

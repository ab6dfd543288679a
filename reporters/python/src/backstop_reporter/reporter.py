"""Watches a client of a provider's library."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

from .backstop_api import BackstopApi
from .problems import OnProblem, guard, log_problem
from .recorder import Recorder, RecorderOptions, WatchedCall
from .report_queue import ReportQueue
from .spool import FileSpool
from .status import Status
from .watched_sdks.all_sdks import SDKS

_LONGEST_WAIT_MS = 50
_FLUSH_TIMEOUT_S = 10.0

_watched: dict[int, weakref.ref[Any]] = {}
_watched_lock = threading.Lock()


class Reporter:
    """Reports what a watched client does. In a `with` statement, its end closes the reporter."""

    def __init__(self, client: Any, recorder: Recorder, stop_watching: Callable[[], None], queue: ReportQueue) -> None:
        self._client_id = id(client)
        self._recorder = recorder
        self._stop_watching = stop_watching
        self._queue = queue
        self._is_closed = False

    def status(self) -> Status:
        """The counts of this process."""
        return self._queue.status()

    def flush(self, timeout: float = _FLUSH_TIMEOUT_S) -> bool:
        """Sends everything that waits. Returns False if something still waits after `timeout` seconds."""
        return self._queue.flush(timeout)

    def close(self, timeout: float = _FLUSH_TIMEOUT_S) -> bool:
        """Ends the reporting, after a flush. Unsent reports stay in the spool. Returns as `flush`."""
        if not self._is_closed:
            self._is_closed = True
            self._stop_watching()
            self._recorder.stop()
            with _watched_lock:
                _watched.pop(self._client_id, None)
        is_empty = self._queue.flush(timeout)
        self._queue.stop()
        return is_empty

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def watch(
    client: Any,
    *,
    base_url: str,
    key: str,
    connection_id: str | Callable[[WatchedCall], str | None],
    wait_ms: float = 20,
    max_queued: int = 10_000,
    spool_folder: str | os.PathLike[str] | None = None,
    run_id: str | Callable[[], str | None] | None = None,
    on_problem: OnProblem = log_problem,
) -> Reporter:
    """Reports every refund and cancellation that a client of Stripe, Paddle or Chargebee makes from now on.

    The requests are read where the library sends them, so code that uses the client stays as it is. No call fails
    because of the reporter, and a call waits for it at most `wait_ms`.

    - `client`: a `stripe.StripeClient` or the module `stripe`, a `paddle_billing.Client`, a `chargebee.Chargebee`, or
      the module `chargebee` of version 2.
    - `base_url`, `key`: the management API, and an API key with the scope `operations:write`.
    - `connection_id`: the connection of the account, or a function of the call; None means that it is not reported.
    - `wait_ms`: how long a call waits for the report before it, in milliseconds, at most 50.
    - `max_queued`: how many operations wait at most while Backstop is down. Then the oldest is dropped.
    - `spool_folder`: a folder that keeps waiting reports across restarts and crashes, for this account only.
    - `run_id`: groups the operations of one run of the program. A function is called for each call.
    - `on_problem`: called, from any thread, when reports are delayed or lost. Default: a warning in the log.

    Raises TypeError if the client is not supported or already watched, ValueError for an option that cannot be used.
    """
    sdk = next((known for known in SDKS if known.recognises(client)), None)
    if sdk is None:
        raise TypeError("Pass a client of stripe, paddle-python-sdk or chargebee, or the module stripe")
    if not 0 <= wait_ms <= _LONGEST_WAIT_MS:
        raise ValueError("wait_ms: use 0 to 50")
    if max_queued < 1:
        raise ValueError("max_queued: use 1 or more")
    if spool_folder is not None and os.name != "posix":
        raise ValueError("spool_folder: not supported on this system")
    api = BackstopApi(base_url, key)
    safe = guard(on_problem)
    _claim(client)
    try:
        spool = None if spool_folder is None else FileSpool(spool_folder, safe)
        queue = ReportQueue(api, max_queued, spool, safe)
        recorder = Recorder(RecorderOptions(sdk.routes, queue, wait_ms, connection_id, run_id, safe))
        return Reporter(client, recorder, sdk.watch_requests(client, recorder), queue)
    except BaseException:
        with _watched_lock:
            _watched.pop(id(client), None)
        raise


def _claim(client: Any) -> None:
    with _watched_lock:
        known = _watched.get(id(client))
        if known is not None and known() is client:
            raise TypeError("This client is already watched; close its reporter first")
        _watched[id(client)] = weakref.ref(client)

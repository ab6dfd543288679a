"""Delivers reports in batches, and keeps them while Backstop is down."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future

from . import backoff, process_events
from .backstop_api import Api, Result
from .batch import MOST_AT_ONCE, fill_batch
from .effects import Effects
from .problems import ApiProblem, NoAnswer, OnProblem, Problem
from .report import Report, end_after_crash, merge_reports, now_ms, without_times
from .spool import FileSpool
from .status import Status

_FLUSH_PAUSE_S = 0.25
"""The pause between attempts while `flush` waits."""
_IDLE_S = 60.0
"""The thread ends after this time without work. The next report starts another."""


class ReportQueue:
    """Keeps one report per operation until it is delivered by a background thread. No function raises."""

    def __init__(self, api: Api, max_queued: int, spool: FileSpool | None, on_problem: OnProblem) -> None:
        self._api = api
        self._max_queued = max_queued
        self._spool = spool
        self._on_problem = on_problem
        self._is_stopped = False
        self._start_empty()
        if spool is not None:
            self._add_loaded(spool.load())
        process_events.add(self)

    def _start_empty(self) -> None:
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._queued: dict[str, Report] = {}
        self._in_flight: set[str] = set()
        self._waiting_calls: dict[str, list[Future[bool]]] = {}
        self._retry_at_ms: dict[str, float] = {}
        """When a report is tried again that Backstop answered and did not accept. Such a report delays no other."""
        self._without_times: dict[str, Report] = {}
        self._most_at_once = MOST_AT_ONCE
        """Less after a batch was refused, until the report at fault is alone, so that it blocks no other."""
        self._forced: set[str] = set()
        """Reports that `flush` sends before their time."""
        self._delivered = self._dropped = self._refused = 0
        self._last_error: str | None = None
        self._backoff = backoff.Backoff()

    def add(self, report: Report) -> Future[bool]:
        """Queues a report. The future has True if it is delivered at once, and False if it has to wait."""
        future: Future[bool] = Future()
        # A cancelled task of the program must not cancel it.
        future.set_running_or_notify_cancel()
        effects = Effects()
        with self._changed:
            before = self._queued.get(report.id)
            if before is None and len(self._queued) >= self._max_queued:
                self._drop_oldest(effects)
            merged = report if before is None else merge_reports(before, report)
            self._queued[report.id] = merged
            if self._spool is not None:
                self._spool.save(merged)
            if report.id in self._in_flight or (self._can_send() and self._is_due(merged)):
                self._waiting_calls.setdefault(report.id, []).append(future)
            else:
                effects.answered.append((future, False))
            self._wake(effects)
        effects.carry_out(self._on_problem)
        return future

    def status(self) -> Status:
        """The counts since the start of the process."""
        with self._changed:
            return Status(len(self._queued), self._delivered, self._dropped, self._refused, self._last_error)

    def flush(self, timeout_s: float) -> bool:
        """Sends everything now. Returns False if reports still wait after `timeout_s`."""
        ends_at = time.monotonic() + timeout_s
        while True:
            effects = Effects()
            with self._changed:
                left_s = ends_at - time.monotonic()
                if not self._queued or left_s <= 0 or self._is_stopped:
                    return not self._queued
                self._backoff.interrupt()
                self._forced = set(self._queued)
                self._wake(effects)
                has_thread = self._thread is not None
                if has_thread:
                    self._changed.wait_for(self._has_tried_all, left_s)
                has_failed = bool(self._queued) and self._last_error is not None
            effects.carry_out(self._on_problem)
            if not has_thread:
                return False
            if has_failed:
                time.sleep(max(0.0, min(_FLUSH_PAUSE_S, ends_at - time.monotonic())))

    def stop(self) -> None:
        """Stops sending. Unsent reports stay in the spool."""
        effects = Effects()
        with self._changed:
            self._is_stopped = True
            self._release_calls(effects)
            self._changed.notify_all()
        effects.carry_out(self._on_problem)
        process_events.remove(self)
        if self._spool is not None:
            self._spool.close()

    def end_with_process(self, timeout_s: float) -> None:
        """Delivers what is possible before the interpreter ends, and writes the rest into the spool."""
        self.flush(timeout_s)
        if self._spool is not None:
            self._spool.close()

    def begin_in_child(self) -> None:
        """Makes the queue usable after a fork. The reports that wait are those of the parent, which sends them."""
        self._start_empty()
        self._api.forget_connection()
        if self._spool is None or self._is_stopped:
            return
        spool = self._spool = self._spool.of_child()
        spool.load_soon(self._add_loaded)

    def _can_send(self) -> bool:
        return not self._is_stopped and self._backoff.left_s() <= 0

    def _is_due(self, report: Report) -> bool:
        at_ms = max(report.not_before_ms or 0, self._retry_at_ms.get(report.id, 0))
        return report.id in self._forced or at_ms <= now_ms()

    def _has_tried_all(self) -> bool:
        has_tried = not self._in_flight and (not self._forced or not self._can_send())
        return not self._queued or has_tried

    def _add_loaded(self, reports: Iterable[Report]) -> None:
        effects = Effects()
        with self._changed:
            for loaded in reports:
                report = loaded if loaded.has_end else end_after_crash(loaded, now_ms())
                if report is not loaded and self._spool is not None:
                    self._spool.save(report)
                newer = self._queued.get(report.id)
                if newer is None and len(self._queued) >= self._max_queued:
                    self._drop_oldest(effects)
                self._queued[report.id] = report if newer is None else merge_reports(report, newer)
            if self._queued:
                self._wake(effects)
        effects.carry_out(self._on_problem)

    def _drop_oldest(self, effects: Effects) -> None:
        oldest = next((report for id, report in self._queued.items() if id not in self._in_flight), None)
        if oldest is None:
            return
        self._dropped += 1
        self._remove(oldest)
        effects.answered.extend((call, False) for call in self._waiting_calls.pop(oldest.id, []))
        effects.problems.append(Problem("dropped", report=oldest))

    def _remove(self, report: Report, keeps_in_spool: bool = False) -> None:
        # A newer report of the operation may have replaced this report while it was sent.
        if self._queued.get(report.id) is not report:
            return
        del self._queued[report.id]
        self._retry_at_ms.pop(report.id, None)
        self._without_times.pop(report.id, None)
        self._forced.discard(report.id)
        if self._spool is not None and not keeps_in_spool:
            self._spool.remove(report.id)

    def _wake(self, effects: Effects) -> None:
        if self._thread is None and not self._is_stopped:
            thread = threading.Thread(target=self._run, name="backstop-reporter", daemon=True)
            try:
                thread.start()
                self._thread = thread
            except RuntimeError:
                # The interpreter ends, or the process may start no more threads. The reports wait.
                self._release_calls(effects)
        self._changed.notify_all()

    def _release_calls(self, effects: Effects) -> None:
        for calls in self._waiting_calls.values():
            effects.answered.extend((call, False) for call in calls)
        self._waiting_calls.clear()

    def _run(self) -> None:
        try:
            self._work()
        finally:
            # After an error of the reporter, the next report starts another thread.
            if self._thread is threading.current_thread():
                self._thread = None

    def _work(self) -> None:
        while True:
            with self._changed:
                batch = self._take_batch()
                if not batch and not self._wait_for_work():
                    self._thread = None
                    self._api.close()
                    return
            if batch:
                self._send(batch)

    def _wait_for_work(self) -> bool:
        """Returns False if the thread must end."""
        if self._is_stopped:
            return False
        due_ms = (max(it.not_before_ms or 0, self._retry_at_ms.get(id, 0)) for id, it in self._queued.items())
        wait_s = max(self._backoff.left_s(), (min(due_ms, default=0) - now_ms()) / 1000, 0.001)
        has_work = self._changed.wait(wait_s if self._queued else _IDLE_S)
        return has_work or bool(self._queued)

    def _take_batch(self) -> list[Report]:
        if not self._can_send():
            return []
        # After a failure one report is tried first, so that a server that comes back is not flooded.
        most = 1 if self._backoff.failures > 0 else self._most_at_once
        due = (report for report in self._queued.values() if self._is_due(report))
        batch = fill_batch(due, most)
        self._in_flight = {report.id for report in batch}
        self._forced -= self._in_flight
        return batch

    def _send(self, batch: list[Report]) -> None:
        bodies = [without_times(it.body) if self._without_times.get(it.id) is it else it.body for it in batch]
        effects = Effects()
        results: list[Result] = []
        failure: Exception | None = None
        try:
            results = self._api.report(bodies)
        except (ApiProblem, NoAnswer) as error:
            failure = error
        except Exception as error:
            failure = NoAnswer(repr(error))
        with self._changed:
            self._in_flight.clear()
            if failure is None and len(batch) >= self._most_at_once:
                self._most_at_once = min(MOST_AT_ONCE, 2 * self._most_at_once)
            elif isinstance(failure, ApiProblem) and not failure.is_about_all:
                if len(batch) > 1:
                    self._most_at_once = len(batch) // 2
                elif failure.refuses_batch:
                    results = [failure]
                else:
                    # The report itself may be the cause, so the next attempt sends another.
                    self._retry_at_ms[batch[0].id] = now_ms() + backoff.LONGEST_PAUSE_MS
                failure = None if failure.refuses_batch else failure
            for report, result in zip(batch, results, strict=False):
                self._record(report, result, effects)
            outage = failure or next((it for it in results if it is not None and it.is_about_all), None)
            if outage is not None:
                self._pause(outage, effects)
            self._changed.notify_all()
        effects.carry_out(self._on_problem)

    def _record(self, report: Report, result: Result, effects: Effects) -> None:
        """Records the result of one report."""
        if result is None:
            self._delivered += 1
            self._backoff.succeed()
            self._last_error = None
            # A delivered begin stays in the spool, so that the next process reports the end if this process crashes.
            self._remove(report, keeps_in_spool=not report.has_end)
            effects.answered.extend((call, True) for call in self._waiting_calls.pop(report.id, []))
            return
        self._last_error = str(result)
        if result.may_be_repeat and self._without_times.get(report.id) is not report:
            self._without_times[report.id] = report
            return
        if result.is_about_all:
            return
        effects.answered.extend((call, False) for call in self._waiting_calls.pop(report.id, []))
        if result.is_final:
            self._refused += 1
            self._remove(report)
            effects.problems.append(Problem("refused", result, report=report))
            return
        if report.id not in self._retry_at_ms:
            effects.problems.append(Problem("undelivered", result, len(self._queued)))
        self._retry_at_ms[report.id] = now_ms() + backoff.LONGEST_PAUSE_MS

    def _pause(self, error: Exception, effects: Effects) -> None:
        self._last_error = str(error)
        self._backoff.fail((error.retry_after_ms if isinstance(error, ApiProblem) else None) or 0)
        self._release_calls(effects)
        if self._backoff.failures == 1:
            effects.problems.append(Problem("undelivered", error, len(self._queued)))

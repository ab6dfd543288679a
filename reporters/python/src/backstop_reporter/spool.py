"""Keeps the waiting reports of a reporter in files, so that they survive a restart."""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from .problems import OnProblem, Problem
from .report import Report, from_line, to_line

_SUFFIX = ".ndjson"
_REWRITE_BYTES = 1_048_576
"""The file is rewritten when it is larger than this and mostly about delivered reports."""
# Reports hold payments, amounts and reasons, so no other account may read them.
_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_IDLE_S = 60.0
_CLOSE_S = 2.0
_CHILD_LOAD_AFTER_S = 1.0
"""A forked child that soon runs another program, or ends, must take over no files."""

_own_files: set[str] = set()
"""The names of the files of this process, and after a fork those of its parent."""


class FileSpool:
    """Writes reports into a file of this process, in a folder that several processes may share.

    A starting process takes over the files of processes that have ended. Should two processes take over the same
    report, it is sent twice and recorded once. No function raises: errors go to `on_problem`.
    """

    def __init__(self, folder: str | os.PathLike[str], on_problem: OnProblem) -> None:
        self._folder = Path(folder)
        self._on_problem = on_problem
        self._name = _new_name()
        self._changed = threading.Condition()
        self._file_lock = threading.Lock()
        self._waiting: dict[str, Report] = {}
        self._unwritten: list[str] = []
        self._is_writing = False
        self._thread: threading.Thread | None = None
        self._file_bytes = 0
        self._rewrite_above_bytes = _REWRITE_BYTES
        self._is_restricted = False

    def of_child(self) -> FileSpool:
        """A spool in the same folder for a forked process, with a file of its own."""
        return FileSpool(self._folder, self._on_problem)

    def load(self) -> list[Report]:
        """Takes over the reports of ended processes."""
        found: list[Report] = []
        try:
            self._open_folder()
            for other in sorted(os.listdir(self._folder)):
                if _SUFFIX not in other:
                    continue
                self._restrict(self._folder / other, _FILE_MODE)
                if not other.endswith(_SUFFIX) or _is_in_use(other):
                    continue
                own = self._take_over(other)
                if own is None:
                    continue
                reports = _read_lines(own.read_text(encoding="utf-8", errors="replace"))
                with self._changed:
                    self._waiting.update((report.id, report) for report in reports)
                self._append("".join(_save_line(report) for report in reports))
                own.unlink()
                found.extend(reports)
        except Exception as error:
            self._on_problem(Problem("spool", error))
        return found

    def load_soon(self, use: Callable[[Iterable[Report]], None]) -> None:
        """Loads after a second, in a thread of its own."""

        def load() -> None:
            threading.Event().wait(_CHILD_LOAD_AFTER_S)
            use(self.load())

        try:
            threading.Thread(target=load, name="backstop-spool-load", daemon=True).start()
        except RuntimeError as error:
            self._on_problem(Problem("spool", error))

    def save(self, report: Report) -> None:
        """Writes a report soon."""
        with self._changed:
            self._waiting[report.id] = report
            self._write(_save_line(report))

    def remove(self, id: str) -> None:
        """Writes soon that a report no longer waits."""
        with self._changed:
            self._waiting.pop(id, None)
            self._write(_line({"remove": id}))

    def close(self) -> None:
        """Writes everything, and removes the file if no report waits. A later `save` begins it again."""
        with self._changed:
            if self._thread is not None:
                self._changed.wait_for(lambda: not self._unwritten and not self._is_writing, _CLOSE_S)
        self._write_all()
        with self._file_lock:
            _own_files.discard(self._name)
            if self._waiting:
                return
            try:
                (self._folder / self._name).unlink(missing_ok=True)
                self._file_bytes = 0
                self._rewrite_above_bytes = _REWRITE_BYTES
            except OSError as error:
                self._on_problem(Problem("spool", error))

    def _write(self, line: str) -> None:
        _own_files.add(self._name)
        self._unwritten.append(line)
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="backstop-spool", daemon=True)
            try:
                thread.start()
                self._thread = thread
            except RuntimeError:
                # The interpreter ends. `close` writes the line.
                return
        self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._unwritten and not self._changed.wait(_IDLE_S) and not self._unwritten:
                    self._thread = None
                    return
            self._write_all()

    def _write_all(self) -> None:
        with self._changed:
            text = "".join(self._unwritten)
            self._unwritten.clear()
            self._is_writing = True
        try:
            if text:
                self._append(text)
        except Exception as error:
            self._on_problem(Problem("spool", error))
        with self._changed:
            self._is_writing = False
            self._changed.notify_all()

    def _append(self, text: str) -> None:
        with self._file_lock:
            self._open_folder()
            _write_file(self._folder / self._name, text, os.O_APPEND)
            self._file_bytes += len(text)
            if self._file_bytes > self._rewrite_above_bytes:
                try:
                    self._rewrite()
                finally:
                    # An attempt reads all waiting reports, so the next one comes when the file has doubled.
                    self._rewrite_above_bytes = max(_REWRITE_BYTES, 2 * self._file_bytes)

    def _rewrite(self) -> None:
        """Replaces the file with one that has only the waiting reports, if that is at most half as large.

        Lines that are still unwritten follow in the new file, and change nothing there if it has their reports already.
        """
        with self._changed:
            waiting = list(self._waiting.values())
        # Calls of the program wait for the lock, so it is free while the reports become text.
        text = "".join(_save_line(report) for report in waiting)
        if len(text) > self._file_bytes / 2:
            return
        unfinished = self._folder / f"{self._name}.new"
        _write_file(unfinished, text, os.O_TRUNC)
        unfinished.replace(self._folder / self._name)
        self._file_bytes = len(text)

    def _open_folder(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        if not self._is_restricted:
            self._is_restricted = True
            self._restrict(self._folder, _FOLDER_MODE)

    def _restrict(self, path: Path, mode: int) -> None:
        """Takes the rights of other accounts away."""
        try:
            found = path.stat().st_mode
            if found & 0o077 == 0:
                return
            # Folders like /tmp, which others use.
            if found & stat.S_ISVTX:
                raise PermissionError(f"{path} is shared by all accounts. Use a folder of its own")
            path.chmod(mode)
        except FileNotFoundError:
            # Another process has taken over the file.
            return
        except OSError as error:
            self._on_problem(Problem("spool", error))

    def _take_over(self, other: str) -> Path | None:
        """Makes a file one of this process, by a new name: only one of several starting processes can rename it."""
        own = self._folder / _new_name()
        try:
            return (self._folder / other).replace(own)
        except FileNotFoundError:
            return None


def _new_name() -> str:
    name = f"{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}{_SUFFIX}"
    _own_files.add(name)
    return name


def _is_in_use(name: str) -> bool:
    """True if the process of a file still runs on this host. After a restart another process may have its number."""
    random, _, rest = name[: -len(_SUFFIX)][::-1].partition(".")
    pid, _, host = (part[::-1] for part in rest.partition("."))
    if host != socket.gethostname() or not pid.isdecimal() or not random:
        return False
    if int(pid) == os.getpid():
        return name in _own_files
    try:
        os.kill(int(pid), 0)
        return True
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False


def _line(line: object) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def _save_line(report: Report) -> str:
    return _line({"save": to_line(report)})


def _write_file(path: Path, text: str, mode: int) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | mode, _FILE_MODE), "w", encoding="utf-8") as file:
        file.write(text)


def _read_lines(text: str) -> list[Report]:
    waiting: dict[str, Report] = {}
    for part in text.split("\n"):
        try:
            line = json.loads(part)
            if "save" in line:
                report = from_line(line["save"])
                waiting[report.id] = report
            else:
                waiting.pop(line["remove"], None)
        except (ValueError, KeyError, TypeError):
            # The last line is incomplete if its process ended while it was written.
            continue
    return list(waiting.values())

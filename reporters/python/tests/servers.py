"""Local servers that stand in for a provider and for Backstop."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: str

    def header(self, name: str) -> str | None:
        return next((value for other, value in self.headers if other.lower() == name.lower()), None)


Answer = tuple[int, Any] | None
"""A status and a body, which is a text or becomes JSON; None to break the connection."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that ended is no error of a test."""


class LocalServer:
    """Answers each request by a function, on a port of this machine. Connections are kept open."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self.answer_headers: dict[str, str] = {}
        self.connections = 0
        self.closes_after_answer = False
        """Closes each connection without a word."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                outer.connections += 1

            def handle_any(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                text = self.rfile.read(length).decode()
                answered = answer(Request(self.command, self.path, tuple(self.headers.items()), text))
                if answered is None:
                    self.close_connection = True
                    with suppress(OSError):
                        self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, body = answered
                sent = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response_only(status)
                for name, value in outer.answer_headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)
                self.close_connection = outer.closes_after_answer

            do_GET = do_POST = do_DELETE = handle_any

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@dataclass
class Provider:
    """A provider that records requests. The first statuses of `failing` answer the next requests."""

    answer: Callable[[Request], Answer]
    requests: list[Request] = field(default_factory=list)
    failing: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server = LocalServer(self._answer)
        self.server.answer_headers = {"Content-Type": "application/json", "Request-Id": "req_1"}

    def _answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if self.failing:
            status = self.failing.pop(0)
            return None if status is None else (status, {"error": {"type": "api_error", "message": f"Error {status}"}})
        return self.answer(request)

    def take(self) -> list[Request]:
        taken, self.requests = self.requests, []
        return taken


class Backstop:
    """Records reports as Backstop does. A report that is refused is not recorded."""

    def __init__(self) -> None:
        self.reports: list[Body] = []
        self.batches: list[list[Body]] = []
        self.requests: list[Request] = []
        self.refuse: Callable[[Body], tuple[int, Body] | None] = lambda report: None
        """The status and the problem with which a report is refused."""
        self.refuse_all: Callable[[list[Body]], Answer | str] = lambda reports: "no"
        """The answer to a whole request; `no` to record it."""
        self.is_answering = threading.Event()
        self.is_answering.set()
        self.is_down = False
        self.server = LocalServer(self._answer)

    @property
    def url(self) -> str:
        return self.server.url

    def _answer(self, request: Request) -> Answer:
        self.is_answering.wait(30)
        if self.is_down:
            return None
        assert (request.method, request.path) == ("POST", "/v1/operations/batch")
        items = json.loads(request.body)["items"]
        reports = [{name: value for name, value in item.items() if name != "type"} for item in items]
        assert {item["type"] for item in items} == {"report"}
        self.requests.append(request)
        self.batches.append(reports)
        refused = self.refuse_all(reports)
        return (200, {"results": [self._record(report) for report in reports]}) if isinstance(refused, str) else refused

    def _record(self, report: Body) -> Body:
        refused = self.refuse(report)
        if refused is not None:
            return {"status": refused[0], "operation": None, "problem": refused[1]}
        self.reports.append(report)
        return {"status": 201, "operation": {"operation_id": "op_1"}, "problem": None}

    def stop(self) -> None:
        self.is_answering.set()
        self.server.stop()


@contextmanager
def provider_of(answer: Callable[[Request], Answer]) -> Iterator[Provider]:
    provider = Provider(answer)
    try:
        yield provider
    finally:
        provider.server.stop()

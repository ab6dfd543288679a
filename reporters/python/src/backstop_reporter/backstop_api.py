"""Sends reports to Backstop over one connection that is kept open."""

from __future__ import annotations

import http.client
import json
import secrets
import ssl
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from .problems import ApiProblem, NoAnswer
from .report import ReportBody, now_ms

_TIMEOUT_S = 10.0
_LONGEST_RETRY_AFTER_MS = 3_600_000.0
_LONGEST_ANSWER_BYTES = 16 * 1_048_576

Result = ApiProblem | None
"""The result of one report; None if it is recorded."""


class Api(Protocol):
    """What a queue needs of an API."""

    def report(self, bodies: Sequence[ReportBody]) -> list[Result]:
        """As `BackstopApi.report`."""

    def close(self) -> None:
        """As `BackstopApi.close`."""

    def forget_connection(self) -> None:
        """As `BackstopApi.forget_connection`."""


class BackstopApi:
    """The calls of the API that a reporter makes. One thread at a time may use it."""

    def __init__(self, base_url: str, key: str) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("base_url: use an address like https://backstop.example.com")
        if not isinstance(key, str) or not key.isascii() or not key.isprintable() or not key:
            raise ValueError("key: use an API key of Backstop")
        self._base = base_url.rstrip("/")
        self._parts = parts
        self._path = f"{parts.path.rstrip('/')}/v1/operations/batch"
        self._key = key
        self._connection: http.client.HTTPConnection | None = None

    def report(self, bodies: Sequence[ReportBody]) -> list[Result]:
        """Reports operations. Returns the result of each, in their order.

        Raises ApiProblem if Backstop refused the request as a whole, NoAnswer if there was no answer.
        """
        body = json.dumps({"items": [{"type": "report", **body} for body in bodies]}, separators=(",", ":"))
        headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {self._key}",
            "Content-Type": "application/json",
            "Idempotency-Key": new_key(),
        }
        status, answer_headers, text = self._post(body.encode(), headers)
        answer = _read_json(text)
        if status != 200:
            raise ApiProblem(status, answer, _retry_after_ms(answer_headers.get("Retry-After")))
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list) or len(results) != len(bodies):
            raise NoAnswer(f"{self._base} did not answer as Backstop does")
        return [_read_result(result) for result in results]

    def close(self) -> None:
        """Closes the connection. The next report opens a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def forget_connection(self) -> None:
        """Leaves the connection to the process that this one was forked from."""
        self._connection = None

    def _post(self, body: bytes, headers: dict[str, str]) -> tuple[int, http.client.HTTPMessage, bytes]:
        is_reused = self._connection is not None
        try:
            return self._exchange(body, headers)
        except (http.client.RemoteDisconnected, ConnectionError) as error:
            self.close()
            # A server may close an idle connection at the moment of a request. Reports are recorded once.
            if not is_reused:
                raise self._no_answer(error) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._no_answer(error) from error
        try:
            return self._exchange(body, headers)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._no_answer(error) from error

    def _exchange(self, body: bytes, headers: dict[str, str]) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = self._connection = self._connection or self._open()
        connection.request("POST", self._path, body, headers)
        response = connection.getresponse()
        text = response.read(_LONGEST_ANSWER_BYTES)
        if not response.isclosed():
            self.close()
        return response.status, response.headers, text

    def _open(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
        # Checks certificates also in a program that does not check them elsewhere.
        return http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=ssl.create_default_context())

    def _no_answer(self, error: Exception) -> NoAnswer:
        return NoAnswer(f"No answer from {self._base}: {error or type(error).__name__}")


def new_key() -> str:
    """A new idempotency key."""
    return f"backstop-{secrets.token_hex(16)}"


def _read_json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _read_result(result: Any) -> Result:
    status = result.get("status") if isinstance(result, dict) else None
    if not isinstance(status, int):
        return ApiProblem(502, None)
    return None if 200 <= status < 300 else ApiProblem(status, result.get("problem"))


def _retry_after_ms(header: str | None) -> float | None:
    """Reads the wait of a Retry-After header, in seconds or as an HTTP date: at most one hour."""
    if header is None:
        return None
    try:
        if header.isdecimal():
            asked_ms = float(header) * 1000
        else:
            asked_ms = parsedate_to_datetime(header).timestamp() * 1000 - now_ms()
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, asked_ms), _LONGEST_RETRY_AFTER_MS)

"""Serves the page of a model on 127.0.0.1, and makes it again when the file of the model has changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Final

from xrelay.errors import XRelayError

HOST: Final = "127.0.0.1"
VERSION_PATH: Final = "/version"


class ServedPage:
    """A page that is made again when `state` returns another value."""

    def __init__(self, make: Callable[[], str], state: Callable[[], str], describe: Callable[[Exception], str]):
        """`describe` returns one line about an error of `make`."""
        self._make, self._state, self._describe = make, state, describe
        self._lock, self._seen = Lock(), ""
        self.text = ""
        self.version = 0
        """The number of pages that were made."""
        self.failure = ""
        """The reason why the last attempt made no page; empty if it did."""

    def update(self) -> None:
        """Makes the page if the state has changed. If that fails, the last page stays."""
        with self._lock:
            state = self._state()
            if state == self._seen:
                return
            self._seen = state
            try:
                self.text, self.failure = self._make(), ""
                self.version += 1
            except Exception as error:  # a fault of the compiler does not end the server, either
                self.failure = self._describe(error)
                sys.stderr.write(f"{self.failure}\n")


def page_server(page: ServedPage, port: int) -> ThreadingHTTPServer:
    """Returns a server of the page at `/` and of its version at `/version`; port 0 is any free port.

    It answers only requests whose Host is its own address, so that no other site reads the page by a name that it
    resolves to 127.0.0.1. Raises `XRelayError` if the port cannot be used.
    """
    try:
        server = ThreadingHTTPServer((HOST, port), _handler(page))
    except OSError as error:
        raise XRelayError(f"cannot listen on {HOST}:{port}: {error.strerror}", help="pass another --port") from error
    server.daemon_threads = True
    return server


def _handler(page: ServedPage) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        """Answers requests for the page and its version."""

        def do_GET(self) -> None:
            """Updates the page, and sends it or its version."""
            if self.headers.get("Host", "").partition(":")[0] not in (HOST, "localhost"):
                self.send_error(403)
            elif self.path == "/":
                page.update()
                self._send(page.text or _failure_text(page.failure), "text/html; charset=utf-8")
            elif self.path == VERSION_PATH:
                page.update()
                self._send(json.dumps({"version": page.version, "failure": page.failure}), "application/json")
            else:
                self.send_error(404)

        def _send(self, text: str, kind: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Writes nothing: the page asks for its version every second."""

    return Handler


def _failure_text(failure: str) -> str:
    return f"<!doctype html><title>xrelay explore</title><pre>{escape(failure)}</pre>"

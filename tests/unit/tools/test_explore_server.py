"""`xrelay explore --serve`: the page is made again when the model changes, and only this machine reads it."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from threading import Thread

import pytest

from xrelay.errors import InputError, XRelayError
from xrelay.tools.explore.server import HOST, ServedPage, page_server


@dataclass
class Model:
    """A file whose state a test sets, and its page."""

    state: str = "1"
    made: list[str] = field(default_factory=list[str])

    def make(self) -> str:
        self.made.append(self.state)
        if self.state == "damaged":
            raise InputError("the model is damaged")
        if self.state == "fault":
            raise ZeroDivisionError
        return f"<p>page {self.state}</p>"


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def port(model: Model) -> Generator[int]:
    page = ServedPage(model.make, lambda: model.state, lambda error: f"error: {type(error).__name__}")
    with page_server(page, 0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def get(port: int, path: str, host: str | None = None) -> tuple[int, str]:
    connection = HTTPConnection(HOST, port)
    connection.request("GET", path, headers={} if host is None else {"Host": host})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_page_is_made_once_for_each_state(model: Model, port: int) -> None:
    assert get(port, "/") == (200, "<p>page 1</p>")
    assert get(port, "/") == (200, "<p>page 1</p>")
    assert json.loads(get(port, "/version")[1]) == {"version": 1, "failure": ""}
    model.state = "2"
    assert json.loads(get(port, "/version")[1]) == {"version": 2, "failure": ""}
    assert get(port, "/")[1] == "<p>page 2</p>"
    assert model.made == ["1", "2"]


@pytest.mark.parametrize(("state", "error"), [("damaged", "InputError"), ("fault", "ZeroDivisionError")])
def test_last_page_stays_when_the_next_one_fails(model: Model, port: int, state: str, error: str) -> None:
    get(port, "/")
    model.state = state
    assert json.loads(get(port, "/version")[1]) == {"version": 1, "failure": f"error: {error}"}
    assert get(port, "/")[1] == "<p>page 1</p>"
    model.state = "3"
    assert json.loads(get(port, "/version")[1]) == {"version": 2, "failure": ""}


def test_other_sites_and_paths_get_nothing(port: int) -> None:
    assert get(port, "/", host="example.com")[0] == 403
    assert get(port, "/", host=f"localhost:{port}")[0] == 200
    assert get(port, "/model.onnx")[0] == 404


def test_port_in_use(port: int) -> None:
    with pytest.raises(XRelayError):
        page_server(ServedPage(str, str, str), port)

"""The HTML of programs, models and profiles in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from operator import methodcaller

import numpy as np
import pytest

import xrelay
from xrelay import relay, te


@pytest.fixture(scope="module")
def module() -> relay.Module:
    """A module with one function."""
    x = relay.var("x", shape=(2, 4))
    return relay.Module.from_expr(relay.Function([x], relay.nn.relu(x * relay.const(2.0))))


html_of: Callable[[object], str] = methodcaller("_repr_html_")


class _Text(HTMLParser):
    """Collects the text of HTML, and its open elements."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def text_of(html: str) -> str:
    """The text of HTML whose elements are closed in order."""
    parser = _Text()
    parser.feed(html)
    assert parser.open == []
    return parser.text


def test_module_and_function(module: relay.Module) -> None:
    text = text_of(html_of(module))
    assert "module with @main" in text
    assert str(module) in text
    x = relay.var("x", shape=(4,))
    assert "relay.nn.relu" in text_of(html_of(relay.Function([x], relay.nn.relu(x))))


def test_schedule() -> None:
    a = te.placeholder((32, 64), name="A")
    b = te.compute((32, 64), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((32, 64), lambda i, j: b[i, j] * 2.0, name="C")
    s = te.create_schedule(c.op)
    outer, inner = s[c].split(s[c].op.axis[1], factor=16)
    s[c].vectorize(inner)
    s[b].compute_at(s[c], outer)
    text = text_of(html_of(s))
    assert "Ainput" in text
    assert "Bin j.outer of C" in text
    assert "Coutputi to 32, j.outer to 4, j.inner to 16split j by 16; vectorize j.inner" in text


def test_long_texts_are_folded() -> None:
    x = relay.var("x", shape=(4,))
    y: relay.Expr = x
    for _ in range(60):
        y = relay.tanh(y)
    assert " open>" in html_of(relay.Function([x], relay.tanh(x)))
    assert " open>" not in html_of(relay.Function([x], y))


def test_model_and_profile(module: relay.Module) -> None:
    model = xrelay.compile(module)
    text = text_of(html_of(model))
    assert all(str(spec) in text for spec in (*model.inputs, *model.outputs))
    (kernel,) = model.artifact.metadata.kernels
    assert kernel.symbol in text
    profile = model.profile([np.ones((2, 4), np.float32)], runs=1)
    shown = html_of(profile)
    assert kernel.symbol in text_of(shown)
    assert "<svg" in shown

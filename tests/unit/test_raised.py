"""Wrappers of user-code exceptions are instances of XRelayError and of the original class."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from xrelay.errors import ConstraintError, InputError, PassError, TensorTypeError
from xrelay.raised import combine_classes, raised


class Strange(Exception):
    """An exception with two arguments, and an attribute in a slot."""

    __slots__ = ("code",)

    def __init__(self, code: int, reason: str):
        super().__init__(reason)
        self.code, self.reason = code, reason


class Titled(Exception):
    """An exception whose message is a read-only property."""

    @property
    def message(self) -> str:
        return "mine"


FOUND = [
    RuntimeError("no\n  room"),
    KeyError("bias"),
    FileNotFoundError(2, "gone", "net.onnx"),
    UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    StopIteration(4),
    Strange(7, "odd"),
    InputError("too big", help="less"),
    TensorTypeError("no tensor"),
    PassError("of another pass"),
    ConstraintError("relay.add", "C1", "no"),
    Exception("plain"),
]


@pytest.mark.parametrize("error", FOUND, ids=lambda error: type(error).__name__)
def test_it_is_caught_as_either_and_says_its_own_sentence(error: Exception) -> None:
    found = combine_classes(PassError(f"[acme] {raised(error)}", help="mend it"), error)
    for kind in (PassError, type(error)):
        with pytest.raises(kind) as caught:
            raise found from error
        assert caught.value is found
    assert str(found).startswith(f"[acme] raised {type(error).__name__}: ")
    assert str(found).endswith("; help: mend it")
    assert "\n" not in str(found)
    assert found.args == error.args
    other = copy.copy(found)
    assert isinstance(other, type(error))
    assert (str(other), vars(other)) == (str(found), vars(found))


def test_it_travels_between_processes() -> None:
    error = KeyError("bias")
    other = pickle.loads(pickle.dumps(combine_classes(PassError(f"[acme] {raised(error)}"), error)))
    assert isinstance(other, KeyError)
    assert isinstance(other, PassError)
    assert str(other) == "[acme] raised KeyError: 'bias'"


def test_it_has_the_attributes_of_what_was_raised() -> None:
    gone: Any = combine_classes(PassError("[acme] fails"), FileNotFoundError(2, "gone", "net.onnx"))
    assert (gone.errno, gone.strerror, gone.filename) == (2, "gone", "net.onnx")
    strange: Any = combine_classes(PassError("[acme] fails"), Strange(7, "odd"))
    assert (strange.code, strange.reason, str(strange)) == (7, "odd", "[acme] fails")


@pytest.mark.parametrize("error", [Titled("no"), ExceptionGroup("several", [ValueError("no")])])
def test_a_class_that_has_its_own_message_stays_a_cause(error: Exception) -> None:
    found = PassError("[acme] fails")
    assert combine_classes(found, error) is found


def test_a_class_that_has_no_subclasses_stays_a_cause() -> None:
    class Final(Exception):
        def __init_subclass__(cls) -> None:
            raise TypeError("no subclasses")

    found = PassError("[acme] fails")
    assert combine_classes(found, Final("no")) is found

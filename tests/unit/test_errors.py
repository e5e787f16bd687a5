"""The project's exceptions in Python and in tools."""

from __future__ import annotations

import copy
import pickle
import traceback

import pytest

import xrelay.errors
from xrelay.errors import MAX_CHARACTERS, ConstraintError, InputError, XRelayError, printable, with_article


@pytest.mark.parametrize(
    ("error", "shown", "rendered"),
    [
        (InputError("too big"), "too big", "error: too big"),
        (InputError("too big", help="less"), "too big; help: less", "error: too big; help: less"),
        (InputError("too big", location="m:1:2"), "m:1:2: too big", "m:1:2: error: too big"),
        (ConstraintError("relay.add", "C1", "no", location="m:1:2"), "m:1:2: [relay.add C1] no", None),
    ],
)
def test_the_word_error_stands_once(error: XRelayError, shown: str, rendered: str | None):
    assert str(error) == shown
    (line,) = traceback.format_exception_only(error)
    assert line == f"xrelay.errors.{type(error).__name__}: {shown}\n"
    if rendered is not None:
        assert error.render() == rendered


def test_a_message_that_is_changed_later_is_shown():
    error = InputError("too big")
    error.message, error.location = "much too big", "m:1:2"
    assert str(error) == "m:1:2: much too big"


def test_long_texts_are_shortened_each_for_itself():
    error = InputError(f"no{'o' * 1_000_000}.", location="n" * 5_000, help="a shorter one")
    error.add_place("m" * 1_000_000, "here")
    assert len(str(error)) < 3 * MAX_CHARACTERS
    assert "oo… (1000003 characters) …oo" in str(error)
    assert str(error).startswith("nnn")
    assert error.render().endswith("oo.; help: a shorter one")
    assert len(error.notes()[0]) < 2 * MAX_CHARACTERS


def test_names_of_foreign_models_command_no_terminal():
    error = InputError("no value \x1b[2J", location="no\nde\x07")
    assert str(error) == r"no\nde\x07: no value \x1b[2J"
    hinted = InputError("no value", help="name \x1b[2J")
    hinted.add_place("the\nfirst", "m:1:\x072")
    assert hinted.render() == r"error: no value; help: name \x1b[2J"
    assert hinted.notes() == [r"m:1:\x072: note: the\nfirst"]
    assert printable("größe\u2028x") == "größe\\u2028x"


@pytest.mark.parametrize(
    "kind", [k for k in vars(xrelay.errors).values() if isinstance(k, type) and issubclass(k, XRelayError)]
)
def test_errors_travel_between_processes(kind: type[XRelayError]):
    arguments = ("relay.add", "C1", "no") if kind is ConstraintError else ("no",)
    error = kind(*arguments, location="m:1:2", help="do")
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is kind
        assert str(other) == str(error)
        assert vars(other) == vars(error)


@pytest.mark.parametrize("words", ["an int", "a list", "a str", "an Expr", "a dict", "an object", "a Function"])
def test_nouns_with_their_articles(words: str):
    assert with_article(words.split()[1]) == words

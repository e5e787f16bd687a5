"""`--verify-diagnostics` finds expectations where they are written, and every way to miss one."""

from __future__ import annotations

import pytest

from xrelay.errors import XRelayError
from xrelay.tools.opt.chunks import Chunk, split_chunks
from xrelay.tools.opt.expectations import Expectation, find_expectations, mismatches

TEXT = """// expected-error@+2 {{two below}}
// expected-error@below {{below}} expected-error@unknown {{nowhere}}
op // expected-error {{here}}
// expected-error@above {{above}}
"""


def test_places() -> None:
    found = find_expectations(Chunk(TEXT, "f", 100))
    assert found == [
        Expectation(103, "two below", 101),
        Expectation(103, "below", 102),
        Expectation(None, "nowhere", 102),
        Expectation(103, "here", 103),
        Expectation(103, "above", 104),
    ]


def test_each_error_meets_one_expectation() -> None:
    chunk = Chunk("// expected-error@+1 {{a}}\nop", "f", 0)
    error = XRelayError("an a", location="f:2:1")
    assert mismatches(chunk, find_expectations(chunk), [error]) == []
    assert mismatches(chunk, find_expectations(chunk), [error, error]) == ["f:2:1: error: unexpected error: an a"]
    assert mismatches(chunk, find_expectations(chunk), []) == ["f:1: error: expected error was not produced: a"]
    elsewhere = XRelayError("an a", location="f:3:1")
    assert len(mismatches(chunk, find_expectations(chunk), [elsewhere])) == 2
    other = XRelayError("a b c".replace("a", "x"), location="f:2:1")
    assert len(mismatches(chunk, find_expectations(chunk), [other])) == 2


def test_errors_without_a_place_are_expected_as_unknown() -> None:
    chunk = Chunk("// expected-error@unknown {{a}}", "f", 0)
    assert mismatches(chunk, find_expectations(chunk), [XRelayError("a", location="f")]) == []


def test_other_kinds_are_refused() -> None:
    with pytest.raises(XRelayError, match="expected-warning is not known"):
        find_expectations(Chunk("// expected-warning {{a}}", "f", 0))


def test_chunks_know_their_lines() -> None:
    chunks = split_chunks("a\n// -----\nb\nb\n// -----// not one\n  // -----\n// -----  \nc", "f", split=True)
    assert [(chunk.text.strip(), chunk.line_offset) for chunk in chunks] == [
        ("a", 0),
        ("b\nb\n// -----// not one\n  // -----", 1),
        ("c", 6),
    ]
    assert len(split_chunks("a\n// -----\nb", "f", split=False)) == 1

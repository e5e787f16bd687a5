"""`--verify-diagnostics` finds expected errors at their lines, and reports every kind of mismatch."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from xrelay.errors import XRelayError
from xrelay.tools.opt.diagnostics import (
    Chunk,
    Diagnostic,
    Expectation,
    error_diagnostic,
    error_diagnostics,
    find_expectations,
    mismatches,
    split_chunks,
    warning_diagnostic,
)

TEXT = """// expected-error@+2 {{two below}}
// expected-error@below {{below}} expected-error@unknown {{nowhere}}
op // expected-error {{here}}
// expected-error@above {{above}}
"""


def problems(chunk: Chunk, errors: Sequence[XRelayError]) -> list[str]:
    return mismatches(chunk, find_expectations(chunk), [error_diagnostic(error) for error in errors])


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
    assert problems(chunk, [error]) == []
    assert problems(chunk, [error, error]) == ["f:2:1: error: unexpected error: an a"]
    assert problems(chunk, []) == ["f:1: error: expected error was not produced: a"]
    elsewhere = XRelayError("an a", location="f:3:1")
    assert len(problems(chunk, [elsewhere])) == 2
    other = XRelayError("a b c".replace("a", "x"), location="f:2:1")
    assert len(problems(chunk, [other])) == 2


def test_errors_without_a_place_are_expected_as_unknown() -> None:
    chunk = Chunk("// expected-error@unknown {{a}}", "f", 0)
    assert problems(chunk, [XRelayError("a", location="f")]) == []


def test_notes_may_be_expected_at_their_own_lines() -> None:
    error = XRelayError("a: note: in its text", location="f:2:1")
    error.add_place("first defined here", "f:1:3")
    error.add_note("in pass p")
    found = list(error_diagnostics([error]))
    assert [(each.kind, each.line, each.message) for each in found] == [
        ("error", 2, "a: note: in its text"),
        ("note", 1, "first defined here"),
        ("note", None, "in pass p"),
    ]
    text = "x // expected-note {{first}}\nop // expected-error {{a}} expected-note@unknown {{in pass}}"
    chunk = Chunk(text, "f", 0)
    assert mismatches(chunk, find_expectations(chunk), found) == []
    alone = Chunk("\nop // expected-error {{a}}", "f", 0)
    assert mismatches(alone, find_expectations(alone), found, all_remarks=True) == []
    assert mismatches(chunk, find_expectations(chunk), found[:2]) == [
        "f:2: error: expected note was not produced: in pass"
    ]


def test_other_kinds_are_refused() -> None:
    with pytest.raises(XRelayError, match=r"expected-remarks.*; help: did you mean 'remark'"):
        find_expectations(Chunk("// expected-remarks {{a}}", "f", 0))


def test_warnings_and_remarks_are_met_by_their_own_kind() -> None:
    chunk = Chunk("// expected-warning@unknown {{a}}\nop // expected-remark {{b}}", "f", 0)
    expected = find_expectations(chunk)
    warning, remark = warning_diagnostic("an a", "f"), Diagnostic("remark", "f:2:1", "a b", "f:2:1: remark: p: a b")
    assert mismatches(chunk, expected, [warning, remark]) == []
    assert mismatches(chunk, expected, [remark]) == ["f:1: error: expected warning was not produced: a"]
    assert mismatches(chunk, expected, [warning]) == ["f:2: error: expected remark was not produced: b"]
    assert mismatches(chunk, [], [warning]) == ["f: error: unexpected warning: an a"]


def test_remarks_that_nobody_expects_are_let_pass_unless_asked_for() -> None:
    chunk, remark = Chunk("op", "f", 0), Diagnostic("remark", "f:1:1", "b", "f:1:1: remark: p: b")
    assert mismatches(chunk, [], [remark]) == []
    assert mismatches(chunk, [], [remark], all_remarks=True) == ["f:1:1: error: unexpected remark: b"]


def test_chunks_know_their_lines() -> None:
    chunks = split_chunks("a\n// -----\nb\nb\n// -----// not one\n  // -----\n// -----  \nc", "f", split=True)
    assert [(chunk.text.strip(), chunk.line_offset) for chunk in chunks] == [
        ("a", 0),
        ("b\nb\n// -----// not one\n  // -----", 1),
        ("c", 6),
    ]
    assert len(split_chunks("a\n// -----\nb", "f", split=False)) == 1


def test_blanks_before_a_place_are_allowed_and_unknown_places_are_not() -> None:
    chunk = Chunk("// expected-error @below {{a}}\nop\n// expected-error@ -1 {{b}}", "f", 0)
    assert [(e.line, e.text) for e in find_expectations(chunk)] == [(2, "a"), (2, "b")]
    with pytest.raises(XRelayError, match=r"@belov.*; help: .*@above, @below"):
        find_expectations(Chunk("// expected-error@belov {{a}}", "f", 0))

"""The source line of a message, with a caret below its column."""

from __future__ import annotations

from xrelay.tools.command_line import MAX_WIDTH, excerpt

SOURCES = {"f.mlir": "first\n\tsecond = \x1b[1m\r\n" + "x" * 1000 + "\n"}


def test_the_line_and_the_column() -> None:
    assert excerpt("f.mlir:1:3: error: wrong", SOURCES) == ["first", "  ^"]
    assert excerpt("f.mlir:1:6: note: the end", SOURCES) == ["first", "     ^"]


def test_tabs_are_kept_and_control_characters_are_not() -> None:
    assert excerpt("f.mlir:2:11: error: wrong", SOURCES) == ["\tsecond = \ufffd[1m", "\t         ^"]


def test_a_long_line_is_cut_around_the_caret() -> None:
    for column in (1, 500, 1000):
        line, caret = excerpt(f"f.mlir:3:{column}: error: wrong", SOURCES)
        assert len(line) == MAX_WIDTH
        assert caret.endswith("^")
        assert len(caret) <= MAX_WIDTH


def test_messages_without_a_place_in_a_known_text_have_none() -> None:
    for message in (
        "error: wrong",
        "g.mlir:1:1: error: wrong",
        "f.mlir:9:1: error: wrong",
        "f.mlir:1:99: error: wrong",
    ):
        assert excerpt(message, SOURCES) == []

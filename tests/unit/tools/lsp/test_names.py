"""Names in texts of IR: definitions, uses, scopes."""

from __future__ import annotations

import pytest

from xrelay.tools.lsp.names import Names

TEXT = """\
!row = tensor<4xf32>
func.func @main(%x: !row, %n: index) -> !row {
  %y = relay.nn.relu(%x) : (!row) -> !row
  %z:2 = func.call @pair(%y, %x) : (!row, !row) -> (!row, !row)
  cf.br ^end(%z#1 : !row)
^end(%r: !row):
  func.return %r : !row
}
func.func private @pair(%x: !row, %y: !row) -> (!row, !row) {
  loop.for "i" %i to 4 {
    %y2 = arith.addi %i, %i : index // %x is not used
  }
  %s = relay.fused @group(%p = %x : !row) -> !row {
    relay.yield %p : !row
  }
  func.return %s, %y : !row, !row
}
"""


def place(line: int, text: str, occurrence: int = 0) -> int:
    """The position of an occurrence of `text` on a line, counted from 1."""
    lines = TEXT.split("\n")
    start = -1
    for _ in range(occurrence + 1):
        start = lines[line - 1].index(text, start + 1)
    return sum(len(each) + 1 for each in lines[: line - 1]) + start


def line_of(position: int) -> int:
    return TEXT.count("\n", 0, position) + 1


@pytest.mark.parametrize(
    ("line", "use", "definition"),
    [
        (3, "%x", 2),  # an argument of the function
        (3, "!row", 1),  # an alias
        (4, "%y", 3),  # a result, not the argument of the other function
        (4, "@pair", 9),  # a symbol that is defined later
        (5, "%z", 4),  # one of several results
        (5, "^end", 6),  # a block that is defined later
        (7, "%r", 6),  # an argument of a block
        (11, "%i", 10),  # the counter of a loop
        (13, "%x", 9),  # the operand of a parameter of a group
        (14, "%p", 13),  # the parameter of a group
        (16, "%y", 9),
    ],
)
def test_definition(line: int, use: str, definition: int) -> None:
    names = Names(TEXT)
    name = names.at(place(line, use))
    assert name is not None
    found = names.definition(name)
    assert found is not None
    assert line_of(found.start) == definition


def test_references_are_those_of_the_function() -> None:
    names = Names(TEXT)
    name = names.at(place(9, "%x"))
    assert name is not None
    assert [line_of(each.start) for each in names.references(name)] == [9, 13]


def test_comments_and_strings_have_no_names() -> None:
    assert Names('%a = "test.op"() {text = "%b @c"} : () -> i32 // %d').at(22) is None
    assert [name.text for name in Names('"%b" // %d').definitions()] == []


def test_unfinished_text() -> None:
    text = "func.func @f(%x: i32) {\n  %y = arith.addi %x, %"
    names = Names(text)
    name = names.at(text.rindex("%x"))
    assert name is not None
    assert name.text == "%x"
    assert names.definition(name) is not None


def test_symbols() -> None:
    assert [name.text for name in Names(TEXT).symbols()] == ["@main", "@pair", "@group"]

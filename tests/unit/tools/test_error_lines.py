"""The line that the command prints for an error."""

from __future__ import annotations

import pytest

from xrelay.errors import InputError
from xrelay.tools.command_line import line_of


def test_a_foreign_exception_is_one_line_that_commands_no_terminal() -> None:
    line = line_of(ValueError("first\n  second \x1b[2J"))
    assert line.startswith(r"error: internal error, ValueError: first second \x1b[2J; help: ")
    assert "XRELAY_DEBUG=1" in line


def test_an_error_of_the_project_reads_as_it_is() -> None:
    assert line_of(InputError("no such input", help="name one")) == "error: no such input; help: name one"


def test_a_file_name_that_is_not_text_is_no_internal_error() -> None:
    with pytest.raises(UnicodeEncodeError) as caught:
        "caf\udce9.mlir".encode()
    assert line_of(caught.value) == r"error: a file name is not UTF-8: 'caf\udce9.mlir'; help: rename the file"

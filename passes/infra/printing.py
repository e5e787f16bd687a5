"""Programs as text, and as files."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from xrelay.errors import PassError


def save_module(path: Path, module: ModuleOp, *, generic: bool = False) -> None:
    """Write the module into a file, whose folder is made; `PassError` where that cannot be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(print_module(module, generic=generic) + "\n", encoding="utf-8")
    except OSError as error:
        raise PassError(f"cannot write {path}: {error.strerror}") from error


def print_module(module: ModuleOp, *, generic: bool = False, debuginfo: bool = False) -> str:
    """Returns the module as text, in custom or generic form, with or without locations."""
    stream = StringIO()
    Printer(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo).print_op(module)
    return stream.getvalue()

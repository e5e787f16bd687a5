"""Library functions that native code calls.

    ctypes.CDLL("libacme.so", mode=ctypes.RTLD_GLOBAL)
    register_external_symbol("acme_fill")

A module in the llvm dialect may declare and call such a function. To run a model, the process must have loaded the
library with global symbols; a C program links it. A package announces the module under `symbols`.
"""

from __future__ import annotations

import re

from xrelay.errors import InputError
from xrelay.lowering.external_symbols import add_external_symbol
from xrelay.registrations import note_caller

__all__ = ["register_external_symbol"]


def register_external_symbol(name: str) -> None:
    """Lets native code call the function `name` of the process. Raises `InputError` if it is not a C identifier."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII):
        raise InputError(f"{name!r} is not a valid name of a C function")
    note_caller()
    add_external_symbol(name)

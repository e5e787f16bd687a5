"""External functions that native code may call.

The JIT linker resolves undefined symbols of an object among all symbols of the process, so a module could declare and
call any function of the C library. Modules may declare only the functions below and those that packages have
registered.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import LoweringError
from xrelay.lowering.to_llvm.convert_scf_parallel_to_calls import PARALLEL_FOR
from xrelay.passes.infra.verify import walk_ops
from xrelay.plugins import load_plugins

_MATH: Final = ("acosh", "asinh", "atanh", "cbrt", "erf", "expm1", "log1p")
_BUILT_IN: Final = frozenset(
    {PARALLEL_FOR, "aligned_alloc", "free", "memcpy", "memmove", *_MATH, *(f"{name}f" for name in _MATH)}
)
_INTRINSIC: Final = re.compile(r"llvm\.[A-Za-z0-9_.]+")
_NOT_OWN: Final = frozenset({"available_externally", "extern_weak"})
"""Linkages of definitions that another definition replaces."""
_registered: set[str] = set()


def add_external_symbol(name: str) -> None:
    """Allows native code to call the external function `name`."""
    _registered.add(name)


def registered_symbols() -> frozenset[str]:
    """Returns the names of the functions that packages have registered."""
    load_plugins("symbols")
    return frozenset(_registered)


def check_external_symbols(module: ModuleOp, known: Collection[str]) -> None:
    """Raises `LoweringError` if a module in the llvm dialect declares a function or variable that it may not use.

    `known` are the symbols that other object files of the model define. Pointers made from constants are refused as
    well.
    """
    for op in module.ops:
        if isinstance(op, llvm.FuncOp | llvm.GlobalOp) and _is_external(op) and not _is_allowed(op, known):
            kind = "function" if isinstance(op, llvm.FuncOp) else "variable"
            raise LoweringError(
                f"native code may not use the external {kind} @{op.sym_name.data}",
                location=describe_location(op),
                help="define it, or register it with xrelay.extend.symbols.register_external_symbol",
            )
    for op in walk_ops(module):
        if type(op) is llvm.IntToPtrOp and _is_constant(op.operands[0]):
            raise LoweringError("llvm.inttoptr makes a pointer of a constant", location=describe_location(op))


def _is_constant(value: SSAValue) -> bool:
    """Whether a value is computed from constants only."""
    pending, seen = [value], set[SSAValue]()
    while pending:
        if (each := pending.pop()) in seen:
            continue
        seen.add(each)
        owner = each.owner
        if isinstance(owner, llvm.ConstantOp):
            continue
        if not isinstance(owner, Operation) or not owner.operands or isinstance(owner, llvm.LoadOp | llvm.CallOp):
            return False
        pending += owner.operands
    return True


def _is_external(op: llvm.FuncOp | llvm.GlobalOp) -> bool:
    """Whether the linker resolves the symbol to a definition outside of this module."""
    linkage = op.linkage.linkage.data
    if isinstance(op, llvm.FuncOp):
        return linkage in _NOT_OWN or not op.body.blocks
    return linkage in _NOT_OWN or op.sym_name.data.startswith("llvm.") or (linkage == "external" and op.value is None)


def _is_allowed(op: llvm.FuncOp | llvm.GlobalOp, known: Collection[str]) -> bool:
    name = op.sym_name.data
    if isinstance(op, llvm.FuncOp) and (name in _BUILT_IN or _INTRINSIC.fullmatch(name)):
        return True
    return name in known or name in registered_symbols()

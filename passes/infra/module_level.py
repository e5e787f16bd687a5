"""The level of a module: the lowest of relay, topi and loop that has ops in it."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Operation

from xrelay.dialects.shared.attribute_names import INPUTS, NUM_OUTPUTS
from xrelay.dialects.shared.levels import level_of
from xrelay.errors import InputError
from xrelay.passes.infra.verify import walk_ops

_CHECKED_DIALECTS = frozenset({"builtin", "func", "relay", "topi", "loop", "arith", "math", "scf"})
_CHECKED_OPS = frozenset({"memref.alloc", "memref.dealloc", "cf.assert"})
_LOWER_DIALECTS = frozenset({"scf", "memref", "vector", "llvm", "cf"})


def module_level(module: ModuleOp) -> str:
    """Returns the lowest of `relay`, `topi` and `loop` with ops in the module; raises `InputError` for lower levels."""
    found = {level_of(op) for op in walk_ops(module)}
    for level in ("loop", "topi", "relay"):
        if level in found:
            return level
    lower = sorted(found & _LOWER_DIALECTS)
    if any(NUM_OUTPUTS in op.attributes for op in module.ops) and lower in ([], ["memref"]):
        # Functions on buffers that compute nothing: all results are empty.
        if INPUTS not in module.attributes:
            return "loop"
    elif not lower:
        return "relay"
    raise InputError(
        f"a module below the loop level ({', '.join(lower)}) has no interpreter",
        help="compare the module before convert-loop-to-scf, or the compiled model",
    )


def is_native_code(module: ModuleOp) -> bool:
    """Whether a module has ops that access memory without checks, as texts below the loop level do.

    Calls that pass extents count, since kernels rely on extents.
    """
    return any(not _is_checked(op) for op in walk_ops(module))


def _is_checked(op: Operation) -> bool:
    if isinstance(op, CallOp):
        return not any(isinstance(type, IndexType) for type in op.operand_types)
    return level_of(op) in _CHECKED_DIALECTS or op.name in _CHECKED_OPS

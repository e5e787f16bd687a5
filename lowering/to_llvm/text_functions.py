"""Functions of the llvm dialect that are part of the compiler as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import func, llvm
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from xrelay.dialects.upstream.llvm_extras import LLVM

Signatures: TypeAlias = Mapping[str, tuple[Sequence[Attribute], Sequence[Attribute]]]
"""Function name → types of its arguments and results, without the context."""


def declare_functions(module: ModuleOp, signatures: Signatures) -> None:
    """Declares the functions that a module in the func dialect lacks."""
    declared = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)}
    for name, (inputs, outputs) in signatures.items():
        if name not in declared:
            module.body.block.add_op(func.FuncOp.external(name, inputs, outputs))


def is_declaration_of(op: Operation, names: Collection[str]) -> bool:
    """Whether `op` is a declaration, in the func dialect, of a function with one of these names."""
    return isinstance(op, func.FuncOp) and op.is_declaration and op.sym_name.data in names


def define_functions(module: ModuleOp, text: str, name: str) -> None:
    """Adds the functions of `text` that a module in the llvm dialect lacks; `name` is the name of the text."""
    block = module.body.block
    known = {op.sym_name.data for op in block.ops if isinstance(op, llvm.FuncOp)}
    for op in _functions(text, name):
        if op.sym_name.data not in known:
            block.add_op(_copy(op))


@cache
def _functions(text: str, name: str) -> tuple[llvm.FuncOp, ...]:
    """Returns the functions of a text, which is parsed once: copying ops takes a tenth of the time of parsing."""
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(LLVM)
    return tuple(op for op in Parser(context, text, name).parse_module().ops if isinstance(op, llvm.FuncOp))


def _copy(function: llvm.FuncOp) -> llvm.FuncOp:
    """Returns a copy whose blocks keep their names, which `clone` drops."""
    copied = function.clone()
    for block, original in zip(copied.body.blocks, function.body.blocks, strict=True):
        block.name_hint = original.name_hint
    return copied

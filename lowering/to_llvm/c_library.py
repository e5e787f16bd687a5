"""Declarations of the functions of the C library that compiled code calls."""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation


def declare(op: Operation, name: str, type_: llvm.LLVMFunctionType) -> None:
    """Declares a function of the C library at the end of the module, once; declarations are sorted by name."""
    module: Operation | None = op
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    assert isinstance(module, ModuleOp), "passes run on modules"
    block = module.body.block
    last, behind = block.last_op, None
    while isinstance(last, llvm.FuncOp) and not last.body.blocks:
        if last.sym_name.data == name:
            return
        behind = last if name < last.sym_name.data else behind
        last = last.prev_op
    function = llvm.FuncOp(name, type_, llvm.LinkageAttr("external"))
    if behind is None:
        block.add_op(function)
    else:
        block.insert_op_before(function, behind)

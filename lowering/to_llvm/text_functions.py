"""Functions of the llvm dialect that stand in the compiler as text."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser

from xrelay.dialects.upstream.llvm_extras import LLVM


def define_functions(module: ModuleOp, text: str, name: str) -> None:
    """Adds those functions of `text` that a module in the llvm dialect does not have; `name` is that of the text."""
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(LLVM)
    block = module.body.block
    known = {op.sym_name.data for op in block.ops if isinstance(op, llvm.FuncOp)}
    for op in Parser(context, text, name).parse_module().ops:
        if isinstance(op, llvm.FuncOp) and op.sym_name.data not in known:
            op.detach()
            block.add_op(op)

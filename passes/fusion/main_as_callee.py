"""A `@main` that other functions call, or that calls itself."""

from __future__ import annotations

from itertools import count

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.relay.dead_code_elimination import PRIVATE


def enter_main_once(module: ModuleOp) -> None:
    """If `@main` is called, renames it and adds a new `@main` that only calls it.

        func.func @main(%n: T) -> T {… func.call @main(%m) …}
    becomes
        func.func @main(%n: T) -> T {%r = func.call @main_1(%n); func.return %r}
        func.func private @main_1(%n: T) -> T {… func.call @main_1(%m) …}
    """
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
    main = functions.get("main")
    calls = [op for op in walk_ops(module) if is_call(op) and callee_name(op) == "main"]
    if main is None or not calls or main.is_declaration or PRIMITIVE in main.attributes:
        return
    name = next(name for name in (f"main_{number}" for number in count(1)) if name not in functions)
    block = Block(arg_types=main.function_type.inputs.data)
    for argument, like in zip(block.args, main.body.blocks[0].args, strict=True):
        argument.name_hint = like.name_hint
    call = CallOp(name, block.args, main.function_type.outputs.data)
    block.add_ops([call, ReturnOp(*call.results)])
    entry = FuncOp("main", main.function_type, Region(block), arg_attrs=main.arg_attrs, res_attrs=main.res_attrs)
    entry.attributes, entry.location, call.location = dict(main.attributes), main.location, main.location
    Rewriter.insert_op(entry, InsertPoint.before(main))
    main.sym_name, main.sym_visibility = StringAttr(name), PRIVATE
    for op in calls:
        op.callee = SymbolRefAttr(name)

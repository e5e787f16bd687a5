"""`relay-outline-compiler-functions`: turns closures for external compilers into functions of the module.

Code generators process functions of the module, but a partition may consist of closures. Each `relay.fn` with the
attribute `Compiler` that is called, directly or by the name of a let, becomes a private function with the same
attributes, called by its `global_symbol`. With `compiler-filter`, only closures for that compiler are outlined. Relay
calls the pass `OutlineCompilerFunctionsWithExistingGlobalSymbols`.

Before:

    %f = relay.fn(%a: T) -> T attributes {Compiler = "mine", global_symbol = "mine_0"} {
      %y = relay.exp(%a)
      relay.yield %y
    }
    %r = relay.invoke %f(%x)

After:

    %r = func.call @mine_0(%x)
    …
    func.func private @mine_0(%a: T) -> T attributes {Compiler = "mine", global_symbol = "mine_0"} {
      %y = relay.exp(%a)
      func.return %y
    }

Constants that the closure captures are copied into the function. Equal closures with one symbol become one function.
Left alone: closures in kernels, and in functions for other compilers.

Refuses (`PassError`): a closure without `global_symbol`, a closure that calls itself or captures other values than
constants, and two different functions with one symbol.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.structure.call import NamedCallOp, call_of
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.attribute_names import COMPILER, FORM, GLOBAL_SYMBOL
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import captures_in
from xrelay.errors import PassError
from xrelay.passes.functions.inline import OPAQUE_BODIES, erase_unused_closure, known_closure
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.infer_type import infer_types

PASS_NAME = "relay-outline-compiler-functions"


@dataclass(frozen=True)
class RelayOutlineCompilerFunctionsPass(XRelayPass):
    """Outlines closures for external compilers; see the module's docstring. Exact."""

    name = PASS_NAME
    numerics = EXACT

    compiler_filter: str = field(default="", metadata={"help": "the compiler of the functions (default: all)"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        outliner = _Outliner(op)
        for function in functions_of(op).values():
            if not OPAQUE_BODIES & function.attributes.keys():
                for call in list(walk_ops(function)):
                    closure = known_closure(call.callee) if isinstance(call, InvokeOp) else None
                    if isinstance(call, InvokeOp) and closure is not None and is_for(closure, self.compiler_filter):
                        outliner.outline(call, closure, function)
        outliner.erase_unused_constants()
        if outliner.has_named:
            infer_types(op)


def is_for(attributes_owner: FuncOp | FnOp, compiler_filter: str) -> bool:
    """Returns whether a function is for an external compiler, or for the one in `compiler_filter` if not empty."""
    compiler = attributes_owner.attributes.get(COMPILER)
    return isinstance(compiler, StringAttr) and compiler_filter in ("", compiler.data)


class _Outliner:
    """Outlines closures, each once."""

    def __init__(self, module: ModuleOp):
        self._module = module
        self._functions = functions_of(module)
        self._symbols: dict[FnOp, str] = {}
        self._constants: dict[ConstantOp, None] = {}
        """The constants that outlined functions have copies of."""
        self.has_named = False
        """Whether a call of an outlined function has named dimensions."""

    def outline(self, call: InvokeOp, closure: FnOp, parent: FuncOp) -> None:
        """Replaces `call` by a call of the function that `closure` becomes."""
        if closure not in self._symbols:
            self._symbols[closure] = self._add(closure, parent)
        symbol, callee = self._symbols[closure], call.callee
        made = call_of(symbol, call.arguments, [call.result.type])
        made.location, made.results[0].name_hint = call.location, call.result.name_hint
        Rewriter.replace_op(call, made)
        erase_unused_closure(callee)
        self.has_named |= isinstance(made, NamedCallOp)

    def _add(self, closure: FnOp, parent: FuncOp) -> str:
        """Adds the function of `closure` to the module unless there is an equal one; returns its symbol."""
        symbol = closure.attributes.get(GLOBAL_SYMBOL)
        if not isinstance(symbol, StringAttr):
            raise PassError(
                f"{PASS_NAME}: a function for a compiler has no attribute {GLOBAL_SYMBOL}",
                location=location_of(closure),
                help="set it, as relay-partition-graph does",
            )
        constants = _constants_around(closure)
        self._constants.update(dict.fromkeys(constants))
        made = _function_of(closure, constants, symbol.data)
        if FORM in parent.attributes:
            made.attributes[FORM] = parent.attributes[FORM]
        known = self._functions.get(symbol.data)
        if known is None:
            self._functions[symbol.data] = made
            self._module.body.block.add_op(made)
        elif not known.is_structurally_equivalent(made):
            raise PassError(
                f"{PASS_NAME}: @{symbol.data} already is another function",
                location=location_of(closure),
                help=f"set another {GLOBAL_SYMBOL} on one of them",
            )
        return symbol.data

    def erase_unused_constants(self) -> None:
        """Erases the constants that only closures used."""
        for constant in self._constants:
            if constant.result.first_use is None:
                erase_op(constant)


def _constants_around(closure: FnOp) -> list[ConstantOp]:
    """The constants from around `closure` that it uses; `PassError` where it uses anything else from there."""
    outside = captures_in(closure)[closure]
    constants = [value.owner for value in outside if isinstance(value.owner, ConstantOp)]
    if closure.is_recursive or len(constants) != len(outside):
        raise PassError(
            f"{PASS_NAME}: a function for a compiler uses itself, or a value from outside",
            location=location_of(closure),
            help="pass each value as a parameter",
        )
    return constants


def _function_of(closure: FnOp, constants: Sequence[ConstantOp], symbol: str) -> FuncOp:
    """A private function called `symbol` with the body and attributes of `closure`, and copies of `constants`."""
    block = Block(arg_types=[parameter.type for parameter in closure.parameters])
    values: dict[SSAValue, SSAValue] = {}
    for parameter, argument in zip(closure.parameters, block.args, strict=True):
        argument.name_hint, values[parameter] = parameter.name_hint, argument
    *body, end = [*constants, *closure.body.block.ops]
    block.add_ops([op.clone(values) for op in body])
    result = yielded(closure.body)
    returned = ReturnOp(values.get(result, result))
    returned.location = end.location
    block.add_op(returned)
    made = FuncOp(symbol, (list(block.arg_types), [result.type]), Region(block), "private")
    made.attributes.update(closure.attributes)
    made.location = closure.location
    return made

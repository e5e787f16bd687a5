"""Results that an inlined call gives where its arguments are computed, for `relay-inline`.

Calls compute their arguments by value. Where a body takes the place of a call and can do without an argument that may
fail, a call that does nothing takes what the body gives, and that argument:

    %y = relay.call @f<…>(%s, %x) {relay.binds = #relay.bounds<j, k>} : (…) -> tensor<?xf32, …<j + k>>
becomes
    %r = relay.concatenate(…) : (…) -> tensor<?xf32, …<j + k>>
    %y = relay.call @f_result<d0 = j + k, …>(%r, %s) : (tensor<?xf32, …<j + k>>, …) -> tensor<?xf32, …<j + k>>
    …
    func.func private @f_result(%0: tensor<?xf32, …<d0>>, %1: …) -> tensor<?xf32, …<d0>> {
      func.return %0 : tensor<?xf32, …<d0>>
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.shared.attribute_names import FORM
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import with_dims
from xrelay.index_algebra.dims import AnyDim, Dim, symbol
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.relay.argument_needs import MayFail, unneeded_arguments
from xrelay.passes.relay.closure_captures import told_by
from xrelay.passes.types.type_solver import function_around


class ComputedFirst:
    """Adds functions to a module that give some of their arguments, and calls of them."""

    def __init__(self, module: ModuleOp):
        self._module = module
        self._symbols = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}

    def wanted(
        self,
        call: AnyCall | InvokeOp,
        body: Block,
        parameters: Sequence[SSAValue],
        fails: MayFail,
        captured: Iterable[SSAValue] = (),
    ) -> Sequence[SSAValue] | None:
        """The arguments of `call` to be computed where `body` takes its place; `None` where it has to stay.

        What a closure captures is computed where it is made, and so counts as an argument here.

        It stays where there are some. One that makes an extent which its results do not tell does not: native calls
        could not give that back, nor lifted closures name it. One that gives closures does, as they would be unknown.
        """
        own = dict.fromkeys(captured)
        found = unneeded_arguments(body, [*call.arguments, *own], [*parameters, *own], fails)
        is_told = {extent.name for extent in made_extents(call)} <= {
            name for value in call.results for name in told_by(value)
        }
        gives_closures = any(isinstance(type, FunctionType) for type in leaf_types(call.result_types))
        return None if found and (is_told or gives_closures) else found

    def results(self, call: Operation, results: Sequence[SSAValue], first: Sequence[SSAValue]) -> list[SSAValue]:
        """`results`, which take the place of those of `call`, where the values `first` are computed."""
        if not first:
            return list(results)
        names: dict[Dim, str] = {}
        arguments = [*results, *first]
        types = [_renamed(value.type, names) for value in arguments]
        function = self._function(types, len(results), call)
        bindings = {name: dim for dim, name in names.items()}
        new = NamedCallOp(function, bindings, arguments, [value.type for value in results])
        new.location = call.location
        Rewriter.insert_op(new, InsertPoint.before(call))
        return list(new.results)

    def _function(self, types: Sequence[Attribute], count: int, call: Operation) -> str:
        """The name of a new function that gives the first `count` of its arguments."""
        block, home = Block(arg_types=types), function_around(call)
        returned = ReturnOp(*block.args[:count])
        block.add_op(returned)
        name = fresh_name(f"{home.sym_name.data}_result", self._symbols)
        new = FuncOp(name, (list(types), list(types[:count])), Region(block), "private")
        new.location = returned.location = call.location
        if FORM in home.attributes:
            new.attributes[FORM] = home.attributes[FORM]
        self._module.body.block.add_op(new)
        return name


def _renamed(type: Attribute, names: dict[Dim, str]) -> Attribute:
    """`type` as one of a parameter: each extent of `names` has its name, and others get one."""

    def named(dim: Dim) -> Dim:
        return dim if isinstance(dim, AnyDim) else symbol(names.setdefault(dim, f"d{len(names)}"))

    return with_dims(type, named)

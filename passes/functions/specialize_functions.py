"""`relay-specialize-functions`: copies functions for the static extents with which they are called.

If a `relay.call` binds every name of the callee's parameters to an integer, the pass redirects it to a private copy of
the function in which the integers replace the names. Calls with equal extents share a copy. Native code is specific to
static extents, so calls that are not inlined (without `relay-inline`, or with `marked`) need callees with such extents.

Before:

    %y = relay.call @rows<n = 8>(%x) : (tensor<8x4xf32>) -> tensor<8xf32>
    …
    func.func private @rows(%x: tensor<?x4xf32, #relay.dims<n>>) -> tensor<?xf32, #relay.dims<n>> {…}

After:

    %y = func.call @rows_8(%x) : (tensor<8x4xf32>) -> tensor<8xf32>
    …
    func.func private @rows_8(%x: tensor<8x4xf32>) -> tensor<8xf32> {…}

The types are inferred again with these extents. Not changed: calls with dynamic extents or contradicting types, and
recursive functions, which could need a copy for each level of the recursion and run in the interpreter. If types
contradict each other after the rewrite, the module is not changed: invalid extents are an error at run time.

Raises `PassError` if the copies have more than `max-ops` ops in total.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, count

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.structure.call import (
    NamedCallOp,
    callee_name,
    instantiated,
    made_names,
    parameter_names,
)
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.dims_attr import DimBindingsAttr
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import PassError, TypeInferenceError
from xrelay.passes.graph.calls import calls_in
from xrelay.passes.graph.dim_substitution import DimSubstitution
from xrelay.passes.graph.replacements import Undo
from xrelay.passes.infra.digraph import nodes_on_cycles
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import PRIVATE
from xrelay.passes.types.infer_type import infer_types

MAX_OPS = 1_000_000


@dataclass(frozen=True)
class RelaySpecializeFunctionsPass(XRelayPass):
    """Copies functions for the static extents with which they are called; see the module's docstring. Exact."""

    name = "relay-specialize-functions"
    numerics = EXACT

    max_ops: int = field(default=MAX_OPS, metadata={"help": "the maximum number of ops in all copies"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Specialises in place."""
        specialize_functions(op, max_ops=self.max_ops)


def specialize_functions(module: ModuleOp, *, max_ops: int = MAX_OPS) -> int:
    """Redirects calls with static extents to copies of their callees; returns the number of copies."""
    # Calls without names are not redirected.
    undo = Undo(module) if any(isinstance(op, NamedCallOp) and op.names for op in walk_ops(module)) else None
    try:
        return _specialize(module, max_ops)
    except TypeInferenceError:
        if undo is None:
            raise
        undo.run()
        return 0


def _specialize(module: ModuleOp, max_ops: int) -> int:
    specializer = _Specializer(module, max_ops)
    pending = [op for op in walk_ops(module) if isinstance(op, NamedCallOp)]
    while pending:
        call = pending.pop()
        copy = specializer.specialize(call)
        if copy is not None:
            pending += (op for op in walk_ops(copy) if isinstance(op, NamedCallOp))
    if specializer.copies:
        infer_types(module)
    return len(specializer.copies)


class _Specializer:
    def __init__(self, module: ModuleOp, max_ops: int):
        self._functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
        self._recursive = nodes_on_cycles(
            {name: calls_in(function, self._functions) for name, function in self._functions.items()}
        )
        self._taken = set(self._functions)
        self._left = max_ops
        self.copies: dict[tuple[str, tuple[int, ...]], FuncOp] = {}
        """Function name and extents, in the order of the parameters' names → the copy."""

    def specialize(self, call: NamedCallOp) -> FuncOp | None:
        """Redirects `call` to a copy of its callee if possible; returns the copy if it is new."""
        name = callee_name(call)
        function = self._functions.get(name)
        if function is None or not self._can_be(call, function):
            return None
        names = parameter_names(function.function_type)
        sizes = tuple(size for name in names if isinstance(size := call.names[name], int))
        if not sizes or len(sizes) != len(names):
            return None
        known = self.copies.get((name, sizes))
        copy = known
        if copy is None:
            copy = self.copies[name, sizes] = self._copy(function, dict(zip(names, sizes, strict=True)), call)
        _call(copy, call)
        return None if known is not None else copy

    def _can_be(self, call: NamedCallOp, function: FuncOp) -> bool:
        """Whether the callee has a body, is neither a kernel nor recursive, and has the types of `call`."""
        if function.is_declaration or PRIMITIVE in function.attributes or callee_name(call) in self._recursive:
            return False
        type = function.function_type
        wanted = [instantiated(each, call.names) for each in (*type.inputs, *type.outputs)]
        return call.bindings is not None and wanted == [*call.operand_types, *call.result_types]

    def _copy(self, function: FuncOp, sizes: dict[str, int], call: NamedCallOp) -> FuncOp:
        self._left -= sum(1 for _ in walk_ops(function))
        if self._left < 0:
            raise PassError(
                "relay-specialize-functions: the copies have too many ops",
                location=location_of(call),
                help="raise max-ops",
            )
        copy = function.clone()
        copy.sym_name = StringAttr(self._unique("_".join([function.sym_name.data, *map(str, sizes.values())])))
        copy.sym_visibility = PRIVATE
        DimSubstitution(sizes).apply([copy])
        Rewriter.insert_op(copy, InsertPoint.after(function))
        return copy

    def _unique(self, stem: str) -> str:
        name = next(name for name in chain([stem], (f"{stem}_{n}" for n in count(1))) if name not in self._taken)
        self._taken.add(name)
        return name


def _call(copy: FuncOp, call: NamedCallOp) -> None:
    """Redirects `call` to `copy`; only extents that the copy introduces are still bound by name."""
    symbol = SymbolRefAttr(copy.sym_name)
    made = made_names(copy.function_type)
    if made:
        call.callee = symbol
        call.bindings = DimBindingsAttr.of({name: call.names[name] for name in made})
        return
    plain = CallOp(symbol, call.arguments, list(call.result_types))
    plain.attributes, plain.location = dict(call.attributes), call.location
    Rewriter.replace_op(call, plain)

"""`relay-partition-graph`: outlines each annotated region into a function.

The ops between the `relay.annotation.compiler_begin`s and `compiler_end`s of a region become a private function with
Relay's attributes `Compiler`, `Primitive`, `Inline` and `global_symbol`, and are replaced by a call. The parameters are
the values that enter the region, without duplicates; constants and tuples of constants become part of the function
unless `bind-constants` is false. The results are the values that leave the region, without duplicates; a tuple that is
made in the region, or is not the only result, is returned as its fields. An external code generator compiles these
functions, and other passes skip them.

Before:

    func.func @main(%x: T) -> T {
      %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"}
      %y = relay.exp(%b)
      %e = relay.annotation.compiler_end(%y) {compiler = "ccompiler"}
      %z = relay.negative(%e)
      func.return %z
    }

After:

    func.func @main(%x: T) -> T {
      %y = func.call @tvmgen_default_ccompiler_main_0(%x)
      %z = relay.negative(%y)
      func.return %z
    }
    func.func private @tvmgen_default_ccompiler_main_0(%ccompiler_0_i0: T) -> T
        attributes {Compiler = "ccompiler", Primitive = 1, Inline = 1, global_symbol = "…"} {
      %y = relay.exp(%ccompiler_0_i0)
      func.return %y
    }

The name is Relay's: "tvmgen", `mod-name`, the compiler, the enclosing function, and the index of the region's first
begin in Relay's visit order; characters that C symbols cannot contain become underscores. Annotations for "default" are
removed, and so are regions without ops. If the compiler has an optimizer (`hooks.py`), it is applied to
its functions.

Refuses (`PassError`): inconsistent annotations (see `annotated_regions.py`), a region that depends on a value that
depends on the region, a region that defines an extent which is named outside of it, and an optimizer that fails or
returns a function of another type.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.attribute_values import int_attribute
from xrelay.dialects.relay.ops.annotation import CompilerAnnotationOp, CompilerEndOp
from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, call_of, names_in
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.shared.attribute_names import COMPILER, COMPILER_INLINE, COMPILER_PRIMITIVE, FORM, GLOBAL_SYMBOL
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import block_of
from xrelay.dialects.shared.requirements import new_extents
from xrelay.errors import PassError
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.graph.scopes import ValueUses
from xrelay.passes.graph.tuple_leaves import rebuild, take_apart
from xrelay.passes.infra.digraph import post_order
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dissolve_compiler_regions import remove_annotations
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import update_signatures
from xrelay.relay.byoc.annotated_regions import AnnotatedRegion, RegionSet
from xrelay.relay.byoc.hooks import DEFAULT, optimized

PASS_NAME = "relay-partition-graph"


@dataclass(frozen=True)
class RelayPartitionGraphPass(XRelayPass):
    """Outlines annotated regions into functions; see the module's docstring. Exact."""

    name = PASS_NAME
    numerics = EXACT

    mod_name: str = field(
        default="default", metadata={"help": "name of the module, a prefix of the names of functions"}
    )
    bind_constants: bool = field(default=True, metadata={"help": "put constants into the functions"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        partition_graph(op, self.mod_name, bind_constants=self.bind_constants)


def partition_graph(module: ModuleOp, mod_name: str = "default", *, bind_constants: bool = True) -> list[FuncOp]:
    """Outlines the annotated regions of `module` into functions at its end; returns the functions."""
    _flatten_ends_of_tuples(module)
    remove_annotations(module, DEFAULT)
    given = functions_of(module)
    taken = set(given)
    made: list[FuncOp] = []
    for function in given.values():
        if not function.is_declaration:
            made += _partition(function, mod_name, taken, bind_constants=bind_constants)
    for function in made:
        module.body.block.add_op(function)
    update_signatures(module)
    if made and any(isinstance(op, NamedCallOp) for op in walk_ops(module)):
        infer_types(module)
    return made


def _partition(function: FuncOp, mod_name: str, taken: set[str], *, bind_constants: bool) -> list[FuncOp]:
    """Replaces the regions of `function` by calls; returns the called functions."""
    regions = RegionSet(function, PASS_NAME)
    if not regions.regions:
        return []
    regions.ordered_needs()
    made: list[FuncOp] = []
    for region in regions.regions:
        if region.members and region.ends:
            stem = f"tvmgen_{mod_name}_{region.compiler}_{function.sym_name.data}_{region.number}"
            name = fresh_name(re.sub(r"[^A-Za-z0-9_]", "_", stem), taken)
            outliner = RegionOutliner(region, function, name, bind_constants=bind_constants)
            made.append(optimized(outliner.outline(), region.compiler))
        else:
            _remove_borders(region)
    _put_before_users(function)
    return made


def _remove_borders(region: AnnotatedRegion) -> None:
    """Removes the annotations of a region without ops or ends."""
    values = Replacements()
    for op in (*region.begins, *region.ends):
        values.add(op.result, op.data)
    values.apply()
    for op in (*region.begins, *region.ends):
        erase_op(op)


def _put_before_users(function: FuncOp) -> None:
    """Sorts each block topologically, since a call is inserted at an end of its region."""
    uses = ValueUses(function)
    blocks = [block for op in walk_ops(function) for region in op.regions for block in region.blocks]
    for block in blocks:
        ops = list(block.ops)
        ordered = post_order(ops, uses.needed_ops)
        if ordered != ops:
            for op in ops:
                op.detach()
            block.add_ops(ordered)


def _flatten_ends_of_tuples(module: ModuleOp) -> None:
    """Ends the region of a tuple at the fields of the tuple.

        %t = relay.tuple(%a, %b)
        %e = relay.annotation.compiler_end(%t) {compiler = "c"}
    becomes
        %f = relay.annotation.compiler_end(%a) {compiler = "c"}
        %g = relay.annotation.compiler_end(%b) {compiler = "c"}
        %e = relay.tuple(%f, %g)
    """
    values, changed, tuples = Replacements(), list[CompilerEndOp](), dict[TupleOp, None]()
    pending = [op for op in walk_ops(module) if isinstance(op, CompilerEndOp)]
    while pending:
        end = pending.pop()
        made = end.data.owner
        if not isinstance(made, TupleOp):
            continue
        ends = [CompilerEndOp.call(field, compiler=end.compiler) for field in made.fields]
        new = TupleOp.create(operands=[each.result for each in ends], result_types=[end.result.type])
        for op in (*ends, new):
            op.location = end.location
        Rewriter.insert_op([*ends, new], InsertPoint.before(end))
        new.result.name_hint = end.result.name_hint
        values.add(end.result, new.result)
        changed.append(end)
        tuples[made] = None
        pending += ends
    values.apply()
    for end in changed:
        erase_op(end)
    for made in tuples:  # users precede their operands
        if made.result.first_use is None:
            erase_op(made)


class RegionOutliner:
    """Outlines `region` of `parent` into a function called `name`."""

    def __init__(self, region: AnnotatedRegion, parent: FuncOp, name: str, *, bind_constants: bool):
        self._region, self._parent, self._name = region, parent, name
        self._bind_constants = bind_constants
        self._body = Block()
        self._arguments: list[SSAValue] = []
        """The arguments of the call."""
        self._inputs: dict[SSAValue, SSAValue] = {}
        """Value outside, through any annotations → the parameter or copy in the function."""
        self._copies: dict[Operation, None] = {}
        """Ops outside that the function has copies of."""
        self._taken_apart: list[Operation] = []
        """The ops that extract fields of tuples for the results."""

    def outline(self) -> FuncOp:
        """Replaces the region by a call; returns the function, which is in no module yet."""
        values = Replacements()
        for index, begin in enumerate(self._region.begins):
            values.add(begin.result, self._input(begin.data, index))
        values.apply()
        outputs = list(dict.fromkeys(end.data for end in self._region.ends))
        results = self._flat(outputs)
        call = self._call(results)
        Rewriter.insert_op(call, InsertPoint.before(self._region.ends[0]))
        known = self._replacements(outputs, results, call)
        for end in self._region.ends:
            values.add(end.result, known[end.data])
        values.apply()
        for annotation in (*self._region.ends, *self._region.begins):
            erase_op(annotation)
        self._move_members()
        for op in reversed(self._copies):
            if all(result.first_use is None for result in op.results):
                erase_op(op)
        return self._function(results, call)

    def _flat(self, outputs: list[SSAValue]) -> list[SSAValue]:
        """The results, with tuples replaced by their fields if there are several results or nested tuples."""
        nested = len(outputs) > 1 or any(isinstance(type, TupleType) for type in _fields(outputs[0].type))
        if not nested:
            return outputs
        results: list[SSAValue] = []
        for value in outputs:
            leaves, ops = take_apart(value)
            for op in ops:
                op.location = self._region.ends[0].location
            self._taken_apart += ops
            results += leaves
        return results

    def _replacements(
        self, outputs: list[SSAValue], results: list[SSAValue], call: AnyCall
    ) -> dict[SSAValue, SSAValue]:
        """For each value that leaves the region, the result of `call` that replaces it."""
        if results == outputs:
            return dict(zip(outputs, call.results, strict=True))
        leaves, known = iter(call.results), dict[SSAValue, SSAValue]()
        for value in outputs:
            known[value], ops = rebuild(value.type, leaves)
            for op in ops:
                op.location = call.location
            Rewriter.insert_op(ops, InsertPoint.before(self._region.ends[0]))
        return known

    def _input(self, value: SSAValue, index: int) -> SSAValue:
        """The parameter or copy in the function for `value`, which enters at begin `index`."""
        origin = value
        while isinstance(origin.owner, CompilerAnnotationOp):
            origin = origin.owner.data
        known = self._inputs.get(origin)
        if known is None:
            constant = self._copied(origin) if self._bind_constants else None
            known = self._parameter(value, index) if constant is None else constant
            self._inputs[origin] = known
        return known

    def _parameter(self, value: SSAValue, index: int) -> SSAValue:
        parameter = self._body.insert_arg(value.type, len(self._body.args))
        stem = re.sub(r"[^A-Za-z0-9_]", "_", self._region.compiler)
        parameter.name_hint = f"{stem}_{self._region.number}_i{index}"
        self._arguments.append(value)
        return parameter

    def _copied(self, value: SSAValue) -> SSAValue | None:
        """A copy in the function of a constant or a tuple of constants; `None` for other values."""
        op = value.owner
        parts = [field.owner for field in op.fields] if isinstance(op, TupleOp) else [op]
        if not isinstance(op, ConstantOp | TupleOp) or not all(isinstance(part, ConstantOp) for part in parts):
            return None
        copies: dict[SSAValue, SSAValue] = {}
        for part in dict.fromkeys((*parts, op)):
            if isinstance(part, Operation):
                self._copy(part, copies)
        return copies[value]

    def _copy(self, op: Operation, copies: dict[SSAValue, SSAValue]) -> None:
        self._body.add_op(op.clone(copies))
        self._copies[op] = None

    def _move_members(self) -> None:
        """Moves the ops of the region, and copies the ops without arguments that they use."""
        members = self._region.members
        for op in members:
            op.detach()
        inner = [op for member in members for op in walk_ops(member)]
        own = {self._body, *(block for op in inner for region in op.regions for block in region.blocks)}
        copies: dict[SSAValue, SSAValue] = {}
        inside = set(members)
        for op in inner:
            for value in op.operands:
                owner = value.owner
                if value in copies or not isinstance(owner, Operation) or owner in inside or block_of(value) in own:
                    continue
                self._copy(owner, copies)
        for op in inner:
            if any(value in copies for value in op.operands):
                op.operands = [copies.get(value, value) for value in op.operands]
        self._body.add_ops([*members, *self._taken_apart])

    def _call(self, results: list[SSAValue]) -> AnyCall:
        first, types = self._region.ends[0], [value.type for value in results]
        self._require_names_from_outside(names_in(types))
        call = call_of(self._name, self._arguments, types)
        call.location = first.location
        for new, old in zip(call.results, results, strict=True):
            new.name_hint = old.name_hint
        return call

    def _require_names_from_outside(self, names: list[str]) -> None:
        made = {
            extent.name: op for member in self._region.members for op in walk_ops(member) for extent in new_extents(op)
        }
        for name in names:
            if name in made:
                raise PassError(
                    f"relay-partition-graph: the region for {self._region.compiler!r} computes the extent {name!r},"
                    " which is used outside of it",
                    location=location_of(made[name]),
                    help="exclude the op that creates it from the region",
                )

    def _function(self, results: list[SSAValue], call: Operation) -> FuncOp:
        end = ReturnOp(*results)
        end.location = call.location
        self._body.add_op(end)
        types = (list(self._body.arg_types), [value.type for value in results])
        function = FuncOp(self._name, types, Region(self._body), "private")
        function.location = call.location
        function.attributes |= {
            COMPILER: StringAttr(self._region.compiler),
            COMPILER_PRIMITIVE: int_attribute(1),
            COMPILER_INLINE: int_attribute(1),
            GLOBAL_SYMBOL: StringAttr(self._name),
        }
        if FORM in self._parent.attributes:
            function.attributes[FORM] = self._parent.attributes[FORM]
        return function


def _fields(type: Attribute) -> Sequence[Attribute]:
    """The types of the fields of a tuple; empty for another type."""
    return type.types.data if isinstance(type, TupleType) else ()

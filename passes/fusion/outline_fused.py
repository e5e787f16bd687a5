"""`relay-outline-fused`: moves each `relay.fused` group into a private function and calls it.

The region of a group becomes the body of a `func.func private` marked `relay.primitive`; groups of equal structure
(types, attributes and constants included) share one function. An operator outside of groups becomes a kernel of its
own. Afterwards a program consists of calls of kernels on tensors, as memory planning and code generation require.
Tuples are therefore flattened: a tuple parameter, result or return value becomes several tensors.

Before:

    %y = relay.fused @fused_nn_relu(%p0 = %x : T) -> T attributes {pattern = "kElemWise"} {…}

After:

    %y = func.call @fused_nn_relu(%x) : (T) -> T
    …
    func.func private @fused_nn_relu(%p0: T) -> T attributes {relay.primitive, relay.pattern = "kElemWise"} {…}

Constants of more than one element, which `link-params` keeps in groups, become arguments of the kernels. A `relay.call`
is kept, with its bindings and requirements. A `relay.if` or `relay.loop` keeps its regions, which are outlined
likewise. A tuple that is its result becomes a flat tuple of tensors: a `relay.tuple` before `relay.yield` builds it,
and `relay.tuple_get_item` ops after the op read its fields.

Every value that a function returns gets a buffer of its own: a parameter, a constant or a value returned twice is
copied by a kernel (`relay.cast` to its own element type).

If `@main` is called, it is renamed, and a new `@main` calls it, because only the entry of a model has an arena.

Raises `PassError` for closures (`relay.fn`, `relay.invoke`), which `relay-lift-closures` turns into data, and for
tuples whose types are incomplete.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TupleType,
    UnitAttr,
    UnknownLoc,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.ops.annotation import CompilerAnnotationOp, RequireOp, StopFusionOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.structure.call import NamedCallOp, callee_name, is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.containers import GraphOp
from xrelay.dialects.relay.structure.extents import CutOp, ExtentsOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import KERNEL_ANCHOR, KERNEL_PATTERN, PRIMITIVE
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements import record_requirements, requirements_of
from xrelay.dialects.shared.types import (
    ClosureType,
    OptionalType,
    SequenceType,
    element_type_of,
    function_type,
    tuple_type,
)
from xrelay.errors import PassError
from xrelay.passes.fusion.fuse_ops import GroupNames, is_groupable, make_group
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.op_keys import OpKeys
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.tuple_leaves import TupleLeaves, leaf_types, rebuild, take_apart
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import PRIVATE

UNIT = UnitAttr()


@dataclass(frozen=True)
class RelayOutlineFusedPass(XRelayPass):
    """Outlines groups as private functions and replaces them by calls; see the module's docstring."""

    name = "relay-outline-fused"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Outlines every function of the module in place."""
        outline_module(op)


def outline_module(module: ModuleOp) -> None:
    """Outlines every function of `module` that is not a kernel; raises `PassError` for a function of several blocks."""
    _enter_main_once(module)
    outliner = _Outliner(module)
    for function in list(module.body.block.ops):
        if isinstance(function, FuncOp) and not function.is_declaration and PRIMITIVE not in function.attributes:
            outliner.outline(function)


class _Kernel(NamedTuple):
    """A function that computes groups: its symbol, and the types of its results."""

    callee: SymbolRefAttr
    results: Sequence[Attribute]


class _Outliner:
    def __init__(self, module: ModuleOp):
        self.module = module
        self.names = GroupNames(module)
        self.symbols = {op.sym_name.data for op in module.body.block.ops if isinstance(op, FuncOp)}
        self.keys = OpKeys()
        self.kernels: dict[Hashable, _Kernel] = {}
        """Maps the structure of a group to its function."""
        self.leaves = TupleLeaves()
        self.waiting: list[Block] = []
        """The blocks of regions that are still to be outlined."""
        self.replaced: list[Operation] = []
        """Ops with tuple results, which are replaced by leaves; erased once all their users are gone."""

    # --- functions --------------------------------------------------------------------------------------------------

    def outline(self, function: FuncOp) -> None:
        """Turns the body of `function` into constants, calls, control flow and a return, without tuples."""
        if len(function.body.blocks) != 1:
            raise PassError(
                f"relay-outline-fused: @{function.sym_name.data} has {len(function.body.blocks)} blocks, it must be"
                " straight-line code"
            )
        function.arg_attrs = _repeated(function.arg_attrs, [argument.type for argument in function.body.block.args])
        _flatten_arguments(function.body)
        # Values that a region uses from outside are flattened before the region is visited.
        self.waiting = [function.body.block]
        blocks: list[Block] = []
        while self.waiting:
            blocks.append(self.waiting.pop())
            for op in list(blocks[-1].ops):
                self._outline_op(function, op)
        for op in reversed(self.replaced):
            _require_unused(op)
            erase_op(op)
        self.replaced.clear()
        for op in [op for block in blocks for op in block.ops]:
            if isinstance(op, ConstantOp) and op.result.first_use is None:
                erase_op(op)
        function.update_function_type()

    def _outline_op(self, function: FuncOp, op: Operation) -> None:
        if isinstance(op, FusedOp):
            self._call_group(_with_constants_outside(op))
        elif self.leaves.record_op(op):
            self._forward_operand(op)
        elif isinstance(op, LetOp | StopFusionOp | CompilerAnnotationOp):
            self.leaves.record(op.results[0], self.leaves.of(op.operands[0]))
            self._forward_operand(op)
        elif is_groupable(op):
            self._call_group(self._group_single_op(op))
        elif isinstance(op, CallOp):
            self._replace_by_call(op, op.callee, leaf_types(op.result_types))
        elif isinstance(op, NamedCallOp):
            # Before inference a call may have no bindings. It stays a named call, so that inference can add them.
            bindings = {} if op.bindings is None else {"bindings": op.bindings}
            self._replace_by_call(op, op.callee, leaf_types(op.result_types), NamedCallOp, bindings)
        elif isinstance(op, ReturnOp):
            self._flatten_return(function, op)
        elif isinstance(op, IfOp):
            self._outline_if(op)
        elif isinstance(op, LoopOp):
            self._outline_loop(op)
        elif isinstance(op, YieldOp):
            self._flatten_yield(op)
        elif isinstance(op, ExtentsOp | CutOp | GraphOp):
            op.operands = [leaf for operand in op.operands for leaf in self.leaves.of(operand)]
        elif isinstance(op, FnOp | InvokeOp):
            raise PassError(
                f"relay-outline-fused: {_without_native_form(op)} has no native form",
                location=location_of(op),
                help="run relay-lift-closures before",
            )

    def _forward_operand(self, op: Operation) -> None:
        """Replaces an op by its operand, or by a `relay.require` on it if the result type specifies more extents."""
        leaves, types = self.leaves.of(op.results[0]), leaf_types(op.result_types)
        if len(leaves) != len(types):
            raise PassError(
                f"relay-outline-fused: type {op.results[0].type} does not specify the {len(leaves)} fields of a value",
                location=location_of(op),
                help="run relay-infer-type first",
            )
        if any(leaf.type != type for leaf, type in zip(leaves, types, strict=True)):
            leaves = [self._required(op, leaf, type) for leaf, type in zip(leaves, types, strict=True)]
            self.leaves.record(op.results[0], leaves)
        self.replaced.append(op)

    def _required(self, op: Operation, leaf: SSAValue, type: Attribute) -> SSAValue:
        """A leaf of the result of `op` as a tensor of `type`, checked against the requirements of `op`."""
        if leaf.type == type:
            return leaf
        require = RequireOp.create(operands=[leaf], result_types=[type], location=op.location)
        record_requirements(require, requirements_of(op))
        Rewriter.insert_op(require, InsertPoint.before(op))
        return self._call_group(self._group_single_op(require))[0]

    def _flatten_return(self, function: FuncOp, op: ReturnOp) -> None:
        function.res_attrs = _repeated(function.res_attrs, [operand.type for operand in op.operands])
        returned: list[SSAValue] = []
        known: set[SSAValue] = set()
        for leaf in (leaf for operand in op.operands for leaf in self.leaves.of(operand)):
            if _needs_copy(leaf, known):
                copy = _copy_of(leaf)
                Rewriter.insert_op(copy, InsertPoint.before(op))
                leaf = self._call_group(self._group_single_op(copy))[0]
            known.add(leaf)
            returned.append(leaf)
        op.operands = returned

    # --- regions ----------------------------------------------------------------------------------------------------

    def _outline_if(self, op: IfOp) -> None:
        """Rebuilds the choice with a flat tuple of tensors as its result."""
        regions = [op.detach_region(region) for region in list(op.regions)]
        (condition,) = self.leaves.of(op.condition)
        self._replace_regions(op, IfOp(condition, _flat_type(op.result.type), *regions), regions)

    def _outline_loop(self, op: LoopOp) -> None:
        """Rebuilds the loop with tensors as its carried values."""
        initial = [leaf for value in op.initial for leaf in self.leaves.of(value)]
        region = op.detach_region(op.body)
        _flatten_arguments(region)
        limits = [None if value is None else self.leaves.of(value)[0] for value in (op.trip_count, op.condition)]
        new = LoopOp(limits[0], limits[1], initial, _flat_type(op.result.type), region)
        self._replace_regions(op, new, [region])

    def _replace_regions(self, op: IfOp | LoopOp, new: IfOp | LoopOp, regions: Sequence[Region]) -> None:
        """Replaces `op` by `new`, records the leaves of its result, and schedules its regions."""
        new.attributes.update(op.attributes)
        new.location, new.result.name_hint = op.location, op.result.name_hint
        Rewriter.insert_op(new, InsertPoint.before(op))
        leaves, fields = take_apart(new.result)
        for field in fields:
            field.location = op.location
        Rewriter.insert_op(fields, InsertPoint.before(op))
        if fields:
            self.leaves.record(op.result, leaves)
            self.replaced.append(op)
        else:
            Rewriter.replace_op(op, [], [new.result])
        self.waiting += [region.block for region in reversed(regions)]

    def _flatten_yield(self, op: YieldOp) -> None:
        """Yields the leaf, or a tuple of the leaves."""
        leaves = self.leaves.of(op.value)
        if isinstance(op.value.type, TupleType):
            packed = TupleOp.call(*leaves)
            packed.location = op.location
            Rewriter.insert_op(packed, InsertPoint.before(op))
            leaves = (packed.result,)
        op.operands = leaves

    # --- calls ------------------------------------------------------------------------------------------------------

    def _group_single_op(self, op: Operation) -> FusedOp:
        """Replaces `op` by a group that contains only `op`."""
        pattern = op.fusion_pattern if isinstance(op, RelayOp) else OpPatternKind.OPAQUE
        return make_group([op], self.names, pattern, op if pattern is OpPatternKind.OUT_ELEM_WISE_FUSABLE else None)

    def _call_group(self, group: FusedOp) -> Sequence[SSAValue]:
        """Replaces `group` by a call of its kernel; returns the results of the call."""
        kernel = self._kernel(group)
        return self._replace_by_call(group, kernel.callee, kernel.results)

    def _replace_by_call(
        self,
        op: Operation,
        callee: SymbolRefAttr,
        types: Sequence[Attribute],
        made: type[CallOp | NamedCallOp] = CallOp,
        bindings: Mapping[str, Attribute] = MappingProxyType({}),
    ) -> Sequence[SSAValue]:
        """Replaces `op` by a call with the leaves of its operands; returns the leaves of its results.

        A call keeps its requirements and bindings.
        """
        operands = [leaf for operand in op.operands for leaf in self.leaves.of(operand)]
        # `create` takes a third of the time of the constructor, and there is a call for each kernel.
        properties: dict[str, Attribute] = {"callee": callee, **bindings}
        call = made.create(operands=operands, result_types=types, properties=properties, location=op.location)
        if is_call(op):
            call.attributes |= op.attributes
        Rewriter.insert_op(call, InsertPoint.before(op))
        pending = list(reversed(call.results))
        for result in op.results:
            leaves = [pending.pop() for _ in leaf_types([result.type])]
            # Users look up the leaves when they are visited: replacing one by one would rebuild a wide tuple each time.
            self.leaves.record(result, leaves)
            if not isinstance(result.type, TupleType):
                leaves[0].name_hint = result.name_hint
        self.replaced.append(op)
        return call.results

    def _kernel(self, group: FusedOp) -> _Kernel:
        """The function that computes `group`: an existing one of equal structure, or a new one."""
        attributes: dict[str, Attribute] = {PRIMITIVE: UNIT} | group.attributes
        attributes |= {
            name: value for name, value in ((KERNEL_ANCHOR, group.anchor), (KERNEL_PATTERN, group.pattern)) if value
        }
        body = group.detach_region(group.body)
        _flatten_arguments(body)
        types = _flatten_result(body.block)
        key = (self.keys.of_block(body.block), self.keys.of_attributes(attributes))
        known = self.kernels.get(key)
        if known is not None:
            return known
        name = group.group_name.data
        if name in self.symbols:
            name = self.names.unique(name)
        self.symbols.add(name)
        symbol = StringAttr(name)
        properties: dict[str, Attribute] = {
            "sym_name": symbol,
            "function_type": function_type([argument.type for argument in body.block.args], types),
            "sym_visibility": PRIVATE,
        }
        self.module.body.block.add_op(
            FuncOp.create(properties=properties, attributes=attributes, regions=[body], location=group.location)
        )
        self.kernels[key] = kernel = _Kernel(SymbolRefAttr(symbol), types)
        return kernel


# --- kernels and signatures


def _flatten_result(block: Block) -> list[Attribute]:
    """Flattens the tuples of a kernel's result; returns the types of its results."""
    end = block.last_op
    if not isinstance(end, YieldOp):
        raise PassError("relay-outline-fused: a group must end in relay.yield")
    leaves, ops = take_apart(end.value)
    Rewriter.insert_op(ops, InsertPoint.before(end))
    returned: dict[SSAValue, None] = {}
    for leaf in leaves:
        if _needs_copy(leaf, returned):
            copy = _copy_of(leaf)
            Rewriter.insert_op(copy, InsertPoint.before(end))
            leaf = copy.result
        returned[leaf] = None
    erase_op(end)
    block.add_op(ReturnOp.create(operands=list(returned), location=end.location))
    for op in reversed([op for op in block.ops if type(op) is TupleOp]):
        if op.result.first_use is None:
            erase_op(op)
    return [leaf.type for leaf in returned]


def _without_native_form(op: FnOp | InvokeOp) -> str:
    """`op` as text, with the reason why it could not be inlined."""
    if isinstance(op, InvokeOp):
        return f"{op.name} of a function that is chosen at run time"
    return f"{op.name} of a closure that calls itself" if op.is_recursive else op.name


def _require_unused(op: Operation) -> None:
    for result in op.results:
        for use in result.uses:
            raise PassError(
                f"relay-outline-fused: {use.operation.name} uses a tuple, which it does not support",
                location=location_of(use.operation),
            )


def _enter_main_once(module: ModuleOp) -> None:
    """If `@main` is called, renames it and adds a new `@main` that only calls it.

        func.func @main(%n: T) -> T {… func.call @main(%m) …}
    becomes
        func.func @main(%n: T) -> T {%r = func.call @main_1(%n); func.return %r}
        func.func private @main_1(%n: T) -> T {… func.call @main_1(%m) …}
    """
    functions = functions_of(module)
    main = functions.get("main")
    calls = [op for op in walk_ops(module) if is_call(op) and callee_name(op) == "main"]
    if main is None or not calls or main.is_declaration or PRIMITIVE in main.attributes:
        return
    name = fresh_name("main", set(functions))
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


def _flatten_arguments(body: Region) -> None:
    """Replaces the tuple arguments of the block of `body` by their leaves, and rebuilds the tuples at its start.

    Builds a new block: inserting arguments one by one would copy all of them each time.
    """
    old = body.block
    if not any(isinstance(argument.type, TupleType) for argument in old.args):
        return
    new = Block(arg_types=leaf_types(old.arg_types))
    body.add_block(new)
    sources = [argument for argument in old.args for _ in leaf_types([argument.type])]
    for leaf, source in zip(new.args, sources, strict=True):
        leaf.name_hint, leaf.location = source.name_hint, source.location
    values: list[SSAValue] = []
    leaves = iter(new.args)
    for argument in old.args:
        value, ops = rebuild(argument.type, leaves)
        new.add_ops(ops)
        values.append(value)
    Rewriter.inline_block(old, InsertPoint.at_end(new), values)


def _flat_type(type: Attribute) -> Attribute:
    """The tuple type of the leaves of a tuple type; any other type unchanged."""
    if not isinstance(type, TupleType):
        return type
    return tuple_type(leaf_types([type]))


def _repeated(
    attributes: ArrayAttr[DictionaryAttr] | None, types: Sequence[Attribute]
) -> ArrayAttr[DictionaryAttr] | None:
    """Returns attributes of parameters or results, repeated for each leaf of a tuple."""
    if attributes is None:
        return None
    pairs = zip(attributes.data, types, strict=True)
    return ArrayAttr([attribute for attribute, type in pairs for _ in leaf_types([type])])


def is_kernel_constant(op: ConstantOp) -> bool:
    """Whether a kernel can hold a constant: it has one element, stored in the attribute."""
    return isinstance(op.value, DenseIntOrFPElementsAttr) and op.array.size == 1


def _with_constants_outside(group: FusedOp) -> FusedOp:
    """Moves the constants that a kernel cannot hold before `group`, and passes them as arguments.

    relay.fused(%p = %x) { %k = relay.constant …; f(%p, %k) }   →   %k = relay.constant …; relay.fused(%p = %x, %q = %k)
    """
    body: Block = group.body.block
    held = [op for op in body.ops if isinstance(op, ConstantOp) and not is_kernel_constant(op)]
    for op in held:
        parameter = body.insert_arg(op.result.type, len(body.args))
        parameter.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(parameter)
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(group))
    if held:
        group.operands = [*group.operands, *(op.result for op in held)]
    return group


def _needs_copy(value: SSAValue, returned: Container[SSAValue]) -> bool:
    """Whether a returned value has no buffer of its own.

    Such a value comes from outside, is a constant, is returned twice, or is a view of another value's buffer.
    Sequences, optionals and closures have no buffers and need no copy.
    """
    if isinstance(value.type, SequenceType | OptionalType | ClosureType):
        return False
    return not isinstance(value, OpResult) or isinstance(value.op, ConstantOp | ExtentsOp | CutOp) or value in returned


def _copy_of(value: SSAValue) -> CastOp:
    """Returns an op that copies a tensor: a cast to its own element type."""
    copy = CastOp.call(value, dtype=element_type_of(value.type))
    copy.location = value.owner.location if isinstance(value.owner, Operation) else UnknownLoc()
    copy.result.name_hint = value.name_hint
    return copy

"""`relay-fuse-ops`: moves groups of ops into `relay.fused` ops, which become kernels.

Every function, and every branch and closure in it, is partitioned (see `passes/fusion/partition.py`). The ops of each
group move into the region of a `relay.fused` op at the position of the group's result. An op that fuses with no other
op is a group of its own. Only constants, tuples, tuple fields, let, if, closures and calls stay outside of groups. A
group is a region, so that it can be read, verified and undone (`relay-defuse-ops`) in its context.
`relay-outline-fused` turns groups into functions.

Before:

    %c = relay.nn.conv2d(%x, %w) …
    %y = relay.nn.relu(%c) …

After:

    %y = relay.fused @fused_nn_conv2d_nn_relu(%p0 = %x : …, %p1 = %w : …) -> … attributes {anchor = "nn.conv2d", …} {
      %c = relay.nn.conv2d(%p0, %p1) …
      %y = relay.nn.relu(%c) …
      relay.yield %y : …
    }

Values from outside become parameters of the group, each once, in order of first use. Constants of rank 0 are copied
into every group that uses them. Other constants are parameters unless `link-params` is set.
`relay.annotation.stop_fusion` separates groups and is replaced by its operand. Existing `relay.fused` ops, kernels
(`relay.primitive`) and functions of several blocks are left unchanged, so the pass is idempotent. Unused ops are erased
unless they may have side effects, as a call of a function without a body.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import PRIMITIVE, RESHAPE_ONLY
from xrelay.dialects.shared.locations import fuse_locations
from xrelay.errors import PassError
from xrelay.passes.fusion.op_patterns import FunctionGraph, forward_graph, is_fusable_scalar
from xrelay.passes.fusion.partition import FusionOptions, Partition, partition
from xrelay.passes.graph.effects import PureFunctions
from xrelay.passes.graph.op_kinds import OpKind, is_constant, is_relay_op, kind_of
from xrelay.passes.graph.replacements import Replacements
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, FROM_LEVEL, XRelayPass
from xrelay.passes.types.type_upkeep import update_signatures

DEFAULT_OPT_LEVEL = 2


_PATTERN_NAMES = {pattern: StringAttr(pattern.relay_name) for pattern in OpPatternKind}


@dataclass(frozen=True)
class RelayFuseOpsPass(XRelayPass):
    """Moves ops into `relay.fused` groups by Relay's partition; raises `PassError` for options out of range."""

    name = "relay-fuse-ops"
    numerics = EXACT
    per_function = True

    fuse_opt_level: int = field(
        default=-1,
        metadata={
            "help": "0 makes every op a group of its own; -1 means the default level, which fuses",
            FROM_LEVEL: True,
        },
    )
    max_depth: int = field(default=256, metadata={"help": "the maximum number of nodes in a group"})
    max_function_args: int = field(
        default=0, metadata={"help": "the maximum number of arguments of a kernel, counted as in Relay; 0 is no limit"}
    )
    link_params: bool = field(default=False, metadata={"help": "keep constants of any size inside the groups"})

    @property
    def options(self) -> FusionOptions:
        """The options of the partition."""
        level = DEFAULT_OPT_LEVEL if self.fuse_opt_level < 0 else self.fuse_opt_level
        return FusionOptions(level, self.max_depth, self.max_function_args)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuses the module in place."""
        fuse_module(op, self.options, link_params=self.link_params)


@dataclass(frozen=True)
class FunctionFusion:
    """The fusion of one function: the graph, its groups, and the decision about every node."""

    function: str
    nodes: FunctionGraph
    partition: Partition


def analyse_module(module: ModuleOp, options: FusionOptions) -> list[FunctionFusion]:
    """Returns the fusion of every function of the module without changing the module."""
    found: list[FunctionFusion] = []
    pure_calls = PureFunctions(module)
    for function in module.body.block.ops:
        if not isinstance(function, FuncOp) or PRIMITIVE in function.attributes or len(function.body.blocks) != 1:
            continue
        nodes = forward_graph(function.body.block, pure_calls)
        found.append(FunctionFusion(function.sym_name.data, nodes, partition(nodes.graph, options)))
    return found


def fuse_module(module: ModuleOp, options: FusionOptions, *, link_params: bool = False) -> list[FunctionFusion]:
    """Fuses every function of the module in place and returns the decisions."""
    fusions = analyse_module(module, options)
    names = GroupNames(module)
    for fusion in fusions:
        _GroupMaker(fusion, names, link_params=link_params).run()
    update_signatures(module)
    return fusions


def is_groupable(op: Operation | None) -> bool:
    """Whether `op` belongs in a kernel: an operator, not a tuple, a binding or a constant."""
    return op is not None and kind_of(op) is OpKind.OPERATOR


class _GroupMaker:
    """Moves the groups of one function into `relay.fused` ops."""

    def __init__(self, fusion: FunctionFusion, names: GroupNames, *, link_params: bool):
        self.nodes, self.partition, self.names = fusion.nodes, fusion.partition, names
        self.link_params = link_params
        self.results = Replacements()
        """Maps results of ops that moved into groups to results of the groups, and results of `stop_fusion` ops to
        their operands."""

    def run(self) -> None:
        """Makes the groups in text order of their results, so that names are numbered in that order."""
        _erase(self.nodes.unneeded)
        members = self.partition.members()
        roots = {op: root for root in members if (op := self.nodes.ops[root]) is not None}
        walls: list[Operation] = []
        for op in _in_text_order(self.nodes.body):
            if kind_of(op) is OpKind.BARRIER:
                self.results.add(op.results[0], op.operands[0])
                walls.append(op)
            elif op in roots:
                self._make(op, roots[op], [self.nodes.ops[node] for node in members[roots[op]]])
        self.results.apply(_is_inside_with)
        _erase(walls)
        # Scalars that were copied into all their users' groups.
        _erase([op for op in self.nodes.ops if op is not None and is_constant(op) and not op.result.first_use])

    def _make(self, root_op: Operation, root: int, nodes: Sequence[Operation | None]) -> None:
        """Makes a group of `nodes`, unless none of them is an operator."""
        group = {op: None for op in nodes if op is not None}
        # A field of a tuple from outside is read outside, so that the field is the argument of the kernel.
        ops = [op for op in group if kind_of(op) is not OpKind.FIELD or op.operands[0].owner in group]
        if ops and ops[-1] is root_op and kind_of(root_op) is not OpKind.TUPLE and any(map(is_groupable, ops)):
            anchor = self.partition.anchors[root]
            heavy = None if anchor is None else self.nodes.ops[anchor]
            pattern = self.partition.patterns[root]
            make_group(ops, self.names, pattern, heavy, link_params=self.link_params, results=self.results)


def make_group(
    ops: Sequence[Operation],
    names: GroupNames,
    pattern: OpPatternKind,
    anchor: Operation | None,
    *,
    link_params: bool = False,
    results: Replacements | None = None,
) -> FusedOp:
    """Moves `ops`, which are in def-before-use order, into a group whose result replaces that of the last op.

    With `results`, the group's operands are looked up in these replacements. They also get the group's result, and the
    caller applies them to the uses of the last op's result.
    """
    root = ops[-1]
    result = root.results[0]
    operators = ops if len(ops) == 1 else [op for op in ops if kind_of(op) is not OpKind.CONSTANT]
    location = root.location if len(operators) == 1 else fuse_locations(op.location for op in operators)
    inputs = _Inputs.of(ops, results, link_params=link_params)
    body = Block(arg_types=[value.type for value in inputs.arguments])
    for number, parameter in enumerate(body.args):
        parameter.name_hint = f"p{number}"
    group = FusedOp.create(
        operands=inputs.arguments,
        result_types=[result.type],
        properties=_properties(names.unique(group_name(operators)), pattern, anchor),
        regions=[Region(body)],
        location=location,
    )
    if all(_is_reshape(op) for op in operators):
        group.attributes[RESHAPE_ONLY] = UnitAttr()
    around = root.parent
    if around is None:
        raise PassError(f"relay-fuse-ops: {root.name} is in no block")
    around.insert_op_before(group, root)
    group.result.name_hint = result.name_hint
    if results is None:
        result.replace_all_uses_with(group.result)
    _move_into(body, ops, inputs)
    body.add_op(YieldOp.create(operands=[result], location=location))
    if results is not None:
        results.add(result, group.result)
    return group


def _properties(name: str, pattern: OpPatternKind, anchor: Operation | None) -> dict[str, Attribute]:
    """Returns the properties of a group: its name, its anchor and its pattern."""
    properties: dict[str, Attribute] = {"group_name": StringAttr(name)}
    if anchor is not None and is_relay_op(anchor):
        properties["anchor"] = StringAttr(anchor.relay_name())
    properties["pattern"] = _PATTERN_NAMES[pattern]
    return properties


@dataclass(frozen=True)
class _Inputs:
    """The values from outside that a group uses."""

    arguments: list[SSAValue]
    """The operands of the group, in order of first use."""
    position: dict[SSAValue, int]
    """Maps an operand of the ops to the index of its argument."""
    linked: dict[SSAValue, ConstantOp]
    """Constants that are copied into the group."""

    @staticmethod
    def of(ops: Sequence[Operation], results: Replacements | None, *, link_params: bool) -> _Inputs:
        """Returns the inputs of a group of `ops`, looked up in `results`."""
        known: set[SSAValue] = {result for op in ops for result in op.results}
        arguments: dict[SSAValue, int] = {}
        position: dict[SSAValue, int] = {}
        linked: dict[SSAValue, ConstantOp] = {}
        for op in ops:
            for operand in op.operands:
                if operand in known:
                    continue
                known.add(operand)
                value = operand if results is None else results.of(operand)
                constant = _constant(value)
                if constant is not None and (link_params or is_fusable_scalar(constant)):
                    linked[operand] = constant
                else:
                    position[operand] = arguments.setdefault(value, len(arguments))
        return _Inputs(list(arguments), position, linked)


def _constant(value: SSAValue) -> ConstantOp | None:
    return value.op if isinstance(value, OpResult) and is_constant(value.op) else None


def _move_into(body: Block, ops: Sequence[Operation], inputs: _Inputs) -> None:
    """Moves `ops` into `body` and replaces values from outside by its arguments; a constant precedes its first user."""
    parameters = body.args
    known: dict[SSAValue, SSAValue] = {value: parameters[at] for value, at in inputs.position.items()}
    for op in ops:
        operands = tuple(op.operands)
        for operand in operands:
            if inputs.linked and operand in inputs.linked and operand not in known:
                constant = inputs.linked[operand].clone()
                body.add_op(constant)
                known[operand] = constant.result
        op.detach()
        new = tuple(known.get(operand, operand) for operand in operands)
        if new != operands:
            op.operands = new
        body.add_op(op)


def _erase(ops: Sequence[Operation]) -> None:
    """Erases ops that are used only by each other."""
    for op in ops:
        for inner in op.walk():
            inner.operands = ()
    for op in ops:
        Rewriter.erase_op(op)


def _is_inside_with(user: Operation, value: SSAValue) -> bool:
    """Whether `user` is in the same group as the op that defines `value`, and so still uses `value`."""
    block = user.parent
    return isinstance(value, OpResult) and value.op.parent is block and isinstance(user.parent_op(), FusedOp)


def _is_reshape(op: Operation) -> bool:
    return is_relay_op(op) and op.RESHAPE_ONLY


def _in_text_order(body: Block) -> list[Operation]:
    """Returns the ops of `body` and of its branches and closures; an op precedes the ops in its regions."""
    found: list[Operation] = []
    pending = [iter(body.ops)]
    while pending:
        op = next(pending[-1], None)
        if op is None:
            pending.pop()
            continue
        found.append(op)
        if kind_of(op) is OpKind.REGIONS:
            pending.extend(iter(region.block.ops) for region in reversed(op.regions))
    return found


MAX_LENGTH = 80
"""Longer names are abbreviated: first repeated ops, then the tail."""


class GroupNames:
    """Generates names of groups that are unique among the groups and symbols of a module."""

    def __init__(self, module: ModuleOp):
        self._taken = {name.data for op in walk_ops(module) if (name := _symbol(op)) is not None}
        self._last: dict[str, int] = {}

    def unique(self, base: str) -> str:
        """`base`, or `base_1`, `base_2`, … if that is taken."""
        return fresh_name(base, self._taken, self._last)


def group_name(ops: Iterable[Operation]) -> str:
    """The name of a group of `ops`: its operators in order, without constants and tuples."""
    operators = [
        op.name.removeprefix("relay.").replace(".", "_")
        for op in ops
        if kind_of(op) in (OpKind.OPERATOR, OpKind.BARRIER, OpKind.BINDING)
    ]
    return kernel_name(operators if operators else ["tuple_get_item"])


def kernel_name(operators: Sequence[str]) -> str:
    """Returns `fused_a_b_c`; if that is too long, `fused_ax20_b`, or else `fused_a_b_and_17_more`."""
    name = "_".join(["fused", *operators])
    if len(name) <= MAX_LENGTH:
        return name
    runs = [(operator, len(list(group))) for operator, group in groupby(operators)]
    parts = [operator if count == 1 else f"{operator}x{count}" for operator, count in runs]
    name = "_".join(["fused", *parts])
    if len(name) <= MAX_LENGTH:
        return name
    kept, length = 1, len("fused_") + len(parts[0])
    while kept < len(parts) and length + 1 + len(parts[kept]) <= MAX_LENGTH - len("_and_999999_more"):
        length += 1 + len(parts[kept])
        kept += 1
    left_out = sum(count for _, count in runs[kept:])
    return "_".join(["fused", *parts[:kept], "and", str(left_out), "more"])


def _symbol(op: Operation) -> StringAttr | None:
    name = op.properties.get("group_name" if kind_of(op) is OpKind.GROUP else "sym_name")
    # The exact type: `isinstance` of an abstract class is slow for None, and most ops have no symbol.
    return name if type(name) is StringAttr else None

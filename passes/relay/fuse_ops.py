"""`relay-fuse-ops`: groups of ops become `relay.fused` ops, each of which will be one kernel.

What: every function, and every branch and closure in it, is partitioned (see `passes/analysis/partition.py`), and each
group is moved into the region of a `relay.fused` op that stands where the group's result was. An op that fuses with
nothing is a group of its own, so that afterwards all work is in groups; what is left outside are constants, tuples,
tuple fields, let, if, closures and calls. Why a region and not yet a function: the group can be read, verified and
undone (`relay-defuse-ops`) where it stands; `relay-outline-fused` makes the functions.

Before:

    %c = relay.nn.conv2d(%x, %w) …
    %y = relay.nn.relu(%c) …

After:

    %y = relay.fused @fused_nn_conv2d_nn_relu(%p0 = %x : …, %p1 = %w : …) -> … attributes {anchor = "nn.conv2d", …} {
      %c = relay.nn.conv2d(%p0, %p1) …
      %y = relay.nn.relu(%c) …
      relay.yield %y : …
    }

Values from outside become parameters, each once, in order of first use; constants of rank 0 are written into every
group that uses them; other constants are parameters unless `link-params` is set. `relay.annotation.stop_fusion` keeps
groups apart and is replaced by its operand. Existing `relay.fused` ops and kernels (`relay.primitive`) are left
untouched, so running the pass twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.annotation import StopFusionOp
from xrelay.dialects.relay.constant import ConstantOp
from xrelay.dialects.relay.fused import FusedOp
from xrelay.dialects.relay.op_base import RelayOp
from xrelay.dialects.relay.op_pattern import OpPatternKind
from xrelay.dialects.relay.scope import LetOp, YieldOp
from xrelay.dialects.relay.tuples import TupleGetItemOp, TupleOp
from xrelay.passes.analysis.op_patterns import BlockGraph, forward_graph, is_fusable_scalar
from xrelay.passes.analysis.partition import FusionOptions, Partition, partition
from xrelay.passes.infra.conversion import fuse_locations
from xrelay.passes.relay.group_names import GroupNames, group_name
from xrelay.passes.relay.replacements import Replacements

DEFAULT_OPT_LEVEL = 2
PRIMITIVE = "relay.primitive"
"""Marks functions that are kernels."""
RESHAPE_ONLY = "relay.reshape_only"
"""Marks groups whose result is their operand's bytes under another shape."""


@dataclass(frozen=True)
class RelayFuseOpsPass(ModulePass):
    """Put ops into `relay.fused` groups by Relay's partition; `PassError` for options out of range."""

    name = "relay-fuse-ops"

    fuse_opt_level: int = field(
        default=-1, metadata={"help": "0 makes every op a group of its own; -1 means the default level, which fuses"}
    )
    max_depth: int = field(default=256, metadata={"help": "how many nodes a group may have"})
    max_function_args: int = field(
        default=0, metadata={"help": "how many arguments a kernel may have, counted as Relay counts; 0 is no limit"}
    )
    link_params: bool = field(default=False, metadata={"help": "keep constants of any size inside the groups"})

    @property
    def options(self) -> FusionOptions:
        """The options of the partition."""
        level = DEFAULT_OPT_LEVEL if self.fuse_opt_level < 0 else self.fuse_opt_level
        return FusionOptions(level, self.max_depth, self.max_function_args)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse the module in place."""
        fuse_module(op, self.options, link_params=self.link_params)


@dataclass(frozen=True)
class BlockFusion:
    """How one block was (or would be) fused: the graph, its groups, and the decision about every node."""

    function: str
    nodes: BlockGraph
    partition: Partition

    def explanations(self) -> Iterator[str]:
        """One line about every op of the block, in post-DFS order."""
        for decision in self.partition.decisions:
            if self.nodes.op(decision.node) is not None:
                yield decision.explain(self.nodes.graph)


def analyse_module(module: ModuleOp, options: FusionOptions) -> list[BlockFusion]:
    """How every block of the module would be fused; the module is not changed."""
    found: list[BlockFusion] = []
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes:
            for block in fusable_blocks(function):
                nodes = forward_graph(block)
                found.append(BlockFusion(function.sym_name.data, nodes, partition(nodes.graph, options)))
    return found


def fuse_module(module: ModuleOp, options: FusionOptions, *, link_params: bool = False) -> list[BlockFusion]:
    """Fuse every block of the module in place, and say how."""
    fusions = analyse_module(module, options)
    names = GroupNames(module)
    for fusion in fusions:
        _GroupMaker(fusion, names, link_params=link_params).run()
    return fusions


def fusable_blocks(function: FuncOp) -> list[Block]:
    """The blocks of a function whose ops may be fused: its body, branches and closures, not the inside of groups."""
    blocks: list[Block] = []
    pending = list(function.body.blocks)
    while pending:
        block = pending.pop()
        blocks.append(block)
        for op in block.ops:
            if not isinstance(op, FusedOp):
                pending.extend(inner for region in op.regions for inner in region.blocks)
    return blocks


def is_groupable(op: Operation | None) -> bool:
    """Whether `op` is work for a kernel: an operator, not a tuple, a binding or a constant."""
    return isinstance(op, RelayOp) and not isinstance(op, TupleOp | TupleGetItemOp | LetOp | StopFusionOp)


class _GroupMaker:
    """Moves the groups of one block into `relay.fused` ops."""

    def __init__(self, fusion: BlockFusion, names: GroupNames, *, link_params: bool):
        self.nodes, self.partition, self.names = fusion.nodes, fusion.partition, names
        self.link_params = link_params
        self.results = Replacements()
        """Results of ops that are in groups now → those of the groups."""

    def run(self) -> None:
        """Make the groups in the order of their results in the text, so that names are numbered in that order."""
        members = self.partition.members()
        roots = {op: root for root in members if (op := self.nodes.op(root)) is not None}
        for op in _in_text_order(roots):
            if isinstance(op, StopFusionOp):
                Rewriter.replace_op(op, [], [op.data])
            else:
                self._make(op, roots[op], [self.nodes.op(node) for node in members[roots[op]]])
        self.results.apply(_is_inside_with)
        for ref in self.nodes.refs:
            if isinstance(ref, ConstantOp) and not ref.result.first_use and ref.parent is not None:
                Rewriter.erase_op(ref)

    def _make(self, root_op: Operation, root: int, nodes: Sequence[Operation | None]) -> None:
        """Make a group of `nodes`, unless there is no work in it."""
        group = {op: None for op in nodes if op is not None}
        # A field of a tuple from outside is taken outside: the kernel gets the field alone.
        ops = [op for op in group if not isinstance(op, TupleGetItemOp) or op.data.owner in group]
        if ops and ops[-1] is root_op and not isinstance(root_op, TupleOp) and any(map(is_groupable, ops)):
            anchor = self.partition.anchors[root]
            heavy = None if anchor is None else self.nodes.op(anchor)
            pattern = self.partition.patterns[root]
            group = make_group(ops, self.names, pattern, heavy, link_params=self.link_params, replace=False)
            self.results.add(root_op.results[0], group.result)


def make_group(
    ops: Sequence[Operation],
    names: GroupNames,
    pattern: OpPatternKind,
    anchor: Operation | None,
    *,
    link_params: bool = False,
    replace: bool = True,
) -> FusedOp:
    """Move `ops`, which are in an order that defines before it uses, into a group that stands for the last of them.

    Without `replace` the users of the last op's result are left for the caller to tell.
    """
    root = ops[-1]
    body = Block()
    operators = [op for op in ops if not isinstance(op, ConstantOp)]
    location = fuse_locations(op.location for op in operators)
    group = FusedOp(
        names.unique(group_name(ops)),
        (),
        root.results[0].type,
        Region(body),
        anchor=anchor.relay_name() if isinstance(anchor, RelayOp) else None,
        pattern=pattern,
    )
    group.location = location
    if all(_is_reshape(op) for op in operators):
        group.attributes[RESHAPE_ONLY] = UnitAttr()
    Rewriter.insert_op(group, InsertPoint.before(root))
    if replace:
        root.results[0].replace_all_uses_with(group.result)
    group.result.name_hint = root.results[0].name_hint
    parameters = _move_into(body, ops, link_params=link_params)
    group.operands = list(parameters)
    body.add_op(_located(YieldOp(root.results[0]), location))
    return group


def _move_into(body: Block, ops: Sequence[Operation], *, link_params: bool) -> Iterable[SSAValue]:
    """Move `ops` into `body`; gives the values from outside that became its arguments, in order of first use."""
    parameters: dict[SSAValue, SSAValue] = {}
    inside = {result for op in ops for result in op.results}
    for op in ops:
        op.detach()
        op.operands = [
            operand if operand in inside else _parameter(operand, body, parameters, link_params=link_params)
            for operand in op.operands
        ]
        body.add_op(op)
    return [value for value, parameter in parameters.items() if isinstance(parameter, BlockArgument)]


def _parameter(value: SSAValue, body: Block, parameters: dict[SSAValue, SSAValue], *, link_params: bool) -> SSAValue:
    """What stands for `value` from outside: a parameter, or a constant of the group's own."""
    known = parameters.get(value)
    if known is not None:
        return known
    owner = value.owner
    if isinstance(owner, ConstantOp) and (link_params or is_fusable_scalar(owner)):
        constant = owner.clone()
        body.add_op(constant)
        parameters[value] = constant.result
    else:
        parameter = body.insert_arg(value.type, len(body.args))
        parameter.name_hint = f"p{len(body.args) - 1}"
        parameters[value] = parameter
    return parameters[value]


def _is_inside_with(user: Operation, value: SSAValue) -> bool:
    """Whether `user` and the op that made `value` are in one group, where the value itself is meant."""
    owner = value.owner
    around = user.parent_op()
    return isinstance(around, FusedOp) and isinstance(owner, Operation) and owner.parent is user.parent


def _is_reshape(op: Operation) -> bool:
    return isinstance(op, RelayOp) and op.RESHAPE_ONLY


def _located(op: Operation, location: LocationAttr) -> Operation:
    op.location = location
    return op


def _in_text_order(ops: Iterable[Operation]) -> list[Operation]:
    """Ops of one block in the order of the text."""
    wanted = set(ops)
    block = next(iter(wanted)).parent if wanted else None
    return [] if block is None else [op for op in block.ops if op in wanted]

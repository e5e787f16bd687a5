"""`topi-inline-injective`: computes without reduction are inlined into their readers (TOPI's AutoInlineInjective)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import LocationAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from xrelay.dialects.shared.attribute_names import EXPANDED_FROM, MATERIALIZED
from xrelay.dialects.shared.levels import level_of
from xrelay.dialects.shared.locations import fuse_locations
from xrelay.dialects.shared.op_lists import is_kind, ops_in, ops_of
from xrelay.dialects.topi import CheckedIndexOp, ComputeOp, GuardOp, InBoundsOp, IndexOp, ReadOp, ScatterOp, YieldOp
from xrelay.dialects.topi.index_map import IndexMap, Place, extent_of, index_ranges, stored
from xrelay.dialects.topi.index_space import BodyOp, compute_around
from xrelay.dialects.topi.named.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.topi.named.split_products import MatmulSplitOp
from xrelay.dialects.topi.shapes import shape_of
from xrelay.index_algebra.affine_bounds import simplify
from xrelay.index_algebra.dim_expressions import is_positive
from xrelay.index_algebra.dims import Dim, Shape, estimate, product
from xrelay.index_algebra.value_map import Space, ValueMap
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, XRelayPass

USUAL_SIZE = 64
"""The size that cost comparisons assume for a named dimension."""

MAX_INDEX_SIZE = 400
"""The largest number of constants, variables and operations in an index expression."""

_NO_POINTS: Dim = 0

FREE, CHEAP, BRANCH, COSTLY = 0, 1, 4, 16
"""Estimated costs of an op: data movement, one instruction, a condition or a gather of lanes, a long sequence."""

_FREE_OPS = {"topi.read", "topi.index", "topi.yield", "arith.constant", "arith.index_cast"}
PRODUCTS = frozenset(StringAttr(op.name) for op in (MatmulOp, BatchMatmulOp, MatmulSplitOp))
"""The values of `topi.expanded_from` on matrix products."""

_COSTLY_OPS = {"arith.divf", "arith.divsi", "arith.divui", "arith.remf", "arith.remsi", "arith.remui"}


@dataclass(frozen=True)
class TopiInlineInjectivePass(XRelayPass):
    """Inlines every compute without reduction into all its readers and composes the index expressions.

    Before → after:

    ```
    %a = topi.compute "scale" [%i : 8] … {              %b = topi.compute "relu" [%j : 4] … {
      %x0 = topi.read %x[%i]                              %x0 = topi.read %x[%j * 2]
      %s = arith.mulf %x0, %two                     →     %s = arith.mulf %x0, %two
      topi.yield %s                                       %m = arith.maximumf %s, %zero
    }                                                     topi.yield %m
    %b = topi.compute "relu" [%j : 4] … {               }
      %s = topi.read %a[%j * 2]
      %m = arith.maximumf %s, %zero
      topi.yield %m
    }
    ```

    The body of a compute that is read inside a `topi.guard` moves into the guard, so it is evaluated only if the
    condition holds. Quotients and remainders from changes of layout are simplified if the extents allow it.

    A compute is not inlined if

    - the value is a result of the function, or is used by an op other than `topi.read` (expand named ops before);
    - recomputation costs too much: the points at which the readers evaluate the body, divided by the points of its own
      index space, minus one, times the cost of the body exceeds `max_recompute`. An op costs 1, a guard 4, a division,
      a function of `math` or a condition on the innermost index 16. Indices and constants are free, and so are reads,
      which cost 4 if the index of the last axis is read from a tensor. Therefore
      changes of layout are always inlined, and so is a relu into a pooling window, but not an exponential that two
      computes read, nor padding into the reduction of a convolution;
    - it reads the sums of a matrix product at its own index, and several computes read it, as the maximum and the
      exponentials of a softmax do: where the sums are computed, they are in registers;
    - it checks an index, and no reader is proven to read every element: a failing check could be skipped;
    - an index expression would have more than `MAX_INDEX_SIZE` parts, as after a long chain of reshapes and transposes
      in which no quotient is simplified: each step uses the previous expression several times.

    Consumers are visited first, so that each body is copied once for each read, however long the chain. Equal reads of
    one body are merged before. At the end, ops without effects whose results nothing uses are erased: computes, and
    indices that only erased reads took. xDSL's `dce` does the same in ten times as many steps.
    """

    name = "topi-inline-injective"
    numerics = REORDERS_SUMS
    per_function = True

    max_recompute: int = field(
        default=8, metadata={"help": "how many cheap operations may be computed again, per element"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Inlines in place, in every function of the module."""
        for function in op.ops:
            if isinstance(function, func.FuncOp) and function.body.blocks:
                inline_injective(function.body.block, self.max_recompute)
                _erase_unused(function)


def _erase_unused(function: func.FuncOp) -> None:
    """Erases ops without effects whose results nothing uses, such as an index that only the erased reads took."""
    for op in reversed(ops_in(function.body)):
        if is_trivially_dead(op):
            op.detach()
            op.erase()


def inline_injective(block: Block, max_recompute: int) -> None:
    """Inlines the computes of one block that may be inlined."""
    _inline_those(block, lambda op: why_not_inlined(op, max_recompute) is None)


def inline_computes(block: Block, computes: Collection[ComputeOp]) -> None:
    """Inlines these computes, which have no reduction and are read only by other computes, at any cost."""
    chosen = set(computes)
    _inline_those(block, chosen.__contains__)


def _inline_those(block: Block, is_chosen: Callable[[ComputeOp], bool]) -> None:
    """Inlines the chosen computes, consumers first."""
    origins: dict[BodyOp, list[LocationAttr]] = {}
    for op in reversed(list(block.ops)):
        if isinstance(op, ComputeOp) and is_chosen(op):
            for reader in _inline(op):
                origins.setdefault(reader, [reader.location]).append(op.location)
    # Once for each reader, at the end: a chain of hundreds becomes one reader, and fusing locations step by step would
    # take quadratic time.
    for reader, locations in origins.items():
        reader.location = fuse_locations(locations)
        _merge_reads(reader.body.block)


def why_not_inlined(op: ComputeOp, max_recompute: int) -> str | None:
    """The reason why a compute is not inlined into its readers, or None."""
    if op.reduction:
        return "it has a reduction"
    if MATERIALIZED in op.attributes:
        return "its expansion keeps it in memory"
    uses = [use for result in op.results for use in result.uses]
    if not uses:
        return "nothing reads it"
    reads = [use.operation for use in uses if isinstance(use.operation, ReadOp)]
    if len(reads) < len(uses):
        other = next(use.operation.name for use in uses if not isinstance(use.operation, ReadOp))
        return f"{other} needs it in memory"
    may_fail = any(isinstance(inner, CheckedIndexOp) for inner in op.body.walk())
    if may_fail and not any(_reads_all(read, op.spatial) for read in reads):
        return "it checks an index, and its readers may leave elements out"
    if len({compute_around(read) for read in reads}) > 1 and _follows_product(op):
        return "several computes read it, and it follows a matrix product"
    size = max((_inlined_index_size(read, op) for read in reads), default=0)
    if size > MAX_INDEX_SIZE:
        return f"an index expression would have {size} parts, more than {MAX_INDEX_SIZE}"
    points = product(op.spatial)
    distinct = {(read.parent, *_place_of(read)): read for read in reads}.values()
    evaluations = sum((_points_of(read) for read in distinct), start=_NO_POINTS)
    cost = body_cost(op.body.block)
    extra = _times_more(evaluations, points) * cost
    if extra > max_recompute:
        return f"computing it again would cost {extra:.0f} operations per element, more than {max_recompute}"
    return None


def _follows_product(op: ComputeOp) -> bool:
    """Whether a compute reads the sums of a matrix product at its own index."""
    reads = [inner for inner in op.body.block.ops if isinstance(inner, ReadOp)]
    return any(_is_product(read.tensor.owner) and _reads_all(read, shape_of(read.tensor)) for read in reads)


def _is_product(op: Operation | Block) -> bool:
    return isinstance(op, ComputeOp) and op.attributes.get(EXPANDED_FROM) in PRODUCTS


def _inlined_index_size(read: ReadOp, producer: ComputeOp) -> int:
    """The size of the longest index expression of `producer` at the index of `read`, before simplification."""
    index = read.index
    sizes: dict[Place, int] = {variable: index[axis].size() for axis, variable in enumerate(producer.spatial_vars)}
    accesses = ops_of(producer.body, ReadOp, IndexOp, InBoundsOp)
    return max((access.index.size(sizes) for access in accesses), default=0)


def _times_more(evaluations: Dim, points: Dim) -> float:
    """The relative increase from `points` to `evaluations`; named dimensions have an assumed size."""
    if evaluations == points:
        return 0
    several, once = (dim if isinstance(dim, int) else estimate(dim, {}, USUAL_SIZE) for dim in (evaluations, points))
    return several / once - 1 if once else 0


def _reads_all(read: ReadOp, shape: Shape) -> bool:
    """Whether a read is proven to visit every element: each index is a separate variable, and nothing is guarded."""
    reader = read.parent_op()
    if not isinstance(reader, BodyOp) or 0 in (*reader.spatial, *reader.reduction):
        return False
    if isinstance(reader, ScatterOp) and not all(map(is_positive, shape_of(reader.into))):
        return False
    index = read.index
    used: set[Place] = set()
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        expr = index[axis]
        place = expr.operands[0] if len(expr.operands) == 1 else None
        if expr.exprs != (AffineDimExpr(0),) or not isinstance(place, SSAValue) or extent_of(place) != extent:
            return False
        used.add(place)
    # A reader whose other variables may be empty is not proven to read the elements.
    variables = zip((*reader.spatial_vars, *reader.reduce_vars), (*reader.spatial, *reader.reduction), strict=True)
    others = [extent for variable, extent in variables if variable not in used]
    return len(used) == sum(extent != 1 for extent in shape) and all(map(is_positive, others))


def body_cost(block: Block) -> int:
    """The estimated cost of one evaluation of a body; a condition on the innermost index prevents vectorization."""
    total = 0
    for op in ops_in(block):
        if is_kind(type(op), (GuardOp, CheckedIndexOp)) or _gathers_lanes(op):
            total += BRANCH
        elif op.name in _FREE_OPS:
            total += FREE
        elif level_of(op) == "math" or op.name in _COSTLY_OPS or _differs_in_lanes(op, block):
            total += COSTLY
        else:
            total += CHEAP
    return total


def _gathers_lanes(op: Operation) -> bool:
    """Returns whether a read takes the index of its last axis from a computed value."""
    if not isinstance(op, ReadOp) or not op.index.exprs:
        return False
    return any(isinstance(place, OpResult) for place in op.index[-1].operands)


def _differs_in_lanes(op: Operation, body: Block) -> bool:
    """Whether the op is a condition on the innermost index of a body."""
    return isinstance(op, InBoundsOp) and bool(body.args) and body.args[-1] in op.operands


def _points_of(read: ReadOp) -> Dim:
    reader = compute_around(read)
    return product((*reader.spatial, *reader.reduction)) if reader is not None else 1


def _place_of(read: ReadOp) -> tuple[object, ...]:
    """A key that is equal for reads of the same element."""
    return read.access, read.symbols, tuple(read.operands)


def _inline(op: ComputeOp) -> list[BodyOp]:
    """Inlines a compute into its readers, and returns the readers."""
    readers: dict[BodyOp, None] = {}
    reads = [use.operation for result in op.results for use in result.uses]
    for read in _merged([read for read in reads if isinstance(read, ReadOp)]):
        reader = compute_around(read)
        _replace_by_body(read, op)
        if reader is not None:
            readers[reader] = None
    op.detach()
    op.erase()
    return list(readers)


def _merge_reads(block: Block) -> None:
    """Replaces equal reads of a body by the first of them; the inlined producers may have equal reads."""
    known: dict[object, ReadOp] = {}
    for op in list(block.ops):
        if isinstance(op, ReadOp):
            first = known.setdefault(_place_of(op), op)
            if first is not op:
                op.element.replace_all_uses_with(first.element)
                op.detach()
                op.erase()


def _merged(reads: Sequence[ReadOp]) -> list[ReadOp]:
    """Replaces equal reads of one block by the first of them."""
    groups: dict[object, list[ReadOp]] = {}
    for read in reads:
        groups.setdefault((read.parent, *_place_of(read)), []).append(read)
    kept: list[ReadOp] = []
    for group in groups.values():
        first = group[0]
        if len(group) > 1 and (block := first.parent) is not None:
            members = set(group)
            first = next(inner for inner in block.ops if isinstance(inner, ReadOp) and inner in members)
            for other in members - {first}:
                other.element.replace_all_uses_with(first.element)
                other.detach()
                other.erase()
        kept.append(first)
    return kept


def _replace_by_body(read: ReadOp, producer: ComputeOp) -> None:
    """Replaces `read` by a copy of the body of `producer` at the index of `read`."""
    block = read.parent
    if block is None:
        return
    index = read.index
    at: dict[Place, IndexMap] = {variable: index[axis] for axis, variable in enumerate(producer.spatial_vars)}
    values: dict[SSAValue, SSAValue] = {}
    for op in producer.body.block.ops:
        if not isinstance(op, YieldOp):
            copy = op.clone(values)
            block.insert_op_before(copy, read)
            for inner in list(copy.walk()):
                _rebase(inner, at)
    yielded = producer.yielded[[result is read.tensor for result in producer.results].index(True)]
    value = _index_value(at[yielded], read) if yielded in at else values.get(yielded, yielded)
    # The value gets the name of the read if the body has no name for it.
    if value.name_hint is None:
        value.name_hint = read.element.name_hint
    read.element.replace_all_uses_with(value)
    read.detach()
    read.erase()


def _rebase(op: Operation, at: Mapping[Place, IndexMap]) -> None:
    """Replaces index variables among the operands of a copied op by expressions of the reader."""
    if not any(operand in at for operand in op.operands):
        return
    match op:
        case ReadOp():
            op.access, indices, op.symbols = stored(_substituted(op.index, at))
            op.operands = (op.tensor, *indices)
        case IndexOp() | InBoundsOp():
            op.access, op.operands, op.symbols = stored(_substituted(op.index, at))
        case _:
            for position, operand in enumerate(op.operands):
                if operand in at:
                    op.operands[position] = _index_value(at[operand], op)


def _substituted(index: IndexMap, at: Mapping[Place, IndexMap]) -> IndexMap:
    index = index.substitute(at)
    space = Space(index.operands)
    box = index_ranges(space)
    return ValueMap.make([simplify(expr, box) for expr in index.exprs], space.values)


def _index_value(index: IndexMap, user: Operation) -> SSAValue:
    """An index expression as a value, defined before its user."""
    op = IndexOp(index.exprs, index.operands)
    block = user.parent
    if block is not None:
        block.insert_op_before(op, user)
    return op.value

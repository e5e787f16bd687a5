"""Kernels that only copy slices: contiguous or strided elements of an input go to an output.

Such kernels are concatenations, splits, slices and reshapes. The accesses prove that the elements stay contiguous: the
linear index of the element that is read, minus that of the element that is written, is the same for every point of a
block, or of the branch in it that reads the input. A reshape is marked by an attribute of its kernel. If the elements
do not stay contiguous, as in a concatenation of channels of several images, each index is still an affine function of
the index on the other side, and the elements are strided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from xrelay.dialects.loop import BlockOp, IterKind, LoadOp, StoreOp, ValueMap
from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.loop.block_op import Extent
from xrelay.dialects.loop.extents import MAX_EXTENT, expression_of, extents_of, index_arguments
from xrelay.dialects.loop.signature import input_arguments, kernel_dims, output_arguments
from xrelay.dialects.shared.attribute_names import RESHAPE_ONLY
from xrelay.dialects.shared.op_lists import is_kind, ops_in
from xrelay.index_algebra.affine_bounds import linear_form
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.index_algebra.linear_form import const, factors_of, times
from xrelay.index_algebra.value_map import Space
from xrelay.passes.loop.nest_queries import blocks_of, nest_root, runs_everywhere

_PURE = (arith.ConstantOp, arith.CmpiOp, arith.AddiOp, arith.SubiOp, arith.MuliOp, scf.IfOp, scf.YieldOp)
"""The ops, besides loads and one store, that a block may contain."""
_LESS_THAN_PREDICATES = (2, 6)
"""The predicates `slt` and `ult`."""


@dataclass(frozen=True)
class SliceCopy:
    """Element `number` of an output is element `number + shift` of an input.

    This holds for all elements of the input, of the output, or of both, which are arguments `source` and `target` of
    the kernel; `shift` is an expression of its `index` arguments.
    """

    source: int
    target: int
    shift: ValueMap
    takes_source: bool
    fills_target: bool
    strides: tuple[int, ...] | None = None
    """None if the elements are contiguous.

    If all of the source is copied, the strides of the source in the target, where its element 0 is element `-shift`.
    Otherwise the strides of the target in the source, where its element 0 is element `shift`.
    """


@dataclass(frozen=True)
class _Branch:
    """The load that is stored if one variable of the block is in `[low, high)`, or always if there is no variable.

    If `high` is `None`, the upper limit is the extent of the variable.
    """

    load: LoadOp
    variable: SSAValue | None
    low: Dim
    high: Dim | None


def slice_copies_of(kernel: func.FuncOp) -> Sequence[SliceCopy]:
    """The slice copies that a kernel consists of; empty if it has any other op."""
    if RESHAPE_ONLY in kernel.attributes:
        return _reshape_copies(kernel)
    blocks = list(blocks_of(kernel).values())
    last = kernel.body.block.last_op
    if [*map(nest_root, blocks), last] != list(kernel.body.block.ops):
        return []
    found: list[SliceCopy] = []
    signature = _Signature(kernel)
    for block in blocks:
        copies = _BlockCopies(signature, block).copies()
        if not copies:
            return []
        found += copies
    stored = [block.writes[0] for block in blocks]
    return found if len(set(stored)) == len(stored) == len(output_arguments(kernel)) else []


def _reshape_copies(kernel: func.FuncOp) -> Sequence[SliceCopy]:
    """The copy of all elements by a kernel that reads one input; others, such as the new shape, are unused."""
    inputs = input_arguments(kernel)
    read = [position for position, argument in enumerate(inputs) if argument.uses]
    if len(read) != 1 or len(output_arguments(kernel)) != 1:
        return []
    return [SliceCopy(read[0], len(inputs), ValueMap.constant(0), takes_source=True, fills_target=True)]


class _Signature:
    """The arguments of a kernel by kind, and the dimensions of its extents."""

    def __init__(self, kernel: func.FuncOp):
        self.positions: Mapping[SSAValue, int] = {argument: argument.index for argument in kernel.body.block.args}
        self.inputs, self.outputs = set(input_arguments(kernel)), set(output_arguments(kernel))
        self.indices = index_arguments(kernel)
        dims = kernel_dims(kernel)
        names = dims if len(dims) == len(self.indices) else [symbol(f"i{n}") for n in range(len(self.indices))]
        self.dims: Mapping[SSAValue, Dim] = dict(zip(self.indices, names, strict=True))


class _BlockCopies:
    """Finds the slice copies of one block of a kernel."""

    def __init__(self, signature: _Signature, block: BlockOp):
        self._signature, self._block = signature, block
        pairs = list(zip(block.variables, block.extents, strict=True))
        self._zeros = {variable: ValueMap.constant(0) for variable, extent in pairs if extent == 1}
        self._box: dict[SSAValue, tuple[int, int]] = dict.fromkeys(signature.indices, (0, MAX_EXTENT))
        for variable, extent in pairs:
            self._box[variable] = (0, (extent if isinstance(extent, int) else MAX_EXTENT) - 1)

    def copies(self) -> list[SliceCopy]:
        """The slice copies of the block; empty if it has any other op."""
        store = self._only_store()
        if store is None or not runs_everywhere(self._block):
            return []
        target = store.memref
        is_plain = store.index == ValueMap.identity(self._block.variables)
        if not is_plain or list(self._block.extents) != list(extents_of(target)):
            return []
        written = self._number(target, store.index)
        found = [self._copy(branch, target, written) for branch in self._branches(store.value)]
        return [] if None in found else [copy for copy in found if copy is not None]

    def _only_store(self) -> StoreOp | None:
        """The only store of a block without arithmetic, or `None`."""
        block = self._block
        if block.has_init or any(kind is not IterKind.SPATIAL for kind in block.kinds) or len(block.writes) != 1:
            return None
        ops = [op for op in ops_in(block.body) if not is_kind(type(op), (*_PURE, LoadOp))]
        store = ops[0] if len(ops) == 1 else None
        is_output = isinstance(store, StoreOp) and store.memref in self._signature.outputs
        return store if isinstance(store, StoreOp) and is_output and store.parent_op() is block else None

    def _branches(self, value: SSAValue) -> list[_Branch]:
        """The loads that are stored: one, or several selected by one variable; empty if other values are stored."""
        found: list[_Branch] = []
        chosen: SSAValue | None = None
        pending: list[tuple[SSAValue, Dim, Dim | None]] = [(value, 0, None)]
        while pending:
            stored, low, high = pending.pop()
            op = stored.owner
            if isinstance(op, LoadOp):
                found.append(_Branch(op, chosen, low, high))
                continue
            test = op.cond.owner if isinstance(op, scf.IfOp) else None
            if not isinstance(op, scf.IfOp) or not isinstance(test, arith.CmpiOp):
                return []
            middle, branches = (
                self._dim(expression_of(test.rhs)),
                [_yielded(region.block.last_op) for region in op.regions],
            )
            is_known = test.lhs in self._block.variables and chosen in (None, test.lhs)
            if (
                test.predicate.value.data not in _LESS_THAN_PREDICATES
                or middle is None
                or not is_known
                or None in branches
            ):
                return []
            chosen = test.lhs
            limits: list[tuple[Dim, Dim | None]] = [(low, middle), (middle, high)]
            pending += [
                (s, *each) for s, each in zip(reversed(branches), reversed(limits), strict=True) if s is not None
            ]
        return found

    def _copy(self, branch: _Branch, target: SSAValue, written: ValueMap | None) -> SliceCopy | None:
        """The copy of a branch to the element `written` of `target`; `None` if it is not a slice."""
        load, positions = branch.load, self._signature.positions
        if load.memref not in self._signature.inputs:
            return None
        read = self._number(load.memref, load.index)
        if read is None or written is None:
            return None
        shift = read.plus(written, -1).simplified(self._box)
        if not self._signature.dims.keys() >= set(shift.operands):
            return self._strided(branch, target)
        takes = self._takes_elements(branch)
        fills = branch.variable is None
        if not takes and not fills:
            return None
        return SliceCopy(positions[load.memref], positions[target], shift, takes, fills)

    def _strided(self, branch: _Branch, target: SSAValue) -> SliceCopy | None:
        """The copy of a branch whose elements are strided: all of the source, or all of the target."""
        load, takes = branch.load, branch.variable is not None
        steps = self._steps(load.index)
        inner, outer = (load.memref, target) if takes else (target, load.memref)
        shapes = [memref_type(buffer).get_shape() for buffer in (inner, outer)]
        if steps is None or any(size == DYNAMIC_INDEX for shape in shapes for size in shape[1:]):
            return None
        if takes:
            if not self._takes_all(branch, steps):
                return None
            steps = [(step, -offset) for step, offset in steps]
        strides = [prod(shapes[1][axis + 1 :]) for axis in range(len(shapes[1]))]
        first = sum(offset * stride for (_, offset), stride in zip(steps, strides, strict=True))
        return SliceCopy(
            self._signature.positions[load.memref],
            self._signature.positions[target],
            ValueMap.constant(-first if takes else first),
            takes,
            not takes,
            tuple(step * stride for (step, _), stride in zip(steps, strides, strict=True)),
        )

    def _takes_all(self, branch: _Branch, steps: Sequence[tuple[int, int]]) -> bool:
        """Whether a branch copies all of its source to one range of the target along its variable."""
        low = branch.low if isinstance(branch.low, int) else None
        wanted = [(1, low if variable == branch.variable else 0) for variable in self._block.variables]
        is_shifted = [(step, -offset) for step, offset in steps] == wanted
        return is_shifted and self._takes_elements(branch)

    def _steps(self, index: ValueMap) -> list[tuple[int, int]] | None:
        """`(step, offset)` of each index, which must be `variable * step + offset` of the variable in its position."""
        variables, found = self._block.variables, list[tuple[int, int]]()
        if len(index) != len(variables):
            return None
        for expr, variable in zip(index.exprs, variables, strict=True):
            form = linear_form(expr)
            if not form.terms and variable in self._zeros:
                found.append((1, form.constant))
                continue
            if len(form.terms) != 1:
                return None
            ((atom, step),) = form.terms
            if not isinstance(atom, AffineDimExpr) or index.operands[atom.position] is not variable:
                return None
            found.append((step, form.constant))
        return found if all(step > 0 for step, _ in found) else None

    def _number(self, buffer: SSAValue, index: ValueMap) -> ValueMap | None:
        """The linear index of an element in memory."""
        index = index.substitute({v: expression_of(v) for v in index.operands if isinstance(v.owner, Operation)})
        index = index.substitute(self._zeros)
        space = Space(index.operands)
        total: AffineExpr = const(0)
        step: AffineExpr = const(1)
        for expr, extent in zip(reversed(index.exprs), reversed(extents_of(buffer)), strict=True):
            if extent is None:
                return None
            total = total + times(expr, step)
            step = times(step, const(extent) if isinstance(extent, int) else space.lift(expression_of(extent))[0])
        return ValueMap.make([total], space.values)

    def _takes_elements(self, branch: _Branch) -> bool:
        """Whether a branch stores as many elements as its source has."""
        count = self._count(branch)
        return count is not None and count == self._size(extents_of(branch.load.memref))

    def _count(self, branch: _Branch) -> Dim | None:
        """The number of elements that a branch stores."""
        extents = list(self._block.extents)
        if branch.variable is None:
            return self._size(extents)
        axis = self._block.variables.index(branch.variable)
        high = self._dim(expression_of(extents[axis])) if branch.high is None else branch.high
        rest = self._size([*extents[:axis], *extents[axis + 1 :]])
        if high is None or rest is None:
            return None
        return (high - branch.low) * rest

    def _size(self, extents: Sequence[Extent | None]) -> Dim | None:
        found = [None if extent is None else self._dim(expression_of(extent)) for extent in extents]
        known = [dim for dim in found if dim is not None]
        return reduce(lambda lhs, rhs: lhs * rhs, known, 1) if len(known) == len(found) else None

    def _dim(self, value: ValueMap) -> Dim | None:
        """Returns an expression of extents as a dimension over the names of the kernel, or `None`."""
        form = linear_form(value.exprs[0])
        total: Dim = form.constant
        for atom, coefficient in form.terms:
            factors = factors_of(atom)
            if not all(isinstance(factor, AffineDimExpr) for factor in factors):
                return None
            dims = self._signature.dims
            known = [dims.get(value.operands[f.position]) for f in factors if isinstance(f, AffineDimExpr)]
            if None in known:
                return None
            total = total + reduce(lambda lhs, rhs: lhs * rhs, [dim for dim in known if dim is not None], coefficient)
        return total


def _yielded(end: Operation | None) -> SSAValue | None:
    """The one value that a branch yields."""
    return end.operands[0] if isinstance(end, scf.YieldOp) and len(end.operands) == 1 else None

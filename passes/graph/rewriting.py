"""Helpers of rewrites: an emitter that keeps locations and requirements, a driver by op class, and constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriterListener, RewritePattern
from xdsl.traits import IsTerminator, SymbolOpInterface
from xdsl.transforms.dead_code_elimination import result_only_effects

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.annotation import RequireOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.op_lists import all_ops, is_kind, ops_of
from xrelay.dialects.shared.requirements import RequirementsAttr, new_extents, record_requirements, requirements_of
from xrelay.dialects.shared.types import element_type_of, shape_of
from xrelay.errors import ConstraintError
from xrelay.index_algebra.requirement import Requirement
from xrelay.passes.infra.pattern_counts import counted

OpT = TypeVar("OpT", bound=Operation)


class Emitter:
    """Inserts ops before `source`, with its location. Their results get the name of its first result."""

    def __init__(self, rewriter: PatternRewriter, source: Operation):
        self._rewriter, self._source = rewriter, source
        self._made: list[Operation] = []

    def insert(self, op: OpT) -> OpT:
        """Inserts `op` and returns it."""
        op.location = self._source.location
        for result in op.results:
            if result.name_hint is None and self._source.results:
                result.name_hint = self._source.results[0].name_hint
        block = self._source.parent
        if block is None:
            raise ValueError(f"{self._source.name} is in no block")
        block.insert_op_before(op, self._source)
        self._made.append(op)
        self._rewriter.has_done_action = True
        self._rewriter.handle_operation_insertion(op)
        return op

    def call(self, op: type[RelayOp], *operands: SSAValue, **attributes: AttributeValue) -> SSAValue:
        """Inserts `op` on `operands` and returns its result, whose type is inferred."""
        return self.insert(op.call(*operands, **attributes)).results[0]

    def constant(self, array: Array, name: str = "constant") -> SSAValue:
        """Inserts a constant and returns its value; `name` is the name of its weight."""
        return self.insert(ConstantOp.of(array, name)).result

    def scalar(self, value: float, like: Attribute) -> SSAValue:
        """Returns a constant of rank 0 with the element type of the tensor type `like`."""
        return self.constant(np.array(value, numpy_dtype(element_type_of(like))))

    def replace(self, value: SSAValue) -> None:
        """Replaces the result of the source by `value`, and erases the source.

        Requirements of the source on named extents that no inserted op has become requirements of `value`.
        """
        require = keep_requirements(self._source, value, self._source.results[0].type, self._made)
        if require is not None:
            value = self.insert(require).result
        self._rewriter.replace(self._source, [], [value])


def rewrite(top: Operation, patterns: Mapping[type[Operation], RewritePattern]) -> None:
    """Applies to each op below `top` the pattern of its class until none applies; erases unused ops.

    Ops without a pattern are visited once. xDSL's walker applies all patterns to all ops, and walks the module again
    until nothing changes.
    """
    _Rewriting(patterns.get).run(top)


def rewrite_derived(top: Operation, base: type[Operation], pattern: RewritePattern) -> None:
    """As `rewrite`, for the ops of all classes derived from `base`, also those that are imported meanwhile."""
    _Rewriting(lambda kind: pattern if is_kind(kind, (base,)) else None).run(top)


def rewrite_once(module: ModuleOp, kind: type[Operation] | UnionType, pattern: RewritePattern) -> None:
    """Applies `pattern` once to each op of `kind`, in program order. Ops that the pattern inserts are not visited."""
    chosen = counted(pattern)
    kinds: tuple[type[Operation], ...] = kind.__args__ if isinstance(kind, UnionType) else (kind,)
    for current in ops_of(module, *kinds):
        if current.parent is not None:
            chosen.match_and_rewrite(current, PatternRewriter(current))


class _Rewriting:
    """The worklist of a rewrite; the op that was added last is visited first."""

    def __init__(self, pattern_of: Callable[[type[Operation]], RewritePattern | None]):
        self._pattern_of = pattern_of
        self._pending: dict[Operation, None] = {}
        self._listener = PatternRewriterListener(
            operation_insertion_handler=[self._push],
            operation_modification_handler=[self._push],
            operation_removal_handler=[self._note_removal],
            operation_replacement_handler=[lambda op, _: self._push_users(op)],
        )

    def run(self, top: Operation) -> None:
        """Visits every op, and every changed op again, in program order."""
        for op in reversed([op for op in all_ops(top) if self._pattern_of(type(op)) is not None or _is_dead(op)]):
            self._push(op)
        while self._pending:
            op, _ = self._pending.popitem()
            dead, pattern = _is_dead(op), self._pattern_of(type(op))
            if not dead and pattern is None:
                continue
            rewriter = PatternRewriter(op)
            rewriter.extend_from_listener(self._listener)
            if dead:
                rewriter.erase(op)
            elif pattern is not None:
                counted(pattern).match_and_rewrite(op, rewriter)

    def _push(self, op: Operation) -> None:
        self._pending.setdefault(op)

    def _push_users(self, op: Operation) -> None:
        for result in op.results:
            for use in result.uses:
                self._push(use.operation)

    def _note_removal(self, op: Operation) -> None:
        """Removes `op` and the ops inside of it from the worklist. The owners of their operands may now be unused."""
        erased = all_ops(op)
        for operand in (operand for one in erased for operand in one.operands):
            if isinstance(operand, OpResult):
                self._push(operand.op)
        for one in erased:
            self._pending.pop(one, None)


def _is_dead(op: Operation) -> bool:
    """Whether `op` has no use and no side effect.

    An op that introduces an extent is never dead here: `relay-dead-code-elimination` checks uses of names.
    """
    for result in op.results:
        if result.first_use is not None:
            return False
    return _may_be_dead(type(op)) and result_only_effects(op) and not new_extents(op)


@cache
def _may_be_dead(kind: type[Operation]) -> bool:
    """Whether ops of the class may be unused, as terminators and symbols never are."""
    return not any(kind.has_trait(trait, value_if_unregistered=False) for trait in (IsTerminator, SymbolOpInterface))


def constant_of(value: SSAValue) -> Array | None:
    """Returns the array of a constant whose data is in memory, or None for any other value."""
    if not isinstance(value, OpResult) or not isinstance(value.op, ConstantOp):
        return None
    return value.op.array if value.op.is_here else None


def owner_of(value: SSAValue, op: type[OpT]) -> OpT | None:
    """Returns the op of class `op` that defines `value`, or None."""
    return value.op if isinstance(value, OpResult) and isinstance(value.op, op) else None


def plain_owner_of(value: SSAValue, op: type[OpT]) -> OpT | None:
    """As `owner_of`, but None for an op with requirements on named extents, which a rewrite could lose."""
    found = owner_of(value, op)
    return None if found is None or requirements_of(found) else found


def replace_by_variant(
    rewriter: PatternRewriter,
    op: Operation,
    like: RelayOp,
    operands: Sequence[SSAValue],
    changes: Mapping[str, Attribute],
) -> None:
    """Replaces `op` by an op as `like` with other operands and properties.

    Does nothing if a constraint does not hold, or the result has another type.
    """
    try:
        made = type(like).typed(operands, {**like.properties, **changes})
    except ConstraintError:
        return
    if made.results[0].type == op.results[0].type:
        emit = Emitter(rewriter, op)
        emit.replace(emit.insert(made).results[0])
    else:
        made.erase()


def static_shape(value: SSAValue) -> tuple[int, ...]:
    """Returns the shape of a tensor of static shape."""
    return tuple(dim for dim in shape_of(value.type) if isinstance(dim, int))


def per_channel(factor: Array, rank: int, axis: int) -> Array | None:
    """Returns `factor`, which broadcasts to rank `rank`, as a vector along `axis`; None if it varies along other axes.

    The vector of a constant factor has one element.
    """
    if factor.ndim > rank:
        return None
    shape = (1,) * (rank - factor.ndim) + factor.shape
    if any(extent != 1 for position, extent in enumerate(shape) if position != axis):
        return None
    return factor.reshape(-1)


def keep_requirements(
    op: Operation, value: SSAValue, type: Attribute, replacements: Sequence[Operation]
) -> RequireOp | None:
    """Returns a `relay.require` on `value` with the requirements of `op`, or None if there is nothing to require.

    `replacements` are the ops that compute `value` and replace `op`; requirements that they have are not repeated. If
    the extents of `value` differ from those of `type`, all requirements of `op` are kept, because they imply that the
    extents are equal. The parts of a composite op may lack a requirement, for example on a scale that they do not use.
    """
    requirements = requirements_of(op)
    if not requirements or not isinstance(value.type, TensorType):
        return None
    others = replacements if value.type == type else ()
    made = {_relation(requirement) for other in others for requirement in requirements_of(other)}
    kept = [requirement for requirement in requirements if _relation(requirement) not in made]
    attribute = RequirementsAttr.of(kept)
    if attribute is None:
        return None
    require = RequireOp.create(operands=[value], result_types=[type], properties={"demands": attribute})
    record_requirements(require, kept)
    return require


def _relation(requirement: Requirement) -> tuple[object, ...]:
    """Returns the relation of a requirement without its label."""
    kept = requirement.canonical()
    return type(kept), kept.lhs, kept.rhs


def float_range(dtype: np.dtype) -> tuple[float, float]:
    """Returns the least positive normal number and the greatest finite number of a float type."""
    if dtype.kind != "f":  # bfloat16, which numpy lacks, has the exponents of f32
        return float(np.finfo(np.float32).tiny), (2 - 2.0**-7) * 2.0**127
    limits = np.finfo(dtype)
    return float(limits.tiny), float(limits.max)

"""Loads and stores: of one element, of neighbouring elements as a vector, or lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DenseArrayBase, MemRefType, VectorType, i1, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr

from xrelay.dialects.loop.base import memref_type
from xrelay.dialects.shared.attribute_names import LOOP_ANNOTATION
from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.dialects.upstream.llvm_extras import LoopAnnotationAttr
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import linear_form, stride, symbolic_stride
from xrelay.index_algebra.linear_form import LinearForm, sum_of
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.buffers import element_strides, on_stack
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lanes import LaneContext, Mask, any_lane, is_vector, number, splat, zeros
from xrelay.passes.loop.primitives.vectorize import MAX_STRIDE


@dataclass(frozen=True)
class AccessTarget:
    """The target of an access: `index` into `buffer`, over new values. It is `irregular` if an operand is a vector."""

    buffer: SSAValue
    index: ValueMap

    @property
    def type(self) -> MemRefType:
        """Returns the type of the buffer."""
        return memref_type(self.buffer)

    @cached_property
    def irregular(self) -> bool:
        """Whether an index was computed lane by lane."""
        return any(is_vector(operand) for operand in self.index.operands)

    @cached_property
    def place(self) -> tuple[LinearForm, frozenset[int]]:
        """The number of elements before the target, without indices whose distance in memory is unknown.

        Also returns the positions of the operands that those indices use.
        """
        places: list[LinearForm] = [LinearForm(())]
        unknown: set[int] = set()
        for expr, step in zip(self.index.exprs, element_strides(self.type), strict=True):
            if step is not None:
                places.append(linear_form(expr).scaled(step))
            else:
                unknown.update(expr.used_dims())
        return sum_of(places), frozenset(unknown)


def load(
    emitter: Emitter, target: AccessTarget, lanes: LaneContext | None, is_valid: Callable[[], bool] = lambda: False
) -> SSAValue:
    """Loads the element at `target`, or a vector if it differs between lanes. Masked-off lanes read nothing.

    `is_valid` returns whether an element that is the same for all lanes exists even if all lanes are off.
    """
    if lanes is None:
        return _load_scalar(emitter, target)
    if isinstance(target.type.element_type, VectorType):
        return _load_scalar(emitter, target)
    step = _memory_step(target, lanes)
    if step == 0:
        return _load_uniform(emitter, target, lanes, is_valid)
    if step == 1:
        return _load_vector(emitter, target, lanes)
    if (apart := _stride_in_row(target, lanes)) is not None:
        return _load_strided(emitter, target, lanes, apart)
    return _load_lanes(emitter, target, lanes)


def store(emitter: Emitter, target: AccessTarget, value: SSAValue, lanes: LaneContext | None) -> None:
    """Stores an element, or one element per lane; masked-off lanes write nothing.

    Raises `LoweringError` if all lanes would store different values to the same element.
    """
    if lanes is None:
        _store_scalar(emitter, target, value)
    elif isinstance(target.type.element_type, VectorType):
        _store_element(emitter, target, value, lanes)
    else:
        step = _memory_step(target, lanes)
        if step == 0:
            _store_uniform(emitter, target, value, lanes)
        elif step == 1:
            _store_vector(emitter, target, value, lanes)
        else:
            _store_lanes(emitter, target, value, lanes)


# --- strides of lanes in memory


def memory_stride(target: AccessTarget, value: SSAValue) -> int | None:
    """Returns the distance in elements between places whose index value differs by one; None if unknown."""
    distance = memory_distance(target, value)
    only = None if distance is None else distance.exprs[0]
    return only.value if isinstance(only, AffineConstantExpr) else None


def memory_distance(target: AccessTarget, value: SSAValue) -> ValueMap | None:
    """Returns the distance of `memory_stride` as an expression of other values; None if it varies."""
    if target.irregular:
        return None
    if value not in target.index.operands:
        return ValueMap.constant(0)
    position = target.index.operands.index(value)
    form, unknown = target.place
    distance = None if position in unknown else symbolic_stride(form, position)
    if distance is not None and not distance.terms:
        return ValueMap.constant(distance.constant)
    return None if distance is None else ValueMap.make([distance.expr()], target.index.operands)


def _memory_step(target: AccessTarget, lanes: LaneContext) -> int | None:
    """Returns the distance in elements between neighbouring lanes, if it is 0 or 1; None otherwise."""
    step = memory_stride(target, lanes.index)
    # A vector of i1 in memory is packed bits, but the elements of a buffer of i1 are bytes.
    is_bits = target.type.element_type == i1
    return step if step == 0 or (step == 1 and not is_bits) else None


# --- one element


def _load_scalar(emitter: Emitter, target: AccessTarget) -> SSAValue:
    operands = (target.buffer, *emitter.affine_all(target.index))
    return emitter.add(make(memref.LoadOp, operands, (target.type.element_type,))).results[0]


def _store_scalar(emitter: Emitter, target: AccessTarget, value: SSAValue) -> None:
    emitter.add(make(memref.StoreOp, (value, target.buffer, *emitter.affine_all(target.index))))


def _load_uniform(emitter: Emitter, target: AccessTarget, lanes: LaneContext, is_valid: Callable[[], bool]) -> SSAValue:
    """Loads one element for all lanes as a scalar; if all lanes are off, reads nothing or an element of the buffer."""
    if lanes.mask is None or lanes.mask.is_never_empty or _is_in_bounds(emitter, target) or is_valid():
        return _load_scalar(emitter, target)
    return _load_if(emitter, target, any_lane(emitter, lanes.mask, lanes.count))


def _is_in_bounds(emitter: Emitter, target: AccessTarget) -> bool:
    """Whether the ranges of loops prove that a target is an element of its buffer, even if all lanes are off.

    LLVM compiles a tile of registers without a branch for each weight several times as fast, and its code is faster.
    """
    for position, extent in enumerate(target.type.get_shape()):
        known = None if target.irregular else emitter.range_of(target.index[position])
        if known is None or known[0] < 0 or known[1] >= extent:
            return False
    return True


def _load_if(emitter: Emitter, target: AccessTarget, condition: SSAValue) -> SSAValue:
    """Loads the element at `target` under a condition; yields zero otherwise."""
    element = target.type.element_type
    return emitter.choose(
        condition, element, lambda: _load_scalar(emitter, target), lambda: number(emitter, 0, element)
    )


def _store_uniform(emitter: Emitter, target: AccessTarget, value: SSAValue, lanes: LaneContext) -> None:
    if is_vector(value):
        raise LoweringError(
            "every lane of a vectorised loop would store to the same element",
            help="a loop of a reduction cannot be vectorised; use cache_write on the block, or vectorise another loop",
        )
    if lanes.mask is None or lanes.mask.is_never_empty:
        _store_scalar(emitter, target, value)
    else:
        with emitter.when(any_lane(emitter, lanes.mask, lanes.count)):
            _store_scalar(emitter, target, value)


def _store_element(emitter: Emitter, target: AccessTarget, value: SSAValue, lanes: LaneContext) -> None:
    """Stores all lanes to one element of an array of vectors; masked-off lanes keep the old value."""
    value = splat(emitter, value, lanes.count)
    if lanes.mask is not None:
        value = emitter.add(SelectOp(lanes.mask.value, value, _load_scalar(emitter, target))).result
    _store_scalar(emitter, target, value)


# --- neighbouring elements


def _load_vector(emitter: Emitter, target: AccessTarget, lanes: LaneContext) -> SSAValue:
    indices = emitter.affine_all(lanes.at(target.index, 0))
    type = lanes.vector_of(target.type.element_type)
    if lanes.mask is None:
        return emitter.add(make(vector.LoadOp, (target.buffer, *indices), (type,))).results[0]
    nothing = zeros(emitter, type)
    if _is_whole_on_stack(emitter, target, lanes):
        loaded = emitter.add(make(vector.LoadOp, (target.buffer, *indices), (type,))).results[0]
        return emitter.add(SelectOp(lanes.mask.value, loaded, nothing)).result
    return emitter.add(vector.MaskedLoadOp(target.buffer, indices, lanes.mask.value, nothing)).result


def _is_whole_on_stack(emitter: Emitter, target: AccessTarget, lanes: LaneContext) -> bool:
    """Whether the elements of all lanes, also of masked-off ones, are in a buffer on the stack.

    LLVM keeps accumulators in registers if they are loaded and stored without masks.
    """
    ends = (AccessTarget(target.buffer, lanes.at(target.index, lane)) for lane in (0, lanes.count - 1))
    return isinstance(target.buffer.owner, memref.AllocaOp) and all(_is_in_bounds(emitter, end) for end in ends)


def _store_vector(emitter: Emitter, target: AccessTarget, value: SSAValue, lanes: LaneContext) -> None:
    value = splat(emitter, value, lanes.count)
    indices = emitter.affine_all(lanes.at(target.index, 0))
    if lanes.mask is not None and _is_whole_on_stack(emitter, target, lanes):
        old = emitter.add(make(vector.LoadOp, (target.buffer, *indices), (value.type,))).results[0]
        value = emitter.add(SelectOp(lanes.mask.value, value, old)).result
        emitter.add(make(vector.StoreOp, (value, target.buffer, *indices)))
    elif lanes.mask is None:
        emitter.add(make(vector.StoreOp, (value, target.buffer, *indices)))
    else:
        emitter.add(vector.MaskedStoreOp(target.buffer, indices, lanes.mask.value, value))


# --- elements at a stride


def _stride_in_row(target: AccessTarget, lanes: LaneContext) -> int | None:
    """Returns the distance of neighbouring lanes along a row of the buffer, if it is from 2 to `MAX_STRIDE`."""
    *outer, row = [target.index[k] for k in range(len(target.index))] or [ValueMap.constant(0)]
    if target.irregular or any(lanes.position(each) is not None for each in outer):
        return None
    position, element = lanes.position(row), target.type.element_type
    step = None if position is None else stride(row.exprs[0], position)
    is_row = element_strides(target.type)[-1:] == [1] and element != i1
    return step if is_row and step is not None and 2 <= step <= MAX_STRIDE else None


def _load_strided(emitter: Emitter, target: AccessTarget, lanes: LaneContext, step: int) -> SSAValue:
    """Selects elements from as many vectors as the stride; the last vector ends with the element of the last lane.

    ```
    lane l in 8: X[2 l]   →   %a = vector.load %X[0], %b = vector.load %X[7], vector.shuffle %a, %b [0, 2, 4, 6, 9, …]
    ```

    A masked vector reads only the elements of active lanes.
    """
    count, places = lanes.count, [step * lane for lane in range(lanes.count)]
    begins = [min(part * count, (step - 1) * (count - 1)) for part in range(step)]
    vectors = [_load_part(emitter, target, lanes, [place - begin for place in places]) for begin in begins]
    result, kept = vectors[0], [min(place, count - 1) for place in places]
    for part in range(1, step):
        taken = [
            count + place - begins[part] if place // count == part else kept[lane] for lane, place in enumerate(places)
        ]
        result, kept = shuffled(emitter, result, vectors[part], taken), list(range(count))
    return result


def _load_part(emitter: Emitter, target: AccessTarget, lanes: LaneContext, places: Sequence[int]) -> SSAValue:
    """Loads a vector in which the elements of the lanes have these places; with a mask, only those of active lanes."""
    first, type = lanes.at(target.index, 0), lanes.vector_of(target.type.element_type)
    *outer, row = first.exprs
    indices = emitter.affine_all(ValueMap((*outer, row - places[0]), first.operands))
    if lanes.mask is None:
        return emitter.add(make(vector.LoadOp, (target.buffer, *indices), (type,))).results[0]
    owners = {place: lane for lane, place in enumerate(places)}
    active = [owners.get(place, lanes.count) for place in range(lanes.count)]
    mask = shuffled(emitter, lanes.mask.value, zeros(emitter, lanes.vector_of(i1)), active)
    return emitter.add(vector.MaskedLoadOp(target.buffer, indices, mask, zeros(emitter, type))).result


def shuffled(emitter: Emitter, left: SSAValue, right: SSAValue, places: Sequence[int]) -> SSAValue:
    """Returns a vector of the elements of two vectors of its type at `places`, counted through both."""
    mask, type_ = DenseArrayBase.from_list(i64, list(places)), SSAValue.get(left, type=VectorType).type
    return emitter.add(vector.ShuffleOp(left, right, mask, result_type=type_)).result


# --- lane by lane


def _each_lane(
    emitter: Emitter,
    target: AccessTarget,
    lanes: LaneContext,
    write: Callable[[AccessTarget, SSAValue], None],
    source: Callable[[SSAValue], SSAValue] | None = None,
) -> None:
    """Writes a loop over the lanes, to be unrolled; calls `write` inside it with the lane's place and number.

    The place is that of the lane `source`, if it is given.
    """

    def at_lane(lane: SSAValue) -> None:
        read = lane if source is None else source(lane)
        emitter.ranges[lane] = emitter.ranges[read] = (0, lanes.count - 1)
        taken = {lanes.index: ValueMap.identity([read])}
        for operand in target.index.operands:
            if isinstance(operand.type, VectorType):
                one = emitter.add(vector.ExtractOp(operand, [read], operand.type.element_type)).result
                taken[operand] = ValueMap.identity([one])
        write(AccessTarget(target.buffer, target.index.substitute(taken)), lane)

    loop = emitter.each_lane(lanes.count, at_lane)
    loop.attributes[LOOP_ANNOTATION] = LoopAnnotationAttr.unroll_full()


def _load_lanes(emitter: Emitter, target: AccessTarget, lanes: LaneContext) -> SSAValue:
    """Loads scalars into a stack buffer and reads it as a vector; LLVM turns this into insertions into a register."""
    type, mask = lanes.vector_of(target.type.element_type), lanes.mask
    if mask is None or not mask.is_prefix:
        return _gather(emitter, target, lanes)
    if mask.is_never_empty:
        return _gather_prefix(emitter, target, lanes, mask)
    is_any = any_lane(emitter, mask, lanes.count)
    return emitter.choose(
        is_any, type, lambda: _gather_prefix(emitter, target, lanes, mask), lambda: zeros(emitter, type)
    )


def _gather_prefix(emitter: Emitter, target: AccessTarget, lanes: LaneContext, mask: Mask) -> SSAValue:
    """Loads without a branch for each lane: in place of the element of an inactive lane, that of the first is loaded.

    The first lane must be active.
    """

    def active(lane: SSAValue) -> SSAValue:
        is_on = emitter.add(vector.ExtractOp(mask.value, [lane], i1)).result
        return emitter.add(SelectOp(is_on, lane, emitter.index(0))).result

    loaded = _gather(emitter, target, LaneContext(lanes.count, lanes.index), active)
    nothing = zeros(emitter, lanes.vector_of(target.type.element_type))
    return emitter.add(SelectOp(mask.value, loaded, nothing)).result


def _gather(
    emitter: Emitter, target: AccessTarget, lanes: LaneContext, source: Callable[[SSAValue], SSAValue] | None = None
) -> SSAValue:
    """Loads an element for each active lane: that of the lane, or that of the lane `source`."""
    element = target.type.element_type
    side_by_side = emitter.on_stack(on_stack(MemRefType(element, [lanes.count]))).memref

    def write(same_target: AccessTarget, lane: SSAValue) -> None:
        if lanes.mask is None:
            one = _load_scalar(emitter, same_target)
        else:
            is_on = emitter.add(vector.ExtractOp(lanes.mask.value, [lane], i1)).result
            one = _load_if(emitter, same_target, is_on)
        emitter.add(memref.StoreOp.get(one, side_by_side, [lane]))

    _each_lane(emitter, target, lanes, write, source)
    return emitter.add(vector.LoadOp(side_by_side, [emitter.index(0)], lanes.vector_of(element))).result


def _store_lanes(emitter: Emitter, target: AccessTarget, value: SSAValue, lanes: LaneContext) -> None:
    """Stores the elements of a vector one by one."""

    def write(same_target: AccessTarget, lane: SSAValue) -> None:
        one = value
        if isinstance(value.type, VectorType):
            one = emitter.add(vector.ExtractOp(value, [lane], value.type.element_type)).result
        if lanes.mask is None:
            _store_scalar(emitter, same_target, one)
        else:
            is_on = emitter.add(vector.ExtractOp(lanes.mask.value, [lane], i1)).result
            with emitter.when(is_on):
                _store_scalar(emitter, same_target, one)

    _each_lane(emitter, target, lanes, write)

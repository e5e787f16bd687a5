"""Loads and stores: of one element, of neighbouring elements as a vector, or lane by lane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType, MemRefLayoutAttr, MemRefType, VectorType, i1
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from xrelay.dialects.shared.attribute_names import LOOP_ANNOTATION
from xrelay.dialects.shared.op_making import make
from xrelay.dialects.upstream.arith_extras import SelectOp
from xrelay.dialects.upstream.loop_annotation import LoopAnnotationAttr
from xrelay.errors import LoweringError
from xrelay.index_algebra.affine_bounds import stride
from xrelay.index_algebra.value_map import ValueMap
from xrelay.lowering.loop_to_scf.emitter import Emitter
from xrelay.lowering.loop_to_scf.lane_values import LaneContext, any_lane, is_vector, number, splat, zeros
from xrelay.lowering.loop_to_scf.local_buffers import on_stack


@dataclass(frozen=True)
class Place:
    """The target of an access: `index` into `buffer`, over new values. It is `irregular` if an operand is a vector."""

    buffer: SSAValue
    index: ValueMap

    @property
    def type(self) -> MemRefType:
        """Returns the type of the buffer."""
        return SSAValue.get(self.buffer, type=MemRefType).type

    @property
    def irregular(self) -> bool:
        """Whether an index was computed lane by lane."""
        return any(is_vector(operand) for operand in self.index.operands)


def load(emitter: Emitter, place: Place, lanes: LaneContext | None) -> SSAValue:
    """Loads the element at `place`, or a vector if it differs between lanes. Masked-off lanes read nothing."""
    if lanes is None:
        return _load_scalar(emitter, place)
    if isinstance(place.type.element_type, VectorType):
        return _load_scalar(emitter, place)
    step = _memory_step(place, lanes)
    if step == 0:
        return _load_uniform(emitter, place, lanes)
    if step == 1:
        return _load_vector(emitter, place, lanes)
    return _load_lanes(emitter, place, lanes)


def store(emitter: Emitter, place: Place, value: SSAValue, lanes: LaneContext | None) -> None:
    """Stores an element, or one element per lane; masked-off lanes write nothing.

    Raises `LoweringError` if all lanes would store different values to the same element.
    """
    if lanes is None:
        _store_scalar(emitter, place, value)
    elif isinstance(place.type.element_type, VectorType):
        _store_element(emitter, place, value, lanes)
    else:
        step = _memory_step(place, lanes)
        if step == 0:
            _store_uniform(emitter, place, value, lanes)
        elif step == 1:
            _store_vector(emitter, place, value, lanes)
        else:
            _store_lanes(emitter, place, value, lanes)


# --- strides of lanes in memory


def element_strides(type: MemRefType) -> list[int | None]:
    """Returns the strides of a buffer in elements; None for strides that are known only at run time."""
    if isinstance(type.layout, MemRefLayoutAttr):
        known = type.layout.get_strides()
        return [None] * type.get_num_dims() if known is None else list(known)
    strides: list[int | None] = []
    step: int | None = 1
    for size in reversed(type.get_shape()):
        strides.append(step)
        step = None if step is None or size == DYNAMIC_INDEX else step * size
    return strides[::-1]


def memory_stride(place: Place, value: SSAValue) -> int | None:
    """Returns the distance in elements between places whose index value differs by one; None if unknown."""
    if place.irregular:
        return None
    if value not in place.index.operands:
        return 0
    position = place.index.operands.index(value)
    flat: AffineExpr = AffineConstantExpr(0)
    for expr, step in zip(place.index.exprs, element_strides(place.type), strict=True):
        if step is not None:
            flat = flat + expr * step
        elif position in expr.used_dims():
            return None
    return stride(flat, position)


def _memory_step(place: Place, lanes: LaneContext) -> int | None:
    """Returns the distance in elements between neighbouring lanes, if it is 0 or 1; None otherwise."""
    step = memory_stride(place, lanes.index)
    # A vector of i1 in memory is packed bits, but the elements of a buffer of i1 are bytes.
    is_bits = place.type.element_type == IntegerType(1)
    return step if step == 0 or (step == 1 and not is_bits) else None


# --- one element


def _load_scalar(emitter: Emitter, place: Place) -> SSAValue:
    operands = (place.buffer, *emitter.affine_all(place.index))
    return emitter.add(make(memref.LoadOp, operands, (place.type.element_type,))).results[0]


def _store_scalar(emitter: Emitter, place: Place, value: SSAValue) -> None:
    emitter.add(make(memref.StoreOp, (value, place.buffer, *emitter.affine_all(place.index))))


def _load_uniform(emitter: Emitter, place: Place, lanes: LaneContext) -> SSAValue:
    """Loads one element for all lanes as a scalar; reads nothing if all lanes are off."""
    if lanes.mask is None or lanes.mask.is_never_empty:
        return _load_scalar(emitter, place)
    return _load_if(emitter, place, any_lane(emitter, lanes.mask, lanes.count))


def _load_if(emitter: Emitter, place: Place, condition: SSAValue) -> SSAValue:
    """Loads the element at `place` under a condition; yields zero otherwise."""
    element = place.type.element_type
    then, otherwise = Block(), Block()
    with emitter.inside(then):
        emitter.add(scf.YieldOp(_load_scalar(emitter, place)))
    with emitter.inside(otherwise):
        emitter.add(scf.YieldOp(number(emitter, 0, element)))
    return emitter.add(scf.IfOp(condition, [element], Region(then), Region(otherwise))).output[0]


def _store_if(emitter: Emitter, place: Place, value: SSAValue, condition: SSAValue) -> None:
    then = Block()
    with emitter.inside(then):
        _store_scalar(emitter, place, value)
        emitter.add(scf.YieldOp())
    emitter.add(scf.IfOp(condition, [], Region(then)))


def _store_uniform(emitter: Emitter, place: Place, value: SSAValue, lanes: LaneContext) -> None:
    if is_vector(value):
        raise LoweringError(
            "every lane of a vectorised loop would store to the same element",
            help="a loop that carries a reduction cannot be vectorised; give the block a local buffer, or another loop",
        )
    if lanes.mask is None or lanes.mask.is_never_empty:
        _store_scalar(emitter, place, value)
    else:
        _store_if(emitter, place, value, any_lane(emitter, lanes.mask, lanes.count))


def _store_element(emitter: Emitter, place: Place, value: SSAValue, lanes: LaneContext) -> None:
    """Stores all lanes to one element of an array of vectors; masked-off lanes keep the old value."""
    value = splat(emitter, value, lanes.count)
    if lanes.mask is not None:
        value = emitter.add(SelectOp(lanes.mask.value, value, _load_scalar(emitter, place))).result
    _store_scalar(emitter, place, value)


# --- neighbouring elements


def _load_vector(emitter: Emitter, place: Place, lanes: LaneContext) -> SSAValue:
    indices = emitter.affine_all(lanes.at(place.index, 0))
    type = lanes.vector_of(place.type.element_type)
    if lanes.mask is None:
        return emitter.add(make(vector.LoadOp, (place.buffer, *indices), (type,))).results[0]
    nothing = zeros(emitter, type)
    return emitter.add(vector.MaskedLoadOp(place.buffer, indices, lanes.mask.value, nothing)).result


def _store_vector(emitter: Emitter, place: Place, value: SSAValue, lanes: LaneContext) -> None:
    value = splat(emitter, value, lanes.count)
    indices = emitter.affine_all(lanes.at(place.index, 0))
    if lanes.mask is None:
        emitter.add(make(vector.StoreOp, (value, place.buffer, *indices)))
    else:
        emitter.add(vector.MaskedStoreOp(place.buffer, indices, lanes.mask.value, value))


# --- lane by lane


def _each_lane(emitter: Emitter, place: Place, lanes: LaneContext, write: Callable[[Place, SSAValue], None]) -> None:
    """Writes a loop over the lanes, to be unrolled; calls `write` inside it with the lane's place and number."""
    body = Block(arg_types=[IndexType()])
    lane = body.args[0]
    lane.name_hint = "lane"
    emitter.ranges[lane] = (0, lanes.count - 1)
    with emitter.inside(body):
        number = ValueMap.identity([lane])
        taken = {lanes.index: number}
        for operand in place.index.operands:
            if isinstance(operand.type, VectorType):
                one = emitter.add(vector.ExtractOp(operand, [lane], operand.type.element_type)).result
                taken[operand] = ValueMap.identity([one])
        write(Place(place.buffer, place.index.substitute(taken)), lane)
        emitter.add(scf.YieldOp())
    loop = emitter.add(scf.ForOp(emitter.index(0), emitter.index(lanes.count), emitter.index(1), [], body))
    loop.attributes[LOOP_ANNOTATION] = LoopAnnotationAttr.unroll_full()


def _load_lanes(emitter: Emitter, place: Place, lanes: LaneContext) -> SSAValue:
    """Loads scalars into a stack buffer and reads it as a vector; LLVM turns this into insertions into a register."""
    element = place.type.element_type
    side_by_side = emitter.on_stack(on_stack(MemRefType(element, [lanes.count]))).memref

    def write(one_place: Place, lane: SSAValue) -> None:
        if lanes.mask is None:
            one = _load_scalar(emitter, one_place)
        else:
            is_on = emitter.add(vector.ExtractOp(lanes.mask.value, [lane], i1)).result
            one = _load_if(emitter, one_place, is_on)
        emitter.add(memref.StoreOp.get(one, side_by_side, [lane]))

    _each_lane(emitter, place, lanes, write)
    return emitter.add(vector.LoadOp(side_by_side, [emitter.index(0)], lanes.vector_of(element))).result


def _store_lanes(emitter: Emitter, place: Place, value: SSAValue, lanes: LaneContext) -> None:
    """Stores the elements of a vector one by one."""

    def write(one_place: Place, lane: SSAValue) -> None:
        one = value
        if isinstance(value.type, VectorType):
            one = emitter.add(vector.ExtractOp(value, [lane], value.type.element_type)).result
        if lanes.mask is None:
            _store_scalar(emitter, one_place, one)
        else:
            is_on = emitter.add(vector.ExtractOp(lanes.mask.value, [lane], i1)).result
            _store_if(emitter, one_place, one, is_on)

    _each_lane(emitter, place, lanes, write)

"""Operator functions whose parameters differ from the op definition in order, names, defaults or lists.

Their signatures are those of Relay's Python. A sparse matrix is a sequence of its three arrays, or an object with the
attributes `data`, `indices` and `indptr`, such as a scipy matrix.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Final, Protocol, TypeAlias, TypeGuard, cast, runtime_checkable

from numpy.typing import DTypeLike
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.sparse import SparseAddOp, SparseDenseOp, SparseTransposeOp
from xrelay.dialects.relay.ops.nn.upsampling import Upsampling2DOp, Upsampling3DOp
from xrelay.dialects.relay.ops.qnn.unary import QnnLeakyReluOp
from xrelay.dialects.relay.ops.random import ThreefryGenerateOp
from xrelay.dialects.relay.ops.sparse import SparseToDenseOp
from xrelay.dialects.relay.ops.tensor.arithmetic import MaximumOp, MinimumOp
from xrelay.dialects.relay.ops.tensor.cast import CastOp
from xrelay.dialects.relay.ops.tensor.compare import WhereOp
from xrelay.dialects.relay.ops.tensor.fill import ArangeOp, FullOp, OnesOp
from xrelay.dialects.relay.ops.tensor.fourier import STFTOp
from xrelay.dialects.relay.ops.tensor.gather import GatherOp, TakeOp
from xrelay.dialects.relay.ops.tensor.movement import ReverseSequenceOp, StridedSliceOp, TriluOp
from xrelay.dialects.relay.ops.tensor.places import MatrixSetDiagOp, UnravelIndexOp
from xrelay.dialects.relay.ops.tensor.shape import ReshapeOp
from xrelay.dialects.relay.ops.tensor.transform import PadOp
from xrelay.dialects.relay.ops.tensor.windows import StridedSetOp
from xrelay.dialects.relay.ops.vision.boxes import NonMaxSuppressionOp
from xrelay.dialects.relay.ops.vision.nms import AllClassNonMaxSuppressionOp
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import ConstraintError
from xrelay.relay.expr import Expr, ExprLike, as_value, call, const, view
from xrelay.relay.nodes import Constant
from xrelay.relay.operator_functions.composed import upsampling, upsampling3d
from xrelay.relay.operator_functions.dynamic_arguments import apply_operator, known_attribute

END_OF_AXIS: Final = 2**63 - 1
"""An index after the end of every axis."""


def strided_slice(
    data: ExprLike,
    begin: Sequence[int] | Expr,
    end: Sequence[int] | Expr,
    strides: Sequence[int] | Expr | None = None,
    axes: Sequence[int] | None = None,
    slice_mode: str = "end",
) -> Expr:
    """`strided_slice`, whose lists of integers may have different lengths if `axes` is not given.

    Missing strides are 1, missing begins the first element and missing ends the end of the axis. For a negative stride,
    these defaults are the last element and 0. With `slice_mode` "size" strides are ignored.
    """
    by_size = slice_mode == "size"
    if by_size and not isinstance(strides, Expr):
        strides = None
    steps = (1,) if strides is None else strides
    if axes is None and are_numbers(begin) and are_numbers(end) and are_numbers(steps):
        begin, end, strides = complete_slices(tuple(begin), tuple(end), tuple(steps), -1 if by_size else END_OF_AXIS)
    given = {"begin": begin, "end": end, "strides": strides, "slice_mode": slice_mode, "axes": axes}
    attributes = {name: value for name, value in given.items() if value is not None}
    return apply_operator(StridedSliceOp, (data,), cast("dict[str, AttributeValue | Expr]", attributes))


def are_numbers(value: object) -> TypeGuard[Sequence[int]]:
    """Returns whether a value is a list of integers."""
    return isinstance(value, list | tuple) and all(isinstance(each, int) for each in cast("Sequence[object]", value))


def complete_slices(
    begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...], last: int
) -> tuple[tuple[int, ...], ...]:
    """Returns the lists, filled up to equal length. `last` is the end that means the whole axis."""
    count = max(len(begin), len(end), len(strides) if strides != (1,) else 0)
    strides += (1,) * (count - len(strides))
    begin += tuple(0 if step > 0 else END_OF_AXIS for step in strides[len(begin) :])
    end += tuple(last if step > 0 else 0 for step in strides[len(end) :])
    return begin, end, strides


Pairs: TypeAlias = "list[tuple[int, int]]"
"""The numbers of elements before and after each axis."""


def pad(
    data: ExprLike, pad_width: Sequence[Sequence[int]] | Expr, pad_value: ExprLike = 0.0, pad_mode: str = "constant"
) -> Expr:
    """`nn.pad` with Relay's order of arguments: the fill value comes after the widths.

    A negative width removes elements, as `strided_slice` does: before padding if the mode is `constant`, after padding
    if the mode pads with elements of the data. Raises `ConstraintError` if an axis has fewer elements. A Python float
    with an integral value, such as 2.0, also pads integer tensors.
    """
    value = _fill_value(data, pad_value)
    widths = known_attribute(pad_width)
    pairs = None if isinstance(widths, Expr) else _pairs(widths)
    if pairs is None or all(min(pair) >= 0 for pair in pairs):
        return apply_operator(PadOp, (data, value), {"pad_width": widths, "pad_mode": pad_mode})
    grown = [(max(before, 0), max(after, 0)) for before, after in pairs]
    if pad_mode == "constant":
        return call(PadOp, _cut(data, pairs), value, pad_width=grown, pad_mode=pad_mode)
    return _cut(call(PadOp, data, value, pad_width=grown, pad_mode=pad_mode), pairs)


def _pairs(widths: object) -> Pairs | None:
    """Returns widths as pairs; None if they are not a list of pairs of integers, which the operator rejects."""
    rows = list(cast("Sequence[object]", widths)) if isinstance(widths, list | tuple) else []
    pairs: Pairs = []
    for row in rows:
        numbers = tuple(cast("Sequence[object]", row)) if isinstance(row, list | tuple) else ()
        if len(numbers) != 2 or not all(isinstance(number, int) for number in numbers):
            return None
        pairs.append(cast("tuple[int, int]", numbers))
    return pairs


def _cut(data: ExprLike, pairs: Pairs) -> Expr:
    """Removes the elements that negative widths cut off."""
    value = as_value(data)
    for extent, pair in zip(shape_of(value.type) if is_complete(value.type) else (), pairs, strict=False):
        removed = -sum(min(width, 0) for width in pair)
        if isinstance(extent, int) and extent < removed:
            raise ConstraintError(PadOp.name, "C1", f"{removed} elements are removed from an axis of extent {extent}")
    begin = [max(-before, 0) for before, _ in pairs]
    end = [after if after < 0 else END_OF_AXIS for _, after in pairs]
    return call(StridedSliceOp, value, begin=begin, end=end, strides=[1] * len(pairs))


def _fill_value(data: ExprLike, value: ExprLike) -> ExprLike:
    """Converts a vector of one number to a scalar, and an integral Python number to int for integer data."""
    if isinstance(value, int | float):
        type = as_value(data).type
        is_integral = isinstance(type, TensorType) and isinstance(type.element_type, IntegerType)
        return int(value) if is_integral and float(value).is_integer() else value
    given = as_value(value)
    is_vector = is_complete(given.type) and shape_of(given.type) == (1,)
    return call(ReshapeOp, given, newshape=()) if is_vector else value


@runtime_checkable
class SparseArrays(Protocol):
    """A sparse matrix in CSR or BSR format."""

    @property
    def data(self) -> ExprLike:
        """The values, or the blocks of values."""
        ...

    @property
    def indices(self) -> ExprLike:
        """The column of each value or block."""
        ...

    @property
    def indptr(self) -> ExprLike:
        """The offset of each row, and the end of the last one."""
        ...


def sparse_to_dense(
    sparse_indices: ExprLike,
    output_shape: Sequence[int] | Expr,
    sparse_values: ExprLike,
    default_value: ExprLike = 0,
) -> Expr:
    """`sparse_to_dense` with Relay's order of arguments: the shape comes second."""
    operands = (sparse_indices, sparse_values, _like_values(default_value, sparse_values))
    return apply_operator(SparseToDenseOp, operands, {"output_shape": output_shape})


def _like_values(number: ExprLike, values: ExprLike) -> ExprLike:
    """Returns a number as a constant of the element type of `values` if known; other values unchanged."""
    type = as_value(values).type if isinstance(values, Expr | SSAValue | Operation) else None
    return as_value(number, type) if isinstance(number, int | float) else number


def sparse_dense(dense_mat: ExprLike, sparse_mat: SparseArrays | Sequence[ExprLike], sparse_lhs: bool = False) -> Expr:
    """`nn.sparse_dense` of a matrix and a sparse matrix passed as one argument."""
    return call(SparseDenseOp, dense_mat, *_arrays(sparse_mat), sparse_lhs=sparse_lhs)


def sparse_transpose(x: SparseArrays | Sequence[ExprLike]) -> Expr:
    """`nn.sparse_transpose` of a sparse matrix passed as one argument."""
    return call(SparseTransposeOp, *_arrays(x))


def sparse_add(dense_mat: ExprLike, sparse_mat: SparseArrays | Sequence[ExprLike]) -> Expr:
    """`nn.sparse_add` of a matrix and a sparse matrix passed as one argument."""
    return call(SparseAddOp, dense_mat, *_arrays(sparse_mat))


def _arrays(matrix: SparseArrays | Sequence[ExprLike]) -> tuple[ExprLike, ExprLike, ExprLike]:
    """Returns the values, columns and row offsets of a sparse matrix."""
    if isinstance(matrix, SparseArrays):
        return matrix.data, matrix.indices, matrix.indptr
    return matrix[0], matrix[1], matrix[2]


SPARSE: Mapping[type[RelayOp], Callable[..., Expr]] = {
    SparseToDenseOp: sparse_to_dense,
    SparseDenseOp: sparse_dense,
    SparseTransposeOp: sparse_transpose,
    SparseAddOp: sparse_add,
}
"""Op → its function."""


ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
"""The alignment of shorter diagonals: of those on and above the main diagonal, then of those below."""


MAX_BOXES = 2**31 - 1
"""No limit on the number of boxes."""


def take(
    data: ExprLike,
    indices: ExprLike,
    axis: int | None = None,
    batch_dims: int = 0,
    mode: str = "clip",
) -> Expr:
    """`take`, with the axis before `batch_dims`."""
    return apply_operator(TakeOp, (data, indices), {"axis": axis, "batch_dims": batch_dims, "mode": mode})


def gather(data: ExprLike, axis: int, indices: ExprLike) -> Expr:
    """`gather`, with the axis before the indices."""
    return apply_operator(GatherOp, (data, indices), {"axis": axis})


def where(condition: ExprLike, x: ExprLike, y: ExprLike) -> Expr:
    """`where`, with a condition of any type: elements other than 0 are true."""
    given = as_value(condition)
    if is_complete(given.type) and view(given).dtype != "bool":
        given = call(CastOp, given, dtype="bool").ssa_value
    return call(WhereOp, given, x, y)


def arange(start: ExprLike, stop: ExprLike | None = None, step: ExprLike | None = None, dtype: str = "float32") -> Expr:
    """`arange` of dtype `dtype` from `start` to `stop`, or from 0 to `start` without `stop`. The default step is 1."""
    if stop is None:
        start, stop = 0, start
    bounds = [_in_dtype(bound, dtype) for bound in (start, stop, 1 if step is None else step)]
    return call(ArangeOp, *bounds)


def _in_dtype(value: ExprLike, dtype: str) -> Expr:
    """Returns a number as a constant of a dtype; an expression of another dtype cast to it."""
    if not isinstance(value, Expr | SSAValue | Operation):
        return const(cast("float", value), dtype)
    given = view(as_value(value))
    return given if is_complete(given.type) and given.dtype == dtype else call(CastOp, given, dtype=dtype)


def full(fill_value: ExprLike, shape: int | Sequence[int] | Expr = (), dtype: str | None = None) -> Expr:
    """`full`, which is of rank 0 without a shape."""
    return apply_operator(FullOp, (fill_value,), {"shape": shape, "dtype": dtype})


def strided_set(
    data: ExprLike,
    v: ExprLike,
    begin: ExprLike | Sequence[int],
    end: ExprLike | Sequence[int],
    strides: ExprLike | Sequence[int] | None = None,
) -> Expr:
    """`strided_set`, with begins, ends and strides that may be lists of different lengths, as in `strided_slice`.

    Constants are treated as lists. Default strides are 1.
    """
    begin, end = _as_list(begin), _as_list(end)
    strides = None if strides is None else _as_list(strides)
    if are_numbers(begin) and are_numbers(end) and (strides is None or are_numbers(strides)):
        steps = (1,) if strides is None else tuple(strides)
        begin, end, strides = complete_slices(tuple(begin), tuple(end), steps, END_OF_AXIS)
    count = _length(begin)
    steps = [1] * (count if count is not None else 1) if strides is None else strides
    given = [each for each in (begin, end, steps) if not isinstance(each, list | tuple)]
    dtype = view(as_value(cast("ExprLike", given[0]))).dtype if given else "int64"
    indices = [_as_indices(each, dtype) for each in (begin, end, steps)]
    return call(StridedSetOp, data, v, *indices)


def _as_list(indices: ExprLike | Sequence[int]) -> ExprLike | Sequence[int]:
    """Returns a constant vector of integers as a list; other values unchanged."""
    if isinstance(indices, Constant) and indices.data.ndim == 1 and indices.data.dtype.kind in "iu":
        return indices.data.tolist()
    return indices


def _as_indices(indices: ExprLike | Sequence[int], dtype: DTypeLike) -> ExprLike:
    """Returns a list of numbers as a constant; other values unchanged."""
    if isinstance(indices, list | tuple):
        return const(cast("Sequence[int]", indices), dtype)
    return cast("ExprLike", indices)


def _length(indices: ExprLike | Sequence[int]) -> int | None:
    """Returns the length of a list, or of a vector of static length; else None."""
    if isinstance(indices, list | tuple):
        return len(cast("Sequence[object]", indices))
    value = as_value(cast("ExprLike", indices))
    extents = shape_of(value.type) if is_complete(value.type) else ()
    return extents[0] if extents and isinstance(extents[0], int) else None


def trilu(data: ExprLike, k: ExprLike, upper: bool = True) -> Expr:
    """`trilu`, with a `k` that may be a Python number."""
    return call(TriluOp, data, number_of(k, "int64"), upper=upper)


def reverse_sequence(data: ExprLike, seq_lengths: ExprLike, seq_axis: int = 1, batch_axis: int = 0) -> Expr:
    """`reverse_sequence`, with lengths clamped to the extent, as in Relay.

    The op rejects lengths out of range. If the extent is dynamic, the lengths are passed on unchanged.
    """
    value, lengths = as_value(data), view(as_value(seq_lengths))
    shape = shape_of(value.type) if is_complete(value.type) else ()
    extent = shape[seq_axis] if -len(shape) <= seq_axis < len(shape) else None
    if isinstance(extent, int) and is_complete(lengths.type):
        kept = call(MaximumOp, call(MinimumOp, lengths, const(extent, lengths.dtype)), const(0, lengths.dtype))
        return call(ReverseSequenceOp, data, kept, seq_axis=seq_axis, batch_axis=batch_axis)
    return call(ReverseSequenceOp, data, lengths, seq_axis=seq_axis, batch_axis=batch_axis)


def unravel_index(indices: ExprLike, shape: ExprLike) -> Expr:
    """`unravel_index` of `indices`."""
    return call(UnravelIndexOp, indices, shape)


def matrix_set_diag(data: ExprLike, diagonal: ExprLike, k: int | Sequence[int] = 0, align: str = "RIGHT_LEFT") -> Expr:
    """`matrix_set_diag` of the diagonal `k`, or of the diagonals from `k[0]` to `k[1]`.

    `align` is the side to which shorter diagonals are aligned: those from 0 on, then those below, as "RIGHT_LEFT".
    """
    if align not in ALIGNMENTS:
        raise ConstraintError(
            MatrixSetDiagOp.name, "C0", f"align must be one of {', '.join(ALIGNMENTS)}, not {align!r}"
        )
    first, last = (k, k) if isinstance(k, int) else (k[0], k[-1])
    above, _, below = align.partition("_")
    sides = {"super_diag_right_align": above == "RIGHT", "sub_diag_right_align": below == "RIGHT"}
    return call(MatrixSetDiagOp, data, diagonal, k1=first, k2=last, **sides)


def stft(
    data: ExprLike,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: ExprLike | None = None,
    normalized: bool = False,
    onesided: bool = True,
) -> Expr:
    """`stft`. By default the hop is a quarter of `n_fft`, and the window has `n_fft` ones.

    The window is cast to the dtype of the data.
    """
    step, length = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    dtype = view(as_value(data)).dtype
    window = call(OnesOp, shape=[length], dtype=dtype.name) if window is None else _in_dtype(window, dtype.name)
    options = {"normalized": normalized, "onesided": onesided}
    return call(STFTOp, data, window, n_fft=n_fft, hop_length=step, win_length=length, **options)


def non_max_suppression(
    data: ExprLike,
    valid_count: ExprLike,
    indices: ExprLike,
    max_output_size: ExprLike = -1,
    iou_threshold: ExprLike = 0.5,
    force_suppress: bool = False,
    top_k: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = 0,
    return_indices: bool = True,
    invalid_to_bottom: bool = False,
) -> Expr:
    """`vision.non_max_suppression`. By default the number of boxes is not limited, and the threshold is 0.5.

    Without `return_indices` the value of `indices` is not used: Relay programs pass the data.
    """
    type = as_value(indices).type
    if not return_indices and not (is_complete(type) and len(shape_of(type)) == 2):
        indices = call(CastOp, call(TakeOp, data, const(0), axis=2), dtype="int32")
    return call(
        NonMaxSuppressionOp,
        data,
        valid_count,
        indices,
        number_of(max_output_size, "int32"),
        number_of(iou_threshold, "float32"),
        force_suppress=force_suppress,
        top_k=top_k,
        coord_start=coord_start,
        score_index=score_index,
        id_index=id_index,
        return_indices=return_indices,
        invalid_to_bottom=invalid_to_bottom,
    )


def all_class_non_max_suppression(
    boxes: ExprLike,
    scores: ExprLike,
    max_output_boxes_per_class: ExprLike = -1,
    iou_threshold: ExprLike = -1.0,
    score_threshold: ExprLike = -1.0,
    output_format: str = "onnx",
) -> Expr:
    """`vision.all_class_non_max_suppression`, with numbers that may be Python's; a negative limit means no limit.

    The only output format is that of ONNX.
    """
    if output_format != "onnx":
        message = f"output_format is {output_format!r}, must be 'onnx'"
        hint = "the result has rows of batch, class and box; select those of each batch"
        raise ConstraintError(AllClassNonMaxSuppressionOp.name, "C0", message, help=hint)
    most, dtype = max_output_boxes_per_class, view(as_value(boxes)).dtype
    count = number_of(MAX_BOXES if isinstance(most, int) and most < 0 else most, "int32")
    thresholds = number_of(iou_threshold, dtype), number_of(score_threshold, dtype)
    return call(AllClassNonMaxSuppressionOp, boxes, scores, count, *thresholds)


def number_of(value: ExprLike, dtype: DTypeLike) -> ExprLike:
    """Returns a number as a constant of a dtype; other values unchanged."""
    return const(value, dtype) if isinstance(value, int | float) else value


def threefry_generate(key: ExprLike, shape: Sequence[int]) -> Expr:
    """`random.threefry_generate` of words of `shape`."""
    return call(ThreefryGenerateOp, key, out_shape=shape)


def leaky_relu(
    x: ExprLike,
    alpha: float,
    input_scale: ExprLike,
    input_zero_point: ExprLike,
    output_scale: ExprLike,
    output_zero_point: ExprLike,
) -> Expr:
    """`qnn.leaky_relu`, with `alpha` before the scales."""
    return call(QnnLeakyReluOp, x, input_scale, input_zero_point, output_scale, output_zero_point, alpha=alpha)


def _around_names(function: Callable[..., Expr]) -> Callable[..., Expr]:
    """Returns `function` with positional arguments bound to the parameters that are not passed by name.

    So operands may be positional and attributes named, as for other operators: `gather(x, indices, axis=1)`.
    """
    names = list(inspect.signature(function).parameters)

    @wraps(function)
    def apply(*arguments: ExprLike, **named: object) -> Expr:
        free = [name for name in names if name not in named]
        if len(arguments) > len(free):
            raise TypeError(f"{function.__name__}() takes {len(names)} arguments, got {len(arguments) + len(named)}")
        return function(**dict(zip(free, arguments, strict=False)), **named)

    return apply


RELAY_SIGNATURES: Mapping[type[RelayOp], Callable[..., Expr]] = {
    TakeOp: take,
    GatherOp: _around_names(gather),
    ArangeOp: arange,
    WhereOp: where,
    FullOp: full,
    StridedSetOp: strided_set,
    UnravelIndexOp: unravel_index,
    MatrixSetDiagOp: matrix_set_diag,
    TriluOp: trilu,
    ReverseSequenceOp: reverse_sequence,
    STFTOp: _around_names(stft),
    NonMaxSuppressionOp: non_max_suppression,
    AllClassNonMaxSuppressionOp: all_class_non_max_suppression,
    ThreefryGenerateOp: threefry_generate,
    QnnLeakyReluOp: _around_names(leaky_relu),
    Upsampling2DOp: upsampling,
    Upsampling3DOp: upsampling3d,
}
"""Op → its function."""

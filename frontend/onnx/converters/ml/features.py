"""Feature preparation ops of ai.onnx.ml, and ZipMap, which names probabilities."""

from __future__ import annotations

import logging

import numpy as np
from xdsl.dialects.builtin import AnyFloat, f64
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    TRADITIONAL,
    Array,
    NodeView,
    converts,
    element_type_of,
    joined_axes,
    known_extent,
    numpy_dtype,
    shape_of,
)
from xrelay.frontend.onnx.converters.ml.scores import as_f32, rows_of_features

_LOG = logging.getLogger(__name__)


@converts("ArrayFeatureExtractor", domain=TRADITIONAL)
def convert_array_feature_extractor(node: NodeView) -> SSAValue:
    """The elements of the last axis at the indices, as rows; one row for a vector."""
    rank = len(node.shape(0))
    node.last_extent(0)
    indices = node.emit("reshape", node.input(1), newshape=(-1,))
    found = node.emit("take", node.input(0), indices, axis=rank - 1, mode="raise")
    return node.emit("expand_dims", found, axis=0) if rank == 1 else found


@converts("Binarizer", domain=TRADITIONAL, attributes=("threshold",))
def convert_binarizer(node: NodeView) -> SSAValue:
    """1 for elements above the threshold, else 0."""
    data = node.input(0)
    is_above = node.emit("greater", data, node.scalar_like(node.attribute_float("threshold", 0.0), 0))
    return node.emit("cast", is_above, dtype=numpy_dtype(element_type_of(data.type)))


@converts("Scaler", domain=TRADITIONAL, attributes=("offset", "scale"))
def convert_scaler(node: NodeView) -> SSAValue:
    """`(x - offset) * scale`, rounded to f32 at the end."""
    data = node.input(0)
    if element_type_of(data.type) != f64:
        data = as_f32(node, data)
    offset, scale = (_per_feature(node, data, name) for name in ("offset", "scale"))
    if offset is not None:
        data = node.emit("subtract", data, offset)
    return as_f32(node, data if scale is None else node.emit("multiply", data, scale))


def _per_feature(node: NodeView, data: SSAValue, name: str) -> SSAValue | None:
    values = node.attribute_floats(name)
    if values is None:
        return None
    return _feature_constant(node, data, np.array(values, np.float32), name)


def _feature_constant(node: NodeView, data: SSAValue, values: Array, name: str) -> SSAValue:
    """One number for all features, or one per feature, in the type of the data."""
    features = known_extent(node, data, -1)
    if len(values) not in (1, features):
        raise node.error(f"attribute {name!r} has {len(values)} elements for {features} features")
    return node.emit_constant(values.astype(numpy_dtype(element_type_of(data.type))), name)


@converts("Normalizer", domain=TRADITIONAL, attributes=("norm",))
def convert_normalizer(node: NodeView) -> SSAValue:
    """Rows divided by their maximum or norm; a row with norm 0 is unchanged."""
    norm = node.attribute_string("norm", "MAX", ("MAX", "L1", "L2"))
    rank, rows = len(node.shape(0)), rows_of_features(node)
    match norm:
        case "MAX":
            size = node.emit("max", rows, axis=(1,), keepdims=True)
        case "L1":
            size = node.emit("sum", node.emit("abs", rows), axis=(1,), keepdims=True)
        case _:
            size = node.emit("sqrt", node.emit("sum", node.emit("multiply", rows, rows), axis=(1,), keepdims=True))
    is_zero = node.emit("equal", size, node.scalar(0, size))
    found = node.emit("divide", rows, node.emit("where", is_zero, node.scalar(1, size), size))
    return node.emit("squeeze", found, axis=(0,)) if rank == 1 else found


@converts(
    "Imputer",
    domain=TRADITIONAL,
    attributes=("imputed_value_floats", "imputed_value_int64s", "replaced_value_float", "replaced_value_int64"),
)
def convert_imputer(node: NodeView) -> SSAValue:
    """Replaces elements that equal the replaced value (NaN matches NaN) by the imputed value of their feature."""
    data, is_float = node.input(0), isinstance(node.element_type(0), AnyFloat)
    name = "imputed_value_floats" if is_float else "imputed_value_int64s"
    values = node.attribute_floats(name) if is_float else node.attribute_ints(name)
    if not values:
        raise node.error(f"attribute {name!r} is missing, which {element_type_of(data.type)} needs")
    imputed = _feature_constant(node, data, np.array(values), name)
    if is_float:
        replaced: float = node.attribute_float("replaced_value_float", 0.0)
    else:
        replaced = node.attribute_int("replaced_value_int64", 0)
    is_nan = is_float and np.isnan(replaced)
    is_missing = node.emit("isnan", data) if is_nan else node.emit("equal", data, node.scalar_like(replaced, 0))
    return node.emit("where", is_missing, imputed, data)


@converts("FeatureVectorizer", domain=TRADITIONAL, attributes=("inputdimensions",))
def convert_feature_vectorizer(node: NodeView) -> SSAValue:
    """The f32 inputs concatenated along axis 1, each cut or zero-padded to its number of columns."""
    sizes = node.attribute_ints("inputdimensions") or ()
    if len(sizes) != len(node.inputs):
        raise node.error(f"inputdimensions has {len(sizes)} elements for {len(node.inputs)} inputs")
    parts = [_of_width(node, index, size) for index, size in enumerate(sizes)]
    return node.emit("concatenate", node.make_tuple(parts), axis=1)


def _of_width(node: NodeView, index: int, size: int) -> SSAValue:
    rows, rank = node.input(index), len(node.shape(index))
    if rank == 0 or size < 1:
        raise node.error(f"input #{index} of type {rows.type} cannot have {size} columns")
    rows = as_f32(node, node.emit("expand_dims", rows, axis=0) if rank == 1 else joined_axes(node, rows, 1))
    width = known_extent(node, rows, 1)
    if width > size:
        return node.emit("strided_slice", rows, begin=(0,), end=(size,), strides=(1,), axes=(1,))
    return rows if width == size else node.emit("nn.pad", rows, node.scalar(0, rows), pad_width=(0, 0, 0, size - width))


@converts(
    "OneHotEncoder",
    domain=TRADITIONAL,
    attributes=("cats_int64s", "cats_strings", "zeros"),
    limits="categories that are numbers",
)
def convert_one_hot_encoder(node: NodeView) -> SSAValue:
    """A new last axis with 1 at the element's category; without `zeros`, an unknown element is an error at run time."""
    categories = node.attribute_ints("cats_int64s")
    if not categories:
        raise node.unsupported("categories are strings, tensors contain numbers; encode the strings before the model")
    data = node.emit("cast", node.input(0), dtype="int64")
    place, is_known = find_keys(node, data, np.array(categories, np.int64))
    place = node.emit("where", is_known, place, node.scalar(len(categories), place))
    if not node.attribute_int("zeros", 1):
        numbers = node.emit_constant(np.arange(len(categories)), "categories")
        place = node.emit("take", numbers, place, axis=0, mode="raise")
    on, off = (node.emit_constant(np.array(value, np.float32)) for value in (1, 0))
    return node.emit("one_hot", place, on, off, depth=len(categories), axis=-1, dtype="float32")


def find_keys(node: NodeView, data: SSAValue, keys: Array) -> tuple[SSAValue, SSAValue]:
    """Returns the index of the first key that each element equals, and whether there is one."""
    ordered, places = np.unique(keys, return_index=True)
    if not len(ordered):
        raise node.error("the attribute of keys is missing")
    table = node.emit_constant(ordered, "keys")
    found = node.emit("searchsorted", table, data, dtype="int64")
    is_known = node.emit("equal", node.emit("take", table, found, axis=0, mode="clip"), data)
    return node.emit("take", node.emit_constant(places, "places"), found, axis=0, mode="clip"), is_known


@converts(
    "ZipMap",
    domain=TRADITIONAL,
    attributes=("classlabels_int64s", "classlabels_strings"),
    limits="the result is the matrix of probabilities",
)
def convert_zip_map(node: NodeView) -> SSAValue:
    """The probabilities unchanged, one column per class, since relay has no dictionaries."""
    names = node.attribute_ints("classlabels_int64s") or node.attribute_strings("classlabels_strings") or ()
    _LOG.warning(
        "%s: %r is compiled to a matrix with a column for each of the classes %s",
        node.describe(),
        node.proto.output[0],
        ", ".join(map(repr, names)),
    )
    shape = shape_of(node.input(0).type)
    if len(shape) != 2 or (isinstance(shape[1], int) and shape[1] != len(names)):
        raise node.error(f"the probabilities have the type {node.input(0).type} for {len(names)} classes")
    return node.input(0)

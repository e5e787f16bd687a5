"""Random numbers: RandomUniform, RandomNormal, their Like forms, Bernoulli and Multinomial.

ONNX does not specify the generator, and a compiled model draws the same numbers in every run. So these ops are refused
unless the program specifies a seed:

    with drawn_numbers(seed=0):
        model = xrelay.compile("generator.onnx")

The numbers of a node depend on that seed, on its own seed or else its position among the nodes without one, and on the
iterations of the enclosing loops.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from onnx import TensorProto, helper
from xdsl.dialects.builtin import AnyFloat, f32, f64
from xdsl.ir import Attribute, SSAValue

from xrelay.arguments import checked_integer
from xrelay.dialects.relay.ops.random import key_words
from xrelay.errors import InputError
from xrelay.frontend.onnx.converters.definition import NodeView, converts, element_type, numpy_dtype, static_shape
from xrelay.registrations import registration_scope

_seed: ContextVar[int | None] = ContextVar("the seed of the generator", default=None)
_SEEDED = "with the seed of `xrelay.extend.random_numbers`"
_KNOWN = f"known extents, {_SEEDED}"
_UNIFORM = {"low": 0.0, "high": 1.0}
_NORMAL = {"mean": 0.0, "scale": 1.0}
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16)
_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
_NUMBERS = (
    *(TensorProto.INT8, TensorProto.INT16, TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32),
    *(TensorProto.UINT64, TensorProto.BOOL, *_FLOATS, *_INTEGERS),
)


@contextmanager
def drawn_numbers(seed: int) -> Generator[None]:
    """Context in which this thread imports models with random numbers, drawn from `seed`, 0 to 2^64 - 1.

    Raises `InputError` for an invalid seed.
    """
    if not 0 <= checked_integer("seed", seed) < 1 << 64:
        raise InputError(f"seed is {seed}, must be between 0 and 2^64 - 1")
    token = _seed.set(seed)
    try:
        with registration_scope():
            yield
    finally:
        _seed.reset(token)


def needs_seed(node: NodeView) -> str | None:
    """Returns the reason why the numbers of `node` cannot be drawn: there is no seed."""
    if _seed.get() is not None:
        return None
    return "random numbers are available only inside `with xrelay.extend.random_numbers.drawn_numbers(seed=…)`"


@converts("RandomUniform", attributes=("dtype", "seed", "shape", *_UNIFORM), supports=needs_seed, limits=_SEEDED)
@converts("RandomNormal", attributes=("dtype", "seed", "shape", *_NORMAL), supports=needs_seed, limits=_SEEDED)
def convert_random(node: NodeView) -> SSAValue:
    """`random.uniform` or `random.normal` of the shape in an attribute."""
    shape = node.attribute_ints("shape")
    if shape is None:
        raise node.error("attribute 'shape' is missing")
    return _drawn(node, shape, _dtype(node, TensorProto.FLOAT))


@converts(
    "RandomUniformLike",
    attributes=("dtype", "seed", *_UNIFORM),
    supports=needs_seed,
    limits=_KNOWN,
)
@converts("RandomNormalLike", attributes=("dtype", "seed", *_NORMAL), supports=needs_seed, limits=_KNOWN)
def convert_random_like(node: NodeView) -> SSAValue:
    """`random.uniform` or `random.normal` of the shape of the input, and of its type unless `dtype` is present."""
    given = node.attribute_int("dtype", TensorProto.UNDEFINED)
    dtype = node.element_type(0) if given == TensorProto.UNDEFINED else _dtype(node, given)
    if not isinstance(dtype, AnyFloat):
        raise node.error(f"numbers of {dtype}, the type of the input", help="set the attribute 'dtype'")
    return _drawn(node, static_shape(node, node.input(0)), dtype)


@converts("Bernoulli", since=15, attributes=("dtype", "seed"), supports=needs_seed, limits=_KNOWN)
def convert_bernoulli(node: NodeView) -> SSAValue:
    """Whether a number of `random.uniform` is less than the probability, as the standard specifies.

    The function body in the standard compares with `greater` instead, which has the opposite probability.
    """
    given = node.attribute_int("dtype", TensorProto.UNDEFINED)
    dtype = node.element_type(0) if given == TensorProto.UNDEFINED else _dtype(node, given, _NUMBERS)
    probability = node.input(0)
    wide = f64 if node.element_type(0) == f64 else f32
    drawn = _numbers(node, "random.uniform", static_shape(node, probability), wide, (0.0, 1.0))
    return node.emit("cast", node.emit("less", drawn, node.emit("cast", probability, dtype=wide)), dtype=dtype)


@converts(
    "Multinomial",
    since=7,
    attributes=("dtype", "sample_size", "seed"),
    supports=needs_seed,
    limits=_KNOWN,
)
def convert_multinomial(node: NodeView) -> SSAValue:
    """`random.multinomial` of the probabilities; the input has their logarithms, up to a constant."""
    count = node.attribute_int("sample_size", 1, check=lambda value: value >= 1)
    if len(node.shape(0)) != 2:
        raise node.error(f"rows of classes are expected, found {node.input(0).type}")
    dtype = _dtype(node, TensorProto.INT32, _INTEGERS)
    probabilities = node.emit("nn.softmax", node.input(0), axis=1)
    drawn = node.emit("random.multinomial", _key(node), probabilities, num_samples=count)
    return node.emit("cast", node.tuple_field(drawn, 1), dtype=dtype)


def _drawn(node: NodeView, shape: Sequence[int], dtype: Attribute) -> SSAValue:
    """Numbers of the distribution of the node, drawn in f32 for shorter types."""
    wide = f64 if dtype == f64 else f32
    is_uniform = node.proto.op_type.startswith("RandomUniform")
    words = _UNIFORM if is_uniform else _NORMAL
    parameters = [node.attribute_float(name, default) for name, default in words.items()]
    drawn = _numbers(node, "random.uniform" if is_uniform else "random.normal", shape, wide, parameters)
    return drawn if dtype == wide else node.emit("cast", drawn, dtype=dtype)


def _numbers(node: NodeView, op: str, shape: Sequence[int], dtype: Attribute, parameters: Sequence[float]) -> SSAValue:
    """The numbers that `op` draws with the key of the node."""
    scalars = [node.emit_constant(np.array(number, numpy_dtype(dtype)), "parameter") for number in parameters]
    drawn = node.emit(op, _key(node), *scalars, out_shape=tuple(shape), out_dtype=dtype)
    return node.tuple_field(drawn, 1)


def _dtype(node: NodeView, default: int, legal: Sequence[int] = _FLOATS) -> Attribute:
    """The element type in attribute `dtype`, one of `legal`."""
    number = node.attribute_int("dtype", default, check=lambda value: value in legal)
    return element_type(np.dtype(helper.tensor_dtype_to_np_dtype(number)))


def _key(node: NodeView) -> SSAValue:
    """The key of this node's random numbers."""
    (own,) = struct.unpack("<I", struct.pack("<f", node.attribute_float("seed", 0.0)))
    own = own if "seed" in node.attribute_names else 1 << 63 | next(node.graph.draws)
    key = node.emit_constant(np.array(key_words((_seed.get() or 0) << 64 | own), np.uint64), "key")
    for depth, iteration in enumerate(node.graph.iterations):
        # Words 2 and 3 of the key are unused: each has room for the iteration numbers of two loops.
        place = np.zeros(len(key_words(0)), np.uint64)
        place[2 + depth % 2] = 1 << 32 * (depth // 2 % 2)
        number = node.emit("cast", iteration, dtype="uint64")
        key = node.emit("add", key, node.emit("multiply", number, node.emit_constant(place, "place")))
    return key

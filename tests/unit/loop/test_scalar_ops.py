"""Semantics of arith and math ops: edge values, for scalars and arrays alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, test
from xdsl.dialects import math as math_dialect
from xdsl.ir import Operation
from xdsl.parser import Parser

from xrelay.errors import InterpreterError
from xrelay.interpreters.scalar import compile_scalar, is_scalar_op

INT_MIN = np.iinfo(np.int32).min


def op_from(text: str) -> Operation:
    """The last op of `text`, whose operands %a and %b (%c) have the type after the last colon, or as written."""
    context = Context()
    for dialect in (builtin.Builtin, arith.Arith, math_dialect.Math, test.Test):
        context.load_dialect(dialect)
    last = Parser(context, text).parse_module().body.block.last_op
    assert last is not None
    return last


def binary(name: str, element: str) -> Operation:
    return op_from(f'%a, %b = "test.op"() : () -> ({element}, {element})\n%r = {name} %a, %b : {element}')


@pytest.mark.parametrize(
    ("name", "left", "right", "expected"),
    [
        ("arith.addi", INT_MIN, -1, 2**31 - 1),
        ("arith.divsi", -7, 2, -3),
        ("arith.floordivsi", -7, 2, -4),
        ("arith.ceildivsi", -7, 2, -3),
        ("arith.divui", -7, 2, 2147483644),
        ("arith.ceildivui", -7, 2, 2147483645),
        ("arith.remsi", -7, 2, -1),
        ("arith.remui", -7, 2, 1),
        ("arith.minui", -1, 3, 3),
        ("arith.maxsi", -1, 3, 3),
        ("arith.shli", 3, 4, 48),
        ("arith.shrsi", -16, 2, -4),
        ("arith.shrui", -16, 2, 1073741820),
        ("arith.xori", 6, 3, 5),
        ("arith.cmpi slt,", -1, 1, True),
        ("arith.cmpi ult,", -1, 1, False),
    ],
)
def test_integers(name: str, left: int, right: int, expected: int):
    function = compile_scalar(binary(name, "i32"))
    with np.errstate(over="ignore"):
        result = function(np.int32(left), np.int32(right))
        lanes = function(np.full(3, left, np.int32), np.full(3, right, np.int32))
    assert result == expected
    assert result.dtype == (np.bool_ if isinstance(expected, bool) else np.int32)
    np.testing.assert_array_equal(lanes, [expected] * 3)


NAN = math.nan


@pytest.mark.parametrize(
    ("name", "left", "right", "expected"),
    [
        ("arith.maximumf", NAN, 1, NAN),
        ("arith.maxnumf", NAN, 1, 1),
        ("arith.minimumf", 2, 1, 1),
        ("arith.divf", 1, 0, math.inf),
        ("arith.cmpf ult,", NAN, 1, True),
        ("arith.cmpf olt,", NAN, 1, False),
        ("arith.cmpf one,", NAN, 1, False),
        ("arith.cmpf une,", NAN, 1, True),
        ("arith.cmpf ord,", 1, 1, True),
        ("arith.cmpf true,", NAN, NAN, True),
        ("math.copysign", 3, -0.0, -3),
        ("math.powf", 2, 10, 1024),
        ("math.powf", -math.inf, 0.5, math.inf),
    ],
)
def test_floats(name: str, left: float, right: float, expected: float):
    function = compile_scalar(binary(name, "f32"))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(function(np.float32(left), np.float32(right)), expected)
        lanes = function(np.full(3, left, np.float32), np.full(3, right, np.float32))
    np.testing.assert_array_equal(lanes, [expected] * 3)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("math.erf", 0.5, math.erf(0.5)),
        ("math.rsqrt", 4, 0.5),
        ("math.round", 2.5, 3),
        ("math.roundeven", 2.5, 2),
        ("math.round", -2.5, -3),
        ("math.tanh", 0.25, math.tanh(0.25)),
        ("arith.negf", 0.0, -0.0),
    ],
)
def test_functions_round_to_their_type(name: str, value: float, expected: float):
    result = compile_scalar(op_from(f'%a = "test.op"() : () -> f32\n%r = {name} %a : f32'))(np.float32(value))
    assert result.dtype == np.float32
    assert result == pytest.approx(np.float32(expected), rel=1e-6)


@pytest.mark.parametrize(("name", "expected"), [("math.ctlz", 30), ("math.cttz", 1), ("math.ctpop", 1)])
def test_bit_counts(name: str, expected: int):
    function = compile_scalar(op_from(f'%a = "test.op"() : () -> i32\n%r = {name} %a : i32'))
    assert function(np.int32(2)) == expected


@pytest.mark.parametrize(
    ("cast", "value", "expected"),
    [
        ("arith.fptosi %a : f32 to i8", np.float32(-2.7), np.int8(-2)),
        ("arith.uitofp %a : i8 to f32", np.int8(-1), np.float32(255)),
        ("arith.sitofp %a : i8 to f32", np.int8(-1), np.float32(-1)),
        ("arith.extui %a : i8 to i32", np.int8(-1), np.int32(255)),
        ("arith.extsi %a : i8 to i32", np.int8(-1), np.int32(-1)),
        ("arith.extui %a : i1 to i32", np.True_, np.int32(1)),
        ("arith.trunci %a : i32 to i8", np.int32(511), np.int8(-1)),
        ("arith.truncf %a : f64 to f32", np.float64(0.1), np.float32(0.1)),
        ("arith.index_cast %a : index to i32", 7, np.int32(7)),
        ("arith.bitcast %a : f32 to i32", np.float32(1), np.int32(0x3F800000)),
    ],
)
def test_casts(cast: str, value: np.generic, expected: np.generic):
    source = cast.split(":")[1].split(" to ")[0].strip()
    result = compile_scalar(op_from(f'%a = "test.op"() : () -> {source}\n%r = {cast}'))(value)
    assert result.dtype == expected.dtype
    assert result == expected


def test_select_and_fma():
    select = compile_scalar(
        op_from('%c, %a, %b = "test.op"() : () -> (i1, f32, f32)\n%r = arith.select %c, %a, %b : f32')
    )
    assert select(np.False_, np.float32(1), np.float32(2)) == 2
    mask, ones = np.array([True, False]), np.ones(2, np.float32)
    np.testing.assert_array_equal(select(mask, ones, ones * 2), [1, 2])
    fma = compile_scalar(op_from('%a, %b, %c = "test.op"() : () -> (f32, f32, f32)\n%r = math.fma %a, %b, %c : f32'))
    tiny = np.float32(1 + 2**-12)
    assert fma(tiny, tiny, np.float32(-1)) == np.float32(2**-11 + 2**-24)


def test_undefined_operations_are_errors():
    with pytest.raises(InterpreterError, match="division by zero"):
        compile_scalar(binary("arith.divsi", "i32"))(np.int32(1), np.int32(0))
    with pytest.raises(InterpreterError, match="shift by 32 of a number of 32 bits"):
        compile_scalar(binary("arith.shli", "i32"))(np.int32(1), np.int32(32))
    unknown = op_from('"test.op"() : () -> ()')
    assert not is_scalar_op(unknown)
    with pytest.raises(InterpreterError, match=r"'test\.op' has no meaning as a scalar op"):
        compile_scalar(unknown)

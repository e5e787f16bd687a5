"""Side files: the weights of a text, keyed by their content."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, f32

from xrelay import relay
from xrelay.api.sources import load_source, save_module
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import UnresolvedWeightError, Weight, WeightAttr, weights_of
from xrelay.dialects.shared.types import tensor_type
from xrelay.errors import InputError
from xrelay.relay import Expr
from xrelay.runtime.arena import align

ARRAY = np.arange(4096, dtype=np.float32)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A text next to the side file with its single weight."""
    x = relay.var("x", shape=(4096,))
    save_module(relay.Module.from_expr(relay.add(x, relay.const(ARRAY))), tmp_path / "m.mlir")
    return tmp_path / "m.mlir"


def test_weights_come_back(text: Path) -> None:
    (weight,) = weights_of(load_source(text))
    np.testing.assert_array_equal(weight.array, ARRAY)


@pytest.mark.parametrize("place", [-1, -2000, -4 * 4096])
def test_a_changed_weight_is_refused(text: Path, place: int) -> None:
    side = text.with_suffix(".safetensors")
    data = bytearray(side.read_bytes())
    data[place] ^= 1
    side.write_bytes(data)
    with pytest.raises(UnresolvedWeightError, match=r"m\.safetensors is damaged: tensor '\w{32}' .*"):
        load_source(text)


def test_another_weight_under_the_key_is_refused(text: Path) -> None:
    side = text.with_suffix(".safetensors")
    data = side.read_bytes()
    assert b'"F32"' in data
    side.write_bytes(data.replace(b'"F32"', b'"I32"'))
    with pytest.raises(UnresolvedWeightError, match=r"m\.safetensors is damaged: tensor '\w{32}'"):
        load_source(text)


@pytest.mark.parametrize("name", ["bool", "bfloat16", "float16", "float64", "int8", "int64", "uint16", "uint64"])
def test_weights_of_every_dtype_come_back(tmp_path: Path, name: str) -> None:
    array = (np.arange(4096) % 7).astype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    x = relay.var("x", shape=(4096,), dtype=name)
    save_module(relay.Module.from_expr(relay.equal(x, relay.const(array))), tmp_path / "m.mlir")
    (weight,) = weights_of(load_source(tmp_path / "m.mlir"))
    assert weight.array.dtype == array.dtype
    np.testing.assert_array_equal(weight.array, array)


def test_a_dtype_that_no_constant_has_is_refused(text: Path) -> None:
    side = text.with_suffix(".safetensors")
    side.write_bytes(side.read_bytes().replace(b'"F32","shape":[4096]', b'"C64","shape":[2048]'))
    with pytest.raises(UnresolvedWeightError, match="has the dtype C64"):
        load_source(text)


@pytest.mark.parametrize(
    "shape", ["[4095]", "[-4096]", "[-2,-2048]", "[true]", "[4096.0]", "4096", "null", "[2,2,2048]"]
)
def test_a_shape_that_its_bytes_do_not_fill_is_refused(text: Path, shape: str) -> None:
    side = text.with_suffix(".safetensors")
    data = side.read_bytes().replace(b'"shape":[4096]', f'"shape":{shape}'.encode())
    length = len(data) - 4 * 4096 - 8
    side.write_bytes(length.to_bytes(8, "little") + data[8:])
    with pytest.raises(UnresolvedWeightError, match=r"m\.safetensors is damaged: tensor '\w{32}' is F32"):
        load_source(text)


@pytest.mark.parametrize("data", [b"", b"short", bytes(100), b"\xff" * 100])
def test_what_is_no_side_file_is_refused(text: Path, data: bytes) -> None:
    text.with_suffix(".safetensors").write_bytes(data)
    with pytest.raises(UnresolvedWeightError, match=r"cannot read the side file .* is not a safetensors file"):
        load_source(text)


def test_weights_are_in_memory_once(tmp_path: Path) -> None:
    arrays = [np.full((512, 512), number, np.float32) for number in range(8)]
    program = relay.Module.from_expr(relay.Tuple([Expr(ConstantOp.of(array, "w").result) for array in arrays]))
    tracemalloc.start()
    save_module(program, tmp_path / "m.mlir")
    assert tracemalloc.get_traced_memory()[1] < arrays[0].nbytes
    tracemalloc.reset_peak()
    module = load_source(tmp_path / "m.mlir")
    assert 8 < tracemalloc.get_traced_memory()[1] / arrays[0].nbytes < 10
    tracemalloc.stop()
    assert all(align(weight.array) is weight.array for weight in weights_of(module))


@pytest.mark.parametrize("element", [0.0, -0.0, 1.5, float("nan")])
@pytest.mark.parametrize("spread", [True, False])
def test_weights_of_one_repeated_element_come_back(tmp_path: Path, element: float, spread: bool) -> None:
    array = np.broadcast_to(np.float32(element), (64, 64))
    given = array if spread else array.copy()
    x = relay.var("x", shape=(64, 64))
    save_module(relay.Module.from_expr(relay.add(x, Expr(ConstantOp.of(given, "w").result))), tmp_path / "m.mlir")
    (weight,) = weights_of(load_source(tmp_path / "m.mlir"))
    np.testing.assert_array_equal(weight.array, array)
    side = tmp_path / "m.safetensors"
    data = bytearray(side.read_bytes())
    data[-1] ^= 1
    side.write_bytes(data)
    with pytest.raises(UnresolvedWeightError, match=r"m\.safetensors is damaged: tensor '\w{32}'"):
        load_source(tmp_path / "m.mlir")


def weight(value: float) -> Weight:
    found = Weight("w", key="w")
    found.resolve(np.full(32, value, np.float32))
    return found


def test_weights_of_one_key_and_other_bytes_differ(tmp_path: Path) -> None:
    assert weight(1) == weight(1)
    assert weight(1) != weight(2)
    assert weight(1) != Weight("w", key="w")
    module = ModuleOp([ConstantOp(WeightAttr(weight(value)), tensor_type((32,), f32)) for value in (1, 2)])
    with pytest.raises(InputError, match="the weights 'w' and 'w' have the key 'w' and different bytes"):
        save_module(module, tmp_path / "m.mlir")


def test_weights_of_one_key_share_their_bytes(text: Path) -> None:
    constant = next(line for line in text.read_text().splitlines() if "relay.constant" in line)
    twice = text.read_text().replace(constant, f"{constant}\n{constant.replace('%', '%again_', 1)}")
    text.write_text(twice)
    first, second = weights_of(load_source(text))
    assert first.array is second.array

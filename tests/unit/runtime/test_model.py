"""`CompiledModel`: running, checking inputs, threads, failures."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xrelay
from xrelay.api.model import CompiledModel, load
from xrelay.errors import ExecutionError, InputError
from xrelay.runtime.abi import Reason, decode_status, encode_status
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.inputs import InputSpec
from xrelay.runtime.metadata import KernelInfo, ModelMetadata, TensorSpec

X = np.arange(100, dtype=np.float32)
EXPECTED = 3 * np.arange(100, dtype=np.float32)
Build = Callable[[str, ModelMetadata], CompiledModel]

COPY = """
declare ptr @memcpy(ptr, ptr, i64)
define i32 @xrelay_entry(ptr %ctx, ptr %args) {{
  %x = load ptr, ptr %args
  %out.p = getelementptr ptr, ptr %args, i64 1
  %out = load ptr, ptr %out.p
  %c = call ptr @memcpy(ptr %out, ptr %x, i64 {size})
  ret i32 0
}}
"""
# Writes the address of its input.
ADDRESS = """
define i32 @xrelay_entry(ptr %ctx, ptr %args) {
  %x = load ptr, ptr %args
  %out.p = getelementptr ptr, ptr %args, i64 1
  %out = load ptr, ptr %out.p
  %a = ptrtoint ptr %x to i64
  store i64 %a, ptr %out
  ret i32 0
}
"""
STATUS = "define i32 @xrelay_entry(ptr %ctx, ptr %args) {{\n  ret i32 {status}\n}}\n"
CONTEXT_STATUS = """
define i32 @xrelay_entry(ptr %ctx, ptr %args) {
  store i32 2, ptr %ctx
  ret i32 0
}
"""


def copier(build: Build, dtype: str, shape: tuple[int, ...]) -> CompiledModel:
    spec = TensorSpec("x", dtype, shape)
    return build(COPY.format(size=spec.nbytes), ModelMetadata((spec,), (TensorSpec("y", dtype, shape),)))


def test_ways_to_pass_inputs(adder: CompiledModel):
    results = [
        adder.run({"x": X, "bias": X}),
        adder.run({"bias": X, "x": X}),
        adder.run([X, X]),
        adder.run((X, X)),
        adder(X, X),
        adder(x=X, bias=X),
        adder({"x": X, "bias": X}),
        adder(X.tolist(), list(range(100))),
    ]
    for outputs in results:
        assert isinstance(outputs, list)
        np.testing.assert_array_equal(outputs[0], EXPECTED)
        assert outputs[0].dtype == np.float32


def test_names_and_tables(adder: CompiledModel):
    assert adder.input_names == ["x", "bias"]
    assert adder.output_names == ["out"]
    assert [(spec.name, spec.dtype, spec.shape) for spec in adder.inputs] == [
        ("x", "float32", (100,)),
        ("bias", "float32", (100,)),
    ]
    assert adder.outputs[0].shape == (100,)
    assert "adder(x: float32[100], bias: float32[100])" in repr(adder)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_number_of_threads(adder: CompiledModel, threads: int):
    adder.num_threads = threads
    np.testing.assert_array_equal(adder(X, X)[0], EXPECTED)
    with pytest.raises(InputError, match="threads is 0; help: "):
        adder.num_threads = 0


def test_outputs_are_the_callers_own(adder: CompiledModel):
    first = adder(X, X)[0]
    second = adder(X, X)[0]
    first[:] = -1
    np.testing.assert_array_equal(second, EXPECTED)
    assert first.flags.writeable
    assert first.flags.owndata
    np.testing.assert_array_equal(adder(X, X)[0], EXPECTED)


def test_contiguous_inputs_are_read_where_they_lie(build_model: Build):
    model = build_model(
        ADDRESS, ModelMetadata((TensorSpec("x", "float32", (4,)),), (TensorSpec("address", "int64", ()),))
    )
    for x in (np.zeros(4, np.float32), np.broadcast_to(np.zeros(4, np.float32), (4,)), np.zeros((3, 4), np.float32)[1]):
        assert model(x)[0] == x.ctypes.data
    strided = np.zeros(8, np.float32)[::2]
    assert model(strided)[0] != strided.ctypes.data


@pytest.mark.parametrize(
    "x",
    [
        np.arange(200, dtype=np.float32)[::2] / 2,
        np.arange(100, dtype=np.float32)[::-1][::-1],
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32),
        np.asfortranarray(np.stack([X, X], axis=1))[:, 0],
    ],
)
def test_inputs_of_any_layout(adder: CompiledModel, x: np.ndarray[Any, Any]):
    np.testing.assert_array_equal(adder(x, x)[0], EXPECTED)


def test_inputs_are_not_changed(adder: CompiledModel):
    x = X.copy()
    x.flags.writeable = False
    adder(x, x)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": X, "bais": X}, r"the model has no input 'bais'; help: did you mean 'bias'\?"),
        ({"x": X}, r"missing input 'bias' \(float32\[100\]\)"),
        ({"x": X, "bias": X, "zzz": X}, "no input 'zzz'; help: the inputs are x, bias"),
        ({}, "missing input 'x'.*'bias'"),
        ([X], r"expected 2 inputs \(x, bias\), got 1"),
        ([X, X, X], "got 3"),
        ([X, X[:99]], r"input 'bias': expected float32\[100\], got float32\[99\]"),
        ([X.reshape(100, 1), X], r"input 'x': expected float32\[100\], got float32\[100, 1\]"),
        (
            [X.astype(np.float64), X],
            r"expected float32\[100\], got float64\[100\]; help: convert it: x.astype\('float32'\)",
        ),
        ([X.astype(">f4"), X], r"got >f4\[100\]"),
        ([X.astype(np.int32), X], "got int32"),
        ([X.astype(object), X], "ndarray of dtype object"),
        ([["a"] * 100, X], "list of dtype <U1"),
        ([[[1], [1, 2]], X], "not a numeric array"),
        ([None, X], "NoneType of dtype object"),
        ([{}, X], "dict of dtype object"),
        ([np.ma.masked_array(X, X > 5), X], "got a masked array"),
        ([[1j] * 100, X], "complex128"),
        ([np.zeros(100, "M8[s]"), X], "datetime64"),
        (X, r"found ndarray; help: pass \[x\] for a single input"),
        (None, "found NoneType"),
        ("x", "found str"),
    ],
)
def test_bad_inputs(adder: CompiledModel, inputs: Any, message: str):
    with pytest.raises(InputError, match=message) as error:
        adder.run(inputs)
    assert "\n" not in str(error.value)


def test_inputs_both_ways(adder: CompiledModel):
    with pytest.raises(InputError, match=r"both.*name"):
        adder(X, bias=X)


@pytest.mark.parametrize("value", [[1.5], [300], [-200], [2**80], [True]])
def test_numbers_that_do_not_fit(build_model: Build, value: list[object]):
    with pytest.raises(InputError, match="'x'"):
        copier(build_model, "int8", (1,))(value)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("float16", 1e10),
        ("float16", 100_000),
        ("float32", -1e300),
        ("bfloat16", 1e300),
        ("float8_e4m3fn", 1e9),
        ("int4", 20),
        ("bool", 2),
        ("uint64", -1),
    ],
)
def test_numbers_outside_of_the_range_are_refused(dtype: str, value: float):
    spec = InputSpec(TensorSpec("x", dtype, ()))
    for convert in (spec.array, spec.cast):
        with pytest.raises(InputError, match=r"values.*dtype"):
            convert(value)


@pytest.mark.parametrize(
    ("dtype", "array"),
    [
        ("float32", np.array([1.0, 1e300])),
        ("float16", np.array([1e10], np.float32)),
        ("bfloat16", np.array([1e300])),
        ("int32", np.array([1 << 40])),
        ("uint8", np.array([256], np.uint64)),
    ],
)
def test_casts_keep_the_values(dtype: str, array: np.ndarray[Any, Any]):
    spec = InputSpec(TensorSpec("x", dtype, array.shape))
    with pytest.raises(InputError, match=rf"expected {dtype}\[\d\], got \w+\[\d\]; help: .*range"):
        spec.cast(array)
    with pytest.raises(InputError, match="help: convert it"):
        spec.array(array)
    assert spec.cast(np.ones_like(array)).dtype == spec.spec.numpy_dtype


def test_infinities_and_nan_are_values():
    spec = InputSpec(TensorSpec("x", "float16", (3,)))
    for value in ([np.inf, -np.inf, np.nan], np.array([np.inf, -np.inf, np.nan])):
        np.testing.assert_array_equal(spec.cast(value), np.array([np.inf, -np.inf, np.nan], np.float16))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", 3), ("float64", 0.1), ("int64", -5), ("bool", True), ("bool", 1), ("float16", 0.5), ("bfloat16", 2)],
)
def test_numbers_for_scalars(build_model: Build, dtype: str, value: float):
    (result,) = copier(build_model, dtype, ())(value)
    assert result.shape == ()
    assert float(result) == float(value)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "bfloat16", "float8_e5m2", "float64"])
def test_dtypes(build_model: Build, dtype: str):
    model = copier(build_model, dtype, (2, 3))
    x = np.array([[0, 1, 2], [3, 4, 5]]).astype(model.inputs[0].numpy_dtype)
    (result,) = model(x)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result.astype(np.float32), x.astype(np.float32))
    with pytest.raises(InputError, match="dtype complex64"):
        model(np.zeros((2, 3), np.complex64))


def test_bfloat16_is_not_float16(build_model: Build):
    with pytest.raises(InputError, match=r"expected bfloat16\[1\], got float16\[1\]"):
        copier(build_model, "bfloat16", (1,))(np.zeros(1, np.float16))
    assert copier(build_model, "bfloat16", (1,))([1.5])[0] == ml_dtypes.bfloat16(1.5)


def test_empty_tensors(build_model: Build):
    (result,) = copier(build_model, "float32", (0, 5))(np.zeros((0, 5), np.float32))
    assert result.shape == (0, 5)


def test_objects_that_turn_into_arrays(adder: CompiledModel):
    class Wrapped:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, Any]:
            return X

    np.testing.assert_array_equal(adder(Wrapped(), X)[0], EXPECTED)


def test_cast_keeps_the_kind():
    spec = InputSpec(TensorSpec("x", "float32", (2,)))
    assert spec.cast(np.array([1.0, 2.0])).dtype == np.float32
    with pytest.raises(InputError, match="got int64"):
        spec.cast(np.array([1, 2]))


def test_threads_run_side_by_side(adder: CompiledModel):
    wrong: list[int] = []

    def work(number: int) -> None:
        x = np.full(100, number, np.float32)
        expected = 2 * number + np.arange(100)
        for _ in range(300):
            if not (adder(x, x)[0] == expected).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (
            encode_status(Reason.INDEX_OUT_OF_RANGE, 1),
            r"^Gather_7, Add_8: kernel 'k1' failed: index out of range$",
        ),
        (encode_status(Reason.SHAPE_MISMATCH, 0), r"^broken: kernel 'k0' failed: shape mismatch$"),
        (encode_status(Reason.INDEX_OUT_OF_RANGE), r"^broken: native code failed: index out of range$"),
        (encode_status(200, 55), r"native code failed: status"),
        (-1, "native code failed"),
    ],
)
def test_a_status_becomes_an_error(build_model: Build, status: int, message: str):
    kernels = (KernelInfo("k0"), KernelInfo("k1", ("Gather_7", "Add_8")))
    model = build_model(STATUS.format(status=status), ModelMetadata((), (), kernels=kernels, name="broken"))
    for _ in range(2):
        with pytest.raises(ExecutionError, match=message):
            model()


def test_the_status_of_the_context_counts(build_model: Build):
    model = build_model(CONTEXT_STATUS, ModelMetadata((), ()))
    with pytest.raises(ExecutionError, match="index out of range"):
        model.run()


def test_statuses_decode():
    assert decode_status(encode_status(Reason.DIVISION_BY_ZERO, 12)) == ("division by zero", 12)
    assert decode_status(encode_status(Reason.OUT_OF_MEMORY)) == ("out of memory", None)


def test_many_models_come_and_go(build_model: Build):
    for n in range(1, 15):
        model = copier(build_model, "int64", (n,))
        np.testing.assert_array_equal(model(np.arange(n))[0], np.arange(n))


class Endless:
    """A sequence that claims to have more elements than memory."""

    def __len__(self) -> int:
        return 1 << 60

    def __getitem__(self, index: int) -> float:
        return 1.0


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


HOSTILE: list[Any] = [
    np.zeros(100, [("a", "f4")]),
    np.zeros(100, "V4"),
    np.zeros((100, 0), np.float32),
    np.array(1.0, np.float32),
    np.zeros(100, np.float32).view(">f4"),
    np.broadcast_to(np.float32(1), (100, 100)),
    b"x" * 400,
    bytearray(400),
    "x" * 100,
    iter([1.0] * 100),
    {1.0, 2.0},
    nested(10_000),
    Endless(),
    [float("nan")] * 99 + [None],
    [2**2000] * 100,
    np.float64(1),
    type,
]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_no_input_is_refused_in_one_line(adder: CompiledModel, value: Any):
    with pytest.raises(InputError, match="input 'x': expected float32") as caught:
        adder(value, X)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("step", [1, -1, 2, -3, 0])
def test_strides_of_every_kind(build_model: Build, order: Any, step: int):
    model = copier(build_model, "int16", (3, 4, 5))
    base = np.arange(9 * 12 * 15, dtype=np.int16).reshape((9, 12, 15), order=order)
    stepped = base[::step, ::step, ::step] if step else np.broadcast_to(base[:1], base.shape)
    x = stepped[:3, :4, :5]
    x.flags.writeable = False
    np.testing.assert_array_equal(model(x)[0], x)


def test_an_input_that_runs_the_model_itself(adder: CompiledModel):
    class Nested:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, Any]:
            return adder(X, X)[0]

    np.testing.assert_array_equal(adder(Nested(), X)[0], EXPECTED + 2 * np.arange(100))


def test_an_output_may_be_the_next_input(adder: CompiledModel):
    x = X
    for _ in range(3):
        (x,) = adder(x, x)
    np.testing.assert_array_equal(x, 8 * X + 7 * np.arange(100))


def test_the_child_of_a_fork_runs_a_loaded_model(adder: CompiledModel):
    np.testing.assert_array_equal(adder(X, X)[0], EXPECTED)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            adder(X, X)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if all((adder(X, X)[0] == EXPECTED).all() for _ in range(20)) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("threads", [0, -1, 257, 10**30, "2", 2.0, True, [1], np.float32(2)])
def test_numbers_of_threads_that_are_none(adder: CompiledModel, tmp_path: Path, threads: Any):
    adder.save(tmp_path / "m.xrelay")
    for use in (
        lambda: load(tmp_path / "m.xrelay", num_threads=threads),
        lambda: CompiledModel(adder.artifact, num_threads=threads),
        lambda: setattr(adder, "num_threads", threads),
        lambda: xrelay.compile("no-such-file.onnx", threads=threads),
    ):
        with pytest.raises(InputError, match=r"^threads is .{1,45}; help: "):
            use()


@pytest.mark.parametrize("threads", [1, np.int64(2), 256])
def test_numbers_of_threads(adder: CompiledModel, threads: Any):
    adder.num_threads = threads
    assert type(adder.num_threads) is int
    np.testing.assert_array_equal(adder(X, X)[0], EXPECTED)


@pytest.mark.parametrize("value", ["0", "257", "-3", "2.0", "zwei"])
def test_numbers_of_threads_in_the_environment(add_artifact: Artifact, value: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XRELAY_NUM_THREADS", value)
    with pytest.raises(InputError, match=r"^XRELAY_NUM_THREADS is "):
        CompiledModel(add_artifact)
    monkeypatch.setenv("XRELAY_NUM_THREADS", "3")
    assert CompiledModel(add_artifact).num_threads == 3


def test_outputs_and_arenas_that_no_memory_holds(build_model: Build):
    huge = TensorSpec("y", "int8", (1 << 60,))
    for metadata in (ModelMetadata((), (huge,)), ModelMetadata((), (), arena_size=1 << 60)):
        with pytest.raises(ExecutionError, match="cannot allocate"):
            build_model(STATUS.format(status=0), metadata).run()


def test_copies_run_and_pickles_are_refused(adder: CompiledModel):
    adder.num_threads, adder.memory_limit = 2, 1 << 30
    adder(X, X)
    for other in (copy.copy(adder), copy.deepcopy([adder])[0]):
        np.testing.assert_array_equal(other(X, X)[0], EXPECTED)
        assert (other.num_threads, other.memory_limit) == (2, 1 << 30)
        other.num_threads = 1
        assert adder.num_threads == 2
    with pytest.raises(InputError, match=r"; help: .*save\(path\)"):
        pickle.dumps(adder)

"""Versions of models for certain sizes: on demand, made by a helper process, in saved files, and after forks."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from support.remembered_kernels import remembered_kernels

import xrelay
from xrelay import registrations
from xrelay.api.model import CompiledModel
from xrelay.api.versions import helper as version_helper
from xrelay.api.versions.helper import VersionHelper
from xrelay.api.versions.versions import RUNS_BEFORE_VERSION, Version, Versions
from xrelay.errors import InputError, ModelImportError, TypeInferenceError, XRelayError
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.executable import Executable

__all__ = ["remembered_kernels"]

HANGS = 600
"""The time in seconds after which a process counts as hung; it takes a few."""
NM = "#relay.dims<n, m>"
TEXT = f"""func.func @main(%x: tensor<?x?xf32, {NM}>) -> tensor<?x?xf32, {NM}> {{
  %y = relay.exp(%x) : (tensor<?x?xf32, {NM}>) -> tensor<?x?xf32, {NM}>
  func.return %y : tensor<?x?xf32, {NM}>
}}"""
MATRICES = "func.func @main(%x: tensor<?x4xf32>, %y: tensor<4x?xf32>) -> tensor<?x?xf32> {{{}}}".format(
    """
  %z = relay.nn.matmul(%x, %y) : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  func.return %z : tensor<?x?xf32>
"""
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XRELAY_CACHE", "1")
    monkeypatch.setenv("XRELAY_SPECIALIZE", "1")
    monkeypatch.setattr(registrations, "_modules", set[str]())
    return tmp_path / "cache"


def text_file(folder: Path) -> Path:
    (folder / "m.mlir").write_text(TEXT)
    return folder / "m.mlir"


def onnx_file(folder: Path) -> Path:
    """A dense layer with its bias, of `n` rows in the first input and as many in the second."""
    rng = np.random.default_rng(0)
    x, z, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 16]) for name in "xzy")
    weights = [
        onnx.numpy_helper.from_array(rng.random(shape, np.float32), name)
        for name, shape in (("w", (16, 16)), ("b", 16))
    ]
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["g"]), helper.make_node("Mul", ["g", "z"], ["y"])]
    graph = helper.make_graph(nodes, "dense", [x, z], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    return folder / "m.onnx"


def random(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(sum(shape)).random(shape, np.float32)


def of(model: CompiledModel) -> Versions:
    """The versions of a model that may have some."""
    found = model._versions  # pyright: ignore[reportPrivateUsage]
    assert found is not None
    return found


def helper_of(model: CompiledModel) -> VersionHelper | None:
    return of(model)._helper  # pyright: ignore[reportPrivateUsage]


def sizes_of(model: CompiledModel) -> set[tuple[int, ...]]:
    """The sizes for which a model has versions."""
    return {*of(model)._found}  # pyright: ignore[reportPrivateUsage]


def run_often(model: CompiledModel, *arrays: NDArray[np.float32]) -> None:
    """Runs a model until it makes a version by itself, and waits for the version."""
    for _ in range(RUNS_BEFORE_VERSION):
        model(*arrays)
    made_by = helper_of(model)
    assert made_by is not None
    made_by.wait()


def no_process(*arguments: object, **options: object) -> None:
    raise AssertionError("a process was started")


@pytest.mark.parametrize("sizes", [(3, 5), (1, 1), (0, 4), (2, 0)])
def test_runs_with_the_sizes_use_the_version_and_others_do_not(tmp_path: Path, sizes: tuple[int, int]) -> None:
    n, m = sizes
    model = xrelay.compile(text_file(tmp_path), threads=1)
    assert of(model).at(sizes) is None
    model.specialize({"n": (n, n, n), "m": (m, m, m)})
    assert sizes_of(model) == {sizes}
    assert of(model).at(sizes) is not None
    for shape in (sizes, (4, 5), (3, 1)):
        x = random(*shape)
        assert np.allclose(model(x)[0], xrelay.interpret(tmp_path / "m.mlir", [x])[0])


def test_an_onnx_model_takes_shapes_of_inputs_or_sizes_of_names(tmp_path: Path) -> None:
    model = xrelay.compile(onnx_file(tmp_path), threads=1)
    model.specialize({"x": (3, 16)})
    model.specialize({"x": [4, 16], "z": (4, 16)})
    model.specialize({"n": (5, 5, 5)})
    assert sizes_of(model) == {(3,), (4,), (5,)}
    for n in range(7):
        x, z = random(n, 16), random(16, n).T.copy()
        assert np.allclose(model(x, z)[0], xrelay.interpret(tmp_path / "m.onnx", [x, z])[0])
        out = np.empty((n, 16), np.float32)
        assert model.run([x, z], out=[out])[0] is out
    with pytest.raises(InputError, match="expected float32"):
        model(random(3, 16), random(4, 16))


def test_weights_that_equal_those_of_the_model_are_the_same_arrays(tmp_path: Path) -> None:
    model = xrelay.compile(onnx_file(tmp_path), threads=1)
    model.specialize({"n": (3, 3, 3)})
    (version,) = of(model).kept()
    known = {id(array) for array in model.artifact.weights}
    assert {id(array) for array in version.weights} <= known
    assert version.weights


def test_unnamed_dimensions_are_called_as_in_the_inputs_of_the_model(tmp_path: Path) -> None:
    model = xrelay.compile(xrelay.parse(MATRICES), threads=1)
    assert [spec.shape for spec in model.inputs] == [("d0", 4), (4, "d1")]
    model.specialize({"d0": (2, 2, 2), "d1": (3, 3, 3)})
    x, y = random(2, 4), random(4, 3)
    assert sizes_of(model) == {(2, 3)}
    assert np.allclose(model(x, y)[0], x @ y)


CALLS = """
func.func @main(%x: tensor<?x2xf32, #relay.dims<n>>) -> tensor<?x2xf32, #relay.dims<2 * n>> {
  %t = relay.tuple(%x, %x) : (tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>)
    -> tuple<tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>>
  %c = relay.concatenate(%t) {axis = 0} : (tuple<tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>>)
    -> tensor<?x2xf32, #relay.dims<2 * n>>
  %y = relay.call @double<n = 2 * n>(%c) : (tensor<?x2xf32, #relay.dims<2 * n>>) -> tensor<?x2xf32, #relay.dims<2 * n>>
  func.return %y : tensor<?x2xf32, #relay.dims<2 * n>>
}
func.func private @double(%x: tensor<?x2xf32, #relay.dims<n>>) -> tensor<?x2xf32, #relay.dims<n>> {
  %y = relay.add(%x, %x)
    : (tensor<?x2xf32, #relay.dims<n>>, tensor<?x2xf32, #relay.dims<n>>) -> tensor<?x2xf32, #relay.dims<n>>
  func.return %y : tensor<?x2xf32, #relay.dims<n>>
}
"""


def test_functions_keep_dimensions_of_the_same_name() -> None:
    model = xrelay.compile(xrelay.parse(CALLS), threads=1)
    for n in (0, 1, 3):
        model.specialize({"n": (n, n, n)})
        x = random(n, 2)
        assert np.array_equal(model(x)[0], np.concatenate([2 * x, 2 * x]))
    assert sizes_of(model) == {(0,), (1,), (3,)}


WRONG: list[dict[str, Any]] = [
    {"q": (1, 16)},
    {"x": (3,)},
    {"x": (3, 15)},
    {"x": (-3, 16)},
    {"x": 3},
    {"x": (3.0, 16)},
    {"n": (3, 3)},
    {"n": (3, 1, 2)},
]


def test_wrong_shapes_are_the_errors_of_compile(tmp_path: Path) -> None:
    model = xrelay.compile(onnx_file(tmp_path), threads=1)
    for shapes in WRONG:
        with pytest.raises((InputError, ModelImportError)) as expected:
            xrelay.compile(tmp_path / "m.onnx", shapes=shapes, threads=1)
        with pytest.raises(type(expected.value)) as found:
            model.specialize(shapes)
        assert str(found.value) == str(expected.value)
    assert not sizes_of(model)


INCOMPLETE: list[tuple[dict[str, Any], str]] = [
    ({}, "the dimension n stays dynamic; help: pass sizes of n, m"),
    ({"n": (3, 3, 3)}, "the dimension m stays dynamic"),
    ({"n": (3, 3, 3), "m": (1, 8, 2)}, "shapes does not fix one size for each dimension"),
    ({"n": (9, 9, 9), "m": (1, 1, 1)}, "the dimension n is 9, the range is 2 to 8"),
    ({"x": (3, 5)}, "shapes= sets inputs of ONNX models"),
]


def test_every_dimension_needs_one_size(tmp_path: Path) -> None:
    model = xrelay.compile(text_file(tmp_path), shapes={"n": (2, 8, 4)}, threads=1)
    for shapes, message in INCOMPLETE:
        with pytest.raises(InputError) as error:
            model.specialize(shapes)
        assert message in str(error.value)


def test_contradicting_shapes_are_refused(tmp_path: Path) -> None:
    model = xrelay.compile(onnx_file(tmp_path), threads=1)
    with pytest.raises(InputError, match="shapes does not fix one size for each dimension"):
        model.specialize({"x": (3, 16), "z": (1, 16)})


REQUIRED = """
func.func @main(%x: tensor<?x?xf32, #relay.dims<n, c>>, %w: tensor<8x4xf32>) -> !relay.incomplete {
  %y = relay.nn.dense(%x, %w) : (tensor<?x?xf32, #relay.dims<n, c>>, tensor<8x4xf32>) -> !relay.incomplete
  func.return %y : !relay.incomplete
}
"""


def test_a_dimension_that_an_op_requires_to_be_a_number_may_have_this_size(tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text(REQUIRED)
    model = xrelay.compile(tmp_path / "m.mlir", threads=1)
    assert model.inputs[0].shape == ("n", 4)
    model.specialize({"n": 3, "c": 4})
    assert sizes_of(model) == {(3,)}
    with pytest.raises(TypeInferenceError, match=r"C2.*5 != 4"):
        model.specialize({"n": 3, "c": 5})
    with pytest.raises(InputError, match="no dimension 'd'"):
        model.specialize({"n": 3, "d": 4})


def test_a_range_in_the_program_bounds_the_sizes(tmp_path: Path) -> None:
    text = TEXT.replace(" {\n", " attributes {relay.sizes = {n = array<i64: 2, 8, 4>}} {\n", 1)
    model = xrelay.compile(xrelay.parse(text), threads=1)
    with pytest.raises(InputError, match="the dimension n is 9, the range is 2 to 8"):
        model.specialize({"n": (9, 9, 9), "m": (1, 1, 1)})


def test_programs_that_cannot_be_compiled_again(tmp_path: Path) -> None:
    path = onnx_file(tmp_path)
    for source in (path.read_bytes(), onnx.ModelProto.FromString(path.read_bytes())):
        with pytest.raises(InputError, match="cannot be compiled for other sizes"):
            xrelay.compile(source, threads=1).specialize({"x": (3, 16)})
    with pytest.raises(InputError, match="cannot be compiled for other sizes"):
        xrelay.compile(path, shapes={"x": (3, 16), "z": (3, 16)}, threads=1).specialize({"x": (3, 16)})


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("kind", ["file", "module"])
def test_a_program_that_changed_is_refused(tmp_path: Path, cached: bool, kind: str) -> None:
    path = text_file(tmp_path)
    source = path if kind == "file" else xrelay.parse(path)
    model = xrelay.compile(source, threads=1, cache=cached)
    other = xrelay.parse(TEXT.replace("relay.exp", "relay.log"))
    if isinstance(source, Path):
        path.write_text(TEXT.replace("relay.exp", "relay.log"))
    else:
        source.body.block.erase_op(source.body.block.first_op)  # pyright: ignore[reportArgumentType]
        source.body.block.add_op(other.body.block.first_op.clone())  # pyright: ignore[reportOptionalMemberAccess]
    with pytest.raises(InputError, match="the program has changed since it was compiled"):
        model.specialize({"n": (3, 3, 3), "m": (2, 2, 2)})


def test_a_relative_path_is_that_of_the_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text_file(tmp_path)
    monkeypatch.chdir(tmp_path)
    model = xrelay.compile("m.mlir", threads=1)
    monkeypatch.chdir("/")
    model.specialize({"n": (3, 3, 3), "m": (2, 2, 2)})
    assert sizes_of(model) == {(3, 2)}


def test_a_context_of_the_compilation_is_that_of_its_versions(tmp_path: Path) -> None:
    with xrelay.PassContext(disabled_pass=["relay-fuse-ops"]):
        model = xrelay.compile(onnx_file(tmp_path), threads=1)
    assert helper_of(model) is None
    model.specialize({"n": (3, 3, 3)})
    (version,) = of(model).kept()
    assert len(version.metadata.kernels) == len(model.artifact.metadata.kernels)


def test_a_model_makes_a_version_that_the_next_process_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, arrays = onnx_file(tmp_path), [random(3, 16)] * 2
    model = xrelay.compile(path, threads=1)
    open_result = model(*arrays)[0]
    run_often(model, *arrays)
    assert len(sizes_of(model)) == 1
    assert np.allclose(model(*arrays)[0], open_result)
    assert not of(model).kept()
    monkeypatch.setattr(version_helper.subprocess, "Popen", no_process)
    again = xrelay.compile(path, threads=1)
    run_often(again, *arrays)
    assert sizes_of(again) == sizes_of(model)
    assert np.array_equal(again(*arrays)[0], model(*arrays)[0])


def test_a_module_is_written_for_the_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = xrelay.relay.const(random(4, 4))
    x = xrelay.relay.var("x", shape=(xrelay.relay.Any(), 4))
    module = xrelay.relay.Module.from_expr(xrelay.relay.nn.dense(x, weight))
    model = xrelay.compile(module, threads=1)
    run_often(model, random(3, 4))
    assert sizes_of(model) == {(3,)}
    assert np.allclose(model(random(3, 4))[0], random(3, 4) @ random(4, 4).T)


@pytest.mark.parametrize("way", ["argument", "variable", "cache=False", "no cache"])
def test_a_model_without_helper_gives_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "variable":
        monkeypatch.setenv("XRELAY_SPECIALIZE", "off")
    if way == "no cache":
        monkeypatch.setenv("XRELAY_CACHE", "0")
    path, x = text_file(tmp_path), random(3, 5)
    model = xrelay.compile(path, threads=1, cache=way != "cache=False", specialize=way != "argument")
    assert helper_of(model) is None
    first = model(x)[0]
    assert all(np.array_equal(model(x)[0], first) for _ in range(RUNS_BEFORE_VERSION + 1))
    assert not sizes_of(model)


def test_a_model_with_large_weights_has_no_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xrelay.api.compile.MAX_WEIGHTS", 1000)
    assert helper_of(xrelay.compile(text_file(tmp_path))) is not None
    assert helper_of(xrelay.compile(onnx_file(tmp_path))) is None


def test_a_helper_that_dies_makes_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(version_helper, "_MODULE", "xrelay.no_such_module")
    model = xrelay.compile(text_file(tmp_path), threads=1)
    for n in range(1, version_helper._MAX_FAILURES + 1):  # pyright: ignore[reportPrivateUsage]
        run_often(model, random(n, 5))
    monkeypatch.setattr(version_helper.subprocess, "Popen", no_process)
    run_often(model, random(9, 5))
    assert not sizes_of(model)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("fault", ["start", "thread", "executable"])
def test_a_helper_that_cannot_start_makes_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], fault: str
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError("no process") if fault == "start" else RuntimeError("can't start new thread")

    model = xrelay.compile(text_file(tmp_path), threads=1)
    if fault == "start":
        monkeypatch.setattr(version_helper.subprocess, "Popen", fail)
    elif fault == "thread":
        monkeypatch.setattr(version_helper.threading.Thread, "start", fail)
    else:
        monkeypatch.setattr(sys, "executable", "/usr/bin/program")
    run_often(model, random(3, 5))
    assert not sizes_of(model)
    assert capfd.readouterr() == ("", "")


def test_the_least_recently_used_version_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version_helper, "_MODULE", "xrelay.no_such_module")
    monkeypatch.setattr("xrelay.api.versions.versions.MAX_VERSIONS", 3)
    model = xrelay.compile(text_file(tmp_path), threads=1)
    model.specialize({"n": (1, 1, 1), "m": (1, 1, 1)})
    found = of(model)
    (kept,) = found.kept()
    for n in (2, 3, 4):
        fixed = xrelay.compile(tmp_path / "m.mlir", threads=1)
        fixed.specialize({"n": (n, n, n), "m": (1, 1, 1)})
        assert found.add((n, 1), of(fixed).kept()[0])
    assert not found.add((7, 2), kept)  # another shape
    model(random(2, 1))
    assert found.add((99, 1), rows_of_99(tmp_path))
    assert sizes_of(model) == {(1, 1), (2, 1), (4, 1), (99, 1)}
    assert found.kept() == (kept,)


def rows_of_99(folder: Path) -> Artifact:
    model = xrelay.compile(folder / "m.mlir", threads=1)
    model.specialize({"n": (99, 99, 99), "m": (1, 1, 1)})
    return of(model).kept()[0]


def test_threads_run_the_model_while_versions_come(tmp_path: Path) -> None:
    model = xrelay.compile(text_file(tmp_path), threads=1)
    expected = {n: xrelay.interpret(tmp_path / "m.mlir", [random(n, 5)])[0] for n in range(1, 5)}
    over = threading.Event()
    wrong: list[int] = []

    def run() -> None:
        while not over.is_set():
            wrong.extend(n for n, values in expected.items() if not np.allclose(model(random(n, 5))[0], values))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for n in range(1, 4):
        model.specialize({"n": (n, n, n), "m": (5, 5, 5)})
    over.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sizes_of(model) >= {(n, 5) for n in range(1, 4)}


class Started:
    """Records the processes that helpers start; each reads its input to the end and compiles nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.processes: list[subprocess.Popen[bytes]] = []
        self.event, self._popen = threading.Event(), subprocess.Popen[bytes]
        monkeypatch.setattr(version_helper, "_MODULE", "tokenize")
        monkeypatch.setattr(version_helper.subprocess, "Popen", self.start)

    def start(self, command: list[str], **options: object) -> subprocess.Popen[bytes]:
        self.processes.append(self._popen(command, **options))  # pyright: ignore[reportArgumentType, reportCallIssue]
        self.event.set()
        return self.processes[-1]


def test_the_process_ends_with_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = Started(monkeypatch)
    model = xrelay.compile(text_file(tmp_path), threads=1)
    for _ in range(RUNS_BEFORE_VERSION):
        model(random(3, 5))
    started.event.wait()
    made_by = helper_of(model)
    assert made_by is not None
    copy = model.__copy__()
    del model
    gc.collect()
    assert started.processes[0].poll() is None
    del copy
    gc.collect()
    made_by.wait()
    assert started.processes[0].returncode is not None


SCRIPT = """
import os
import sys

import numpy as np
import xrelay
from xrelay.api.versions import helper as version_helper
from xrelay.api.versions.versions import RUNS_BEFORE_VERSION

version_helper._MODULE = "tokenize"  # a process that reads its input to the end
x = np.ones((3, 5), np.float32)
model = xrelay.compile(sys.argv[1], threads=1)
made_by = model._versions._helper
for _ in range(RUNS_BEFORE_VERSION):
    model(x)
while made_by._process is None:
    pass
pid = made_by._process.pid
print(pid, flush=True)
"""
FORK = """
child = os.fork()
if child == 0:
    for n in range(1, 4):
        for _ in range(2 * RUNS_BEFORE_VERSION):
            model(np.ones((n, 5), np.float32))
    assert made_by._thread is None and made_by._process is None
    model.specialize({"n": (3, 3, 3), "m": (5, 5, 5)})
    assert np.allclose(model(x)[0], np.e)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
process = made_by._process
made_by.close()
made_by.wait()
assert process.returncode != 0
"""


def test_no_process_is_left_at_exit_or_after_a_fork(tmp_path: Path) -> None:
    path = str(text_file(tmp_path))
    # Python 3.12 and later warn of forks in a process with several threads.
    python = [sys.executable, "-W", "ignore::DeprecationWarning", "-c"]
    # The last one stores a version in the cache, after which no process starts.
    for rest in ("", "raise SystemExit(0)", FORK):
        done = subprocess.run([*python, SCRIPT + rest, path], capture_output=True, text=True, timeout=HANGS)
        assert (done.returncode, done.stderr) == (0, "")
        with pytest.raises(ProcessLookupError):
            os.kill(int(done.stdout), 0)


SAVED = """
import sys
import numpy as np
import xrelay

model = xrelay.load(sys.argv[1])
x = np.random.default_rng(8).random((3, 5), np.float32)
version = model._versions._found[3, 5]
assert version.executable is None
print(model(x)[0].tobytes().hex(), model(x[:2])[0].shape)
assert version.executable is not None
print([name for name in sys.modules if name.startswith(("xdsl", "onnx", "xrelay.lowering", "xrelay.dialects"))])
"""


def test_a_saved_model_has_the_versions_that_were_asked_for(tmp_path: Path) -> None:
    model = xrelay.compile(text_file(tmp_path), threads=1)
    model.specialize({"n": (3, 3, 3), "m": (5, 5, 5)})
    run_often(model, random(4, 5))
    assert sizes_of(model) == {(3, 5), (4, 5)}
    model.save(tmp_path / "m.xrelay")
    done = subprocess.run(
        [sys.executable, "-c", SAVED, str(tmp_path / "m.xrelay")], capture_output=True, text=True, check=True
    )
    values, modules = done.stdout.splitlines()
    assert values == f"{model(random(3, 5))[0].tobytes().hex()} (2, 5)"
    assert modules == "[]"
    loaded = xrelay.load(tmp_path / "m.xrelay")
    assert sizes_of(loaded) == {(3, 5)}
    with pytest.raises(InputError, match="the program of the model is not available"):
        loaded.specialize({"n": (4, 4, 4), "m": (5, 5, 5)})
    loaded.save(tmp_path / "again.xrelay")
    assert (tmp_path / "again.xrelay").read_bytes() == (tmp_path / "m.xrelay").read_bytes()


def test_saved_versions_share_the_weights_of_the_model(tmp_path: Path) -> None:
    model = xrelay.compile(onnx_file(tmp_path), threads=1)
    model.specialize({"n": (3, 3, 3)})
    model.specialize({"n": (4, 4, 4)})
    model.save(tmp_path / "m.xrelay")
    loaded = xrelay.load(tmp_path / "m.xrelay", verify=True)
    known = {id(array) for array in loaded.artifact.weights}
    assert all({id(array) for array in each.weights} <= known for each in of(loaded).kept())
    for n in (3, 4, 5):
        x = random(n, 16)
        assert np.array_equal(loaded(x, x)[0], model(x, x)[0])


def test_a_version_of_another_cpu_is_saved_and_not_loaded(tmp_path: Path) -> None:
    model = xrelay.compile(text_file(tmp_path), target="cpu -mcpu=neoverse-n1", threads=1)
    model.specialize({"n": (3, 3, 3), "m": (5, 5, 5)})
    model.save(tmp_path / "m.xrelay")
    with pytest.raises(XRelayError):
        xrelay.load(tmp_path / "m.xrelay")


def test_a_run_of_a_version_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = xrelay.compile(text_file(tmp_path), threads=1)
    model.specialize({"n": (3, 3, 3), "m": (5, 5, 5)})
    model(random(3, 5))
    cancelled: list[Executable] = []

    def note(executable: Executable) -> None:
        cancelled.append(executable)

    monkeypatch.setattr(Executable, "cancel", note)
    model.cancel()
    assert of(model).at((3, 5)) in cancelled


def test_versions_are_loaded_once(tmp_path: Path) -> None:
    model = xrelay.compile(text_file(tmp_path), threads=1)
    model.specialize({"n": (3, 3, 3), "m": (5, 5, 5)})
    version = Version(of(model).kept()[0], is_kept=True)
    assert version.load() is version.load()


def test_models_of_a_forked_child_make_versions_while_the_parent_makes_one() -> None:
    turn = version_helper._PROCESS_LOCK  # pyright: ignore[reportPrivateUsage]
    with turn:
        child = os.fork()
        if child == 0:
            os._exit(turn.locked())
        assert os.waitpid(child, 0)[1] == 0
        assert turn.locked()

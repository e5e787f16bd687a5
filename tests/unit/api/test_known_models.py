"""Models in the cache: they load without the compiler, under any file name, and are hashed once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.hashed_files import count_hashed

import xrelay
from xrelay import registrations, relay
from xrelay.api import model_key
from xrelay.api.request import chosen_target
from xrelay.runtime import artifact
from xrelay.runtime.safetensors_file import write_safetensors

OPEN = """
import sys
import numpy
import xrelay

model = xrelay.compile(sys.argv[1])
compiler = ("xdsl", "onnx", "xrelay.lowering", "xrelay.passes.relay", "xrelay.dialects.relay")
print([name for name in sys.modules if name.startswith(compiler)])
print(model.artifact.metadata.name, model.run([numpy.ones(3, numpy.float32)])[0].tolist())
"""


def write_model(path: Path, location: str = "") -> Path:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "doubled", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, doc_string=location)
    onnx.save(model, path)
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XRELAY_CACHE", "1")
    monkeypatch.setattr(registrations, "_modules", set[str]())
    return tmp_path / "cache"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows each time the bytes of a model are hashed."""
    return count_hashed(monkeypatch, model_key)


def test_a_known_model_opens_without_the_compiler_under_any_name(cache: Path, tmp_path: Path) -> None:
    xrelay.compile(write_model(tmp_path / "first.onnx"))
    other = (tmp_path / "first.onnx").rename(tmp_path / "second.onnx")
    done = subprocess.run([sys.executable, "-c", OPEN, str(other)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "second [2.0, 2.0, 2.0]"]
    assert len(list((cache / "models").rglob("*.xrelay"))) == 1


def test_a_file_is_read_once_for_each_state(cache: Path, tmp_path: Path, read: list[int]) -> None:
    path = write_model(tmp_path / "m.onnx")
    for _ in range(3):
        assert xrelay.compile(path).run([np.ones(3, np.float32)])[0].tolist() == [2, 2, 2]
    assert len(read) == 1
    os.utime(path, ns=(0, 0))
    xrelay.compile(path)
    assert len(read) == 2
    (cache / "contents").write_bytes(b"\xff nonsense\n\n")
    xrelay.compile(path)
    assert len(read) == 3


@pytest.mark.usefixtures("cache")
def test_weights_of_a_cached_model_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = numpy_helper.from_array(np.arange(3000, dtype=np.float32).reshape(3, 1000), "w")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1000])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    xrelay.compile(tmp_path / "m.onnx")
    hashed = count_hashed(monkeypatch, artifact)
    for _ in range(3):
        xrelay.compile(tmp_path / "m.onnx")
    assert len(hashed) == 1


def test_a_model_with_parts_elsewhere_is_known_as_such(cache: Path, tmp_path: Path, read: list[int]) -> None:
    path = write_model(tmp_path / "m.onnx", location="weights of this location")
    for _ in range(2):
        xrelay.compile(path)
    assert len(read) == 1
    assert not (cache / "models").exists()


def test_texts_of_equal_content_keep_their_places_apart(cache: Path, tmp_path: Path) -> None:
    text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n}\n"
    for name in ("a.mlir", "b.mlir"):
        (tmp_path / name).write_text(text)
        xrelay.compile(tmp_path / name)
    assert len(list((cache / "models").rglob("*.xrelay"))) == 2


WEIGHTS = """
module attributes {NAME = "w.safetensors"} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %w = relay.constant #relay.weight<"w", "w"> : tensor<4xf32>
    %y = relay.add(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
"""


@pytest.mark.parametrize("name", ["relay.weights", '"relay\\2Eweights"'])
@pytest.mark.parametrize("parsed", [True, False])
def test_other_weights_make_another_model(cache: Path, tmp_path: Path, name: str, parsed: bool) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(WEIGHTS.replace("NAME", name))
    for value in (1, 2):
        write_safetensors(tmp_path / "w.safetensors", {"w": np.full(4, value, np.float32)}, {})
        model = xrelay.compile(xrelay.parse(path) if parsed else path)
        assert model.run([np.zeros(4, np.float32)])[0].tolist() == [value] * 4


def test_the_key_is_linear_in_attributes_that_share_parts(cache: Path) -> None:
    def key(depth: int, last: str) -> str | None:
        aliases = "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(1, depth))
        text = f"#a0 = [{last}]\n{aliases}module attributes {{shared = #a{depth - 1}}} {{}}"
        return model_key.model_key(model_key.content_digest(xrelay.parse(text)), chosen_target(None, None), 3, None)

    assert len({key(60, "0"), key(60, "1"), key(61, "0"), None}) == 4


def test_the_key_has_the_threads_rounded_up_and_no_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    def targets(*threads: int | None) -> set[str]:
        return {str(chosen_target(None, number)) for number in threads}

    assert len(targets(1, 2, 3, 4, 5, 8)) == 4
    assert targets(3, 5, 200) == targets(4, 8, 256)
    known = targets(1, 2)
    for cpus in ({0}, set(range(16))):
        monkeypatch.setattr(os, "sched_getaffinity", {0: cpus}.get)
        assert targets(1, 2) == known
        assert targets(None) == targets(len(cpus))


@pytest.mark.usefixtures("cache")
def test_programs_whose_zeros_differ_in_sign_differ() -> None:
    for zeros in ([0.0, -0.0], [0.0, 0.0]):
        x = relay.var("x", shape=(2,), dtype="float32")
        quotient = relay.divide(x, relay.const(np.array(zeros, np.float32)))
        (result,) = xrelay.compile(relay.Module.from_expr(relay.Function([x], quotient))).run([np.ones(2, np.float32)])
        assert result.tolist() == [np.inf, np.copysign(np.inf, zeros[1])]

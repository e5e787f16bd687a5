"""Two packages: an op under its own dialect, and a pass that takes part in compiling."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from support.out_of_tree import FOLDER, installed, run

PACKAGES = ("l1_normalize", "cheap_division")

NORMALIZED = """
func.func @main(%x: tensor<5x37xf32>) -> !relay.incomplete {
  %y = acme.l1_normalize(%x) {axis = 1} : (tensor<5x37xf32>) -> !relay.incomplete
  %z = relay.nn.relu(%y) : (!relay.incomplete) -> !relay.incomplete
  func.return %z : !relay.incomplete
}
"""

GRADIENT = """
import numpy as np
import xrelay
from xrelay import relay

x = relay.var("x", shape=(3, 5), dtype="float64")
function = relay.Function([x], relay.op_function("acme.l1_normalize")(x, axis=1))
module = relay.IRModule.from_expr(relay.transform.gradient(function, mode="first_order"))
data = np.random.default_rng(0).standard_normal((3, 5))
found = xrelay.interpret(module, [data])[-1]
norm = np.abs(data).sum(axis=1, keepdims=True)
wanted = (1 - np.sign(data) * (data / norm).sum(axis=1, keepdims=True)) / norm
np.testing.assert_allclose(found, wanted, rtol=1e-12)
"""

DIVIDED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = relay.constant dense<3.0> : tensor<f32>
  %y = relay.divide(%x, %c) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

PYTHON = """
import sys
from xrelay import transform
from xrelay.passes.infra.source import full_context, parse_module

module = parse_module(full_context(), sys.stdin.read(), "divided.mlir")
assert "relay.multiply" in str(transform.create_pass("acme-cheap-division")(module))
assert "relay.divide" in str(transform.create_pass("acme-cheap-division{exact=true}")(module))
listed = transform.Sequential(["acme-cheap-division"])
assert "relay.multiply" in str(listed(module))
with transform.PassContext(disabled_pass=["acme-cheap-division"]):
    assert "relay.divide" in str(listed(module))
with transform.PassContext(opt_level=0):
    assert "relay.divide" in str(listed(module))
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yields an environment in which both packages are installed."""
    with installed(tmp_path_factory.mktemp("site"), *PACKAGES) as environment:
        yield environment


def output(command: list[str], environment: dict[str, str], text: str = "") -> str:
    done = run(command, environment, text)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sources() -> list[Path]:
    return [path for name in PACKAGES for path in (FOLDER / name).rglob("*") if path.suffix in (".py", ".toml")]


def test_they_use_public_modules_alone_and_are_short() -> None:
    lines = 0
    for path in sources():
        lines += len(path.read_text().splitlines())
        for node in ast.walk(ast.parse(path.read_text())) if path.suffix == ".py" else ():
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("xrelay"):
                assert (node.module or "").startswith(("xrelay.extend", "xrelay.errors")), f"{path}: {node.module}"
    assert lines < 200


def test_the_op_parses_and_infers_under_its_own_dialect(environment: dict[str, str]) -> None:
    typed = "acme.l1_normalize(%x) {axis = 1} : (tensor<5x37xf32>) -> tensor<5x37xf32>"
    assert typed in output(["xrelay-opt", "-p", "relay-infer-type"], environment, NORMALIZED)
    assert typed in output(["xdsl-opt", "-p", "relay-infer-type"], environment, NORMALIZED)
    done = run(["xrelay-opt"], environment, NORMALIZED.replace("axis = 1", "axis = 2"))
    assert done.returncode == 1
    assert "[acme.l1_normalize C1]" in done.stderr


def test_it_fuses_gets_its_schedule_and_runs_from_every_stage(environment: dict[str, str], tmp_path: Path) -> None:
    text, stages = tmp_path / "normalized.mlir", tmp_path / "stages"
    text.write_text(NORMALIZED)
    output(["xrelay", "run", str(text), "--random", "--check", "--no-cache", "--dump-stages", str(stages)], environment)
    fused = next(stages.glob("*_fused.mlir")).read_text()
    assert fused.count("relay.primitive") == 1
    assert "acme.l1_normalize" in fused
    assert "l1_normalize: " in next(stages.glob("*_loop.mlir")).read_text()
    for stage in ("typed", "fused", "topi", "loop"):
        path = next(stages.glob(f"*_{stage}.mlir"))
        output(["xrelay", "run", str(path), "--random", "--check", "--no-cache"], environment)


@pytest.mark.parametrize("dtype", [TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE])
def test_its_onnx_node_runs(environment: dict[str, str], tmp_path: Path, dtype: int) -> None:
    node = helper.make_node("L1Normalize", ["x"], ["y"], "norm", domain="com.acme", axis=0)
    ends = [helper.make_tensor_value_info(name, dtype, [7, 40, 3]) for name in "xy"]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(helper.make_graph([node], "g", ends[:1], ends[1:]), opset_imports=imports), path)
    output(["xrelay", "run", str(path), "--random", "--check", "--no-cache"], environment)


def test_its_gradient(environment: dict[str, str]) -> None:
    output(["python", "-c", GRADIENT], environment)


def test_the_pass_is_known_to_both_opt_tools(environment: dict[str, str]) -> None:
    for tool in ("xrelay-opt", "xdsl-opt"):
        assert "relay.multiply" in output([tool, "-p", "acme-cheap-division"], environment, DIVIDED)
        assert "relay.divide" in output([tool, "-p", "acme-cheap-division{exact=true}"], environment, DIVIDED)
    merged = output(["xrelay-opt", "-p", "relay-merge-composite{table=acme}"], environment, DIVIDED)
    assert 'Composite = "acme.scale", PartitionedFromPattern = "divide_"' in merged
    assert "acme-cheap-division" in output(["xrelay-opt", "--list-passes"], environment)
    assert "reciprocal is not rounded" in output(["xrelay-opt", "--help-pass", "acme-cheap-division"], environment)


def test_the_pass_is_known_in_python(environment: dict[str, str]) -> None:
    output(["python", "-c", PYTHON], environment, DIVIDED)


@pytest.mark.parametrize(("level", "op"), [("3", "relay.multiply"), ("0", "relay.divide")])
def test_the_pass_takes_part_in_compiling(environment: dict[str, str], tmp_path: Path, level: str, op: str) -> None:
    text, stages = tmp_path / "divided.mlir", tmp_path / "stages"
    text.write_text(DIVIDED)
    command = ["xrelay", "compile", str(text), "-o", str(tmp_path / "m.xrelay"), f"-O{level}"]
    output([*command, "--dump-stages", str(stages)], environment)
    assert op in next(stages.glob("*_fused.mlir")).read_text()


def test_a_plugin_that_raises_is_named_and_the_others_are_loaded(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "broken_plugin.py").write_text("raise KeyError('nowhere')\n")
    info = tmp_path / "broken_plugin-2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 2\n")
    kinds = "".join(f"{kind} = broken_plugin\n" for kind in ("ops", "passes", "strategies", "schedules", "opps"))
    (info / "entry_points.txt").write_text(f"[xrelay.plugins]\n{kinds}[xrelay.dialects]\nbad = broken_plugin:BAD\n")
    both = {**environment, "PYTHONPATH": f"{tmp_path}:{environment['PYTHONPATH']}"}
    done = run(["xrelay-opt", "-p", "relay-infer-type,acme-cheap-division"], both, NORMALIZED)
    assert done.returncode == 0, done.stderr
    assert "broken-plugin 2 cannot be loaded (xrelay.plugins, broken_plugin): KeyError: 'nowhere'" in done.stderr
    assert "broken-plugin 2 announces 'opps' in xrelay.plugins: did you mean 'ops'?" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "broken_plugin.py").write_text("raise SystemExit(3)\n")
    text = f"{NORMALIZED}// -----\nbad.op"
    done = run(["xrelay-opt", "-p", "relay-infer-type", "--split-input-file", "-o", "-"], both, text)
    assert done.returncode == 1
    assert "acme.l1_normalize" in done.stdout
    assert "broken-plugin 2 cannot be loaded (xrelay.plugins, broken_plugin): SystemExit: 3" in done.stderr
    assert "broken-plugin 2 cannot be loaded (xrelay.dialects, broken_plugin:BAD)" in done.stderr
    assert "Traceback" not in done.stderr

"""The smallest model for which a command still fails."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx.model_parts import ModelParts
from xrelay.tools.reduction.failing_command import FailingCommand
from xrelay.tools.reduction.minimize import minimize


@pytest.mark.parametrize("needed", [{0}, {99}, {3, 50}, {0, 49, 50, 99}, set(range(7, 12))])
def test_exactly_the_needed_items_are_kept_in_few_calls(needed: set[int]):
    calls = 0

    def holds(items: Sequence[int]) -> bool:
        nonlocal calls
        calls += 1
        return needed <= {*items}

    assert minimize(range(100), holds) == sorted(needed)
    assert calls <= 40 * len(needed)


def test_no_item_can_be_removed_from_a_result_that_is_not_unique():
    found = minimize(range(10), lambda items: len(items) >= 3)
    assert len(found) == 3


def chain(path: Path) -> Path:
    """x → Relu → a → Exp → b → Add(b, w) → c → Neg → y, and an If whose branch reads b."""
    branch = helper.make_graph(
        [helper.make_node("Identity", ["b"], ["inner"])], "branch", [], [helper.make_tensor_value_info("inner", 1, [2])]
    )
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Exp", ["a"], ["b"]),
        helper.make_node("Add", ["b", "w"], ["c"]),
        helper.make_node("Neg", ["c"], ["y"]),
        helper.make_node("If", ["k"], ["z"], then_branch=branch, else_branch=branch),
    ]
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]), helper.make_tensor_value_info("k", 9, [])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("y", "z")],
        [numpy_helper.from_array(np.ones(2, np.float32), "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


def test_a_part_has_the_weights_and_values_that_its_nodes_read(tmp_path: Path):
    part = ModelParts(chain(tmp_path / "m.onnx")).part([2])
    assert part is not None
    onnx.checker.check_model(part, full_check=True)
    assert [value.name for value in part.graph.input] == ["b"]
    assert [value.name for value in part.graph.output] == ["c"]
    assert [tensor.name for tensor in part.graph.initializer] == ["w"]


def test_branches_read_values_of_the_graph(tmp_path: Path):
    parts = ModelParts(chain(tmp_path / "m.onnx"))
    part = parts.part([4])
    assert part is not None
    onnx.checker.check_model(part, full_check=True)
    assert [value.name for value in part.graph.input] == ["k", "b"]


def test_outputs_of_the_model_stay_outputs(tmp_path: Path):
    part = ModelParts(chain(tmp_path / "m.onnx")).part([2, 3])
    assert part is not None
    assert [value.name for value in part.graph.output] == ["y"]


def test_a_file_that_is_no_model_is_refused(tmp_path: Path):
    (tmp_path / "m.onnx").write_bytes(b"no model")
    with pytest.raises(ModelImportError):
        ModelParts(tmp_path / "m.onnx")


def python(code: str, timeout: float = 60.0, pattern: str | None = None) -> FailingCommand:
    found = None if pattern is None else re.compile(pattern)
    return FailingCommand([sys.executable, "-c", code, "{}"], timeout, found)


def test_a_failure_has_the_code_and_the_kind_of_the_message(tmp_path: Path):
    first = python("import sys; sys.exit('m.onnx: error: value \\'a\\' has 3 elements; help: none')").failure(tmp_path)
    other = python("import sys; sys.exit('n.onnx: error: value \\'b\\' has 14 elements')").failure(tmp_path)
    assert first is not None
    assert first == other
    assert python("import sys; sys.exit('error: another')").failure(tmp_path) != first
    assert python("import sys; sys.exit(0)").failure(tmp_path) is None


def test_a_pattern_replaces_the_message(tmp_path: Path):
    command = python("import sys; print('error: a; wrong'); sys.exit(2)", pattern="wrong$")
    assert command.failure(tmp_path) == python("import sys; print('wrong'); sys.exit(2)", pattern="wrong$").failure(
        tmp_path
    )
    assert python("import sys; print('right'); sys.exit(2)", pattern="wrong").failure(tmp_path) is None


def test_the_file_replaces_the_placeholder_or_is_appended(tmp_path: Path):
    code = "import sys; print('error:', sys.argv[1]); sys.exit(len(sys.argv))"
    named = FailingCommand([sys.executable, "-c", code, "{}"], 60).failure(tmp_path)
    appended = FailingCommand([sys.executable, "-c", code], 60).failure(tmp_path)
    assert named is not None
    assert (named.code, named) == (2, appended)


def test_a_run_beyond_the_limit_is_a_failure_of_its_own(tmp_path: Path):
    failure = python("import time; time.sleep(60)", timeout=0.2).failure(tmp_path)
    assert failure is not None
    assert failure.code is None


def test_a_command_that_does_not_exist(tmp_path: Path):
    with pytest.raises(XRelayError, match="cannot run"):
        FailingCommand(["/nonexistent/command"], 1).failure(tmp_path)

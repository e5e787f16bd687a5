"""Processes start fast because they only import the modules that they use; several hundred lit tests depend on it."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("llvmlite", "onnx", "rich", "google.protobuf", "safetensors", "ml_dtypes", "xdsl.dialects.llvm")

UNUSED = ("xrelay.dialects.relay", "xrelay.dialects.topi", "xrelay.dialects.loop", "xrelay.runtime", "xrelay.frontend")


def modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('modules:', *sys.modules)"],
        input="builtin.module {}",
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.rpartition("modules:")[2].split())


def test_xrelay_opt_on_an_empty_module_imports_nothing_heavy() -> None:
    loaded = modules_after("from xrelay.tools.xrelay_opt import main\nassert main(['-p', 'canonicalize']) == 0")
    assert not loaded & set(HEAVY)
    assert not {name for name in loaded if name.startswith(UNUSED)}


def test_the_package_itself_imports_nothing_heavy() -> None:
    assert not modules_after("import xrelay") & {*HEAVY, "xdsl", "numpy"}


READS = """
from importlib.metadata import Distribution, distributions
reads, read = [], Distribution.entry_points.fget
Distribution.entry_points = property(lambda self: reads.append(self) or read(self))
from xrelay.tools.xrelay_opt import main
assert main(["-p", "canonicalize"]) == 0
assert reads
assert len(reads) <= 2 * len(list(distributions())), f"read {len(reads)} times"
"""


def test_xrelay_opt_asks_for_extensions_once_for_xdsl_and_once_for_itself() -> None:
    modules_after(READS)


IMPORTED = """
from onnx import TensorProto, helper
from xrelay.frontend.onnx import import_onnx
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy")
graph = helper.make_graph([helper.make_node("Softmax", ["x"], ["y"])], "g", [x], [y])
import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]))
"""


def test_the_import_of_a_model_imports_the_converters_and_operators_of_its_nodes() -> None:
    loaded = modules_after(IMPORTED)
    converters, operators = "xrelay.frontend.onnx.converters.", "xrelay.dialects.relay.ops."
    assert {f"{converters}nn.softmax", f"{operators}nn.softmax"} <= loaded
    assert not {f"{converters}nn.recurrent", f"{converters}tensor.scatter", f"{operators}vision.nms"} & loaded


NOT_IN_TABLES = """
from xrelay.dialects.relay.core.operator_modules import OPERATOR_MODULES
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.frontend.onnx.converter_modules import CONVERTER_MODULES
from xrelay.frontend.onnx.registry import find_converter
OPERATOR_MODULES.clear()
CONVERTER_MODULES.clear()
assert get_relay_op("nn.softmax").name == "relay.nn.softmax"
assert find_converter("Softmax", "", 13).since == 13
"""


def test_definitions_that_are_not_in_the_tables_are_found() -> None:
    modules_after(NOT_IN_TABLES)


OTHER_PACKAGES = """
from xdsl.irdl import irdl_op_definition
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import UnknownOpError, register_relay_op
from xrelay.frontend.onnx.registry import converts, find_converter, known_ranges

@converts("Softmax", since=20)
def softmax(node):
    return node.input(0)

assert find_converter("Softmax", "", 20).convert is softmax
assert find_converter("Softmax", "", 13).is_ours
assert known_ranges("Softmax", "") == "1–12, 13 and later, 20 and later"

class OtherSoftmaxOp(RelayOp):
    name = "relay.nn.softmax"

try:
    register_relay_op(OtherSoftmaxOp)
except UnknownOpError as error:
    assert "two classes register relay op 'nn.softmax'" in str(error)
else:
    raise AssertionError
"""


def test_definitions_of_other_packages_may_come_before_ours() -> None:
    modules_after(OTHER_PACKAGES)

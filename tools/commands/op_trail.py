"""Explains why a requested op is absent: which pass removed it, or why it is no work for a kernel.

An op is identified by its operator, the name of its result, or any of its source locations.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.op_lists import region_arguments
from xrelay.errors import InputError
from xrelay.passes.fusion.explain import is_answer
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.verify import walk_ops
from xrelay.relay.pass_api.passes import is_kernel


class OpTrail(PassInstrument):
    """Follows the op or value called `name` through the passes of a pipeline."""

    def __init__(self, name: str):
        self._name = name
        self._found: Operation | SSAValue | None = None
        self._operator = ""
        self._removed_by: str | None = None
        self._folded = ""
        self._began = False

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Searches the input of the first pass."""
        if not self._began:
            self._began = True
            self._record(mod, "")

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Searches the output of the pass."""
        self._record(mod, info.name)

    def _record(self, module: ModuleOp, after: str) -> None:
        found = next((ref for ref in _refs(module) if is_answer(ref, self._name)), None)
        if found is not None:
            if isinstance(found, ConstantOp) and isinstance(self._found, Operation) and self._operator != "constant":
                self._folded = f"a constant, folded from {self._operator} by {after}"
            self._found, self._removed_by = found, None
            self._operator = found.name.removeprefix("relay.") if isinstance(found, Operation) else ""
        elif self._found is not None and self._removed_by is None:
            self._removed_by = after

    def refusal(self) -> InputError | None:
        """Returns the error that explains why the op is absent after fusion; `None` if nothing ever had the name."""
        name, ref = repr(self._name), self._found
        if ref is None:
            return None
        if self._removed_by is not None:
            kind = f" ({self._operator})" if self._operator else ""
            return InputError(
                f"{self._removed_by} removed {name}{kind}",
                help="--as-is explains the model before the optimiser",
            )
        if isinstance(ref, SSAValue):
            return InputError(f"{name} is a parameter, not an op", help="name one of its users")
        if isinstance(ref, ConstantOp):
            what = self._folded if self._folded else "a constant"
            return InputError(f"{name} is {what}, not an op of a kernel", help="name one of its users")
        around = ref.parent_op()
        if isinstance(around, FusedOp):
            return InputError(
                f"{name} is already in the kernel @{around.group_name.data}", help="run relay-defuse-ops first"
            )
        if isinstance(around, FuncOp) and is_kernel(around):
            return InputError(f"{name} is in @{around.sym_name.data}, which is already a kernel")
        if ref.parent is None:
            return InputError(f"{name} ({self._operator}) was removed: no result uses it")
        return None


def _refs(module: ModuleOp) -> Iterator[Operation | SSAValue]:
    """Yields the ops of the module's functions, then their parameters."""
    parameters: list[SSAValue] = []
    for op in walk_ops(module):
        if op is not module and not isinstance(op, FuncOp):
            yield op
        parameters += region_arguments(op)
    yield from parameters


def node_called(model: Path, name: str) -> tuple[str, str] | None:
    """Returns the location and op type of the ONNX node with `name` or with such an output; `None` for other files."""
    if model.suffix != ".onnx":
        return None
    from xrelay.frontend.onnx.load import load_model

    loaded = load_model(model).proto
    for node in loaded.graph.node:
        if name == node.name or name in node.output:
            return node.name or next(filter(None, node.output), node.op_type), node.op_type
    return None

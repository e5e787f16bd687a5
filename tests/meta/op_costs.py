"""What an operator costs: the lines and files that it needs in dialect, interpreter, lowering, importer and tests.

    python -m meta.op_costs          (from tests/) prints the table

Counted are lines that are not empty, docstrings and decorators included:

- the operator's class; of a base class below `RelayOp` the share of each of its registered subclasses;
- in interpreter and lowering the functions whose decorators name the class, divided by the ops that these name, the
  rows of tables that name it, and the import;
- in the importer and in the drawings of random nodes the same for the ONNX ops of `ONNX_OPS`, without the ops of other
  domains that are called alike;
- in the text tests of constraints the pieces of a file that name it;
- of functions of the same file that these lines call, the share of each op that calls them.

Files count where they name the operator. How a kind of compute is lowered from topi on belongs to the kind, not to the
op. The operator's example, which is compiled and compared, and declared constraints, which are broken, cost nothing.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.dialects.relay.ops.tensor_elementwise import BinaryBroadcastOp, UnaryElementwiseOp
from xrelay.dialects.relay.structure.composite import CompositeOp

ROOT = Path(__file__).parents[2]
BY_CLASS = ("dialects/relay/ops/*.py", "interpreters/relay/*.py", "lowering/relay_to_topi/*.py")
BY_ONNX = ("frontend/onnx/converters/*.py", "tests/fuzz/onnx_drawings*.py")
INVALID = "tests/lit/dialects/relay/ops"

ONNX_OPS = {
    "take": "Gather", "gather_nd": "GatherND", "gather": "GatherElements", "scatter_nd": "ScatterND",
    "scatter_elements": "ScatterElements", "argmax": "ArgMax", "argmin": "ArgMin", "variance": "", "cumsum": "CumSum",
    "cumprod": "CumProd", "sort": "", "argsort": "", "topk": "TopK", "argwhere": "NonZero", "unique": "Unique",
    "where": "Where", "equal": "Equal", "not_equal": "", "less": "Less", "less_equal": "LessOrEqual",
    "greater": "Greater", "greater_equal": "GreaterOrEqual", "logical_and": "And", "logical_or": "Or",
    "logical_xor": "Xor", "logical_not": "Not", "mod": "Mod", "floor_mod": "", "tile": "Tile",
    "broadcast_to": "Expand", "strided_slice": "Slice", "arange": "Range", "full": "ConstantOfShape",
    "one_hot": "OneHot", "nn.batch_matmul": "", "nn.matmul": "MatMul", "nn.layer_norm": "LayerNormalization",
    "nn.group_norm": "GroupNormalization", "nn.instance_norm": "InstanceNormalization",
    "nn.rms_norm": "RMSNormalization", "nn.l2_normalize": "LpNormalization", "nn.gelu": "Gelu", "nn.prelu": "PRelu",
    "nn.leaky_relu": "LeakyRelu", "nn.elu": "Elu", "nn.softplus": "Softplus", "nn.hard_swish": "HardSwish",
    "nn.log_softmax": "LogSoftmax", "nn.mish": "Mish",
}  # fmt: skip
"""The operators of every kind of compute, and the ONNX op that each is the meaning of; empty where there is none."""


@dataclass
class Cost:
    """The lines of one operator, and the files that name it."""

    lines: float = 0.0
    files: set[str] = field(default_factory=set[str])

    def add(self, file: str, lines: float) -> None:
        self.lines += lines
        self.files.add(file)


@dataclass(frozen=True)
class Bound:
    """What a kind of operator may cost."""

    kind: str
    lines: int
    files: int


def bound_of(op: type[RelayOp]) -> Bound:
    """The bound of the kind of `op`."""
    if issubclass(op, CompositeOp):
        return Bound("decomposition", 60, 4)
    if issubclass(op, UnaryElementwiseOp | BinaryBroadcastOp):
        return Bound("elementwise", 30, 4)
    return Bound("own compute", 150, 5)


@cache
def costs() -> dict[str, Cost]:
    """The cost of every registered operator of xrelay's own."""
    ops = {name: op for name, op in relay_ops().items() if op.__module__.startswith("xrelay.dialects.")}
    found = {name: Cost() for name in ops}
    _add_files(found, BY_CLASS, {op.__name__: name for name, op in ops.items()}, {"evaluates", "implements"})
    _add_files(found, BY_ONNX, {onnx: name for name, onnx in ONNX_OPS.items() if onnx}, {"converts", "draws"})
    _add_bases(found, ops)
    for file in sorted((ROOT / INVALID).glob("*_invalid.mlir")):
        for piece in file.read_text(encoding="utf-8").split("// -----"):
            for name, op in ops.items():
                if f"[{op.name} C" in piece:
                    found[name].add(str(file.relative_to(ROOT)), _filled(piece.splitlines()))
    return found


def _add_files(found: dict[str, Cost], patterns: tuple[str, ...], keys: dict[str, str], decorators: set[str]) -> None:
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            source = SourceFile(path, keys, decorators)
            for name, lines in source.shares():
                if name in found:
                    found[name].add(str(path.relative_to(ROOT)), lines)


def _add_bases(found: dict[str, Cost], ops: dict[str, type[RelayOp]]) -> None:
    """Divide each base class among its registered subclasses."""
    heirs: dict[type, list[str]] = defaultdict(list)
    for name, op in ops.items():
        for base in op.__mro__[1 : op.__mro__.index(RelayOp)]:
            if base is not CompositeOp:
                heirs[base].append(name)
    for base, names in heirs.items():
        path = Path(str(sys.modules[base.__module__].__file__))
        text = path.read_text(encoding="utf-8")
        classes = (each for each in ast.parse(text).body if isinstance(each, ast.ClassDef))
        node = next(each for each in classes if each.name == base.__name__)
        for name in names:
            found[name].lines += _filled(text.splitlines()[node.lineno - 1 : node.end_lineno]) / len(names)


def _is_of_another_dialect(module: str) -> bool:
    """True for dialects other than relay: topi has a `MatmulOp` too."""
    return module.startswith("xrelay.dialects.") and not module.startswith("xrelay.dialects.relay.")


def _filled(lines: list[str]) -> int:
    return sum(bool(line.strip()) for line in lines)


class SourceFile:
    """One Python file: which of its lines are there for which operator.

    `keys` are the identifiers or strings that stand for operators, `decorators` the functions that register for them.
    """

    def __init__(self, path: Path, keys: dict[str, str], decorators: set[str]):
        text = path.read_text(encoding="utf-8")
        self._lines, self._tree = text.splitlines(), ast.parse(text)
        self._keys, self._decorators = keys, decorators
        definitions = [node for node in self._tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        classes = [node for node in definitions if isinstance(node, ast.ClassDef)]
        # Base classes are divided among all their heirs, those of other files too: here they would count twice.
        bases = {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
        self._named = {node.name: node for node in definitions if node.name not in bases}
        self._callers: dict[str, set[str]] = defaultdict(set)

    def shares(self) -> Iterator[tuple[str, float]]:
        """Each operator with a number of lines; an operator may come several times."""
        owned: dict[str, set[str]] = defaultdict(set)
        for node in self._tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                for name in self._owners(node):
                    yield name, self._size(node) / len(self._owners(node))
                    owned[name].add(node.name)
                    self._note_calls(name, node)
            else:
                yield from self._rows(node)
        for helper, names in self._callers.items():
            if not self._owners(self._named[helper]):
                for name in names:
                    yield name, self._size(self._named[helper]) / len(names)

    def _owners(self, node: ast.FunctionDef | ast.ClassDef) -> list[str]:
        """The operators that a class defines, or that the decorators of a function name."""
        if isinstance(node, ast.ClassDef):
            return [self._keys[node.name]] if node.name in self._keys else []
        calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
        registering = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in self._decorators]
        registering = [call for call in registering if all(keyword.arg != "domain" for keyword in call.keywords)]
        found = {name for call in registering for name in self._mentioned(call)}
        for call in registering:
            for argument in call.args:
                if isinstance(argument, ast.Starred) and isinstance(argument.value, ast.Name):
                    found |= {name for row in self._tables(argument.value.id) for name in self._mentioned(row)}
        return sorted(found)

    def _tables(self, name: str) -> Iterator[ast.AST]:
        """The keys of the module's table called `name`."""
        for node in self._tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            if isinstance(value, ast.Dict) and any(isinstance(each, ast.Name) and each.id == name for each in targets):
                yield from (key for key in value.keys if key is not None)

    def _rows(self, node: ast.stmt) -> Iterator[tuple[str, float]]:
        """One line for each line of a table or import that names the operator."""
        if isinstance(node, ast.ImportFrom) and _is_of_another_dialect(str(node.module)):
            return
        seen: set[tuple[str, int]] = set()
        for each in ast.walk(node):
            name = self._key(each)
            line = getattr(each, "lineno", 0)
            if name is not None and (name, line) not in seen:
                seen.add((name, line))
                others = {self._key(other) for other in ast.walk(node) if getattr(other, "lineno", 0) == line} - {None}
                yield name, 1 / len(others)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                for name in self._mentioned(key) if key is not None else ():
                    self._note_calls(name, value)

    def _note_calls(self, name: str, node: ast.AST) -> None:
        """Remember that the operator's lines need the file's functions that they name, and those that these name."""
        pending = [node]
        while pending:
            for each in ast.walk(pending.pop()):
                if isinstance(each, ast.Name) and each.id in self._named and name not in self._callers[each.id]:
                    self._callers[each.id].add(name)
                    pending.append(self._named[each.id])

    def _mentioned(self, node: ast.AST) -> set[str]:
        return {name for each in ast.walk(node) if (name := self._key(each)) is not None}

    def _key(self, node: ast.AST) -> str | None:
        """The operator that a name, an import or a string stands for."""
        if isinstance(node, ast.Name):
            return self._keys.get(node.id)
        if isinstance(node, ast.alias):
            return self._keys.get(node.name)
        if isinstance(node, ast.Attribute):
            return self._keys.get(node.attr)
        return self._keys.get(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None

    def _size(self, node: ast.FunctionDef | ast.ClassDef) -> int:
        first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        return _filled(self._lines[first - 1 : node.end_lineno])


def main() -> None:
    """Print kind, lines and files of every operator of `ONNX_OPS`, and what is above its bound."""
    for name in ONNX_OPS:
        if name not in relay_ops():
            sys.stdout.write(f"{name:20} not there\n")
            continue
        cost, bound = costs()[name], bound_of(relay_ops()[name])
        above = "" if cost.lines <= bound.lines and len(cost.files) <= bound.files else "  ABOVE"
        lines, files = f"{cost.lines:6.1f} of {bound.lines:3} lines", f"{len(cost.files)} of {bound.files} files"
        sys.stdout.write(f"{name:20} {bound.kind:14} {lines}, {files}{above}\n")


if __name__ == "__main__":
    main()

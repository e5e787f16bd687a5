"""Random ONNX models of nested branches, loops and scans, with values captured from outer graphs.

Tensors are lists of rows of `WIDTH` numbers, with a dynamic number of rows; numbers stay small integers, so that every
engine computes the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

T = TypeVar("T")

WIDTH = 3
MAX_TURNS = 3
"""The maximum number of iterations of a loop; rows may double in each."""
INPUTS = {"a": "n", "b": "m"}
"""The inputs that are lists of rows, each with its extent; there are also a number `i` and a condition `c`."""
NUMBERS = (-1, 0, 1, 2, 3)


@dataclass
class Scope:
    """The values that a graph may name: its own and those of the outer graphs."""

    rows: list[str]
    """Lists of rows: [k, WIDTH] with any k."""
    row: list[str]
    """Single rows: [1, WIDTH]."""
    numbers: list[str]
    conditions: list[str]
    nodes: list[NodeProto] = field(default_factory=list[NodeProto])

    def inner(self) -> Scope:
        """Returns the scope of a graph in this one."""
        return Scope([*self.rows], [*self.row], [*self.numbers], [*self.conditions])


class FlowModels:
    """Draws models from `rng`."""

    def __init__(self, rng: np.random.Generator):
        self._rng, self._count = rng, 0

    def model(self) -> ModelProto:
        """Returns a model with up to four of its values as outputs."""
        rows = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [dim, WIDTH]) for name, dim in INPUTS.items()]
        number = helper.make_tensor_value_info("i", TensorProto.INT64, [])
        condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
        scope = Scope(list(INPUTS), [], ["i"], ["c"])
        self._steps(scope, 2 + self._below(4), depth=2)
        made = {output for node in scope.nodes for output in node.output}
        results = [name for name in (*scope.rows, *scope.row, *scope.numbers) if name in made][-4:] or ["a"]
        if results == ["a"]:
            scope.nodes.append(helper.make_node("Identity", ["a"], ["same"]))
            results = ["same"]
        outputs = [helper.make_empty_tensor_value_info(name) for name in results]
        graph = helper.make_graph(scope.nodes, "flow", [*rows, number, condition], outputs)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])

    def inputs(self) -> dict[str, np.ndarray]:
        """Returns lists of 0 to 4 rows, a number and a condition."""
        same = self._below(5) if self._chance(0.4) else None
        rows = {name: self._below(5) if same is None else same for name in INPUTS}
        arrays = {name: self._rng.integers(-4, 5, (k, WIDTH)).astype(np.float32) for name, k in rows.items()}
        return arrays | {"i": np.array(self._pick(NUMBERS), np.int64), "c": np.array(self._chance(0.5))}

    def _steps(self, scope: Scope, count: int, depth: int) -> None:
        plain = [self._movement, self._arithmetic, self._sum, self._compare, self._count_rows]
        nested = [self._branch, self._loop, self._scan]
        for _ in range(count):
            is_nested = depth and self._chance(0.5)
            step = self._pick(nested if is_nested else plain)
            step(scope, depth - 1)

    def _movement(self, scope: Scope, _depth: int) -> None:
        kind, given = self._below(3), self._pick(scope.rows)
        if kind == 0:
            self._add(scope, "Concat", [given, self._pick(scope.rows)], scope.rows, axis=0)
        elif kind == 1:
            start, end = (self._constant(scope, [self._pick(NUMBERS)]) for _ in range(2))
            self._add(scope, "Slice", [given, start, end, self._constant(scope, [0])], scope.rows)
        else:
            last = self._constant(scope, [-1])
            self._add(scope, "Slice", [given, last, self._constant(scope, [-9]), last, last], scope.rows)

    def _arithmetic(self, scope: Scope, _depth: int) -> None:
        given, is_row = self._some(scope)
        other = self._pick(scope.row) if scope.row and self._chance(0.7) else given
        op = self._pick(("Add", "Sub", "Max"))
        wide = self._add(scope, op, [given, other], [])
        self._bounded(scope, wide, scope.row if is_row else scope.rows)

    def _sum(self, scope: Scope, _depth: int) -> None:
        wide = self._add(scope, "ReduceSum", [self._pick(scope.rows), self._constant(scope, [0])], [], keepdims=1)
        self._bounded(scope, wide, scope.row)

    def _compare(self, scope: Scope, _depth: int) -> None:
        limit = self._constant(scope, self._pick(NUMBERS))
        self._add(scope, self._pick(("Less", "Greater")), [self._pick(scope.numbers), limit], scope.conditions)

    def _count_rows(self, scope: Scope, _depth: int) -> None:
        shape = self._add(scope, "Shape", [self._pick(scope.rows)], [], start=0, end=1)
        self._add(scope, "Squeeze", [shape, self._constant(scope, [0])], scope.numbers)

    def _branch(self, scope: Scope, depth: int) -> None:
        """Adds an If whose outputs are a list of rows, and a row or a number."""
        others = "row" if self._chance(0.5) else "numbers"
        branches = [self._graph(scope, depth, [], ["rows", others], "branch") for _ in range(2)]
        names = self._fresh(2)
        node = helper.make_node(
            "If", [self._pick(scope.conditions)], names, then_branch=branches[0], else_branch=branches[1]
        )
        scope.nodes.append(node)
        scope.rows.append(names[0])
        getattr(scope, others).append(names[1])

    def _loop(self, scope: Scope, depth: int) -> None:
        """Adds a Loop that carries a number and rows that may grow, and stacks single rows.

        Without an initial condition the standard ignores the body's condition, but onnxruntime does not: it is then
        constant true.
        """
        counts = self._chance(0.4)
        turn, goes, rows, number = self._fresh(4)
        carried = [(turn, TensorProto.INT64, []), (goes, TensorProto.BOOL, [])]
        carried += [(rows, TensorProto.FLOAT, [None, WIDTH]), (number, TensorProto.INT64, [])]
        body = self._graph(
            scope, depth, carried, ["always" if counts else "conditions", "rows", "numbers", "row"], "body"
        )
        names = self._fresh(3)
        most = self._constant(scope, self._below(MAX_TURNS + 1))
        count = self._add(scope, "Min", [self._pick(scope.numbers), most], []) if self._chance(0.4) else most
        first = "" if counts else self._condition(scope) if self._chance(0.5) else self._pick(scope.conditions)
        given = [count, first, self._pick(scope.rows), self._pick(scope.numbers)]
        scope.nodes.append(helper.make_node("Loop", given, names, body=body))
        scope.rows.append(names[0])
        scope.numbers.append(names[1])
        scope.rows.append(self._add(scope, "Reshape", [names[2], self._constant(scope, [-1, WIDTH])], []))

    def _scan(self, scope: Scope, depth: int) -> None:
        """Adds a Scan over rows, forwards or backwards, that carries a single row and stacks single rows."""
        state, part = self._fresh(2)
        given = [(state, TensorProto.FLOAT, [1, WIDTH]), (part, TensorProto.FLOAT, [WIDTH])]
        body = self._graph(scope, depth, given, ["row", "row"], "body", unsqueezed=part)
        initial = self._pick(scope.row) if scope.row else self._add(scope, "ReduceMax", self._rows_of_one(scope), [])
        names = self._fresh(2)
        flags = {name: [self._below(2)] for name in ("scan_input_directions", "scan_output_directions")}
        inputs = [initial, self._pick(scope.rows)]
        scope.nodes.append(helper.make_node("Scan", inputs, names, body=body, num_scan_inputs=1, **flags))
        scope.row.append(names[0])
        scope.rows.append(self._add(scope, "Reshape", [names[1], self._constant(scope, [-1, WIDTH])], []))

    def _rows_of_one(self, scope: Scope) -> list[str]:
        """Returns the operands of a reduction of rows to a single row; one of the rows is a constant."""
        one = self._add(scope, "Constant", [], [], value=helper.make_tensor("", TensorProto.FLOAT, [1, 3], [1, 2, 3]))
        all_rows = self._add(scope, "Concat", [self._pick(scope.rows), one], [], axis=0)
        return [all_rows, self._constant(scope, [0])]

    def _graph(
        self,
        around: Scope,
        depth: int,
        arguments: Sequence[tuple[str, int, Sequence[int | None]]],
        kinds: Sequence[str],
        name: str,
        *,
        unsqueezed: str = "",
    ) -> GraphProto:
        """Returns a graph of some steps with an output of each of `kinds`, computed in it or copied."""
        scope = around.inner()
        homes = {TensorProto.INT64: scope.numbers, TensorProto.BOOL: scope.conditions}
        for argument, dtype, shape in arguments:
            if argument != unsqueezed:
                homes.get(dtype, scope.row if list(shape) == [1, WIDTH] else scope.rows).append(argument)
        if unsqueezed:
            self._add(scope, "Unsqueeze", [unsqueezed, self._constant(scope, [0])], scope.row)
        self._steps(scope, 1 + self._below(2), depth)
        outputs = [self._given(scope, kind) for kind in kinds]
        types = {"rows": (TensorProto.FLOAT, [None, WIDTH]), "row": (TensorProto.FLOAT, [1, WIDTH])}
        types |= {
            "numbers": (TensorProto.INT64, []),
            "conditions": (TensorProto.BOOL, []),
            "always": (TensorProto.BOOL, []),
        }
        infos = [helper.make_tensor_value_info(out, *types[kind]) for out, kind in zip(outputs, kinds, strict=True)]
        given: list[ValueInfoProto] = [helper.make_tensor_value_info(*argument) for argument in arguments]
        return helper.make_graph(scope.nodes, name, given, infos)

    def _given(self, scope: Scope, kind: str) -> str:
        """Returns a new value of a kind: a copy of a recent one, as a graph may output each value once."""
        if kind == "row" and not scope.row:
            self._add(scope, "ReduceMax", self._rows_of_one(scope), scope.row, keepdims=1)
        if kind == "always":
            return self._condition(scope)
        known: list[str] = getattr(scope, kind)
        return self._add(scope, "Identity", [self._pick(known[-2:])], [])

    def _some(self, scope: Scope) -> tuple[str, bool]:
        """Returns a list of rows or a single row, and whether it is a single row."""
        is_row = bool(scope.row) and self._chance(0.4)
        return self._pick(scope.row if is_row else scope.rows), is_row

    def _bounded(self, scope: Scope, value: str, home: list[str]) -> None:
        limits = [
            self._add(scope, "Constant", [], [], value=helper.make_tensor("", TensorProto.FLOAT, [], [limit]))
            for limit in (-64.0, 64.0)
        ]
        self._add(scope, "Clip", [value, *limits], home)

    def _condition(self, scope: Scope) -> str:
        """Adds a constant that is true."""
        return self._add(scope, "Constant", [], [], value=helper.make_tensor("", TensorProto.BOOL, [], [True]))

    def _constant(self, scope: Scope, value: int | Sequence[int]) -> str:
        dims, data = ([], [value]) if isinstance(value, int) else ([len(value)], list(value))
        return self._add(scope, "Constant", [], [], value=helper.make_tensor("", TensorProto.INT64, dims, data))

    def _add(self, scope: Scope, op: str, inputs: Sequence[str], home: list[str], **attributes: object) -> str:
        """Adds a node; appends its result to `home`, the values of its kind."""
        (name,) = self._fresh(1)
        scope.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        home.append(name)
        return name

    def _fresh(self, count: int) -> list[str]:
        self._count += count
        return [f"v{self._count - count + place}" for place in range(count)]

    def _below(self, limit: int) -> int:
        return int(self._rng.integers(limit))

    def _chance(self, share: float) -> bool:
        return bool(self._rng.random() < share)

    def _pick(self, things: Sequence[T]) -> T:
        return things[self._below(len(things))]

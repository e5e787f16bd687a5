"""Readable names of kernels such as `fused_nn_conv2d_add_nn_relu`, numbered if several are equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from xrelay.passes.graph.op_kinds import OpKind, kind_of
from xrelay.passes.infra.verify import walk_ops

MAX_LENGTH = 80
"""Longer names are abbreviated: first repeated ops, then the tail."""


class GroupNames:
    """Generates names of groups that are unique among the groups and symbols of a module."""

    def __init__(self, module: ModuleOp):
        self._taken = {name.data for op in walk_ops(module) if (name := _symbol(op)) is not None}
        self._next: dict[str, int] = {}

    def unique(self, base: str) -> str:
        """`base`, or `base_1`, `base_2`, … if that is taken."""
        name, number = base, self._next.get(base, 0)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._next[base] = number
        self._taken.add(name)
        return name


def group_name(ops: Iterable[Operation]) -> str:
    """The name of a group of `ops`: its operators in order, without constants and tuples."""
    operators = [
        op.name.removeprefix("relay.").replace(".", "_")
        for op in ops
        if kind_of(op) in (OpKind.OPERATOR, OpKind.BARRIER, OpKind.BINDING)
    ]
    return abbreviated(operators if operators else ["tuple_get_item"])


def abbreviated(operators: Sequence[str]) -> str:
    """`fused_a_b_c`; if that is too long `fused_ax20_b`, then `fused_a_b_and_17_more`."""
    name = "_".join(["fused", *operators])
    if len(name) <= MAX_LENGTH:
        return name
    runs = [(operator, len(list(group))) for operator, group in groupby(operators)]
    parts = [operator if count == 1 else f"{operator}x{count}" for operator, count in runs]
    name = "_".join(["fused", *parts])
    if len(name) <= MAX_LENGTH:
        return name
    kept, length = 1, len("fused_") + len(parts[0])
    while kept < len(parts) and length + 1 + len(parts[kept]) <= MAX_LENGTH - len("_and_999999_more"):
        length += 1 + len(parts[kept])
        kept += 1
    left_out = sum(count for _, count in runs[kept:])
    return "_".join(["fused", *parts[:kept], "and", str(left_out), "more"])


def _symbol(op: Operation) -> StringAttr | None:
    name = op.properties.get("group_name" if kind_of(op) is OpKind.GROUP else "sym_name")
    return name if isinstance(name, StringAttr) else None

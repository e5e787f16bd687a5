"""Counts the reads of values by nodes that are not converted yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import onnx

from xrelay.frontend.onnx.needed import names_read


class Uses:
    """For each name, the number of nodes of a list that read it and are not converted yet.

    The counts are computed at first use, as few models need them.
    """

    outputs: frozenset[str]
    """The values that the list computes for its graph."""

    def __init__(self, nodes: Sequence[onnx.NodeProto], outputs: Collection[str] = (), around: Uses | None = None):
        self._nodes, self._converted = nodes, 0
        self.outputs, self._around = frozenset(outputs), around
        self._left: Counter[str] | None = None

    def forget(self, node: onnx.NodeProto) -> None:
        """Subtract the reads of `node`, which is converted next."""
        if self._left is None:
            self._converted += 1
        else:
            self._left.subtract(names_read(node))

    def add(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Add the reads of further nodes."""
        for node in nodes:
            self._counts().update(names_read(node))

    def is_read(self, name: str) -> bool:
        """Returns whether an unconverted node reads `name`, here or in an enclosing list."""
        return self._counts()[name] > 0 or (self._around is not None and self._around.is_read(name))

    def is_output(self, name: str) -> bool:
        """Returns whether `name` is an output, here or of an enclosing list."""
        return name in self.outputs or (self._around is not None and self._around.is_output(name))

    def _counts(self) -> Counter[str]:
        if self._left is None:
            self._left = Counter(name for node in self._nodes[self._converted :] for name in names_read(node))
        return self._left

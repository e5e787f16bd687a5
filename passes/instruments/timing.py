"""`PassTiming` measures the time of every pass, and returns a tree as text or JSON."""

from __future__ import annotations

import json
import warnings
from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.instruments.time_tree import TimeTree


class PassTiming(PassInstrument):
    """Times passes without their observers. Render before leaving the context, which drops the times.

    A `Sequential` encloses its members. With a `tree` of the caller, passes are added to its open step and nothing is
    dropped: `xrelay-opt --timing` prints that tree. Relay's name of this class is `PassTimingInstrument`.
    """

    def __init__(self, tree: TimeTree | None = None) -> None:
        self._shared_tree = tree
        self.tree = TimeTree() if tree is None else tree

    def enter_pass_ctx(self) -> None:
        """Resets the times."""
        if self._shared_tree is None:
            self.tree = TimeTree()

    def exit_pass_ctx(self) -> None:
        """Drops the times."""
        self.enter_pass_ctx()

    @contextmanager
    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> Generator[None]:
        """Times the pass."""
        depth = self.tree.depth
        self.tree.open(info.name)
        try:
            yield
        finally:
            self.tree.close_to(depth)

    def render(self) -> str:
        """Returns a line per pass, indented by depth: name, total, own time, share of all and of its parent.

        Returns an empty text, with a warning, if no pass has run.
        """
        self._warn_if_empty()
        total = self.tree.root.seconds
        return "".join(
            f"{chr(9) * depth}{step.name}: {step.seconds * 1e6:.0f}us [{step.own_seconds * 1e6:.0f}us] "
            f"({_percent(step.seconds, total)}; {_percent(step.seconds, parent.seconds)})\n"
            for step, parent, depth in self.tree.root.walk()
        )

    def to_json(self) -> str:
        """Returns the tree as JSON: a list of objects with `name`, `seconds`, `own_seconds` and `passes`.

        Returns an empty list, with a warning, if no pass has run.
        """
        self._warn_if_empty()
        return json.dumps([step.as_data("passes") for step in self.tree.root.steps])

    def _warn_if_empty(self) -> None:
        if not self.tree.root.steps:
            message = "no pass was timed: render before the context is left, and list the instrument in it"
            warnings.warn(message, RuntimeWarning, stacklevel=3)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole > 0 else 100:.2f}%"

"""`PassTiming`: how long every pass took, as a tree, in text or JSON."""

from __future__ import annotations

import json
import warnings

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.instruments.pass_stack import PassStack
from xrelay.passes.instruments.time_tree import TimeTree


class PassTiming(PassInstrument):
    """Times passes. Render before the context is left, which forgets the times.

    A `Sequential` encloses its members. Relay's users know it as `PassTimingInstrument`.
    """

    def __init__(self) -> None:
        self._tree, self._running = TimeTree(), PassStack[int]()

    def enter_pass_ctx(self) -> None:
        """Begin anew."""
        self._tree, self._running = TimeTree(), PassStack[int]()

    def exit_pass_ctx(self) -> None:
        """Forget."""
        self.enter_pass_ctx()

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Start a clock."""
        self._running.push(info, self._tree.depth)
        self._tree.open(info.name)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Stop the clock."""
        self._tree.close_to(self._running.pop(info))

    def render(self) -> str:
        """A line for each pass, indented by its depth: name, total, own time, share of everything and of its parent.

        Empty, with a warning, where no pass has run.
        """
        self._warn_if_empty()
        total = self._tree.root.seconds
        return "".join(
            f"{chr(9) * depth}{step.name}: {step.seconds * 1e6:.0f}us [{step.own_seconds * 1e6:.0f}us] "
            f"({_percent(step.seconds, total)}; {_percent(step.seconds, parent.seconds)})\n"
            for step, parent, depth in self._tree.root.walk()
        )

    def to_json(self) -> str:
        """The tree as JSON: a list of objects with `name`, `seconds`, `own_seconds` and `passes`.

        The list is empty, with a warning, where no pass has run.
        """
        self._warn_if_empty()
        return json.dumps([step.as_data("passes") for step in self._tree.root.steps])

    def _warn_if_empty(self) -> None:
        if not self._tree.root.steps:
            message = "no pass was timed: render before the context is left, and list the instrument in it"
            warnings.warn(message, RuntimeWarning, stacklevel=3)


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole > 0 else 100:.2f}%"

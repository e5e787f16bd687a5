"""`PassTiming`: how long every pass took, as a tree, in text or JSON."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument


@dataclass
class _Frame:
    """A pass, when it started, how long it took, and the passes that ran in it."""

    name: str
    start: float
    seconds: float = 0.0
    children: list[_Frame] = field(default_factory=list["_Frame"])

    @property
    def own_seconds(self) -> float:
        return self.seconds - sum(child.seconds for child in self.children)


class PassTiming(PassInstrument):
    """Times passes. Render before the context is left, which forgets the times.

    A `Sequential` encloses its members. Relay's users know it as `PassTimingInstrument`.
    """

    def __init__(self) -> None:
        self._root = _Frame("", 0.0)
        self._open: list[_Frame] = []

    def enter_pass_ctx(self) -> None:
        """Begin anew."""
        self._root, self._open = _Frame("", 0.0), []

    def exit_pass_ctx(self) -> None:
        """Forget."""
        self.enter_pass_ctx()

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Start a clock."""
        frame = _Frame(info.name, perf_counter())
        (self._open[-1] if self._open else self._root).children.append(frame)
        self._open.append(frame)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Stop the clock."""
        frame = self._open.pop()
        frame.seconds = perf_counter() - frame.start

    def render(self) -> str:
        """A line for each pass, indented by its depth: name, total, own time, share of everything and of its parent.

        Empty, with a warning, where no pass has run.
        """
        self._warn_if_empty()
        total = sum(frame.seconds for frame in self._root.children)
        lines = [
            f"{chr(9) * depth}{frame.name}: {frame.seconds * 1e6:.0f}us [{frame.own_seconds * 1e6:.0f}us] "
            f"({_percent(frame.seconds, total)}; {_percent(frame.seconds, parent if depth else total)})\n"
            for frame, parent, depth in self._frames()
        ]
        return "".join(lines)

    def to_json(self) -> str:
        """The tree as JSON: a list of objects with `name`, `seconds`, `own_seconds` and `passes`.

        The list is empty, with a warning, where no pass has run.
        """
        self._warn_if_empty()
        return json.dumps([_as_data(frame) for frame in self._root.children])

    def _frames(self) -> Iterator[tuple[_Frame, float, int]]:
        """Every frame with the time of its parent and its depth, parents first."""
        stack = [(frame, 0.0, 0) for frame in reversed(self._root.children)]
        while stack:
            frame, parent, depth = stack.pop()
            yield frame, parent, depth
            stack += ((child, frame.seconds, depth + 1) for child in reversed(frame.children))

    def _warn_if_empty(self) -> None:
        if not self._root.children:
            message = "no pass was timed: render before the context is left, and list the instrument in it"
            warnings.warn(message, RuntimeWarning, stacklevel=3)


def _as_data(frame: _Frame) -> dict[str, object]:
    """A frame as JSON's objects; contexts nest no deeper than users write them."""
    return {
        "name": frame.name,
        "seconds": frame.seconds,
        "own_seconds": frame.own_seconds,
        "passes": [_as_data(child) for child in frame.children],
    }


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole > 0 else 100:.2f}%"

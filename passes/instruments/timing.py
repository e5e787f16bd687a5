"""A tree of the times of nested steps, and `PassTiming`, which measures the time of every pass in it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument


@dataclass
class Step:
    """A timed step, and the steps in it."""

    name: str
    seconds: float = 0.0
    steps: list[Step] = field(default_factory=list["Step"])

    @property
    def own_seconds(self) -> float:
        """The time outside `steps`."""
        return self.seconds - sum(step.seconds for step in self.steps)

    def child(self, name: str, *, merge: bool) -> Step:
        """Adds a step to this one and returns it; with `merge`, returns an existing step of that name."""
        found = next((step for step in self.steps if step.name == name), None) if merge else None
        if found is None:
            found = Step(name)
            self.steps.append(found)
        return found

    def walk(self) -> Iterator[tuple[Step, Step, int]]:
        """Yields every step below this one with its parent and its depth, parents first."""
        stack: list[tuple[Step, Step, int]] = [(step, self, 0) for step in reversed(self.steps)]
        while stack:
            step, parent, depth = stack.pop()
            yield step, parent, depth
            stack += ((inner, step, depth + 1) for inner in reversed(step.steps))

    def as_data(self, steps: str = "steps") -> dict[str, object]:
        """Returns the step for JSON, with inner steps under the key `steps`; recurses as deep as pipelines nest."""
        return {
            "name": self.name,
            "seconds": self.seconds,
            "own_seconds": self.own_seconds,
            steps: [step.as_data(steps) for step in self.steps],
        }


class _OpenStep(AbstractContextManager[None]):
    """Times its `with` block. A class: a generator takes twice the time, and a compilation has a hundred steps."""

    def __init__(self, root: Step, running: list[Step], step: Step):
        self._root, self._running, self._step = root, running, step

    def __enter__(self) -> None:
        self._running.append(self._step)
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        self._running.pop()
        self._step.seconds += perf_counter() - self._start
        if not self._running:
            self._root.seconds = sum(inner.seconds for inner in self._root.steps)


class TimeTree:
    """A clock for nested steps."""

    def __init__(self) -> None:
        self.root = Step("total")
        self._open: list[Step] = []

    def step(self, name: str, *, merge: bool = True) -> AbstractContextManager[None]:
        """Times the `with` block as a step of the innermost one.

        With `merge`, the time is added to that of an earlier step of that name.
        """
        return _OpenStep(self.root, self._open, (self._open[-1] if self._open else self.root).child(name, merge=merge))

    def report(self) -> str:
        """Returns a table: seconds, seconds outside inner steps, share of the total, and name, indented by depth."""
        total = self.root.seconds
        rows = [
            f"{step.seconds:10.4f} {step.own_seconds:10.4f} {step.seconds / total if total else 0:8.1%}  "
            f"{'  ' * depth}{step.name}"
            for step, _, depth in self.root.walk()
        ]
        last = f"{total:10.4f} {'':10} {1:8.1%}  {self.root.name}"
        return "\n".join(["   seconds        own    share  step", *rows, last]) + "\n"


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

    def pass_scope(self, mod: ModuleOp, info: PassInfo) -> AbstractContextManager[None]:
        """Times the pass."""
        return self.tree.step(info.name, merge=False)

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

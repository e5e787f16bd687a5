"""A tree of the times of nested steps."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter


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


class TimeTree:
    """A clock for nested steps."""

    def __init__(self) -> None:
        self.root = Step("total")
        self._open: list[tuple[Step, float]] = []

    @property
    def depth(self) -> int:
        """The number of open steps."""
        return len(self._open)

    def open(self, name: str, *, merge: bool = False) -> None:
        """Begins a step in the innermost one; with `merge`, continues an earlier step of that name."""
        parent = self._open[-1][0] if self._open else self.root
        self._open.append((parent.child(name, merge=merge), perf_counter()))

    def close(self) -> None:
        """Ends the innermost step."""
        step, start = self._open.pop()
        step.seconds += perf_counter() - start
        if not self._open:
            self.root.seconds = sum(inner.seconds for inner in self.root.steps)

    def close_to(self, depth: int) -> None:
        """Ends the steps that an error left open, until `depth` are open."""
        while self.depth > depth:
            self.close()

    @contextmanager
    def step(self, name: str, *, merge: bool = True) -> Generator[None]:
        """Times the `with` block; with `merge`, the time is added to that of an earlier step of that name."""
        depth = self.depth
        self.open(name, merge=merge)
        try:
            yield
        finally:
            self.close_to(depth)

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

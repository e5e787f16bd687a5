"""Inserts the passes of other packages into the compile pipeline, at the points defined in `extensions`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from xrelay.passes.catalogue.default_pipeline import PipelineRow
from xrelay.passes.catalogue.extensions import registered_passes


class PipelineWeaver:
    """Processes the stages of the pipeline in order; `points` are the points so far."""

    def __init__(self) -> None:
        self.points: list[str] = []
        self._seen = Counter[str]()
        self._added = registered_passes().values()

    def stage(self, name: str, rows: Iterable[PipelineRow]) -> list[PipelineRow]:
        """Returns the rows of the stage called `name`, including those of other packages."""
        woven = self._at(f"before stage-{name}")
        for row in rows:
            self._seen[row.pass_name] += 1
            number = self._seen[row.pass_name]
            label = row.pass_name if number == 1 else f"{row.pass_name}#{number}"
            woven += [*self._at(f"before {label}"), row, *self._at(f"after {label}")]
        return [*woven, *self._at(f"after stage-{name}")]

    def _at(self, point: str) -> list[PipelineRow]:
        self.points.append(point)
        reason = f"another package adds it {point}"
        return [PipelineRow(added.opt_level, added.name, reason) for added in self._added if added.at == point]

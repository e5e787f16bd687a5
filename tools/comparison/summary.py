"""The summary of several comparisons: the time of each model over that of the better peer, and the geometric mean."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xrelay.errors import printable
from xrelay.tools.comparison.compare import Row

WIDTH = 32
"""The width of the column of models."""


@dataclass(frozen=True)
class Measured:
    """The rows of a model at one number of threads; the first is xrelay."""

    model: str
    rows: Sequence[Row]

    @property
    def threads(self) -> int:
        """The number of threads."""
        return self.rows[0].threads

    def ratio(self, of_times: Callable[[Sequence[float]], float]) -> float | None:
        """Returns the time of xrelay over the least time of a peer; `None` if xrelay or all peers failed.

        `of_times` reduces the times of all runs to one, for example `min`.
        """
        ours, *peers = self.rows
        times = [of_times(row.wall) for row in peers if not row.error]
        return None if ours.error or not times else of_times(ours.wall) / min(times)

    @property
    def better_peer(self) -> Row | None:
        """The peer with the least minimum; `None` if all failed."""
        return min((row for row in self.rows[1:] if not row.error), key=lambda row: min(row.wall), default=None)


def summary(measured: Sequence[Measured]) -> str:
    """Formats a table for each number of threads, with ratios of minima and of medians; a ratio below 1 is faster."""
    counts = dict.fromkeys(each.threads for each in measured)
    return "".join(
        line + "\n" for count in counts for line in _lines(count, [each for each in measured if each.threads == count])
    )


def _lines(count: int, measured: Sequence[Measured]) -> Iterator[str]:
    title = f"{count} thread{'s' * (count != 1)}"
    yield f"{title:{WIDTH}} {'min ms':>10} {'better peer':>22} {'ratio':>7} {'median':>7}"
    for each in measured:
        least, median, peer = each.ratio(min), each.ratio(statistics.median), each.better_peer
        if least is None or median is None or peer is None:
            yield f"{printable(each.model):{WIDTH}} {'failed':>10}"
            continue
        other = f"{peer.engine} {min(peer.wall):10.3f}"
        yield f"{printable(each.model):{WIDTH}} {min(each.rows[0].wall):10.3f} {other:>22} {least:7.2f} {median:7.2f}"
    for_minimum, for_median = (
        [ratio for each in measured if (ratio := each.ratio(kind)) is not None] for kind in (min, statistics.median)
    )
    if for_minimum:
        means = f"{statistics.geometric_mean(for_minimum):7.2f} {statistics.geometric_mean(for_median):7.2f}"
        yield f"{f'geometric mean of {len(for_minimum)}':{WIDTH}} {'':>10} {'':>22} {means}"

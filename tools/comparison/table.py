"""The table of a comparison of engines."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from xrelay.errors import printable
from xrelay.tools.comparison.compare import Costs, Row

HEADER = (
    f"{'engine':12} {'min ms':>10} {'median ms':>10} {'CPU min ms':>10} {'ratio':>7} {'cold CPU s':>11} "
    f"{'cached CPU s':>13} {'peak MB':>8} {'cached MB':>10}  outputs\n"
)


def table(rows: Sequence[Row]) -> str:
    """Formats the rows of one number of threads. The first is xrelay; `ratio` is its minimum time over the engine's."""
    count = rows[0].threads
    return "".join((f"{count} thread{'s' * (count != 1)}\n", HEADER, *_lines(rows)))


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.error:
            yield f"{row.engine:12} failed: {printable(row.error)}\n"
            continue
        ratio = "" if rows[0].error else f"{min(rows[0].wall) / min(row.wall):.2f}"
        times = f"{min(row.wall):10.3f} {statistics.median(row.wall):10.3f} {min(row.cpu):10.3f}"
        costs = f"{_cpu(row.cold):>11} {_cpu(row.cached):>13} {_peak(row.cold):>8} {_peak(row.cached):>10}"
        yield f"{row.engine:12} {times} {ratio:>7} {costs}  {_outputs(row)}\n"


def _cpu(costs: Costs | None) -> str:
    return "" if costs is None else f"{costs.cpu:.2f}"


def _peak(costs: Costs | None) -> str:
    return "" if costs is None else f"{costs.peak:.0f}"


def _outputs(row: Row) -> str:
    if row.difference is None:
        return ""
    return f"{'agree' if row.difference.agrees else 'DIFFER'}, by {row.difference.share:.1e} of the largest value"

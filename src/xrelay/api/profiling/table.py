"""The table of a profile as text."""

from __future__ import annotations

from collections.abc import Iterator

from xrelay.api.profiling.data import KernelProfile, ProfileData
from xrelay.errors import printable

_HEAD = ("time ms", "share", "calls", "expected", "GFLOP/s", "GB/s", "roofline", "threads", "kernel")
_WIDTHS = (10, 7, 7, 10, 9, 8, 9, 8)
_INDENT = " " * 6
_LONGEST = 72
"""The maximum length of the schedule or the source nodes of a kernel, whose lines fit into 80 columns."""


def table(profile: ProfileData) -> str:
    """Returns a row for each kernel and for the rest of the run; the times add up to that of the run."""
    lines = [_row(_HEAD), *(line for kernel in profile.kernels for line in _kernel_lines(kernel))]
    other = profile.other_seconds
    lines.append(_row((_ms(other), _percent(other / profile.seconds), *[""] * 6, "(outside of kernels)")))
    lines.append(_row((_ms(profile.seconds), _percent(1.0), *[""] * 6, _summary(profile))))
    return "\n".join(lines) + "\n"


def _summary(profile: ProfileData) -> str:
    threads = f"{profile.threads} thread{'s' if profile.threads > 1 else ''}"
    return f"{printable(profile.model)}, {threads}; {_ms(profile.untraced_seconds)} ms without tracing"


def _kernel_lines(kernel: KernelProfile) -> Iterator[str]:
    expected = "-" if kernel.expected_seconds is None else _ms(kernel.expected_seconds)
    speeds = [_number(kernel.gflops), _number(kernel.gbytes)]
    roof = "-" if kernel.roofline_share is None else _percent(kernel.roofline_share)
    cells = [_ms(kernel.seconds), _percent(kernel.share), str(kernel.calls), expected, *speeds, roof]
    yield _row((*cells, str(kernel.threads), printable(kernel.name)))
    if kernel.schedule:
        yield _INDENT + _short(kernel.schedule)
    if kernel.sources:
        yield _INDENT + _short("of " + ", ".join(kernel.sources))


def _row(cells: tuple[str, ...]) -> str:
    *numbers, name = cells
    return "".join(f"{cell:>{width}}" for cell, width in zip(numbers, _WIDTHS, strict=True)) + "  " + name


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"

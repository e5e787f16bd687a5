"""A chart of the kernels of a profile under the roofline of this machine, as SVG.

Both axes are logarithmic: operations per byte, and operations per second. The area of a dot is the share of the
kernel in the time of the run. A roof is drawn for the bandwidth of memory and of each cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import ceil, floor, log10, sqrt
from typing import Final, NamedTuple

from xrelay.api.profiling.data import KernelProfile, ProfileData
from xrelay.runtime.roofline import SIZES

_WIDTH, _HEIGHT, _MARGIN = 900, 560, 70
_SIZE_NAMES: Final = tuple(f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB" for size in SIZES)


class _Point(NamedTuple):
    """A kernel in the chart."""

    kernel: KernelProfile
    intensity: float
    """Operations per byte."""
    speed: float
    """Billions of operations per second."""


class _Axis(NamedTuple):
    """A logarithmic axis from 10^first to 10^last, drawn from one place to another."""

    first: int
    last: int
    begin: float
    end: float

    def place(self, value: float) -> float:
        """Returns the place of a value; values outside of the axis are on its ends."""
        share = (log10(value) - self.first) / (self.last - self.first)
        return self.begin + min(max(share, 0.0), 1.0) * (self.end - self.begin)

    @property
    def ticks(self) -> list[int]:
        """The exponents of the powers of ten on the axis."""
        return list(range(self.first, self.last + 1))


def roofline_svg(profile: ProfileData) -> str:
    """Returns the chart; kernels whose operations or bytes are unknown or 0 are absent."""
    points = list(_points(profile.kernels))
    x = _axis([point.intensity for point in points] + [0.1, 100.0], _MARGIN, _WIDTH - _MARGIN)
    speeds = [point.speed for point in points] + [profile.roofline.operations / 1e9]
    y = _axis(speeds, _HEIGHT - _MARGIN, _MARGIN)
    threads = f"{profile.threads} thread{'s' if profile.threads > 1 else ''}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_WIDTH / 2, 30, f"{profile.model}, {threads}", "middle"),
        _text(_WIDTH / 2, _HEIGHT - 20, "operations per byte", "middle"),
        _text(_MARGIN, _MARGIN - 20, "GFLOP/s", "middle"),
        *_grid(x, y),
        *_roofs(profile, x, y),
        *(_dot(point, x, y) for point in points),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _points(kernels: Sequence[KernelProfile]) -> Iterator[_Point]:
    for kernel in kernels:
        if kernel.operations and kernel.bytes and kernel.gflops:
            yield _Point(kernel, kernel.operations / kernel.bytes, kernel.gflops)


def _axis(values: Sequence[float], begin: float, end: float) -> _Axis:
    return _Axis(floor(log10(min(values))), ceil(log10(max(values))), begin, end)


def _grid(x: _Axis, y: _Axis) -> Iterator[str]:
    for power in x.ticks:
        place = x.place(10.0**power)
        yield f'<path d="M{place:.1f} {y.begin}V{y.end}" stroke="#ddd"/>'
        yield _text(place, y.begin + 18, f"{10.0**power:g}", "middle")
    for power in y.ticks:
        place = y.place(10.0**power)
        yield f'<path d="M{x.begin} {place:.1f}H{x.end}" stroke="#ddd"/>'
        yield _text(x.begin - 6, place + 4, f"{10.0**power:g}", "end")


def _roofs(profile: ProfileData, x: _Axis, y: _Axis) -> Iterator[str]:
    """Yields the roof of arithmetic and, for each size of data, that of its bandwidth up to the ridge."""
    peak, first, last = profile.roofline.operations / 1e9, 10.0**x.first, 10.0**x.last
    yield f'<path d="M{x.begin} {y.place(peak):.1f}H{x.end}" stroke="black" fill="none"/>'
    yield _text(x.end, y.place(peak) - 6, f"{peak:.0f} GFLOP/s", "end")
    for number, (name, speed) in enumerate(zip(_SIZE_NAMES, profile.roofline.bandwidths, strict=True)):
        bandwidth = speed / 1e9
        begin, ridge = max(first, 10.0**y.first / bandwidth), min(last, peak / bandwidth)
        if begin < ridge:
            places = f"M{x.place(begin):.1f} {y.place(begin * bandwidth):.1f}"
            yield f'<path d="{places}L{x.place(ridge):.1f} {y.place(ridge * bandwidth):.1f}" stroke="#888"/>'
            # The labels of similar bandwidths are at different places, so that they do not overlap.
            label = begin * (ridge / begin) ** (number / len(_SIZE_NAMES) / 2)
            yield _text(x.place(label) + 4, y.place(label * bandwidth) - 6, f"{bandwidth:.0f} GB/s, {name}", "start")


def _dot(point: _Point, x: _Axis, y: _Axis) -> str:
    kernel = point.kernel
    radius = 3 + 22 * sqrt(kernel.share)
    title = (
        f"{kernel.name}\n{', '.join(kernel.sources)}\n{kernel.seconds * 1e3:.4f} ms, {100 * kernel.share:.1f}%\n"
        f"{point.speed:.2f} GFLOP/s, {point.intensity:.2f} operations per byte\n{kernel.schedule}"
    )
    return (
        f'<circle cx="{x.place(point.intensity):.1f}" cy="{y.place(point.speed):.1f}" r="{radius:.1f}" '
        f'fill="#1f77b4" fill-opacity="0.5" stroke="#1f77b4"><title>{escape(title)}</title></circle>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'

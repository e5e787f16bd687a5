"""Boxes, texts and arrows as an SVG file that is readable on light and dark pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal, TypeAlias

LINE: Final = 18
"""The height of a line of text, in pixels."""
CHARACTER: Final = 7.3
"""The width of a character, in pixels."""
PAD: Final = 8
COLORS: Final = (("#d6e6fb", "#1d3b63"), ("#d9f0dc", "#1d4a2a"), ("#fde6cf", "#5a3715"), ("#ecdff8", "#43305e"),
                 ("#fbdcdf", "#5c2630"), ("#d7f0ee", "#174745"), ("#f3efc4", "#4c4716"))  # fmt: skip
"""Fills on light and on dark pages."""
PLAIN: Final = len(COLORS)
"""The number of the fill without a colour."""
Anchor: TypeAlias = Literal["start", "middle", "end"]
_AFTER: Final[dict[Anchor, float]] = {"start": 1, "middle": 0.5, "end": 0}
"""The part of a text after its anchor."""


def width_of(text: str) -> float:
    """Returns the width of a box around a line of text."""
    return len(text) * CHARACTER + 2 * PAD


@dataclass
class Picture:
    """A picture that grows with its contents. `title` describes it for readers who cannot see it."""

    title: str
    width: float = 0
    height: float = 0
    parts: list[str] = field(default_factory=list[str])

    def box(self, x: float, y: float, width: float, height: float, color: int = PLAIN) -> None:
        """Draws a rectangle with the fill `color`, an index of `COLORS` or `PLAIN`."""
        fill = "plain" if color == PLAIN else f"c{color % len(COLORS)}"
        self.parts.append(f'<rect class="{fill}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>')
        self._grow(x + width, y + height)

    def text(self, x: float, y: float, text: str, *, strong: bool = False, anchor: Anchor = "start") -> None:
        """Writes a line of text whose top is at `y`, and whose start, middle or end is at `x`."""
        style = ' class="strong"' if strong else ""
        self.parts.append(
            f'<text{style} x="{x:g}" y="{y + 0.72 * LINE:g}" text-anchor="{anchor}">{escape(text)}</text>'
        )
        self._grow(x + len(text) * CHARACTER * _AFTER[anchor], y + LINE)

    def label(self, x: float, y: float, width: float, text: str, color: int = PLAIN) -> None:
        """Draws a box of one line with a centred text."""
        self.box(x, y, width, LINE + PAD, color)
        self.text(x + width / 2, y + PAD / 2, text, anchor="middle")

    def line(self, x1: float, y1: float, x2: float, y2: float, *, arrow: bool = True) -> None:
        """Draws a line, with an arrowhead at its end."""
        end = ' marker-end="url(#arrow)"' if arrow else ""
        self.parts.append(f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}"{end}/>')
        self._grow(max(x1, x2), max(y1, y2))

    def _grow(self, x: float, y: float) -> None:
        self.width, self.height = max(self.width, x), max(self.height, y)

    def render(self) -> str:
        """Returns the file."""
        width, height = round(self.width + PAD), round(self.height + PAD)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img">\n<title>{escape(self.title)}</title>\n<style>\n{_style()}</style>\n{_ARROW}'
            f'<rect class="page" width="{width}" height="{height}" rx="6"/>\n'
        )
        return head + "".join(f"{part}\n" for part in self.parts) + "</svg>\n"


_ARROW: Final = (
    '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 1L7 4L0 7z" class="head"/></marker>\n'
)


def _style() -> str:
    light = _fills("#ffffff", "#1f2328", "#6e7781", "#f6f8fa", [color for color, _ in COLORS])
    dark = _fills("#161b22", "#e6edf3", "#8b949e", "#21262d", [color for _, color in COLORS])
    return (
        "text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre}\n"
        ".strong{font-weight:bold}\npath{fill:none;stroke-width:1.2}\n"
        f"{light}@media(prefers-color-scheme:dark){{\n{dark}}}\n"
    )


def _fills(page: str, ink: str, lines: str, plain: str, colors: list[str]) -> str:
    fills = "".join(f".c{number}{{fill:{color}}}" for number, color in enumerate(colors))
    return (
        f".page{{fill:{page};stroke:none}}text{{fill:{ink}}}rect,path{{stroke:{lines}}}.head{{fill:{lines}}}"
        f".plain{{fill:{plain}}}{fills}\n"
    )

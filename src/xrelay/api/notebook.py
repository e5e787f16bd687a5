"""HTML of models, profiles and programs, which notebooks show in place of `repr`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

from xrelay.runtime.metadata import ModelMetadata, TensorSpec

if TYPE_CHECKING:
    from xrelay.api.profile_data import ProfileData

OPEN_LINES: Final = 40
"""The number of lines up to which a text is unfolded."""


def html_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table; numbers are aligned to the right."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td style="text-align: right">{value:.4g}</td>'
    align = "right" if isinstance(value, int) else "left"
    return f'<td style="text-align: {align}">{"" if value is None else escape(str(value))}</td>'


def html_text(title: str, text: str) -> str:
    """Returns a text under its title, folded if it is long."""
    unfolded = " open" if text.count("\n") <= OPEN_LINES else ""
    return f"<details{unfolded}><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def model_html(metadata: ModelMetadata, inputs: Iterable[TensorSpec], outputs: Iterable[TensorSpec]) -> str:
    """Returns the inputs, outputs and kernels of a model."""
    ends = [("input", spec.name, str(spec)) for spec in inputs]
    ends += [("output", spec.name, str(spec)) for spec in outputs]
    kernels = html_table(["kernel", "nodes"], ((each.symbol, ", ".join(each.sources)) for each in metadata.kernels))
    title = f"<b>{escape(metadata.name)}</b> for {escape(metadata.cpu)}, {len(metadata.kernels)} kernels"
    folded = f"<details><summary>kernels</summary>{kernels}</details>"
    return f"<div>{title}{html_table(['', 'name', 'type'], ends)}{folded}</div>"


def profile_html(profile: ProfileData, chart: str) -> str:
    """Returns the kernels of a profile by decreasing time, and the chart of the roofline."""
    rows = [
        (
            each.name,
            each.seconds * 1e3,
            100 * each.share,
            each.calls,
            each.gflops,
            each.gbytes,
            None if each.roofline_share is None else 100 * each.roofline_share,
            each.threads,
            ", ".join(each.sources),
        )
        for each in profile.kernels
    ]
    heads = ["kernel", "ms", "share %", "calls", "GFLOP/s", "GB/s", "of roofline %", "threads", "nodes"]
    title = f"<b>{escape(profile.model)}</b>: {profile.seconds * 1e3:.4g} ms with at most {profile.threads} threads"
    return f"<div>{title}{html_table(heads, rows)}<details><summary>roofline</summary>{chart}</details></div>"

"""HTML of models and profiles, which notebooks show in place of `repr`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from xrelay.html import html_table
from xrelay.runtime.metadata import ModelMetadata, TensorSpec

if TYPE_CHECKING:
    from xrelay.api.profile_data import ProfileData


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

"""HTML of profiles, which notebooks show in place of `repr`."""

from __future__ import annotations

from html import escape

from xrelay.api.profiling.data import ProfileData
from xrelay.html import html_table


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

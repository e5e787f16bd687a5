"""HTML of models, which notebooks show in place of `repr`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from xrelay.html import html_table
from xrelay.runtime.metadata import ModelMetadata, TensorSpec


def model_html(metadata: ModelMetadata, inputs: Iterable[TensorSpec], outputs: Iterable[TensorSpec]) -> str:
    """Returns the inputs, outputs and kernels of a model."""
    ends = [("input", spec.name, str(spec)) for spec in inputs]
    ends += [("output", spec.name, str(spec)) for spec in outputs]
    kernels = html_table(["kernel", "nodes"], ((each.symbol, ", ".join(each.sources)) for each in metadata.kernels))
    title = f"<b>{escape(metadata.name)}</b> for {escape(metadata.cpu)}, {len(metadata.kernels)} kernels"
    folded = f"<details><summary>kernels</summary>{kernels}</details>"
    return f"<div>{title}{html_table(['', 'name', 'type'], ends)}{folded}</div>"

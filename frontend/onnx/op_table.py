"""The table of supported ONNX ops, for the documentation."""

from __future__ import annotations

from itertools import groupby

from xrelay.frontend.onnx import converters
from xrelay.frontend.onnx.registry import Converter, registered_converters


def op_table() -> str:
    """Returns the table in Markdown: a row per op with its opsets and its limits."""
    converters.load()
    ours = [converter for converter in registered_converters() if converter.is_ours]
    rows = [_row(name, list(group)) for name, group in groupby(ours, key=_name)]
    return "\n".join(["| op | opsets | limits |", "|---|---|---|", *rows]) + "\n"


def _name(converter: Converter) -> str:
    """The name of the op, with its domain if that is not ONNX's own."""
    return f"{converter.domain}::{converter.op_type}" if converter.domain else converter.op_type


def _row(name: str, forms: list[Converter]) -> str:
    """A row of the table: the opsets from the first to the last form; limits that differ name their opsets."""
    limits = {form.limits: [other for other in forms if other.limits == form.limits] for form in forms}
    everywhere = len(limits) == 1
    texts = [
        text if everywhere else f"{text} ({', '.join(_range(form) for form in of)})"
        for text, of in limits.items()
        if text
    ]
    whole = f"{forms[0].since}–" + ("" if forms[-1].until is None else str(forms[-1].until))
    return f"| {name} | {whole} | {'; '.join(texts)} |"


def _range(form: Converter) -> str:
    return f"opset {form.since}–{'' if form.until is None else form.until}"

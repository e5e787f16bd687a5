"""Equal, Less, Greater, LessOrEqual and GreaterOrEqual."""

from __future__ import annotations

from xrelay.frontend.onnx.converters.shared.elementwise import converts_binary

for _op_type, _relay_name in {"Equal": "equal", "Less": "less", "Greater": "greater"}.items():
    converts_binary(_op_type, _relay_name)
for _op_type, _relay_name in {"LessOrEqual": "less_equal", "GreaterOrEqual": "greater_equal"}.items():
    converts_binary(_op_type, _relay_name, since=12)

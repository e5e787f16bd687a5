"""And, Or, Xor and Not."""

from __future__ import annotations

from xrelay.frontend.onnx.converters.shared.elementwise import converts_binary, converts_unary

for _op_type, _relay_name in {"And": "logical_and", "Or": "logical_or", "Xor": "logical_xor"}.items():
    converts_binary(_op_type, _relay_name)
converts_unary("Not", "logical_not")

"""Sines, cosines and tangents, hyperbolic ones, and their inverses."""

from __future__ import annotations

from xrelay.frontend.onnx.converters.shared.elementwise import converts_unary

for _op_type in ("Sin", "Cos", "Tan", "Asin", "Acos", "Atan"):
    converts_unary(_op_type, _op_type.lower(), since=7)
for _op_type in ("Sinh", "Cosh", "Asinh", "Acosh", "Atanh"):
    converts_unary(_op_type, _op_type.lower(), since=9)

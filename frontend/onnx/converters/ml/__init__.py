"""Converters of operators for classical machine learning, in the domain ai.onnx.ml."""

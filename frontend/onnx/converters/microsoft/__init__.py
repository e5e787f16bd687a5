"""Converters of onnxruntime's operators, in the domain com.microsoft."""

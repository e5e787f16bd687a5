"""onnxruntime's modules of names from C++, which programs import for the classes of errors."""

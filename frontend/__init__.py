"""Foreign models into relay: ONNX."""

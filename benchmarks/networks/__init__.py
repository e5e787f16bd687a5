"""Networks in the sizes in which people use them, as ONNX models with random weights."""

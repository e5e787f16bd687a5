"""`acme.l1_normalize` for xrelay: an op with a reduction and an attribute, its schedule, and its ONNX domain."""

"""Returns the types of the contents of files; the inputs are lists of numbers."""

from __future__ import annotations

from magika import Magika

CONTENTS = (
    b"def f(x):\n    return x\n\nimport sys\nclass A:\n    pass\n" * 5,
    b"#!/bin/sh\necho hi\nfor i in 1 2; do ls; done\n" * 4,
    b'{"a": [1,2,3], "b": {"c": null}}' * 3,
    bytes(range(256)) * 4,
)
found = [Magika().identify_bytes(content) for content in CONTENTS]
result = [[str(each.output.label), float(each.score)] for each in found]

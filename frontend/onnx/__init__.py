"""Import of ONNX models into relay: `import_onnx(source)`, and `@converts` for converters of other packages."""

from __future__ import annotations

from xrelay.frontend.onnx.importer import import_onnx
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts, registered_ops

__all__ = ["NodeView", "converts", "import_onnx", "registered_ops"]

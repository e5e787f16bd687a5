"""Restores a module after a rewrite that leads to contradictory types."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp


class Undo:
    """A copy of `module` at the time of creation, which can be restored."""

    def __init__(self, module: ModuleOp):
        self._module, self._copy = module, module.clone()

    def run(self) -> None:
        """Restores the module; its ops are new objects. May be called once."""
        self._module.detach_region(self._module.body)
        self._module.add_region(self._copy.detach_region(self._copy.body))
        self._module.attributes = self._copy.attributes

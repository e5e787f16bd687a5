"""Takes back what a rewrite did to a module, where the types turn out to contradict each other."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp


class Undo:
    """A copy of `module` as it is now, which can be put in its place."""

    def __init__(self, module: ModuleOp):
        self._module, self._copy = module, module.clone()

    def run(self) -> None:
        """Let the module be as it was; its ops are others than then. To be called once."""
        self._module.detach_region(self._module.body)
        self._module.add_region(self._copy.detach_region(self._copy.body))
        self._module.attributes = self._copy.attributes

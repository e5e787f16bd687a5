"""`Library`: what `relay.build` gives, and `load_module` reads from a file, as Relay's users know it.

lib.export_library("net.xrelay")
module = GraphModule(xrelay.load_module("net.xrelay")["default"](xrelay.cpu()))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from xrelay.api.model import CompiledModel
from xrelay.arguments import checked_path
from xrelay.errors import InputError
from xrelay.runtime.artifact import Artifact

DEFAULT = "default"
"""The name under which a library has its model, whatever else it is called."""


class Library(CompiledModel):
    """A compiled model which, as in Relay, also answers `lib["default"](device)` with itself, and can be unpacked."""

    @property
    def libmod_name(self) -> str:
        """The name that `build` was given as `mod_name`."""
        return self.artifact.metadata.name

    def __getitem__(self, name: str) -> Callable[[object], Library]:
        """The function that gives the model for a device, of which there is one: the CPU."""
        if name not in (DEFAULT, self.libmod_name):
            raise InputError(f"the library has no entry {name!r}", help=f"its entry is {self.libmod_name!r}")
        return lambda device=None: self

    def __iter__(self) -> Iterator[Any]:
        """`graph, lib, params = relay.build(…)`, the older form: the name of its entry, itself, and no parameters."""
        return iter((self.graph_json, self, self.params))

    @property
    def lib(self) -> Library:
        """The library itself, which in Relay holds another."""
        return self

    def get_lib(self) -> Library:
        """As `lib`."""
        return self

    @property
    def graph_json(self) -> str:
        """What stands for the graph, which is in the library: the name of its entry."""
        return self.libmod_name

    def get_graph_json(self) -> str:
        """As `graph_json`."""
        return self.graph_json

    @property
    def params(self) -> dict[str, NDArray[Any]]:
        """The parameters that are still to be set: none, for they became constants."""
        return {}

    def get_params(self) -> dict[str, NDArray[Any]]:
        """As `params`."""
        return self.params

    def export_library(self, file_name: str | Path) -> None:
        """As `save`: one file of code, tables and weights, whatever it is called, which `load_module` reads.

        It is neither a shared library nor an archive: `export` writes an object file and a header for C.
        """
        self.save(file_name)


def load_module(path: str | PathLike[str]) -> Library:
    """The library in a file that `export_library` or `save` wrote; raises as `xrelay.load`, which has more options."""
    return Library(Artifact.load(checked_path("path", path)))

"""`Library`, the result of `relay.build` and of `load_module`, with Relay's interface.

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
"""The name under which a library always has its model."""


class Library(CompiledModel):
    """A compiled model with Relay's interface: `lib["default"](device)` returns the model, and it can be unpacked."""

    @property
    def libmod_name(self) -> str:
        """The `mod_name` that was passed to `build`."""
        return self.artifact.metadata.name

    def __getitem__(self, name: str) -> Callable[[object], Library]:
        """Returns the function that returns the model for a device. The only device is the CPU."""
        if name not in (DEFAULT, self.libmod_name):
            raise InputError(f"the library has no entry {name!r}", help=f"its entry is {self.libmod_name!r}")
        return lambda device=None: self

    def __iter__(self) -> Iterator[Any]:
        """Yields the name of the entry, the library and no parameters, for `graph, lib, params = relay.build(…)`."""
        return iter((self.graph_json, self, self.params))

    @property
    def lib(self) -> Library:
        """The library itself. In Relay it is another object."""
        return self

    def get_lib(self) -> Library:
        """The same as `lib`."""
        return self

    @property
    def graph_json(self) -> str:
        """The name of the entry. Relay's graph is part of the library here."""
        return self.libmod_name

    def get_graph_json(self) -> str:
        """The same as `graph_json`."""
        return self.graph_json

    @property
    def params(self) -> dict[str, NDArray[Any]]:
        """The parameters to set: none, because they are constants in the library."""
        return {}

    def get_params(self) -> dict[str, NDArray[Any]]:
        """The same as `params`."""
        return self.params

    def export_library(self, file_name: str | Path) -> None:
        """The same as `save`: writes code, tables and weights to one file that `load_module` reads.

        The file is neither a shared library nor an archive, whatever its name. `export` writes an object file and a
        header for C.
        """
        self.save(file_name)


def load_module(path: str | PathLike[str]) -> Library:
    """Loads the library from a file of `export_library` or `save`. Errors are those of `xrelay.load`."""
    return Library(Artifact.load(checked_path("path", path)))

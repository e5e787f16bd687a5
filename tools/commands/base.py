"""The base class of subcommands, their documentation, and their errors."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import ClassVar

from xrelay.errors import XRelayError


class UsageError(XRelayError):
    """An invalid command line; the exit code is 2."""


def refuse_to_replace(model: Path, *outputs: Path | None) -> None:
    """Raises `UsageError` if one of the files to write is the model that is read."""
    for output in outputs:
        if output is not None and output.resolve() == model.resolve():
            raise UsageError(f"the output {output} would replace the model", help="pass another file name")


class Command(ABC):
    """A subcommand. Its docstring is its help, and the first paragraph its summary in the list of commands."""

    name: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.__doc__:
            raise TypeError(f"the command class {cls.__name__} needs a docstring: it is the help users see")

    @classmethod
    def summary(cls) -> str:
        """Returns the first paragraph of the docstring, on one line."""
        return " ".join(cls.description().split("\n\n")[0].split())

    @classmethod
    def description(cls) -> str:
        """Returns the docstring."""
        return inspect.cleandoc(cls.__doc__ or "")

    @abstractmethod
    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares the flags."""

    @abstractmethod
    def run(self, args: Namespace) -> int:
        """Runs the command; returns the exit code."""

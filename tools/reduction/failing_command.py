"""The command of a reduction: runs on a model file, and decides whether it fails as it did at first."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from xrelay.errors import XRelayError

PLACEHOLDER: Final = "{}"
"""The argument of a command that stands for the model file."""
_VARIABLE: Final = re.compile(r"'[^']*'|\"[^\"]*\"|%?\d[\w.]*")
_ERROR: Final = re.compile(r"(?:^|: )(error: .*)$", re.MULTILINE)


@dataclass(frozen=True)
class Failure:
    """The way in which a command failed."""

    code: int | None
    """The exit code, negative for a signal; `None` if the time limit was exceeded."""
    message: str | None
    """The first error message, without names and numbers; `None` without a message or if a pattern is given."""


@dataclass(frozen=True)
class FailingCommand:
    """A command, its time limit, and an optional pattern that its output must contain."""

    words: Sequence[str]
    timeout: float
    pattern: re.Pattern[str] | None = None

    def failure(self, path: Path) -> Failure | None:
        """Returns the failure of the command on a model; `None` if it succeeds, or if the pattern does not occur.

        Raises `XRelayError` if the command cannot be started.
        """
        named = [word.replace(PLACEHOLDER, str(path)) for word in self.words]
        command = named if named != list(self.words) else [*named, str(path)]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                timeout=self.timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None if self.pattern is not None else Failure(None, None)
        except OSError as error:
            raise XRelayError(f"cannot run {command[0]!r}: {error.strerror}") from error
        output = done.stdout.decode(errors="replace")
        if done.returncode == 0 or (self.pattern is not None and self.pattern.search(output) is None):
            return None
        return Failure(done.returncode, None if self.pattern is not None else _kind(output))


def _kind(output: str) -> str | None:
    """Returns the first error message in an output, with names and numbers replaced."""
    found = _ERROR.search(output)
    return None if found is None else _VARIABLE.sub("_", found[1].partition("; help:")[0])

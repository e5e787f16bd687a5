"""A finding of a campaign, with the files that reproduce it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from xrelay.errors import XRelayError

_NUMBERS = re.compile(r"0x[0-9a-f]+|[-+]?\d[\d.e+-]*")
_NAMES = re.compile(r"'[^']*'|\{[^{}]*\}")


@dataclass
class Finding(Exception):
    """A failure: `kind` in a word or two, `message` in full, `files` by name to store with the report."""

    kind: str
    message: str
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    @property
    def signature(self) -> str:
        """The finding without its numbers and quoted names, which identifies equal findings."""
        return signature(f"{self.kind}: {self.message}")


def signature(text: str) -> str:
    """The first line of `text` without numbers and quoted names."""
    return _NAMES.sub("'…'", _NUMBERS.sub("#", text.strip().splitlines()[0] if text.strip() else ""))


def check_message(error: XRelayError, files: Mapping[str, bytes]) -> None:
    """Raises `Finding` if an error has several lines or is internal to xrelay."""
    if "\n" in str(error):
        raise Finding("message of several lines", str(error), files) from error
    if any(words in str(error) for words in ("internal error", "] raised ", "ill-formed module")):
        raise Finding("a pass fails", str(error), files) from error

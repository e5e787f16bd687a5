"""The command line as users of `mlir-opt` write it: flags with one dash or the prefix `mlir-`, and passes as flags."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Sequence

from xdsl.transforms import get_all_passes

from xrelay.lowering.registry import pass_thunks
from xrelay.tools.command_line import flag_hint

_LONG_FLAG = re.compile(r"-(?:-?mlir-)?(?P<name>[a-z][a-z-]+)(?P<value>=.*)?", re.DOTALL)
_UNKNOWN = re.compile(r"unrecognized arguments: --?(?P<name>[a-z][a-z0-9-]+)")


def own_spelling(words: Sequence[str], parser: ArgumentParser) -> list[str]:
    """Returns the command line with `-pass-pipeline=` as `--pass-pipeline=` and `--mlir-timing` as `--timing`.

    Words that are no flag of `parser` in this spelling are unchanged.
    """
    found = [_LONG_FLAG.fullmatch(word) for word in words]
    if not any(found):
        return list(words)
    known = set(re.findall(r"(?<!\S)--[\w-]+", parser.format_help()))
    flags = [f"--{each['name']}" if each is not None else "" for each in found]
    return [
        flag + (each["value"] or "") if each is not None and flag in known else word
        for word, flag, each in zip(words, flags, found, strict=True)
    ]


def flag_or_pass_hint(message: str, parser: ArgumentParser) -> str:
    """Returns how to run the pass that an unknown flag names, else the hint about flags."""
    unknown = _UNKNOWN.match(message)
    if unknown is not None and unknown["name"] in {**pass_thunks(), **get_all_passes()}:
        return f"passes are named by -p: -p {unknown['name']}"
    return flag_hint(message, parser)

"""Mutated texts: parsing any file ends in a module or in one error with a location.

`mutate` changes a text by flipping bytes, swapping, deleting and repeating tokens and lines, and by inserting texts
that have caused failures before. `check_text` reads, verifies and prints a text, and raises `Finding` unless the
outcome is an `XRelayError` or a module that prints and parses to itself. As a program: `python tests/fuzz/mlir_texts.py
MINUTES [SEED]`.
"""

from __future__ import annotations

import random
import re
import resource
import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from fuzz.time_limit import time_limit
from xrelay.errors import ParseError, XRelayError
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import verification_errors

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20
"""The time limit in seconds for a text of a few kilobytes."""
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[%@#!^]?[\w$.]+|->|\s+|.', re.DOTALL)
_PLACE = re.compile(r"^[^:]+:\d+:\d+$")
_TROUBLE = (
    "%undefined",
    "@main",
    "^bb9",
    "#relay.dims<n>",
    "#map",
    "!relay.incomplete",
    "tensor<?xf32>",
    "tensor<*xf32>",
    "tensor<0xf32>",
    f"tensor<{2**70}xf32>",
    "tensor<1000000x1000000xf32>",
    "dense<1.0> : tensor<1000000x1000000xf32>",
    "dense<[1, 2]> : tensor<3xi32>",
    "dense<> : tensor<0xf32>",
    'dense<"0x00"> : tensor<4xi8>',
    "dense<1.0e400> : tensor<2xf16>",
    "9" * 5000,
    str(2**64),
    "-1",
    "0x",
    "0xFF",
    "1.0e9999",
    "i0",
    "i99999999",
    "none",
    "index",
    "()",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    '"',
    '"\\',
    "//",
    "\x00",
    "\x1b",
    "é",
    "½",
    "\U0001f600",
    "\ufeff",
    "loc(unknown)",
    "[" * 500,
    "tuple<" * 500,
    "builtin.module {" * 200,
    "{-# external_resources: {} #-}",
    "-9223372036854775809",
    "true",
    "unit",
    "affine_map<(d0) -> (d0 floordiv 0)>",
)


class Finding(Exception):
    """A text that breaks the contract of `check_text`."""


def corpus(*folders: str) -> list[str]:
    """Returns the texts of the lit tests, of `folders` or of all, split at `// -----` lines."""
    files = [file for folder in folders or (".",) for file in sorted((ROOT / "tests" / "lit" / folder).rglob("*.mlir"))]
    return [piece for file in files for piece in re.split(r"^// -----.*$", file.read_text(), flags=re.MULTILINE)]


def mutate(rng: random.Random, text: str) -> str:
    """Returns `text` with one to four changes."""
    for _ in range(rng.randint(1, 4)):
        text = rng.choice(_MUTATIONS)(rng, text)
    return text


def check_text(text: str) -> None:
    """Reads, verifies and prints `text`; raises `Finding` on a violation."""
    with time_limit(SECONDS, Finding(f"takes more than {SECONDS} s")):
        module = _parsed(text, "read")
        if module is None:
            return
        try:
            wrong = list(islice(verification_errors(module), 20))
        except Exception as error:
            raise Finding(f"verifying raises {type(error).__name__}: {error}") from error
        if not wrong:
            _check_round_trip(module)


def _parsed(text: str, what: str) -> ModuleOp | None:
    """Returns the module, or `None` for a proper error."""
    try:
        return parse_module(_context(), text, "fuzz.mlir")
    except ParseError as error:
        if "the parser failed on the text" in error.message or "\n" in str(error):
            raise Finding(f"{what}: {error}") from error
        if error.location is None or not _PLACE.match(error.location):
            raise Finding(f"{what}: an error without its place: {error}") from error
    except XRelayError as error:
        raise Finding(f"{what} raises {type(error).__name__} for a text: {error}") from error
    except Exception as error:
        raise Finding(f"{what} raises {type(error).__name__}: {error}") from error
    return None


def _check_round_trip(module: ModuleOp) -> None:
    """Checks that a verified module prints, and that the printed text parses to the same module."""
    try:
        printed = str(module)
    except Exception as error:
        raise Finding(f"printing raises {type(error).__name__}: {error}") from error
    try:
        again = parse_module(_context(), printed, "printed.mlir")
    except XRelayError as error:
        raise Finding(f"what is printed is not read again: {error}\n{printed}") from error
    if str(again) != printed:
        raise Finding(f"what is printed reads as something else:\n{printed}\n{again}")


@cache
def _context() -> Context:
    return full_context()


def _flip_byte(rng: random.Random, text: str) -> str:
    content = bytearray(text.encode())
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(7)
    return content.decode(errors="replace")


def _swap_tokens(rng: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    words = [number for number, token in enumerate(tokens) if not token.isspace()]
    if len(words) > 1:
        first, second = rng.sample(words, 2)
        tokens[first], tokens[second] = tokens[second], tokens[first]
    return "".join(tokens)


def _delete_tokens(rng: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    start = rng.randrange(len(tokens) + 1)
    return "".join(tokens[:start] + tokens[start + rng.randint(1, 3) :])


def _repeat_tokens(rng: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    start = rng.randrange(len(tokens) + 1)
    return "".join(tokens[:start] + tokens[start : start + rng.randint(1, 5)] * rng.randint(2, 4) + tokens[start:])


def _replace_by_token(rng: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    if tokens:
        tokens[rng.randrange(len(tokens))] = rng.choice(tokens)
    return "".join(tokens)


def _put_in_trouble(rng: random.Random, text: str) -> str:
    tokens = _TOKEN.findall(text)
    start = rng.randrange(len(tokens) + 1)
    return "".join([*tokens[:start], rng.choice(_TROUBLE), *tokens[start + rng.randint(0, 1) :]])


def _change_number(rng: random.Random, text: str) -> str:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text
    number = rng.choice(numbers)
    value = rng.choice(["0", "1", "-1", "2", "7", "65536", str(2**31), str(2**63), str(2**70)])
    return text[: number.start()] + value + text[number.end() :]


def _move_line(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    line = rng.choice(lines) if rng.random() < 0.5 else lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _cut(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text) + 1)]


_MUTATIONS: tuple[Callable[[random.Random, str], str], ...] = (
    _flip_byte,
    _swap_tokens,
    _delete_tokens,
    _repeat_tokens,
    _replace_by_token,
    _put_in_trouble,
    _change_number,
    _move_line,
    _cut,
)


def main() -> int:
    """Checks mutated texts for some minutes; prints each kind of finding once, with its seed."""
    minutes, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    texts = corpus()
    end, found = time.monotonic() + 60 * minutes, set[str]()
    while time.monotonic() < end:
        rng = random.Random(seed)
        text = mutate(rng, rng.choice(texts))
        try:
            check_text(text)
        except Finding as finding:
            kind = re.sub(r"\d+", "0", str(finding).split("\n")[0])[:100]
            if kind not in found:
                found.add(kind)
                sys.stdout.write(f"== seed {seed}: {finding}\n{text}\n")
                sys.stdout.flush()
        seed += 1
    sys.stdout.write(f"tried up to seed {seed}: {len(found)} kinds of findings\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

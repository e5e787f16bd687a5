"""Loop annotations as LLVM metadata: one distinct node per loop, with shared options."""

from __future__ import annotations

from functools import lru_cache

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.upstream.llvm_extras import LoopAnnotationAttr

FLAGS: dict[str, tuple[str, str]] = {
    "disableNonforced": ('!"llvm.disable_nonforced"', ""),
    "mustProgress": ('!"llvm.loop.mustprogress"', ""),
    "isVectorized": ('!"llvm.loop.isvectorized", i32 1', '!"llvm.loop.isvectorized", i32 0'),
    "unroll.full": ('!"llvm.loop.unroll.full"', ""),
    "unroll.disable": ('!"llvm.loop.unroll.disable"', '!"llvm.loop.unroll.enable"'),
    "unroll.runtimeDisable": ('!"llvm.loop.unroll.runtime.disable"', ""),
    "unrollAndJam.disable": ('!"llvm.loop.unroll_and_jam.disable"', '!"llvm.loop.unroll_and_jam.enable"'),
    "distribute.disable": ('!"llvm.loop.distribute.enable", i1 false', '!"llvm.loop.distribute.enable", i1 true'),
    "vectorize.disable": ('!"llvm.loop.vectorize.enable", i1 false', '!"llvm.loop.vectorize.enable", i1 true'),
    "vectorize.predicateEnable": (
        '!"llvm.loop.vectorize.predicate.enable", i1 true',
        '!"llvm.loop.vectorize.predicate.enable", i1 false',
    ),
    "vectorize.scalableEnable": (
        '!"llvm.loop.vectorize.scalable.enable", i1 true',
        '!"llvm.loop.vectorize.scalable.enable", i1 false',
    ),
}
"""Flag → its metadata if true and if false; empty for no metadata."""

COUNTS: dict[str, str] = {
    "unroll.count": "llvm.loop.unroll.count",
    "unrollAndJam.count": "llvm.loop.unroll_and_jam.count",
    "interleave.count": "llvm.loop.interleave.count",
    "vectorize.width": "llvm.loop.vectorize.width",
}
"""Count → the metadata that contains it."""


class Metadata:
    """The numbered metadata nodes of a module."""

    def __init__(self):
        self._lines: list[str] = []
        self._options: dict[str, int] = {}

    def loop(self, annotation: LoopAnnotationAttr) -> str:
        """Adds a node for a loop with these options; returns its reference, as `!3`."""
        options = [f"!{self._option(text)}" for text in _option_texts(annotation)]
        number = len(self._lines)
        self._lines.append(f"!{number} = distinct !{{{', '.join([f'!{number}', *options])}}}")
        return f"!{number}"

    def nontemporal(self) -> str:
        """Returns the node that marks nontemporal stores."""
        return f"!{self._option('i32 1')}"

    def _option(self, text: str) -> int:
        if text not in self._options:
            self._options[text] = len(self._lines)
            self._lines.append(f"!{len(self._lines)} = !{{{text}}}")
        return self._options[text]

    def text(self) -> str:
        """Returns all nodes, one per line."""
        return "".join(line + "\n" for line in self._lines)


@lru_cache(maxsize=256)
def _option_texts(annotation: LoopAnnotationAttr) -> tuple[str, ...]:
    flat: dict[str, Attribute] = {}
    for key, value in annotation.options.data.items():
        if isinstance(value, DictionaryAttr):
            flat.update({f"{key}.{name}": option for name, option in value.data.items()})
        else:
            flat[key] = value
    texts: list[str] = []
    for name, option in flat.items():
        assert isa(option, IntegerAttr), "the attribute's verifier has checked this"
        number = option.value.data
        if name in COUNTS:
            texts.append(f'!"{COUNTS[name]}", i32 {number}')
        elif text := FLAGS[name][0 if number else 1]:
            texts.append(text)
    return tuple(texts)

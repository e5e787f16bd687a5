"""Names and text of a model in a C header.

A model's names are untrusted data: none may end a comment, continue a line, or clash with a keyword, a macro or a
declaration of the header, in C99 to C23, in C++ and in the GNU dialects.
"""

from __future__ import annotations

import re
from typing import Final

_KEYWORDS: Final = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await
    co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if imaginary inline int
    long mutable namespace new noexcept noreturn not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual
    void volatile wchar_t while xor xor_eq
"""
_MACROS: Final = "I errno hpux i386 linux math_errhandling mips sgi sparc stderr stdin stdout sun unix vax"
"""Object-like macros of the standard headers and of compilers that `_MACRO_LIKE` does not match."""
_OF_THE_HEADER: Final = """
    aligned_alloc allocator arena args context dims fclose fopen fread free int16_t int32_t int64_t int8_t memcpy memset
    num_threads own results size_t sizes status uint16_t uint32_t uint64_t uint8_t weights
"""
"""Parameters and variables of the header's functions, and names of the standard headers in their bodies."""
_RESERVED: Final = frozenset(f"{_KEYWORDS} {_MACROS} {_OF_THE_HEADER}".split())
_MACRO_LIKE: Final = re.compile(r"(?![A-Z]\d*$)[A-Z][A-Z0-9_]|_|\d|xrelay_")
"""The start of a macro name (`NULL`, `PRId64`, not `X1`), of a reserved name, or of a runtime name."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9 _.,:;=+\-/()\[\]*?]|(?<=/)\*|\*(?! )|\?(?=\?)|(?<=\?)\?")
"""Unusual characters, asterisks that could begin or end a comment, and trigraphs."""


def c_identifier(name: str, taken: set[str], *, prefix: str = "") -> str:
    """Returns a C identifier like `name` that is not in `taken`, and adds it there.

    A name that C, C++, their headers or the header of the model with `prefix` use is prefixed with `x_`.
    """
    base = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not base or base in _RESERVED or _MACRO_LIKE.match(base) or (prefix and base.startswith(f"{prefix}_")):
        base = f"x_{base}"
    chosen, number = base, 1
    while chosen in taken:
        number += 1
        chosen = f"{base}_{number}"
    taken.add(chosen)
    return chosen


def c_prefix(name: str) -> str:
    """Returns the prefix of a model's functions and macros: a C identifier like `name`."""
    base = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"x_{base}" if not base or base in _RESERVED or re.match(r"_|\d", base) else base


def comment_text(text: str) -> str:
    """Returns `text` on one line of a C comment, with each byte of an unsafe character as `%2F`."""
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")), text)

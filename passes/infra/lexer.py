"""xDSL's lexer, made safe for any text: it takes linear time, and reports characters that are not in the language."""

from __future__ import annotations

import re
from string import ascii_letters, digits
from typing import Final

from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import KIND_BY_PUNCTUATION_SPELLING, MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

MAX_DIGITS = 1000
"""The maximum number of digits. Python itself refuses to parse integers of more than 4300."""

_FREQUENT: Final = re.compile(
    r"(?:\s++|//[^\n]*+)*+"
    r"([a-zA-Z_][a-zA-Z0-9_$.]*+"
    r"|(?:%|!|\^|\#(?!-\}))(?:[0-9]++|[a-zA-Z$._-][a-zA-Z0-9$._-]*+)"
    r"|[:,()}\[\]<>=+/*?|]|->|\{(?!-\#)"
    r"|(?!0x[0-9a-fA-F])[0-9]{1,18}+(?![0-9.]))",
    re.ASCII,
)
"""White space and comments, followed by a token of a frequent kind, which its first character determines."""
_KINDS: Final = {
    **dict.fromkeys(ascii_letters + "_", MLIRTokenKind.BARE_IDENT),
    **dict.fromkeys(digits, MLIRTokenKind.INTEGER_LIT),
    **{spelling: KIND_BY_PUNCTUATION_SPELLING[spelling] for spelling in ":,(){}[]<>=+/*?|"},
    "-": MLIRTokenKind.ARROW,
    "%": MLIRTokenKind.PERCENT_IDENT,
    "!": MLIRTokenKind.EXCLAMATION_IDENT,
    "^": MLIRTokenKind.CARET_IDENT,
    "#": MLIRTokenKind.HASH_IDENT,
}
"""First character → the kind of these tokens."""


class LinearLexer(MLIRLexer):
    """xDSL's lexer with a string pattern that never backtracks: xDSL's takes 2^n steps on an unclosed string.

    Outside strings and comments the language is ASCII. xDSL uses Python's definition of letters and digits, and so
    lexes `½` as a number; here such a character is reported. So is a number of more than `MAX_DIGITS` digits.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def lex(self) -> MLIRToken:
        """Returns the next token; raises xDSL's `ParseError` for an invalid character or number.

        One pattern matches all frequent kinds, in a third of the time of xDSL's case distinction.
        """
        found = _FREQUENT.match(self.input.content, self.pos)
        if found is not None:
            start, self.pos = found.span(1)
            return Token(_KINDS[self.input.content[start]], Span(start, self.pos, self.input))
        self._consume_whitespace()
        start = self.pos
        char = self.input.at(start)
        if char is not None and (char > "~" or char < " "):
            raise ParseError(Span(start, start + 1, self.input), f"unexpected character {char!r}")
        token = super().lex()
        if token.span.len > MAX_DIGITS and token.kind in (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT):
            message = f"a number of {token.span.len} digits; at most {MAX_DIGITS} are read"
            raise ParseError(Span(start, start + 1, self.input), message)
        return token

    def _lex_prefixed_ident(self, start_pos: int) -> MLIRToken:
        """Lexes `%x`, `#x`, `!x` or `^x`; unlike xDSL's, the error message contains the sign."""
        if self._suffix_id.match(self.input.content, self.pos) is None:
            sign = self.input.at(start_pos)
            raise ParseError(Span(start_pos, self.pos, self.input), f"expected a name or a number after {sign!r}")
        return super()._lex_prefixed_ident(start_pos)

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        """Lexes a string; the error message distinguishes an unclosed string from an invalid escape.

        Escapes may form any UTF-8, as the printer writes `ö`; xDSL's lexer treats non-ASCII strings as bytes.
        """
        text = self.input.content
        if self._unescaped_characters_regex.match(text, start_pos) is None:
            end = min(self.input.get_end_of_line(start_pos), self.input.len)
            closed = re.compile(r'"(?:[^"\\\n]++|\\.)*+"').match(text, start_pos, end) is not None
            problem = (
                r"has an escape other than \n, \t, \\, \" and two hexadecimal digits" if closed else "is not closed"
            )
            raise ParseError(Span(start_pos, start_pos + 1, self.input), f"the string {problem}")
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT and _is_text(StringLiteral.from_span(token.span).bytes_contents):
            return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token


def _is_text(content: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True

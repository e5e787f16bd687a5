"""The tokens of texts equal those of xDSL's own lexer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from xrelay.passes.infra.lexer import LinearLexer

TEXTS = Path(__file__).parents[2] / "lit"
EDGES = (
    "1.5 1.e5 1. 12x3 0x1f 0xg 0x 00x1 4x8xf32 1234567890123456789012 9.",
    '-> - ->> -1 {-# #-} { -# } #a #-a #-}x ! !a.b %0 %a-b %5a ^bb0 @f @"a b" ... a.b$c _x',
    '// all\n a // b\n/ * /x : , ( ) [ ] < > = + ? | "s\\22t" "//" \t\r\n\v\f end // last',
)
CHARACTERS = '{}-#>%!^@"0x1.9eE+/*\\\n _$aZ:,()[]<>=?|'


def tokens(kind: type[MLIRLexer], text: str) -> list[tuple[MLIRTokenKind, int, int]]:
    """Kinds and positions of all tokens, up to the first error."""
    lexer, found = kind(Input(text, "text")), list[tuple[MLIRTokenKind, int, int]]()
    while not found or found[-1][0] is not MLIRTokenKind.EOF:
        try:
            token = lexer.lex()
        except ParseError:
            break
        assert lexer.pos >= token.span.end
        found.append((token.kind, token.span.start, token.span.end))
    return found


@pytest.mark.parametrize("text", EDGES)
def test_every_kind_is_found(text: str) -> None:
    for piece in (text, *text.split()):
        assert tokens(LinearLexer, piece) == tokens(MLIRLexer, piece)


def test_texts_of_tests_have_the_same_tokens() -> None:
    for path in sorted((TEXTS / "passes" / "loop").glob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        assert tokens(LinearLexer, text) == tokens(MLIRLexer, text), path.name


def test_random_characters_have_the_same_tokens() -> None:
    draw = random.Random(0)
    for _ in range(2000):
        text = "".join(draw.choices(CHARACTERS, k=12))
        assert tokens(LinearLexer, text) == tokens(MLIRLexer, text), repr(text)


def test_a_long_number_is_refused_after_frequent_tokens() -> None:
    lexer = LinearLexer(Input("= " + "1" * 1001, "text"))
    assert lexer.lex().kind is MLIRTokenKind.EQUAL
    with pytest.raises(ParseError, match="a number of 1001 digits; at most 1000 are read"):
        lexer.lex()

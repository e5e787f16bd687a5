"""`ApplyPassToFunction`: a pass sees only functions with matching names."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import transform
from xrelay.errors import PassError

FUNCTION = """
func.func VISIBILITY @NAME(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.constant dense<1.0> : tensor<f32>
  %b = relay.add(%a, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %r = relay.add(%x, %b) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  BODY
}
"""
END = "func.return %r : tensor<4xf32>"
CALL = f"%y = func.call @sub_one(%r) : (tensor<4xf32>) -> tensor<4xf32>\n  {END.replace('%r', '%y')}"


def module() -> ModuleOp:
    """`@main`, which calls the private `@sub_one`; and an unused private function."""
    functions = [("", "main", CALL), ("private", "sub_one", END), ("private", "sub_two", END)]
    texts = [
        FUNCTION.replace("VISIBILITY ", v and f"{v} ").replace("NAME", n).replace("BODY", b) for v, n, b in functions
    ]
    return xrelay.parse("".join(texts))


def additions(mod: ModuleOp) -> dict[str, int]:
    return {str(op).partition("@")[2].partition("(")[0]: str(op).count("relay.add") for op in mod.ops}


def test_others_stay_as_they_are() -> None:
    given = module()
    made = transform.ApplyPassToFunction(transform.FoldConstant(), "sub")(given)
    assert additions(made) == {"main": 2, "sub_one": 1, "sub_two": 1}
    assert additions(given) == {"main": 2, "sub_one": 2, "sub_two": 2}
    assert str(made).count("func.func private") == 2


def test_nothing_goes_because_its_callers_are_out_of_sight() -> None:
    made = transform.ApplyPassToFunction(transform.DeadCodeElimination(), "sub_one")(module())
    assert str(made) == str(module())


def test_what_the_pass_erases_among_others_comes_back() -> None:
    made = transform.ApplyPassToFunction(transform.RemoveUnusedFunctions(["sub_one"]), "sub_one")(module())
    assert additions(made) == {"sub_one": 2, "main": 2, "sub_two": 2}


def test_it_stands_in_a_sequence() -> None:
    one = transform.ApplyPassToFunction(transform.FoldConstant(), "main$")
    assert one.info.name == "ApplyPassTomain$"
    assert additions(transform.Sequential([one])(module())) == {"main": 1, "sub_one": 2, "sub_two": 2}


def test_names_that_no_function_has() -> None:
    given = module()
    assert str(transform.ApplyPassToFunction(transform.FoldConstant(), "nobody")(given)) == str(given)
    with pytest.raises(PassError, match="no function has such a name; help: the module has @main, @sub_one, @sub_two"):
        transform.ApplyPassToFunction(transform.FoldConstant(), "nobody", error_if_no_function_matches_regex=True)(
            given
        )


def test_what_is_no_pass_and_no_expression() -> None:
    with pytest.raises(PassError, match="is not a pass"):
        transform.ApplyPassToFunction(transform.FoldConstant, "main")
    with pytest.raises(PassError, match="is not a regular expression"):
        transform.ApplyPassToFunction(transform.FoldConstant(), "(")

"""The runtime parses extents as the compiler prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.dim_trees import Tree, dim_of, trees

from xrelay.errors import ArtifactError, DimensionError
from xrelay.index_algebra import dims
from xrelay.runtime.dim_text import evaluate, name_and_size, names_in

SIZES = st.fixed_dictionaries({"n": st.integers(0, 40), "m": st.integers(0, 3)})


@given(tree=trees(), sizes=SIZES)
def test_a_text_is_what_the_dimension_is(tree: Tree, sizes: dict[str, int]) -> None:
    try:
        dim = dim_of(tree)
    except (DimensionError, ZeroDivisionError):
        return
    assert names_in([str(dim)]) == sorted(dims.names_of(dim))
    try:
        wanted = dims.evaluate(dim, sizes)
    except DimensionError:
        with pytest.raises(DimensionError):
            evaluate(str(dim), sizes)
        return
    assert evaluate(str(dim), sizes) == wanted


@pytest.mark.parametrize("text", ["n", "2 * n", "n + 1", "3 * n - 2", "n * m", "n floordiv 2", "max(n, 1)", "7"])
@pytest.mark.parametrize("extent", [0, 1, 4, 7])
def test_names_are_solved_as_the_compiler_solves_them(text: str, extent: int) -> None:
    n, m = dims.symbol("n"), dims.symbol("m")
    meant = {"n": n, "2 * n": 2 * n, "n + 1": n + 1, "3 * n - 2": 3 * n - 2, "n * m": n * m, "n floordiv 2": n // 2}
    dim = meant.get(text, dims.maximum(n, 1) if text != "7" else 7)
    assert name_and_size(text, extent) == dims.name_and_size(dim, extent)


@pytest.mark.parametrize("text", ["", "n +", "k", "n ** 2", "max n", "(n", "n)", "import os", "1.5", "(" * 200 + "n"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ArtifactError, match=r"extent.*over.*names n"):
        evaluate(text, {"n": 3})

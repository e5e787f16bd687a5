"""What operators cost stays within the bounds of their kinds; `meta.op_costs` prints all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from meta.op_costs import ONNX_OPS, SourceFile, bound_of, costs

from xrelay.dialects.relay.core.registry import get_relay_op

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"

SOURCE = '''
from ops import AbsOp, ExpOp, NegOp
from xrelay.dialects.topi.named import AbsOp

TABLE = {
    AbsOp: helper,
    ExpOp: other,
}


def helper(x):
    return inner(x)


def inner(x):

    return x


@evaluates(*TABLE)
def evaluate(op):
    """Both."""
    return TABLE[op]


@evaluates(NegOp)
def negate(op):
    return -helper(op)
'''


@pytest.mark.parametrize("name", ONNX_OPS)
def test_an_operator_costs_no_more_than_its_kind_may(name: str) -> None:
    cost, bound = costs()[name], bound_of(get_relay_op(name))
    assert cost.lines <= bound.lines
    assert len(cost.files) <= bound.files


def test_the_examples_of_the_recipe_cost_about_what_it_says() -> None:
    rows = re.findall(
        r"^\| .* \| (\d+) lines in (\d) files \| `([\w.]+)` .* \| (\d+) lines in (\d) files \|$",
        CONTRIBUTING.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(rows) == 3
    for most_lines, most_files, name, lines, files in rows:
        cost, bound = costs()[name], bound_of(get_relay_op(name))
        assert (int(most_lines), int(most_files)) == (bound.lines, bound.files)
        assert abs(cost.lines - int(lines)) <= 5, name
        assert len(cost.files) == int(files), name


def test_what_operators_share_is_divided(tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    path.write_text(SOURCE)
    lines = dict.fromkeys(("abs", "exp", "neg"), 0.0)
    for name, share in SourceFile(path, {"AbsOp": "abs", "ExpOp": "exp", "NegOp": "neg"}, {"evaluates"}).shares():
        lines[name] += share
    # A third of the import and, but for neg, a row of the table; half of `evaluate` or all of `negate`; of the helpers
    # that abs and neg call, 2 lines each, the half.
    assert lines == pytest.approx({"abs": 1 / 3 + 1 + 2 + 2, "exp": 1 / 3 + 1 + 2, "neg": 1 / 3 + 3 + 2})

"""The counts of `make conformance`: the cases of a set, the op and kind of a case, and the table."""

from __future__ import annotations

import pytest
from onnx_backend.conformance import (
    TIERS,
    Verdict,
    case_set,
    cases_by_name,
    failure,
    judge,
    judge_named,
    kind_of,
    op_of,
    reasons,
    table,
    tier_table,
)

from xrelay.errors import XRelayError


def test_the_set_has_the_cases_that_it_is_to_have() -> None:
    names = case_set("run_time_shapes")
    assert len(names) == len(set(names)) == 296
    assert set(names) <= cases_by_name().keys()


def test_every_case_is_in_one_tier() -> None:
    names = [name for tier in TIERS for name in case_set(tier)]
    assert len(names) == len(set(names)) == 2033
    assert set(names) >= cases_by_name().keys()


@pytest.mark.parametrize(
    ("name", "op", "kind"),
    [
        ("test_gemm_alpha", "Gemm", "constant"),
        ("test_reshape_one_dim", "Reshape", "given"),
        ("test_layer_normalization_2d_axis0_expanded_ver18", "LayerNormalization", "constant"),
        ("test_range_float_type_positive_delta_expanded", "Range", "open"),
        ("test_nonzero_example", "NonZero", "open"),
        ("test_sequence_map_identity_1_sequence", "SequenceMap", "open"),
        ("test_operator_index", "(several)", "constant"),
    ],
)
def test_a_case_has_an_op_and_a_kind(name: str, op: str, kind: str) -> None:
    case = cases_by_name()[name]
    assert (op_of(case), kind_of(case)) == (op, kind)


def test_a_shape_may_be_an_input_or_constant() -> None:
    verdict = judge("test_reshape_one_dim")
    assert (verdict.alone, verdict.fixed) == ("", "")


@pytest.mark.parametrize("name", ["test_scan_sum", "test_scan9_multi_state", "test_reshape_one_dim"])
def test_cases_run_with_extents_that_are_names(name: str) -> None:
    """Rows of a scan that broadcast to an extent outside of it, and data of any size for a constant shape."""
    assert judge_named(name).alone == ""


def test_filters_have_known_extents() -> None:
    assert judge_named("test_basic_conv_with_padding").alone.startswith("refused: ")


def test_a_wrong_result_and_an_error_of_ours_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    case = cases_by_name()["test_abs"]
    assert failure(case) == ""
    wrong = type(case)(case.name, case.model, case.inputs, [case.outputs[0] + 1], case.rtol, case.atol)
    assert failure(wrong).startswith("WRONG: ")
    for error, expected in ((XRelayError("no"), "refused: no"), (ZeroDivisionError("no"), "FAILED: ZeroDivisionError")):

        def broken(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("onnx_backend.conformance.compile", broken)
        assert failure(case).startswith(expected)


def test_the_table_counts_by_op_and_kind() -> None:
    verdicts = [
        Verdict("test_abs", "constant", "", ""),
        Verdict("test_reshape_one_dim", "given", "refused: input #1", ""),
        Verdict("test_reshape_negative_dim", "given", "refused: input #1", "WRONG: 2 of 3 elements differ"),
    ]
    rows = [line.split() for line in table(verdicts)]
    assert rows[1:] == [
        ["Abs", "1", "1", "1/1", "–", "–"],
        ["Reshape", "2", "0", "–", "1/2", "–"],
        ["all", "3", "1", "1/1", "1/2", "–"],
    ]
    assert reasons(verdicts) == ["Reshape: 1 WRONG: 2 of 3 elements differ"]


def test_the_table_counts_by_tier() -> None:
    verdicts = [
        Verdict("test_abs", "constant", "", ""),
        Verdict("test_reshape_one_dim", "given", "refused: input #1", ""),
        Verdict("test_reshape_negative_dim", "given", "WRONG: 2 of 3 elements differ", ""),
        Verdict("test_string_concat", "constant", "refused: STRING", "refused: STRING"),
    ]
    rows = [line.split() for line in tier_table(verdicts)]
    assert rows[1:] == [
        ["tier1", "908", "3", "1", "1", "1", "1"],
        ["tier4", "237", "1", "0", "1", "0", "1"],
    ]

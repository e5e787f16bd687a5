"""Linear models and support vector machines of ai.onnx.ml, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import check
from support.one_node import Array, both, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

DOMAIN = "ai.onnx.ml"
RNG = np.random.default_rng(3)
X = RNG.normal(size=(9, 4)).astype(np.float32)
LABELS = [10, -20, 30]
TRANSFORMS = ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]


def floats(*shape: int) -> list[float]:
    return [round(float(value), 3) for value in RNG.normal(size=shape).reshape(-1)]


def agrees(op: str, inputs: list[Array], **words: Any) -> None:
    outputs = ("y", "z") if op.endswith("Classifier") else ("y",)
    check(op, inputs, domain=DOMAIN, outputs=outputs, **words)


@pytest.mark.parametrize("transform", [*TRANSFORMS, "PROBIT"])
def test_linear_regressors(transform: str) -> None:
    small = (X.clip(-1, 1) / 20 + 0.1).astype(np.float32)
    agrees(
        "LinearRegressor",
        [small],
        targets=2,
        coefficients=[0.5, 1, 1, 0.2, 2, 0, 0, 0],
        intercepts=[0.1, 0.2],
        post_transform=transform,
    )


def test_one_target_of_a_vector() -> None:
    agrees("LinearRegressor", [X[0]], targets=1, coefficients=floats(4), post_transform="LOGISTIC")


@pytest.mark.grid(2)
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("classes", [1, 3])
def test_linear_classifiers(transform: str, classes: int) -> None:
    words = {"coefficients": floats(classes, 4), "intercepts": floats(classes), "post_transform": transform}
    agrees("LinearClassifier", [X], classlabels_ints=LABELS[: max(2, classes)], **words)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_linear_classifiers_take_other_numbers(dtype: str) -> None:
    words = {"coefficients": floats(3, 4), "intercepts": floats(3), "post_transform": "SOFTMAX"}
    agrees("LinearClassifier", [(3 * X).astype(dtype)], classlabels_ints=LABELS, **words)


def machine(classes: int, kernel: str, **words: Any) -> dict[str, Any]:
    pairs, per_class = classes * (classes - 1) // 2, [3, 1, 2][:classes]
    count = sum(per_class)
    return {
        "classlabels_ints": LABELS[:classes],
        "coefficients": floats(classes - 1, count),
        "kernel_params": [0.3, 0.1, 3.0],
        "kernel_type": kernel,
        "rho": floats(pairs),
        "support_vectors": floats(count, 4),
        "vectors_per_class": per_class,
        **words,
    }


@pytest.mark.grid(2)
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
@pytest.mark.parametrize("classes", [2, 3])
def test_machines(kernel: str, classes: int) -> None:
    agrees("SVMClassifier", [X], **machine(classes, kernel))


@pytest.mark.parametrize("transform", TRANSFORMS[1:])
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_of_machines(transform: str, classes: int) -> None:
    agrees("SVMClassifier", [X], **machine(classes, "RBF", post_transform=transform))


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_machines(classes: int) -> None:
    pairs = classes * (classes - 1) // 2
    words = {"prob_a": [-1.5, -2.0, -0.5][:pairs], "prob_b": [0.1, -0.2, 0.3][:pairs]}
    agrees("SVMClassifier", [X], **machine(classes, "RBF", **words))


@pytest.mark.parametrize("sign", ["positive", "mixed"])
@pytest.mark.parametrize("classes", [2, 3])
def test_one_machine_per_class(classes: int, sign: str) -> None:
    coefficients = np.array(floats(classes, 4))
    words: dict[str, Any] = {"kernel_params": [0.3, 0.1, 3.0], "kernel_type": "LINEAR", "rho": [0.2] * classes}
    coefficients = np.abs(coefficients) if sign == "positive" else coefficients
    agrees(
        "SVMClassifier", [X], coefficients=coefficients.reshape(-1).tolist(), classlabels_ints=LABELS[:classes], **words
    )


@pytest.mark.grid(2)
@pytest.mark.parametrize("one_class", [0, 1])
@pytest.mark.parametrize(("kernel", "supports"), [("RBF", 5), ("POLY", 5), ("LINEAR", 0)])
def test_machines_of_regression(kernel: str, supports: int, one_class: int) -> None:
    words = {"support_vectors": floats(supports, 4), "kernel_params": [0.3, 0.1, 2.0]} if supports else {}
    words |= {"coefficients": floats(supports or 4), "rho": [0.25], "kernel_type": kernel}
    if not supports:
        words["kernel_params"] = [0.0, 0.0, 0.0]
    agrees("SVMRegressor", [X], n_supports=supports, one_class=one_class, **words)


def test_labels_that_are_strings() -> None:
    """They are rejected, unless they are unused."""
    words: dict[str, Any] = {
        "coefficients": floats(2, 4),
        "classlabels_strings": ["a", "b"],
        "post_transform": "SOFTMAX",
    }
    model = node_model("LinearClassifier", [X], domain=DOMAIN, outputs=("y", "z"), **words)
    with pytest.raises(ModelImportError, match=r"labels of classes are strings \('a', …\)"):
        import_onnx(model)
    scores = X @ np.array(words["coefficients"], np.float32).reshape(2, 4).T
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    for (found,) in both(node_model("LinearClassifier", [X], domain=DOMAIN, outputs=("", "z"), **words), [X]):
        np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("op", "words", "message"),
    [
        ("LinearRegressor", {"coefficients": [1.0] * 5}, "5 coefficients for 1 scores of 4 features"),
        ("LinearRegressor", {"coefficients": [1.0] * 4, "intercepts": [1.0] * 2}, "2 intercepts for 1 scores"),
        ("LinearClassifier", {"coefficients": [1.0] * 8, "classlabels_ints": [1]}, "of 2 classes, 1 labels"),
        ("LinearClassifier", {"coefficients": [1.0] * 8}, "lists the classes"),
        ("SVMRegressor", {"coefficients": [1.0], "rho": [0.0]}, "'coefficients' has 1 elements; 4 are expected"),
        ("SVMClassifier", machine(3, "RBF", rho=[1.0]), "'rho' has 1 elements; 3 are expected"),
        ("SVMClassifier", machine(3, "RBF", vectors_per_class=[1, 2]), "has 2 elements for 3 classes"),
    ],
)
def test_refusals(op: str, words: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model(op, [X], domain=DOMAIN, **words))

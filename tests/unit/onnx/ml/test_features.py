"""Operators of ai.onnx.ml on features and labels, against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from support.microsoft_nodes import check
from support.one_node import Array, both, node_model

from xrelay.api.compile import compile
from xrelay.errors import ModelImportError, XRelayError
from xrelay.frontend.onnx import import_onnx

DOMAIN = "ai.onnx.ml"
X = np.array([[1.5, -2.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0], [-1.0, -3.0, -0.5, -2.0]], np.float32)
NAN = np.array([[np.nan, 1.0], [2.0, np.nan]], np.float32)


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    ("op", "inputs", "words"),
    [
        ("ArrayFeatureExtractor", [X, np.array([[3, 0]])], {}),
        ("ArrayFeatureExtractor", [np.arange(5), np.array([4, 1, 1])], {}),
        ("ArrayFeatureExtractor", [np.arange(24.0).reshape(2, 3, 4), np.array([2])], {}),
        ("Binarizer", [X], {"threshold": -0.5}),
        ("Scaler", [X], {"offset": [1.0, 2.0, 3.0, 4.0], "scale": [0.5, 2.0, 1.0, -1.0]}),
        ("Scaler", [X[0].astype(np.float64)], {"offset": [0.1], "scale": [3.0]}),
        ("Scaler", [np.array([[1, 2], [3, 7]], np.int64)], {"offset": [0.5, 1.5], "scale": [2.0, 0.25]}),
        ("Normalizer", [X], {"norm": "MAX"}),
        ("Normalizer", [X], {"norm": "L1"}),
        ("Normalizer", [X.astype(np.float64)], {"norm": "L2"}),
        ("Normalizer", [X[0]], {"norm": "L2"}),
        ("Imputer", [NAN], {"imputed_value_floats": [7.0, 8.0], "replaced_value_float": float("nan")}),
        ("Imputer", [X], {"imputed_value_floats": [9.0], "replaced_value_float": -2.0}),
        ("Imputer", [np.array([[1, -1]])], {"imputed_value_int64s": [5, 6], "replaced_value_int64": -1}),
        ("FeatureVectorizer", [X, X[:, :1]], {"inputdimensions": [4, 1]}),
        ("FeatureVectorizer", [X.astype(np.int64), np.arange(6).reshape(3, 2)], {"inputdimensions": [2, 3]}),
        ("OneHotEncoder", [np.array([[3, 7], [9, 5]])], {"cats_int64s": [7, 3, 5], "zeros": 1}),
        ("OneHotEncoder", [np.array([5.0, 3.9], np.float32)], {"cats_int64s": [7, 3, 5], "zeros": 0}),
    ],
)
def test_features(op: str, inputs: list[Array], words: dict[str, Any]) -> None:
    check(op, inputs, domain=DOMAIN, **words)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.array([[4, 2], [9, 4]]), {"keys_int64s": [9, 4, 4], "values_floats": [0.5, 1.5, 2.5]}),
        (np.array([1.5, -2.0, 8.0], np.float32), {"keys_floats": [1.5, -2.0], "values_int64s": [7, 8]}),
        (NAN, {"keys_floats": [1.0, float("nan")], "values_floats": [5.0, 6.0], "default_float": 3.0}),
    ],
)
def test_label_encoders(x: Array, words: dict[str, Any]) -> None:
    check("LabelEncoder", [x], domain=DOMAIN, domain_opset=4, **words)


def test_label_encoder_of_tensors() -> None:
    keys, values = np.array([3, 1], np.int32), np.array([0.25, -1.0])
    proto = node_model(
        "LabelEncoder",
        [np.array([[1, 2, 3]], np.int32)],
        domain=DOMAIN,
        domain_opset=4,
        keys_tensor=numpy_helper.from_array(keys),
        values_tensor=numpy_helper.from_array(values),
        default_tensor=numpy_helper.from_array(np.array([9.0])),
    )
    for (found,) in both(proto, [np.array([[1, 2, 3]], np.int32)]):
        np.testing.assert_array_equal(found, [[-1.0, 9.0, 0.25]], strict=True)


def test_a_category_that_is_unknown_fails_where_the_model_runs() -> None:
    proto = node_model("OneHotEncoder", [np.array([3, 4])], domain=DOMAIN, cats_int64s=[3, 5], zeros=0)
    with pytest.raises(XRelayError, match="out of range"):
        compile(proto, cache=False, threads=1).run([np.array([3, 4])])


def test_zip_map_is_the_matrix_of_probabilities(caplog: pytest.LogCaptureFixture) -> None:
    proto = node_model("ZipMap", [X], domain=DOMAIN, classlabels_strings=["a", "b", "c", "d"])
    for (found,) in both(proto, [X]):
        np.testing.assert_array_equal(found, X)
    assert "'y' is compiled to a matrix with a column for each of the classes 'a', 'b', 'c', 'd'" in caplog.text


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("LabelEncoder", [np.array([1])], {"keys_int64s": [1], "values_strings": ["a"]}, "the values are strings"),
        ("LabelEncoder", [np.array([1])], {"keys_int64s": [1], "values_int64s": [1, 2]}, "1 keys and 2 values"),
        ("LabelEncoder", [X], {"keys_int64s": [1], "values_int64s": [1]}, "the keys are int64, the input is float32"),
        ("OneHotEncoder", [X], {"cats_strings": ["a"]}, "categories are strings"),
        ("Scaler", [X], {"offset": [1.0, 2.0], "scale": [1.0]}, "'offset' has 2 elements for 4 features"),
        ("Imputer", [X], {"imputed_value_int64s": [1]}, "'imputed_value_floats' is missing"),
        ("FeatureVectorizer", [X], {"inputdimensions": [1, 2]}, "2 elements for 1 inputs"),
        ("ZipMap", [X], {"classlabels_int64s": [1]}, "for 1 classes"),
    ],
)
def test_refusals(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model(op, inputs, domain=DOMAIN, domain_opset=2, **words))

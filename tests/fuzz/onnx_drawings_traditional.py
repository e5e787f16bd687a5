"""Draws random nodes of ai.onnx.ml: trees, linear models, support vector machines, features and labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from support.decision_trees import RandomTrees, indexed, weights_of

from fuzz.onnx_draft import Draft, Drawing, draws
from xrelay.frontend.onnx.registry import TRADITIONAL

TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX")
DOUBLES = (np.float32, np.float64)


def draws_traditional(*ops: str) -> Callable[[Drawing], Drawing]:
    """Registers a function that draws nodes of these ops of ai.onnx.ml."""
    return draws(*(f"{TRADITIONAL}::{op}" for op in ops))


def floats(draft: Draft, count: int) -> list[float]:
    """Small numbers with few digits."""
    return [float(number) for number in draft.rng.normal(size=count).round(3)]


def rows(draft: Draft, *dtypes: Any, domain: str = "finite") -> int:
    """Adds rows of features; returns the number of features."""
    features = draft.pick(1, 2, 5, 8)
    shape = draft.pick((features,), (1, features), (7, features))
    draft.data(shape, draft.pick(*dtypes) if dtypes else None, domain)
    return features


def labels(draft: Draft, count: int) -> list[int]:
    """Distinct class labels."""
    return [int(label) for label in draft.rng.permutation(9)[:count] - 3]


@draws_traditional("ArrayFeatureExtractor")
def array_feature_extractor(draft: Draft) -> None:
    shape = tuple(max(extent, 1) for extent in draft.shape(1, 3))
    draft.data(shape)
    draft.data((draft.pick(1, 3),), np.int64, f"whole 0 {shape[-1]}", constant=0.5)


@draws_traditional("Binarizer")
def binarizer(draft: Draft) -> None:
    draft.data(draft.shape(), np.float32, "finite")
    draft.attributes["threshold"] = draft.pick(0.0, 1.0, -0.5)


@draws_traditional("Scaler")
def scaler(draft: Draft) -> None:
    count = draft.pick(1, rows(draft))
    draft.attributes |= {"offset": floats(draft, count), "scale": floats(draft, count)}


@draws_traditional("Normalizer")
def normalizer(draft: Draft) -> None:
    rows(draft, *DOUBLES)
    draft.attributes["norm"] = draft.pick("MAX", "L1", "L2")


@draws_traditional("Imputer")
def imputer(draft: Draft) -> None:
    kind = draft.pick("float", "int64")
    if kind == "float":
        count, replaced = draft.pick(1, rows(draft, np.float32, domain="any")), draft.pick(0.0, 1.0, float("nan"))
        draft.attributes |= {"imputed_value_floats": floats(draft, count), "replaced_value_float": replaced}
    else:
        count = draft.pick(1, rows(draft, np.int64, domain="small"))
        draft.attributes |= {"imputed_value_int64s": labels(draft, count), "replaced_value_int64": draft.pick(0, 2)}


@draws_traditional("FeatureVectorizer")
def feature_vectorizer(draft: Draft) -> None:
    batch, sizes = draft.pick(1, 3), [draft.pick(1, 2, 5) for _ in range(draft.pick(1, 2, 3))]
    for size in sizes:
        draft.data((batch, max(1, size + draft.pick(-1, 0, 1))), domain="finite", constant=0.0)
    draft.attributes["inputdimensions"] = sizes


@draws_traditional("OneHotEncoder")
def one_hot_encoder(draft: Draft) -> None:
    draft.data(draft.shape(1, 2), draft.pick(np.int64, *DOUBLES), "small")
    draft.attributes["cats_int64s"] = labels(draft, draft.pick(1, 4, 7))


@draws_traditional("LabelEncoder")
def label_encoder(draft: Draft) -> None:
    keys, values = (draft.pick("int64s", "floats") for _ in range(2))
    count = draft.pick(1, 3, 6)
    draft.data(draft.shape(1, 2), np.int64 if keys == "int64s" else np.float32, "small")
    draft.attributes[f"keys_{keys}"] = [key if keys == "int64s" else float(key) for key in labels(draft, count)]
    draft.attributes[f"values_{values}"] = labels(draft, count) if values == "int64s" else floats(draft, count)


@draws_traditional("LinearRegressor")
def linear_regressor(draft: Draft) -> None:
    targets = draft.pick(1, 2, 5)
    draft.attributes |= {"targets": targets, "coefficients": floats(draft, targets * rows(draft, np.float32))}
    draft.maybe(intercepts=floats(draft, targets), post_transform=draft.pick(*TRANSFORMS))


@draws_traditional("LinearClassifier")
def linear_classifier(draft: Draft) -> None:
    classes, draft.outputs = draft.pick(1, 2, 4), 2
    draft.attributes |= {"coefficients": floats(draft, classes * rows(draft)), "intercepts": floats(draft, classes)}
    draft.attributes["classlabels_ints"] = labels(draft, max(2, classes))
    draft.maybe(post_transform=draft.pick(*TRANSFORMS))


def kernel(draft: Draft, count: int, features: int) -> None:
    """Draws support vectors and their kernel."""
    draft.attributes |= {"kernel_type": draft.pick("LINEAR", "POLY", "RBF", "SIGMOID")}
    draft.attributes |= {"kernel_params": [0.05, 0.1, 2.0], "support_vectors": floats(draft, count * features)}


@draws_traditional("SVMRegressor")
def svm_regressor(draft: Draft) -> None:
    count = draft.pick(1, 3, 9)
    kernel(draft, count, rows(draft, np.float32, domain="small"))
    draft.attributes |= {"n_supports": count, "coefficients": floats(draft, count), "rho": floats(draft, 1)}


@draws_traditional("SVMClassifier")
def svm_classifier(draft: Draft) -> None:
    classes, draft.outputs = draft.pick(2, 3, 4), 2
    per_class, pairs = [draft.pick(1, 2, 3) for _ in range(classes)], classes * (classes - 1) // 2
    count = sum(per_class)
    kernel(draft, count, rows(draft, np.float32, domain="small"))
    draft.attributes |= {"vectors_per_class": per_class, "coefficients": floats(draft, (classes - 1) * count)}
    draft.attributes |= {"classlabels_ints": labels(draft, classes), "rho": floats(draft, pairs)}
    draft.maybe(post_transform=draft.pick(*TRANSFORMS))


def trees(draft: Draft, *dtypes: Any) -> tuple[RandomTrees, list[tuple[int, int]], np.dtype[Any]]:
    """Adds the data of random trees; returns them, the tree and node of each leaf, and the dtype."""
    grown, dtype = RandomTrees(draft.rng, draft.pick(1, 3, 6)), np.dtype(draft.pick(*dtypes))
    draft.data((draft.pick(1, 5), grown.features), dtype, draft.pick("any", "small"))
    return grown, grown.grow(draft.pick(1, 4, 9), draft.pick(1, 3, 5)), dtype


@draws_traditional("TreeEnsemble")
def tree_ensemble(draft: Draft) -> None:
    grown, leaves, dtype = trees(draft, *DOUBLES)
    targets = draft.pick(1, 2, 3)
    own = draft.rng.integers(0, targets, len(leaves)).tolist()
    draft.attributes |= indexed(grown, floats(draft, len(leaves)), own, dtype.name)
    draft.attributes |= {"n_targets": targets, "aggregate_function": draft.pick(0, 1, 2, 3)}


@draws_traditional("TreeEnsembleRegressor")
def tree_ensemble_regressor(draft: Draft) -> None:
    grown, leaves, _ = trees(draft, *DOUBLES)
    targets = draft.pick(1, 2, 3)
    own = [tree % targets for tree, _ in leaves]
    draft.attributes |= grown.attributes() | weights_of("target", leaves, own, floats(draft, len(leaves)))
    draft.attributes |= {"n_targets": targets, "aggregate_function": draft.pick("SUM", "AVERAGE", "MIN", "MAX")}


@draws_traditional("TreeEnsembleClassifier")
def tree_ensemble_classifier(draft: Draft) -> None:
    grown, leaves, _ = trees(draft, *DOUBLES, np.int64)
    classes, draft.outputs = draft.pick(3, 4), 2
    each = [leaf for leaf in leaves for _ in range(classes)]
    own = list(range(classes)) * len(leaves)
    draft.attributes |= grown.attributes() | weights_of("class", each, own, floats(draft, len(own)))
    draft.attributes["classlabels_int64s"] = labels(draft, classes)
    draft.maybe(post_transform=draft.pick(*TRANSFORMS))

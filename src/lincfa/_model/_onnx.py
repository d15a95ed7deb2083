"""Models as ONNX graphs, for programs without Python: the whole model is one linear map."""

import json
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import onnx

    from .._lincfa_classifier_cv import LinCFAClassifierCV
    from .._lincfa_cv import LinCFACV

_OPSET = 18
_IR_VERSION = 9  # that of this opset, so that runtimes of then can read it


def to_onnx(
    model: "LinCFACV | LinCFAClassifierCV", dtype: npt.DTypeLike = np.float64
) -> "onnx.ModelProto":
    """Convert a fitted model to ONNX.

    Groups, standardisation and regression are one linear map of the original features, and the
    graph is no more than that.

    Parameters
    ----------
    model : LinCFACV or LinCFAClassifierCV
        Fitted, or loaded from a file; with a linear ``estimator_``, and without missing values.
    dtype : {float64, float32}, default=float64
        Type of the numbers that go in and come out. Some runtimes know float32 only.

    Returns
    -------
    onnx.ModelProto
        To be written with ``onnx.save``. Its input ``X`` has shape (n_samples, n_features_in_),
        with the features in the order of the fit; their names are in the metadata, ``features``, as
        JSON, and so are those of ``targets``. Its output is ``y``, of shape (n_samples,
        n_targets); of classes ``label`` and ``probabilities``, in the order of ``classes_``.

    Examples
    --------
    >>> import lincfa
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=20, random_state=0)
    >>> model = lincfa.LinCFACV().fit(X, y)
    >>> onnx_model = lincfa.to_onnx(model)
    >>> [node.op_type for node in onnx_model.graph.node]
    ['Sub', 'MatMul', 'Add']
    """
    try:
        from onnx import helper, numpy_helper
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'lincfa[onnx]'.") from error
    if dtype not in (np.float64, np.float32, "float64", "float32"):
        raise ValueError(f"dtype must be float64 or float32, got {dtype!r}.")
    kind = np.dtype(dtype)
    if not (hasattr(model, "reducer_") and hasattr(model, "estimator_")):
        raise ValueError(
            "to_onnx converts models that predict, a fitted LinCFACV or LinCFAClassifierCV, and "
            f"not this {type(model).__name__}."
        )
    if model.missing != "error":
        raise ValueError(
            'A model with missing="pairwise" averages the members that are present in a sample, '
            'which is no linear map and has no ONNX form; fit with missing="error".'
        )
    try:
        coef, intercept = model._linear_map()
    except AttributeError as error:
        raise ValueError(str(error)) from None
    coef = np.atleast_2d(coef)
    # Features far from 0 would lose digits in the product.
    center = model.mean_
    offset = np.atleast_1d(intercept) + coef @ center
    number = helper.np_dtype_to_tensor_dtype(kind)
    arrays = {"mean": center, "weights": coef.T, "offset": offset}
    constants = [
        numpy_helper.from_array(np.ascontiguousarray(array, dtype=kind), name)
        for name, array in arrays.items()
    ]
    node = helper.make_node
    linear = "y" if model._targets.classes is None else "scores"
    nodes = [
        node("Sub", ["X", "mean"], ["centered"]),
        node("MatMul", ["centered", "weights"], ["product"]),
        node("Add", ["product", "offset"], [linear]),
    ]
    value = helper.make_tensor_value_info
    outputs = [value("y", number, ["n_samples", len(coef)])]
    classes = model._targets.classes
    if classes is not None:
        labels = classes.astype(object) if classes.dtype.kind in "UO" else classes
        if len(coef) == 1:  # log odds of the second class; those of the first are 0
            constants.append(numpy_helper.from_array(np.array([[0, 1]], kind), "second"))
            nodes.append(node("Mul", ["scores", "second"], ["each"]))
        constants.append(numpy_helper.from_array(labels, "classes"))
        nodes += [
            node("Softmax", ["each" if len(coef) == 1 else "scores"], ["probabilities"], axis=1),
            node("ArgMax", ["probabilities"], ["place"], axis=1, keepdims=0),
            node("Gather", ["classes", "place"], ["label"]),
        ]
        outputs = [
            value("label", helper.np_dtype_to_tensor_dtype(labels.dtype), ["n_samples"]),
            value("probabilities", number, ["n_samples", len(classes)]),
        ]
    inputs = [value("X", number, ["n_samples", model.n_features_in_])]
    graph = helper.make_graph(nodes, "lincfa", inputs, outputs, constants)
    versions = [helper.make_opsetid("", _OPSET)]
    converted = helper.make_model(
        graph, opset_imports=versions, ir_version=_IR_VERSION, producer_name="lincfa"
    )
    names = {"features": model._columns.labels, "targets": model._targets.titles}
    about = {key: json.dumps([*map(str, each)]) for key, each in names.items()}
    helper.set_model_props(converted, about)
    return converted

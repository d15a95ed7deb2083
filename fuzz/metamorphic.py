"""Pairs of fits that have to give the same groups, and what else holds of every fitted model.

Some relations hold to the last digit. The others hold where rounding decides nothing, which the
oracle of the differential campaign says.
"""

import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone

from lincfa import LinCFA, load

from .case import Case, Tried
from .differential import groups_of, may_be_refused, problem_of
from .oracle import UnclearError
from .problems import IN_MEMORY, Array, draw_problem, fitted

SHARE = 2.0
LIMIT = 120.0
NEEDS = ("pandas", "polars", "xarray", "dask")
_RELATIONS_OF_CASE = 6

Options: TypeAlias = dict[str, Any]
Arrays: TypeAlias = dict[str, Array]
Changed: TypeAlias = tuple[Options, Arrays]


class NotApplicable(Exception):  # noqa: N818
    """A relation says nothing of this problem."""


def draw(rng: np.random.Generator) -> Case:
    options, arrays = draw_problem(rng)
    names = [*CHANGES, *PROPERTIES]
    options["relations"] = rng.choice(names, _RELATIONS_OF_CASE, replace=False).tolist()
    return Case("metamorphic", options, arrays)


def check(case: Case) -> Tried:
    options, arrays = case.options, case.arrays
    clear = expected(options, arrays) is not None
    try:
        model = fitted(options, arrays)
    except ValueError as error:
        if may_be_refused(error, clear=clear):
            return Tried(1, 1)
        raise
    cases = unclear = 0
    for name in options["relations"]:
        rng = np.random.default_rng(options["seed"])
        try:
            if name in PROPERTIES:
                PROPERTIES[name](model, options, arrays)
            else:
                exact = name in EXACT and options["container"] in IN_MEMORY
                changed = CHANGES[name](rng, options, arrays)
                if not exact and not (clear and expected(*changed[:2])):
                    unclear += 1
                else:
                    compare(model, fitted(*changed[:2]), *changed[2:])
        except NotApplicable:
            continue
        except Exception as error:
            raise AssertionError(f"{name}: {type(error).__name__} {error}") from error
        cases += 1
    return Tried(cases, unclear)


def expected(options: Options, arrays: Arrays) -> tuple[Any, Any] | None:
    """Groups and signs, as the oracle finds them; None where rounding may decide on them."""
    problem = problem_of(options, arrays)
    try:
        return groups_of(problem.result(), options, problem.moments.varying)
    except (UnclearError, np.linalg.LinAlgError):
        return None


def compare(model: LinCFA, other: LinCFA, order: Any = None, flips: Any = None) -> None:
    """Groups and signs of two models, of which the second has the features in another order.

    It may have more of them, behind.
    """
    D = model.labels_.size
    order = np.arange(D) if order is None else order
    flips = np.ones(D, dtype=int) if flips is None else flips
    labels, signs = np.empty((2, D), dtype=int)
    labels[order], signs[order] = other.labels_[:D], other.signs_[:D]
    for group in model.groups_:
        same = np.flatnonzero(labels == labels[group[0]])
        if not np.array_equal(group, same):
            raise AssertionError(f"groups {model.labels_}, then {labels}")
        expected = model.signs_[group] * flips[group]
        if not np.array_equal(signs[group] * signs[group[0]], expected * expected[0]):
            raise AssertionError(f"signs {expected}, then {signs[group]} of {group}")
    np.testing.assert_array_equal(labels < 0, model.labels_ < 0)


# The same problem in other words: options and arrays, and the order and flips of its features


def with_rows(options: Options, arrays: Arrays, rows: Any) -> Changed:
    taken = {name: arrays[name][rows] for name in ("X", "y", "sample_weight") if name in arrays}
    return options, arrays | taken


def in_other_order(rng: Any, options: Options, arrays: Arrays) -> Changed:
    return with_rows(options, arrays, rng.permutation(len(arrays["y"])))


def repeated(rng: Any, options: Options, arrays: Arrays) -> Changed:
    """Rows several times, where they had weights, or the first few."""
    given = arrays.get("sample_weight")
    if given is None:
        raise NotApplicable
    counts = given.astype(int)
    if (counts != given).any():
        raise NotApplicable
    options, arrays = with_rows(options, arrays, np.repeat(np.arange(len(counts)), counts))
    return options, {name: values for name, values in arrays.items() if name != "sample_weight"}


def in_other_units(rng: Any, options: Options, arrays: Arrays) -> Changed:
    """Columns times powers of two."""
    if any(name in ("float16", "int32") for name in options["types"]):
        raise NotApplicable
    X = arrays["X"] * 2.0 ** rng.integers(-12, 13, size=arrays["X"].shape[1])
    with np.errstate(over="ignore", under="ignore"):
        cast = X.astype(np.float32)
        fits = np.array_equal(cast, X, equal_nan=True)
    if "float32" in options["types"] and not fits:
        raise NotApplicable
    return options, arrays | {"X": X}


def shifted(rng: Any, options: Options, arrays: Arrays) -> Changed:
    """Whole numbers plus whole numbers."""
    if "float16" in options["types"] or not np.array_equal(arrays["X"], np.round(arrays["X"])):
        raise NotApplicable
    if np.abs(arrays["X"]).max() > 1e3:
        raise NotApplicable
    return options, arrays | {"X": arrays["X"] + rng.integers(-99, 99, arrays["X"].shape[1])}


def target_in_other_units(rng: Any, options: Options, arrays: Arrays) -> Changed:
    """The negative target, times a power of two."""
    power = 2.0 ** int(rng.integers(-20, 20))
    parameters = dict(options["parameters"])
    if isinstance(parameters.get("noise"), float):
        parameters["noise"] *= power**2
    return options | {"parameters": parameters}, arrays | {"y": -power * arrays["y"]}


def columns_in_other_order(rng: Any, options: Options, arrays: Arrays) -> Any:
    if options["strategy"] not in ("agglomerative", "joint") or options["structure"] == "chain":
        raise NotApplicable
    order = rng.permutation(arrays["X"].shape[1])
    changed = {"X": arrays["X"][:, order]}
    for name in ("feature_weights", "blocks"):
        if name in arrays:
            changed[name] = arrays[name][order]
    if "graph" in arrays:
        changed["graph"] = arrays["graph"][np.ix_(order, order)]
    types = [options["types"][place] for place in order]
    return options | {"types": types}, arrays | changed, order


def flipped(rng: Any, options: Options, arrays: Arrays) -> Any:
    if not options["parameters"].get("signed"):
        raise NotApplicable
    flips = rng.choice([-1, 1], size=arrays["X"].shape[1])
    return options, arrays | {"X": arrays["X"] * flips}, None, flips


def target_twice(rng: Any, options: Options, arrays: Arrays) -> Changed:
    if arrays["y"].ndim > 1:
        raise NotApplicable
    return options, arrays | {"y": np.column_stack([arrays["y"], -arrays["y"]])}


def without_limits(rng: Any, options: Options, arrays: Arrays) -> Changed:
    """One block for all, or all of them neighbours."""
    if options["structure"] != "free":
        raise NotApplicable
    D = arrays["X"].shape[1]
    if rng.random() < 0.5:
        return options | {"structure": "blocks"}, arrays | {"blocks": np.zeros(D, dtype=int)}
    return options | {"structure": "graph"}, arrays | {"graph": ~np.eye(D, dtype=bool)}


def in_other_container(rng: Any, options: Options, arrays: Arrays) -> Changed:
    names = [name for name in IN_MEMORY if name not in ("memmap", "xarray")]
    if "float16" in options["types"]:
        names.remove("polars")
    if len(set(options["types"])) > 1:
        raise NotApplicable
    return read_otherwise(options, arrays, container=str(rng.choice(names)))


def in_chunks(rng: Any, options: Options, arrays: Arrays) -> Changed:
    if len(set(options["types"])) > 1:
        raise NotApplicable
    sizes = arrays["X"][np.isfinite(arrays["X"]) & (arrays["X"] != 0)]
    if np.abs(np.log10(np.abs(sizes))).max(initial=0) > 60:
        raise NotApplicable
    return read_otherwise(options, arrays, container="stream")


def in_double_precision(rng: Any, options: Options, arrays: Arrays) -> Changed:
    if set(options["types"]) != {"float32"}:
        raise NotApplicable
    return read_otherwise(options, arrays, types=["float64"] * len(options["types"]))


def read_otherwise(options: Options, arrays: Arrays, **changes: Any) -> Changed:
    """The same values, unless one way keeps columns apart that are equal in the other."""
    changed = options | changes
    one, other = expected(options, arrays), expected(changed, arrays)
    if one and other and (one[0] != other[0] or (one[1] != other[1]).any()):
        raise NotApplicable
    return changed, arrays


def ready_for_gaps(rng: Any, options: Options, arrays: Arrays) -> Changed:
    """With an option for missing values, of which there are none."""
    if np.isnan(arrays["X"]).any():
        raise NotApplicable
    words = {"error": "pairwise", "pairwise": "error"}
    parameters = dict(options["parameters"])
    parameters["missing"] = words[parameters.get("missing", "error")]
    return options | {"parameters": parameters}, arrays


def with_equal_weights(rng: Any, options: Options, arrays: Arrays) -> Changed:
    if "feature_weights" in arrays:
        raise NotApplicable
    return options, arrays | {"feature_weights": np.full(arrays["X"].shape[1], 3.7)}


def with_a_block_more(rng: Any, options: Options, arrays: Arrays) -> Any:
    """A further feature that may merge with none."""
    X = arrays["X"]
    if options["strategy"] == "joint" or options["structure"] not in ("free", "blocks"):
        raise NotApplicable
    if options["parameters"].get("noise") == "full" or "n_groups" in options["parameters"]:
        raise NotApplicable
    own = arrays.get("blocks", np.zeros(X.shape[1], dtype=int))
    further = (X[:, :1] - np.nan_to_num(X[:, -1:])).astype(options["types"][0]).astype(float)
    if options["types"][0] == "int32" or not np.isfinite(further).all() or np.ptp(further) == 0:
        raise NotApplicable
    changed = {"X": np.hstack([X, further]), "blocks": np.append(own, 9)}
    if "feature_weights" in arrays:
        changed["feature_weights"] = np.append(arrays["feature_weights"], 1.0)
    types = [*options["types"], options["types"][0]]
    return options | {"structure": "blocks", "types": types}, arrays | changed


# Of every fitted model


def new_rows(model: LinCFA, options: Options, arrays: Arrays) -> Array:
    """Values to transform, without gaps, in the type of the fit."""
    return np.where(np.isnan(arrays["X"]), model.mean_, arrays["X"])


def transformed(model: LinCFA, X: Array) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(model.transform(X))


def positional(options: Options) -> None:
    if options["container"] in ("pandas", "polars", "xarray"):
        raise NotApplicable


def is_linear(model: LinCFA, options: Options, arrays: Arrays) -> None:
    """The mean of two rows is reduced to the mean of what they are reduced to."""
    positional(options)
    X = new_rows(model, options, arrays)
    other = X[::-1]
    middle = transformed(model, X / 2 + other / 2)
    expected = transformed(model, X) / 2 + transformed(model, other) / 2
    error = 1e-12 * (1 + np.abs(model.mean_ / model.scale_).max())
    assert_near(middle, expected, error, scale_of_groups(model))


def goes_back(model: LinCFA, options: Options, arrays: Arrays) -> None:
    """What comes back from reduced features is reduced to these again."""
    positional(options)
    reduced = transformed(model, new_rows(model, options, arrays))
    again = transformed(model, np.asarray(model.inverse_transform(reduced)))
    error = 1e-12 * (1 + np.abs(model.mean_ / model.scale_).max())
    assert_near(again, reduced, error, scale_of_groups(model))


def scale_of_groups(model: LinCFA) -> Any:
    """Size of reduced features: of standardised ones 1, else that of the members."""
    if model.units == "standardized":
        return 1.0
    return np.array([model.scale_[group].max() for group in model.groups_])


def assert_near(one: Array, other: Array, error: float, scale: Any) -> None:
    off = float((np.abs(one - other) / scale).max(initial=0.0))
    size = 1 + float((np.abs(other) / scale).max(initial=0.0))
    if not off <= error * size:
        raise AssertionError(f"differ by {off:.1e}, more than {error * size:.1e}")


def survives(model: LinCFA, options: Options, arrays: Arrays) -> None:
    """Saved and loaded, or pickled, it is the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        copies = [load(path), pickle.loads(pickle.dumps(model))]
    for copy in copies:
        for name in ("labels_", "signs_", "mean_", "scale_", "feature_weights_", "evidence_"):
            one, other = getattr(model, name), getattr(copy, name)
            if one.tobytes() != other.tobytes():
                raise AssertionError(f"{name} {one}, then {other}")


def is_cloned(model: LinCFA, options: Options, arrays: Arrays) -> None:
    """A fit of its clone is the same fit, and so is one after another."""
    if options["container"] not in ("C", "F"):
        raise NotApplicable
    X = np.asarray(arrays["X"].astype(options["types"][0]), order=options["container"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        again = clone(model).fit(X, arrays["y"], arrays.get("sample_weight"))
    if again.evidence_.tobytes() != model.evidence_.tobytes():
        raise AssertionError("other evidence")
    np.testing.assert_array_equal(again.labels_, model.labels_)


def is_cut(model: LinCFA, options: Options, arrays: Arrays) -> None:
    """A cut of the path is a fit with that number of groups, or that tolerance."""
    if options["strategy"] not in ("agglomerative", "joint"):
        raise NotApplicable
    varying = int((model.labels_ >= 0).sum())
    fewest = varying - len(model.merge_path_)
    rng = np.random.default_rng(options["seed"])
    n_groups = int(rng.integers(fewest, varying + 1))
    tolerance = float(10.0 ** rng.uniform(-2, 3))
    plain = {k: v for k, v in options["parameters"].items() if k != "n_groups"}
    if n_groups:
        changed = options | {"tolerance": 1.0, "parameters": plain | {"n_groups": n_groups}}
        compare(model.cut(n_groups=n_groups), fitted(changed, arrays))
    changed = options | {"tolerance": tolerance, "parameters": plain}
    compare(model.cut(tolerance=tolerance), fitted(changed, arrays))


CHANGES: dict[str, Callable[[Any, Options, Arrays], Any]] = {
    "rows in another order": in_other_order,
    "rows repeated": repeated,
    "columns in other units": in_other_units,
    "columns shifted": shifted,
    "target in other units": target_in_other_units,
    "columns in another order": columns_in_other_order,
    "columns flipped": flipped,
    "target twice": target_twice,
    "no limits": without_limits,
    "another container": in_other_container,
    "in chunks": in_chunks,
    "in double precision": in_double_precision,
    "ready for gaps": ready_for_gaps,
    "equal weights": with_equal_weights,
    "a block more": with_a_block_more,
}
EXACT = ("ready for gaps", "equal weights")
PROPERTIES: dict[str, Callable[[LinCFA, Options, Arrays], None]] = {
    "linear": is_linear,
    "back and forth": goes_back,
    "saved": survives,
    "cloned": is_cloned,
    "cut": is_cut,
}

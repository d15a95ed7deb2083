"""Fits of small problems of all kinds against the literal strategies in extended precision."""

import re
from collections.abc import Callable
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

import literal_strategies as literal
from lincfa import LinCFA
from literal_strategies import CLEAR

from .case import Case, Tried
from .oracle import EPS, Exact, Problem, UnclearError
from .problems import by_sums, draw_problem, fitted, structure_of

SHARE = 4.0
LIMIT = 120.0
NEEDS = ("pandas", "polars", "xarray", "dask")

Array = npt.NDArray[Any]

_JOINT = (
    r"(This LinCFA cannot be fitted to the rows seen so far: )?"
    r"strategy='joint' compares groups in a regression on all of them"
)
_REFUSED = re.compile(
    _JOINT + r", and the correlations of features with missing values, each pair on the samples it "
    r"shares, do not allow one \(their matrix is not positive definite\)\. Use "
    r"strategy='agglomerative', or fill in the missing values first\."
)
_REFUSED_IF_UNCLEAR = re.compile(
    _JOINT + r" and needs fewer than \S+ groups to start with for \S+ (effective )?samples, but "
    r".+ leaves? \d+\. Allow more, or use another strategy\."
)


def draw(rng: np.random.Generator) -> Case:
    options, arrays = draw_problem(rng)
    if rng.random() < 0.25 and "n_groups" not in options["parameters"]:
        options["tolerance"] = _beside_some_pair(rng, options, arrays)
    return Case("differential", options, arrays)


def _beside_some_pair(
    rng: np.random.Generator, options: dict[str, Any], arrays: dict[str, Array]
) -> float:
    """A tolerance that an error of some digit in the F of a pair would be on the other side of."""
    problem = problem_of(options | {"strategy": "sequential"}, arrays)
    try:
        features = np.flatnonzero(problem.moments.varying)
        if features.size < 2:
            return 1.0
        i, j = sorted(rng.choice(features, 2, replace=False).tolist())
        f = float(Exact(problem).verdict([i], [j]).f)
    except UnclearError:
        return 1.0
    if not 1e-9 < f < literal.BEYOND:
        return 1.0
    return f * (1 + rng.choice([-1, 1]) * 10.0 ** -rng.uniform(3, 11))


def problem_of(options: dict[str, Any], arrays: dict[str, Array]) -> Problem:
    """The same problem for the oracle."""
    X, Y = arrays["X"], arrays["y"].astype(np.float64).reshape(len(arrays["y"]), -1)
    types = [np.dtype(name) for name in options["types"]]
    precision = [max(EPS, float(np.finfo(t).eps)) if t.kind == "f" else EPS for t in types]
    parameters = options["parameters"]
    tolerance = options["tolerance"]
    return Problem(
        X=X.astype(np.float64),
        Y=Y,
        precision=np.array(precision),
        sample_weight=arrays.get("sample_weight"),
        strategy=options["strategy"],
        tolerance=2.0 if tolerance == "unbiased" else tolerance,
        noise=parameters.get("noise", "pair"),
        min_correlation=parameters.get("min_correlation"),
        signed=parameters.get("signed", False),
        weights=arrays.get("feature_weights"),
        effective=parameters.get("effective_samples"),
        by_sums=by_sums(options["container"]),
        graph=structure_of(options, arrays)[1],
    )


def check(case: Case) -> Tried:
    options, arrays = case.options, case.arrays
    return judged(lambda: fitted(options, arrays), options, arrays)


def judged(fit: Callable[[], LinCFA], options: dict[str, Any], arrays: dict[str, Array]) -> Tried:
    """Compare what a fit gives, or that it fails, with what the literal strategies find."""
    problem = problem_of(options, arrays)
    try:
        expected = problem.result()
    except (UnclearError, np.linalg.LinAlgError):
        expected = None
    try:
        model = fit()
    except ValueError as error:
        if may_be_refused(error, clear=expected is not None):
            return Tried(1, 1)
        raise
    if expected is None:
        return Tried(1, 1)
    if options["strategy"] in literal.WALKS:
        if expected.clear > CLEAR and len(model.evidence_) == len(expected.joined):
            compare_figures(model.evidence_, expected.joined)
    else:
        compare_merges(model.merge_path_, expected)
    partition = groups_of(expected, options, problem.moments.varying)
    if partition is None:
        return Tried(1, 1)
    groups, signs = partition
    found = [group.tolist() for group in model.groups_]
    if found != groups:
        raise AssertionError(f"groups {found}, not {groups}")
    np.testing.assert_array_equal(model.signs_, signs, err_msg="signs")
    return Tried()


def may_be_refused(error: ValueError, *, clear: bool) -> bool:
    """Whether an error is one that the oracle does not foresee."""
    patterns = [_REFUSED] if clear else [_REFUSED, _REFUSED_IF_UNCLEAR]
    return any(pattern.fullmatch(str(error)) for pattern in patterns)


def groups_of(
    expected: Any, options: dict[str, Any], varying: npt.NDArray[np.bool_]
) -> tuple[Any, Any] | None:
    """Groups and signs of what a literal strategy found; None where these are not clear."""
    if options["strategy"] in literal.WALKS:
        return (expected.groups, expected.signs) if expected.clear > CLEAR else None
    merges = expected.merges[: expected.sure]
    n_groups, tolerance = options["parameters"].get("n_groups"), options["tolerance"]
    if n_groups is None:
        tolerance = 2.0 if tolerance == "unbiased" else tolerance
        cut = len(literal.merges_at(merges, tolerance, expected.free))
        deciding = merges[expected.free : cut + 1]
        if any(literal.apart(merge.f, tolerance, merge.f.error) <= CLEAR for merge in deciding):
            return None
    else:
        cut = len(np.flatnonzero(varying)) - n_groups
    if cut >= len(merges) and len(merges) < len(expected.merges):
        return None
    X = np.where(varying, np.arange(2)[:, None], 0.0)
    groups = literal.groups_after(X, merges[:cut])
    return sorted(groups.values()), literal.signs_after(X, merges[:cut])


def compare_figures(record: Any, merges: Any) -> None:
    """Each row of a record against what the literal strategy found."""
    for row, merge in zip(record, merges, strict=True):
        *_, rho, f = merge
        for name, value in (("correlation", rho), ("f", f)):
            bound = value.error + 1e-14 * abs(value)
            if not abs(row[name] - value) <= bound and row[name] != value:
                raise AssertionError(
                    f"{name} {row[name]!r}, not {float(value)!r} within {bound:.1e} of {row}"
                )


def _groups(merges: Any) -> set[tuple[int, ...]]:
    """The groups that merges make, in whatever order."""
    groups: dict[int, tuple[int, ...]] = {}
    for first, second in ((int(merge[0]), int(merge[1])) for merge in merges):
        groups[first] = groups.get(first, (first,)) + groups.pop(second, (second,))
    return {tuple(sorted(group)) for group in groups.values()}


def compare_merges(made: Any, path: Any) -> None:
    """As many merges of a path as are clear; those of copies come first, in any order."""
    merges = path.merges[: path.sure]
    if len(made) < len(merges):
        raise AssertionError(f"{len(made)} merges, not {len(merges)}")
    # Two starts of "joint" may lead to the same groups, and rounding decides which one is kept.
    if path.free <= len(merges) and _groups(made[: path.free]) == _groups(merges[: path.free]):
        made, merges = made[path.free :], merges[path.free :]
    copies = len(list(takewhile(lambda merge: merge.f == 0 and merge.correlation == 1, merges)))
    for row, merge in zip(made[copies:], merges[copies:], strict=False):
        found = row["first"], row["second"], row["sign"], row["size"]
        if found != merge[:4]:
            raise AssertionError(f"merge {found}, not {merge}")
    compare_figures(made[: len(merges)], merges)

"""What every fitted model can do: reduce and go back, name and summarise its groups."""

import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._data._checks import check_no_overflow, check_reduced, is_dask, is_field, real_numbers
from .._data._columns import Columns, keep_columns
from .._data._frames import columns_of_records, frame_of, naming_text
from .._data._names import describe_columns, did_you_mean, reduced_names
from .._data._targets import Targets
from .._data._training import FeatureTable, read_new
from .._statistics._means import centers_of_means, group_means, spread_means
from ..theory._arrays import FloatArray
from ._display import documentation_link
from ._inference import Inference, infer_weights
from ._observations import open_samples
from ._regression import linear_coefficients
from ._summary import Summary, scale_of_means

if TYPE_CHECKING:
    from .._data._field import Field, Variable

_SHOWN_IN_NOTEBOOK = 5


class GroupMeans(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The reduction of a table in memory, of which ``set_output`` makes a data frame."""

    _columns: Columns
    _targets: Targets
    labels_: npt.NDArray[np.intp]
    groups_: list[npt.NDArray[np.intp]]
    n_groups_: int
    n_features_in_: int
    mean_: FloatArray
    scale_: FloatArray
    signs_: npt.NDArray[np.int8]
    feature_weights_: FloatArray
    missing: Literal["error", "pairwise"]
    units: Literal["standardized", "original"]

    def transform(self, X: Any) -> Any:
        """Average each group of columns."""
        return self._average(self._read_new(X))

    def _read_new(self, X: Any) -> FeatureTable:
        self._check_is_fitted()
        return read_new(X, self._columns, self, self.missing)

    def _reduce(self, table: FeatureTable, X: Any = None) -> Any:
        """Average each group: an array, or lazily that of dask, or a dataframe if X is one."""
        if not is_dask(table.values):
            return self._average(table)
        from ._lazy import average_lazily

        return average_lazily(self, X, table)

    def _average(self, table: FeatureTable) -> npt.NDArray[Any]:
        mean, scale = self._standardization
        reduced = group_means(
            table.values,
            self.labels_,
            self.n_groups_,
            factors=self._factors,
            mean=mean,
            scale=scale,
            check=table.check_finite,
            gaps=table.gaps,
        )
        check_no_overflow(reduced, self.get_feature_names_out, table.missing)
        return reduced

    @property
    def _standardization(self) -> tuple[FloatArray | None, FloatArray | None]:
        return (self.mean_, self.scale_) if self.units == "standardized" else (None, None)

    @property
    def _factors(self) -> FloatArray:
        """Weight of each feature in the mean of its group, negative where it is flipped."""
        return self.signs_ * self.feature_weights_

    def _group_weights(self) -> FloatArray:
        """Sum of the weights of each group's features."""
        grouped = self.labels_ >= 0
        weights = self.feature_weights_[grouped]
        return np.asarray(np.bincount(self.labels_[grouped], weights=weights), dtype=np.float64)

    def _check_is_fitted(self) -> None:
        name = type(self).__name__
        check_is_fitted(
            self, "labels_", msg=f"This {name} is not fitted yet: call fit(X, y) first."
        )


class AnyContainer:
    """The reduction of fields and of dask collections, which keep their kind.

    This class is no transformer of scikit-learn: what its methods return is not wrapped by
    ``set_output``, which makes tables in memory.
    """

    def transform(self: Any, X: Any) -> Any:
        """Average each group of features.

        A mean is weighted by ``feature_weights_``, and features whose ``signs_`` are −1 enter it
        with their sign flipped. With ``missing="pairwise"`` it is that of the features present in
        the sample, and NaN where there are none.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.

        Returns
        -------
        array of shape (n_samples, n_groups_)
            Or a data frame, as set by ``set_output``. For a dask collection, the same kind of
            collection with the same chunks of rows, not computed yet. For a field, a DataArray
            along the samples and ``"group"``, with the coordinates of the samples, and the ``name``
            and ``size`` of the groups (and their ``variable``, for a Dataset); not computed yet if
            the field is lazy. Where cells have latitudes and longitudes, groups have a centre
            (``centre_lat``, ``centre_lon``), an extent (``south``, ``north``, ``west``, ``east``)
            and ``area_km2``.
        """
        self._check_is_fitted()
        of_field = is_field(X) and self._columns.field is not None
        if not (is_dask(X) or of_field):
            with naming_text():
                return super().transform(X)  # type: ignore[misc]
        table = self._read_new(X)
        values = self._reduce(table, X)
        if not of_field:
            return values
        from .._data._write_field import reduced_array

        names = self.get_feature_names_out()
        flipped = bool((self.signs_ < 0).any())
        return reduced_array(self.field_, X, values, names, self.groups_, self.units, flipped)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit to data, then transform it.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features)
        y : array of shape (n_samples,), default=None
            The target.
        **fit_params
            Further parameters of ``fit``.

        Returns
        -------
        array of shape (n_samples, n_groups_)
            As of :meth:`transform`.
        """
        if is_dask(X) or is_field(X):
            return self.fit(X, y, **fit_params).transform(X)  # type: ignore[attr-defined]
        return super().fit_transform(X, y, **fit_params)  # type: ignore[misc]


class GroupModel(AnyContainer, GroupMeans):
    """A model that has been fitted to groups of features and replaces each by its mean."""

    # How scikit-learn's notebook page finds the documentation.
    _doc_link_module = "lincfa"
    _doc_link_template = "{address}"

    evidence_: npt.NDArray[np.void]
    cohesion_: npt.NDArray[np.void]
    n_samples_: float
    target_scale_: float | FloatArray
    target_names_: list[str]
    n_connected_components_: int

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"address": documentation_link("evidence.md")}

    def _keep_columns(self, columns: Columns) -> None:
        self._columns = columns
        keep_columns(self, columns)

    def _keep_targets(self, targets: Targets) -> None:
        self._targets = targets
        self.target_names_ = targets.labels
        if targets.classes is not None:
            self.classes_ = targets.classes

    @property
    def field_(self) -> "Field":
        """The cells of the field that the model was fitted to."""
        columns = self.__dict__.get("_columns")
        if columns is None or columns.field is None:
            raise AttributeError(f"This {type(self).__name__} was not fitted to a field.")
        field: Field = columns.field
        return field

    # Going back

    def inverse_transform(self, X: Any) -> Any:
        """Approximate the features by the means of their groups.

        With standardised units a feature is its own mean plus its own scale times its group's
        value; with original units its own mean plus the distance of the group's value from the mean
        of the group. For a feature whose sign is flipped, minus instead of plus. A constant feature
        is its mean. :meth:`transform` of the result gives X back. With ``missing="pairwise"``
        reduced features may be NaN, and then all features of the group are.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_groups_)
            Reduced features, in the order of :meth:`transform`.

        Returns
        -------
        array of shape (n_samples, n_features_in_)
            For a dask collection, the same kind of collection, not computed yet. For a DataArray
            along ``"group"``, from a model that was fitted to a field, such a field, with NaN in
            cells that are missing at every sample.
        """
        self._check_is_fitted()
        if is_field(X) and self._columns.field is not None:
            return self._expand_field(X)
        names, line = self.get_feature_names_out(), (self.labels_, self.mean_, *self._line())
        if is_dask(X):
            from ._lazy import expand_lazily

            return expand_lazily(X, names, self._columns.labels, self.missing, *line)
        features = spread_means(check_reduced(X, names, self.missing), *line)
        check_no_overflow(features, lambda: self._columns.labels, "pairwise")
        return features

    def _expand_field(self, X: Any) -> Any:
        from .._data._write_field import check_reduced_field, put_samples

        names = self.get_feature_names_out()
        values = check_reduced_field(X, len(names))
        lazy = is_dask(values)
        if not lazy:
            values = check_reduced(values, names, self.missing)
        scale, center = self._line()

        def expand(variable: "Variable", columns: slice) -> Any:
            # A cell that is missing at every sample is like a constant one whose mean is NaN.
            cells = np.full((3, variable.present.size), [[-1.0], [np.nan], [1.0]])
            known = self.labels_[columns], self.mean_[columns], scale[columns]
            cells[:, variable.present] = known
            line = cells[0].astype(np.intp), cells[1], cells[2], center
            labels = [variable.name] * variable.present.size
            if not lazy:
                features = spread_means(values, *line)
                check_no_overflow(features, lambda: labels, "pairwise")
                return features
            from ._lazy import expand_lazily

            return expand_lazily(values, names, labels, self.missing, *line)

        return put_samples(self.field_, expand, X)

    def _line(self) -> tuple[FloatArray, FloatArray]:
        """Slope of each feature against its group's value, and center of each group's value."""
        if self.units == "standardized":
            return self.signs_ * self.scale_, np.zeros(self.n_groups_)
        center = centers_of_means(self.mean_, self.labels_, self._factors, self.n_groups_)
        return self.signs_.astype(np.float64), center

    def _without_gaps(self, reduced: Any) -> Any:
        """Replace NaN in reduced features, lazy or not, by what they are at the features' means."""
        center = self._line()[1].astype(getattr(reduced, "dtype", np.float64))  # or a frame
        return np.where(np.isnan(reduced), center, reduced)

    def expand_coefficients(
        self, coef: Any, intercept: Any = 0.0
    ) -> tuple[FloatArray, FloatArray | float]:
        """Spread the coefficients of a linear model on the reduced features back to all features.

        The model ``X @ coef + intercept`` on the original features, in their own units, predicts
        what the given one predicts on ``transform(X)``, up to rounding. The coefficient of a group
        is shared by its members, in equal parts or by ``feature_weights_``, with their ``signs_``;
        a constant feature gets 0.

        Parameters
        ----------
        coef : array of shape (n_groups_,) or (n_targets, n_groups_)
            As ``coef_`` of a linear model.
        intercept : float or array of shape (n_targets,), default=0.0
            As ``intercept_`` of a linear model.

        Returns
        -------
        coef : array of shape (n_features_in_,) or (n_targets, n_features_in_)
        intercept : float or array of shape (n_targets,)
        """
        self._check_is_fitted()
        coef, intercept = real_numbers(coef, "coef"), real_numbers(intercept, "intercept")
        if coef.ndim not in (1, 2) or coef.shape[-1] != self.n_groups_:
            raise ValueError(
                f"coef must have one coefficient per reduced feature, shape ({self.n_groups_},) or "
                f"(n_targets, {self.n_groups_}), got {coef.shape}."
            )
        if intercept.ndim > 0 and intercept.shape != coef.shape[:-1]:
            several = f", or one per target, {len(coef)}" if coef.ndim > 1 else ""
            raise ValueError(
                f"intercept must be one number{several}, got an array of shape {intercept.shape}."
            )
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            raise ValueError("coef and intercept must be finite.")
        grouped = np.flatnonzero(self.labels_ >= 0)
        expanded = np.zeros((*coef.shape[:-1], self.n_features_in_))
        shared = (coef / self._group_weights())[..., self.labels_[grouped]]
        expanded[..., grouped] = shared * self._factors[grouped]
        if self.units == "standardized":
            expanded /= self.scale_
            intercept = intercept - expanded @ self.mean_
        return expanded, float(intercept) if intercept.ndim == 0 else intercept

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as anywhere in scikit-learn.

        Parameters
        ----------
        **params : dict
            New values by name.

        Returns
        -------
        GroupModel
            The estimator itself.
        """
        try:
            super().set_params(**params)
        except ValueError as error:
            known = self.get_params()
            unknown = next((name for name in params if name not in known), None)
            raise ValueError(f"{error}{did_you_mean(unknown, known)}") from None
        return self

    # Names and figures

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the reduced features, all different.

        A feature alone in its group keeps its name, a group is called ``mean(a, b, c)``, or
        ``mean(a, b, … 17 features)`` when it has more than three members;
        :meth:`groups_by_name` lists all of them. Features whose sign is flipped have a minus sign
        (U+2212): ``mean(a, −b)``. Groups of cells with latitudes and longitudes are named by their
        place, ``t2m 5°S–5°N 170–120°W``, the extent of the centres of their cells; stations by
        their names, if they have any.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the features. By default those seen in fit, or ``x0``, ``x1``, … where X had
            no names.
        """
        self._check_is_fitted()
        names = self._columns.labels
        if input_features is not None:
            known = getattr(self, "feature_names_in_", None)
            names = np.asarray(input_features, dtype=object)
            if known is not None and not np.array_equal(known, names):
                raise ValueError(
                    "input_features is not equal to feature_names_in_, the columns of the fit: "
                    f"{describe_columns(known, range(len(known)), limit=5)}"
                )
            if len(names) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(names)}"
                )
        field, places = self._columns.field, None
        if field is not None:
            from .._data._places import place_names

            places = place_names(field, self.groups_, self.signs_)
        return reduced_names(names, self.groups_, self.signs_, places)

    def groups_by_name(self) -> dict[str, list[str]]:
        """Members of each group by the name of its reduced feature; their signs are ``signs_``."""
        self._check_is_fitted()
        names = self._columns.labels
        return {
            name: [str(names[i]) for i in group]
            for name, group in zip(self.get_feature_names_out(), self.groups_, strict=True)
        }

    def evidence_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return ``evidence_`` as a data frame, with the names of features and partners.

        Of several targets the estimates have one column for each, such as ``gain_share[y0]``.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
        """
        self._check_is_fitted()
        evidence, names = self.evidence_, self._columns.labels
        columns: dict[str, Any] = columns_of_records(evidence, self.target_names_)
        for role in ("feature", "partner"):
            columns[role] = [str(names[i]) for i in evidence[role]]
        return frame_of(columns, library)

    def summary(self) -> Summary:
        """Summarise what was reduced to what.

        For each group its size, members, mean and smallest correlation within the group, and the
        correlation of its mean with the target; of cells also their place and area. Print it, or
        use its :meth:`~Summary.frame`.
        All of it was computed in fit (``cohesion_``) and needs no data.
        """
        self._check_is_fitted()
        members, places = self.groups_by_name(), None
        if self._columns.field is not None:
            from .._data._places import find_places

            places = find_places(self._columns.field, self.groups_)
        reducer: Any = getattr(self, "reducer_", self)
        return Summary(
            n_samples=self.n_samples_,
            n_features=self.n_features_in_,
            n_constant=int((self.labels_ < 0).sum()),
            n_groups=self.n_groups_,
            n_components=self.n_connected_components_,
            names=tuple(members),
            members=tuple(map(tuple, members.values())),
            sizes=np.array([len(group) for group in self.groups_], dtype=np.intp),
            **{name: self.cohesion_[name] for name in self.cohesion_.dtype.names or ()},
            weight=self._standardized_weights(),
            targets=tuple(self.target_names_),
            classes=self._targets.classes is not None,
            signed=bool(self.signed),
            connected=self.connectivity is not None or self.blocks is not None,
            searched=getattr(self, "searched_", False),
            required_correlation=reducer.min_correlation,
            requested=getattr(self, "n_groups", None) is not None,
            choice=self._choice_in_words(),
            places=places,
            weighted=self.feature_weights is not None,
        )

    def _choice_in_words(self) -> tuple[str, ...]:
        """What a search chose, a line each; nothing without a search."""
        return ()

    def _standardized_weights(self) -> FloatArray | None:
        """Weights of a linear ``estimator_``, from one standard deviation to another.

        One for each group, or of several targets one row for each group.
        """
        linear = linear_coefficients(getattr(self, "estimator_", None), self.n_groups_)
        if linear is None:
            return None
        # Those of classes are of log odds, which have no scale.
        unit = self.target_scale_ if self._targets.classes is None else 1.0
        return np.asarray((linear[0] * self._scale_of_means()).T / unit)

    def _scale_of_means(self) -> FloatArray:
        """Standard deviation of each reduced feature, where its members are all present."""
        factors = np.ones_like(self.scale_) if self.units == "standardized" else self.scale_
        rho, r = (self.cohesion_[name] for name in ("mean_correlation", "target_correlation"))
        return scale_of_means(
            self.labels_,
            self.signs_ * factors,
            self.feature_weights_,
            rho,
            np.atleast_2d(self.target_correlation_),
            r.reshape(self.n_groups_, -1).T,
        )

    def inference(
        self,
        X: Any,
        y: Any,
        *,
        level: float = 0.95,
        ordered: bool | None = None,
        groups: Any = None,
    ) -> Inference:
        """Estimate the weights of the groups from samples that the fit has not seen.

        The groups suit the errors of the samples that they were learned from. On others their means
        are ordinary regressors: least squares give the weight of each with its standard error,
        interval and p-value, adjusted for the number of weights. Errors may differ in variance, and
        depend on those of neighbouring dates where samples have dates. ``docs/inference.md`` says
        how.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells; at least two samples, or dates, for each
            group. Samples of the fit are refused, as far as they are recognised.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            Their target, or targets.
        level : float, default=0.95
            How often the intervals are to cover the weights.
        ordered : bool, default=None
            Whether samples are in time order, so that neighbours are dependent; those with dates
            are taken in the order of these. None for samples with dates. False if dates do not
            matter.
        groups : array of shape (n_samples,), default=None
            Labels of samples that depend on each other, such as those of a batch or a firm; those
            of different groups are independent.

        Returns
        -------
        Inference

        Examples
        --------
        >>> import numpy as np
        >>> from lincfa import LinCFA
        >>> rng = np.random.default_rng(0)
        >>> signal = rng.normal(size=(400, 3))
        >>> X = np.repeat(signal, 3, axis=1) + 0.3 * rng.normal(size=(400, 9))
        >>> y = signal @ [1.0, -0.3, 0.0] + rng.normal(size=400)
        >>> model = LinCFA(strategy="agglomerative", n_groups=3).fit(X[:200], y[:200])
        >>> print(model.inference(X[200:], y[200:]))
        200 new samples: 2 of 3 weights clearly not 0
        reduced feature   weight  95 % from       to        p  adjusted p
        mean(x0, x1, x2)   0.944      0.779     1.11  < 0.001     < 0.001
        mean(x3, x4, x5)  −0.202     −0.358  −0.0456    0.012       0.023
        mean(x6, x7, x8)  0.0120     −0.134    0.158    0.871       0.871
        weight: change of the target per standard deviation of the mean
        Least squares on the means of the groups. Errors may differ in variance (HC3), and are
        independent. p-values are adjusted by Holm's method.
        """
        # In time order, where there are dates.
        samples = open_samples(self, X, y, ("X", "y"), groups=groups)
        if samples is None:
            raise ValueError("X and y are None; inference needs both.")
        if groups is not None and ordered:
            raise ValueError("Samples are in groups or in time order; give groups or ordered.")
        if ordered is None:
            ordered = samples.dates is not None
        return infer_weights(self, samples, level, ordered)

    # Maps

    def label_map(self) -> Any:
        """Return the group of each cell of the field, on its grid.

        Returns
        -------
        DataArray
            ``labels_`` as float64: NaN for cells that are missing at every sample, −1 for constant
            ones. For a model that was fitted to a Dataset, a Dataset of such maps. In files these
            are integers. The attributes ``flag_values`` and ``flag_meanings`` name the groups, as
            the CF conventions have it.

        Examples
        --------
        >>> import numpy as np, xarray as xr
        >>> from lincfa import LinCFA
        >>> rng = np.random.default_rng(0)
        >>> signal = rng.normal(size=(100, 2, 1))
        >>> values = signal + 0.1 * rng.normal(size=(100, 2, 3))
        >>> lat, lon = [45.0, 46.0], [7.0, 8.0, 9.0]
        >>> field = xr.DataArray(values, {"time": range(100), "lat": lat, "lon": lon})
        >>> y = signal[:, 0, 0] - signal[:, 1, 0] + rng.normal(size=100)
        >>> LinCFA(sample_dim="time", tolerance=9.0).fit(field, y).label_map().values
        array([[0., 0., 0.],
               [1., 1., 1.]])
        """
        field = self._checked_field()
        from .._data._write_field import label_map

        return label_map(field, self.labels_, self.get_feature_names_out())

    def to_map(self, values: Any, name: Hashable = None) -> Any:
        """Put one number per feature on the grid of the field.

        For instance coefficients, as :meth:`expand_coefficients` returns them, or ``mean_``.

        Parameters
        ----------
        values : array of shape (n_features_in_,)
        name : str, default=None
            Name of the map; for a Dataset, the ``long_name`` of its variables.

        Returns
        -------
        DataArray or Dataset
            As the field of the fit was; NaN for cells that are missing at every sample.
        """
        field = self._checked_field()
        from .._data._write_field import map_values

        return map_values(field, values, name)

    def _checked_field(self) -> "Field":
        self._check_is_fitted()
        if self._columns.field is None:
            raise ValueError(
                "The model was fitted to a table, whose columns are not cells of a grid; a map "
                "needs a fit to an xarray field."
            )
        return self._columns.field

    # Pages

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        X_test: Any = None,
        y_test: Any = None,
        ordered: bool = False,
        block_length: int | Literal["auto"] | None = None,
        title: str | None = None,
    ) -> None:
        """Write a report: one page of HTML that works offline, or JSON.

        The page begins with how well the reduced features predict new samples, against tuned
        rivals on all features. It lists the groups by their effect on the prediction, with their
        members and the evidence of each merge in words, to search and sort; then the correlations
        against their thresholds, settings and versions. A model keeps no data. Without ``X`` and
        ``y`` the pairs that nearly merged are left out, and for :class:`LinCFA` the effects and the
        scores against the number of groups. Without ``X_test`` and ``y_test`` there are no scores,
        and effects are not checked. Without either there is no picture of the correlations.

        Parameters
        ----------
        path : path-like
            The file, which is written whole or not at all: JSON if it ends in ``.json``, else
            the page.
        X, y, sample_weight : array-like, default=None
            The data of the fit; other data are an error.
        X_test, y_test : array-like, default=None
            Samples not used for fitting, on which a regression on the reduced features and its
            rivals on all features are scored: least squares, ridge and PLS, for classes logistic
            regression and PLS-DA. They are fitted to ``X`` and ``y``; without these, they are
            cross-validated within the test samples. Targets as in ``fit``: one, several, or labels
            of the classes.
        ordered : bool, default=False
            Whether the test samples are in time order, so that neighbours are dependent. Those with
            dates are taken in the order of these.
        block_length : int or "auto", default=None
            How many consecutive test samples are drawn together for the intervals of scores.
            ``"auto"`` chooses it from the lag-one autocorrelation of the errors, between 1 and a
            third of the samples. None for ``"auto"`` where the test samples have dates or are
            ``ordered``, and else for 1.
        title : str, default=None
            Title of the page; by default "Reduced features".

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from lincfa import LinCFA
        >>> from lincfa.datasets import make_correlated
        >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
        >>> model = LinCFA().fit(X[:100], y[:100])
        >>> with TemporaryDirectory() as folder:
        ...     model.report(Path(folder) / "report.json", X_test=X[100:], y_test=y[100:])
        ...     [file.name for file in Path(folder).iterdir()]
        ['report.json']
        """
        from ..report._findings import collect_findings
        from ..report._page import write_report

        findings = collect_findings(
            self,
            X=X,
            y=y,
            sample_weight=sample_weight,
            X_test=X_test,
            y_test=y_test,
            ordered=ordered,
            block_length=block_length,
            title=title,
        )
        write_report(findings, path)

    @property
    def _repr_html_(self) -> Any:
        diagram = super()._repr_html_  # fails where scikit-learn is set to show text
        return lambda: diagram() + self._groups_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._groups_html()
        return bundle

    def _groups_html(self) -> str:
        if not hasattr(self, "labels_"):
            return ""
        return self.summary().table(_SHOWN_IN_NOTEBOOK).html()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = self.missing == "pairwise"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def forget_fit(estimator: Any, keep: Sequence[str] = ()) -> None:
    """Drop what an earlier fit left, so that a fit that fails leaves no mixture of two."""
    left = {name for name in vars(estimator) if name.endswith("_") or name in _PRIVATE}
    for name in left.difference(keep):
        delattr(estimator, name)


_PRIVATE = ("_columns", "_targets", "_rows", "_stream")
"""What a fit leaves beside its public attributes."""

"""How a fitted reduction is read: names, members, evidence, summary, notebook page."""

import os
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._data._names import Names, default_names, reduced_names
from .._data._tables import frame_of
from ._display import documentation_link
from ._fields import FieldReader
from ._summary import Summary

_SHOWN_IN_NOTEBOOK = 5


class GroupReader(FieldReader, BaseEstimator):  # type: ignore[misc]
    """What can be read from groups of features after a fit, without the training data."""

    # How scikit-learn's notebook page finds the documentation.
    _doc_link_module = "lincfa"
    _doc_link_template = "{address}"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"address": documentation_link("evidence.md")}

    def _names(self) -> Names:
        """Names of the features, made up where there are none."""
        known = getattr(self, "feature_names_in_", None)
        if known is None:
            known = getattr(self, "_column_names", None)
        return default_names(self.n_features_in_) if known is None else known

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the reduced features, all different.

        A feature alone in its group keeps its name, a group is called ``mean(a, b, c)``, or
        ``mean(a, b, … 17 features)`` when it has more than three members;
        :meth:`groups_by_name` gives them all.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the features. By default those seen in fit, or ``x0``, ``x1``, … where X had
            no names.
        """
        self._check_is_fitted()
        names = self._names()
        if input_features is not None:
            known = getattr(self, "feature_names_in_", None)
            names = np.asarray(input_features, dtype=object)
            if known is not None and not np.array_equal(known, names):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(names) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(names)}"
                )
        return reduced_names(names, self.groups_)

    def groups_by_name(self) -> dict[str, list[str]]:
        """Members of each group by the name of its reduced feature."""
        self._check_is_fitted()
        names = self._names()
        return {
            name: [str(names[i]) for i in group]
            for name, group in zip(self.get_feature_names_out(), self.groups_, strict=True)
        }

    def evidence_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Give ``evidence_`` as a data frame, with the names of features and partners.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
        """
        self._check_is_fitted()
        evidence, names = self.evidence_, self._names()
        columns: dict[str, Any] = {name: evidence[name] for name in evidence.dtype.names}
        for role in ("feature", "partner"):
            columns[role] = [str(names[i]) for i in evidence[role]]
        return frame_of(columns, library)

    def summary(self) -> Summary:
        """Say what was reduced to what.

        Per group its size, members, mean and smallest correlation within the group, and the
        correlation of its mean with the target; print it, or take its :meth:`~Summary.frame`.
        All of it was computed in fit (``cohesion_``) and needs no data.
        """
        self._check_is_fitted()
        members = self.groups_by_name()
        return Summary(
            n_samples=self.n_samples_,
            n_features=self.n_features_in_,
            n_constant=int((self.labels_ < 0).sum()),
            n_groups=self.n_groups_,
            n_components=self.n_connected_components_,
            names=tuple(members),
            members=tuple(map(tuple, members.values())),
            sizes=np.array([len(group) for group in self.groups_], dtype=np.intp),
            mean_correlation=self.cohesion_["mean_correlation"],
            min_correlation=self.cohesion_["min_correlation"],
            min_is_exact=self.cohesion_["min_is_exact"],
            target_correlation=self.cohesion_["target_correlation"],
        )

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
        title: str | None = None,
    ) -> None:
        """Write a report: one page of HTML that works offline, or JSON.

        The page has the groups with their members and the evidence of each merge in words, to
        search and sort; the correlations against their thresholds; settings and versions. A model
        keeps no data. Without ``X`` and ``y`` the pairs that nearly merged are left out, and for
        :class:`LinCFA` the weights and the scores against the number of groups. Without ``X_test``
        and ``y_test`` there are no scores. Without either there is no picture of the correlations.

        Parameters
        ----------
        path : path-like
            The file, which is written whole or not at all: JSON where it ends in ``.json``, else
            the page.
        X, y, sample_weight : array-like, default=None
            The data of the fit; others are refused.
        X_test, y_test : array-like, default=None
            Samples not used for fitting, on which regressions on all and on the reduced features
            are scored. They are fitted to ``X`` and ``y``; without these, they are cross-validated
            within the test samples.
        ordered : bool, default=False
            Whether the test samples are in the order of time, so that neighbours depend.
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
        """Show the largest groups; nothing before a fit."""
        if not hasattr(self, "labels_"):
            return ""
        return self.summary().table(_SHOWN_IN_NOTEBOOK).html()

    def _check_is_fitted(self) -> None:
        check_is_fitted(self, "labels_")

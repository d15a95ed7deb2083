"""Findings and pages that the tests of the report share."""

import warnings
from functools import cache, partial
from html.parser import HTMLParser

import numpy as np

from lincfa import LinCFA
from lincfa._model._display import decimals
from lincfa.datasets import make_correlated, make_spectra
from lincfa.report._findings import collect_findings

NASTY = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "=cmd|' /C calc'!A0",
    "</script>",
    '"onmouseover="alert(3)',
    "a&b",
    "left\u202eright",
    "wide" * 125,
    "🌧️ rain",
    "",
    "line\u2028break",
    "{{ 7 * 7 }}",
    "</title><svg onload=alert(4)>",
]


def make_findings(n_features=40, strategy="agglomerative", **given):
    """Findings on samples of which one half was fitted and the other is for scores."""
    X, y = make_correlated(n_samples=200, n_features=n_features, random_state=0)
    model = LinCFA(strategy=strategy).fit(X[:100], y[:100])
    return collect_findings(model, X=X[:100], y=y[:100], X_test=X[100:], y_test=y[100:], **given)


def field_findings():
    """Findings on three areas of the Pacific, one of them a box that every forecaster knows."""
    import xarray as xr

    rng = np.random.default_rng(0)
    lat, lon = np.arange(-25.0, 26, 5), np.arange(190.0, 271, 10)
    area = np.where(np.abs(lat) <= 5, 0, np.where(lat > 5, 1, 2))[:, None] + 0 * lon
    area[(np.abs(lat) <= 5)[:, None] & (lon > 240)] = 3
    area[(np.abs(lat) > 5)[:, None] & (lon < 200)] = 3
    area[np.abs(lat) == 10] = 3
    series = rng.normal(size=(80, 4))
    values = series[:, area.astype(int)] + 0.2 * rng.normal(size=(80, *area.shape))
    values[:, area == 3] = np.nan
    X = xr.DataArray(values, {"lat": lat, "lon": lon}, ("time", "lat", "lon"), "sst")
    y = series[:, :3] @ [3.0, 1.0, -2.0] + rng.normal(size=80)
    model = LinCFA(strategy="agglomerative", n_groups=3, min_correlation=0.5, sample_dim="time")
    return collect_findings(model.fit(X, y), X=X, y=y)


def spectrum_findings():
    """Findings on spectra of mixtures, with wavelengths as names of the columns."""
    import pandas as pd

    X, y = make_spectra(n_samples=160, n_features=60, random_state=0)
    X = pd.DataFrame(X, columns=[f"{900 + 5 * k} nm" for k in range(60)])
    model = LinCFA(tolerance=7.0, min_correlation=0.9).fit(X[:80], y[:80])
    return collect_findings(model, X=X[:80], y=y[:80], X_test=X[80:], y_test=y[80:])


def class_findings():
    """Findings on three classes, which differ in two of three signals."""
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(240, 3))
    X = np.repeat(signal, 4, axis=1) + 0.5 * rng.normal(size=(240, 12))
    y = np.array(["dry", "mild", "wet"])[np.digitize(signal @ [1.0, -1.0, 0.0], [-0.7, 0.7])]
    model = LinCFA(strategy="agglomerative", n_groups=3).fit(X[:120], y[:120])
    return collect_findings(model, X=X[:120], y=y[:120], X_test=X[120:], y_test=y[120:])


def target_findings():
    """Findings on three targets, of which one is noise."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X, y = make_correlated(n_samples=200, n_features=20, random_state=0)
    Y = pd.DataFrame({"runoff": y, "level": y + rng.normal(size=200), "noise": rng.random(200)})
    model = LinCFA(strategy="agglomerative").fit(X[:100], Y[:100])
    return collect_findings(model, X=X[:100], y=Y[:100], X_test=X[100:], y_test=Y[100:])


@cache
def nasty_findings():
    """Findings on columns with the names above, each with a copy that merges and a constant one."""
    import pandas as pd

    rng = np.random.default_rng(0)
    base = rng.normal(size=(60, len(NASTY)))
    values = np.hstack([base, base + 0.01 * rng.normal(size=base.shape), np.ones_like(base)])
    y = base @ np.arange(len(NASTY)) + rng.normal(size=60)
    names = [f"{name}{end}" for end in ("", " copy", " still") for name in NASTY]
    X = pd.DataFrame(values, columns=names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the constant features
        model = LinCFA(min_correlation=0.9).fit(X[:30], y[:30])
    samples = {"X": X[:30], "y": y[:30], "X_test": X[30:], "y_test": y[30:]}
    words = {"title": NASTY[0], "data": {NASTY[0]: NASTY[0]}, "notes": NASTY}
    return collect_findings(model, **samples, **words, recipe=f"fit {NASTY[0]} {NASTY[6]}")


def row_of(scores, method):
    """The scores of a rival on all features."""
    (row,) = (row for row in scores.rows[:-1] if row.method == method)
    return row


def written(figure, write=decimals, *, beside=()):
    """A figure with its interval as the page writes it; a dash if there is none.

    It is a difference of two that stand beside it: in a fourth decimal if three do not agree.
    """
    if figure is None:
        return "–"
    if beside:
        own, other = (round(each.value, 3) for each in beside)
        agree = f"{own - other:.3f}" == f"{figure.value:.3f}"
        return written(figure, partial(decimals, count=3 if agree else 4))
    if np.isnan(figure.low):
        return write(figure.value)
    return f"{write(figure.value)} [{write(figure.low)}, {write(figure.high)}]"


def probability(p):
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


class Page(HTMLParser):
    """The text of a page by place: all of it, the tags with their attributes, the tables' cells."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.ids, self.tables = [], [], {}, []
        self._inside, self._silent, self._hidden = [], 0, set()
        self.feed(text)
        self.tables = [
            [
                [" ".join(cell.split()) for cell in row]
                for row in table
                if id(row) not in self._hidden
            ]
            for table in self.tables
        ]
        self.text = " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self._silent += tag in ("script", "style")
        if tag == "table":
            self.tables.append([])
            self._inside.append(self.tables[-1])
        elif tag == "tr":
            self._inside[-1].append([])
            if attributes.get("aria-hidden") == "true":
                self._hidden.add(id(self._inside[-1][-1]))
        elif tag in ("td", "th"):
            self._inside[-1][-1].append("")

    def handle_endtag(self, tag):
        self._silent -= tag in ("script", "style")
        if tag == "table":
            self._inside.pop()

    def handle_data(self, data):
        if self._silent:
            return
        self.texts.append(data)
        for table in self._inside:
            if table and table[-1]:
                table[-1][-1] += data

    def all(self, tag, **wanted):
        """Attributes of all tags of a name that have these attributes."""
        return [a for t, a in self.tags if t == tag and wanted.items() <= a.items()]

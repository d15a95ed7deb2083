"""Short names of groups that a reader knows: places, wavelengths, columns."""

from typing import Any

from .._data._names import short_group_name
from .._model._observations import field_of, fitted_reducer
from ._inputs import feature_names
from ._spectra import name_bands, report_spectrum


def display_names_of_groups(model: Any) -> list[str]:
    """Name the groups of a fitted model for a table or a picture, in the order of ``groups_``.

    Groups of a field have their places, without the name of the variable if there is just one;
    those of a spectrum their bands, and others their columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_spectra
    >>> X, y = make_spectra(n_features=60, random_state=0)
    >>> X = pd.DataFrame(X, columns=[f"{900 + 5 * k} nm" for k in range(60)])
    >>> display_names_of_groups(LinCFA(tolerance=7.0).fit(X, y))[:2]
    ['900–1050 nm, 1090–1110 nm, 1175–1195 nm', '1055 nm, 1065–1085 nm, 1115–1170 nm']
    """
    reducer = fitted_reducer(model)
    spectrum = report_spectrum(reducer)
    if spectrum is not None:
        return name_bands(spectrum, reducer.n_groups_)
    field = field_of(reducer)
    if field is not None:
        names = [str(name) for name in reducer.get_feature_names_out()]
        alone = f"{field.variables[0].name} " if len(field.variables) == 1 else ""
        return [name.removeprefix(alone) for name in names]
    names = feature_names(reducer)
    return [short_group_name(names, group, reducer.signs_) for group in reducer.groups_]

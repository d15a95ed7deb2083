"""The sentences of the page on maps and spectra."""

import numpy as np

from ._findings import CONSTANT, LEFT_OUT, Findings, Map, Row

GROUPS_NUMBERED = 9
"""On a map, the largest."""


def map_captions(findings: Findings) -> dict[str, str]:
    """Say of each map, and of the spectrum, how to read it, and what was cut."""
    said = {}
    for k, map in enumerate(findings.maps):
        title = f"{map.title}: " if map.title else ""
        cut = _cut(findings, map, last=k == len(findings.maps) - 1)
        said[f"map-{k}"] = (
            f"{title}Each colour is a group of cells. Neighbouring groups differ in colour; the "
            f"same colour further away may be another group. Single cells are grey."
            f"{_numbered(map)}{cut}"
        )
        said[f"weights-{k}"] = (
            f"{title}The weights of the regression on the reduced features, spread back to the "
            "cells: how far a prediction rises (red) or falls (blue) with one standard deviation "
            f"of each. The cells of a group share one weight.{cut}"
        )
    if findings.spectrum is not None:
        said["spectrum"] = (
            "The line shows the mean of each feature, the bands behind it the groups. Neighbouring "
            "bands of different groups differ in colour; the same colour further away may be "
            "another group. Single features are grey."
        )
    return said


def _numbered(map: Map) -> str:
    several = np.setdiff1d(map.groups[map.groups >= 0], map.single).size
    if several == 0:
        return ""
    of = "the groups"
    if several > GROUPS_NUMBERED:
        of = f"the {GROUPS_NUMBERED} groups with the most cells here"
    return f" The numbers are those of {of}; the table has them before the names."


def _cut(findings: Findings, map: Map, last: bool) -> str:
    text = ""
    if map.every > 1:
        part = "places" if map.places.kind == "points" else "rows and columns"
        text = f" Of every {map.every} {part} one is shown; plot_map draws all."
    more = findings.n_maps - len(findings.maps)
    if last and more:
        text += f" {more} more {'map is' if more == 1 else 'maps are'} not shown."
    return text


def map_alternatives(findings: Findings) -> dict[str, str]:
    """Describe each map, and the spectrum, to those who do not see them."""
    said = {}
    for k, map in enumerate(findings.maps):
        of = f" of {map.title}" if map.title else ""
        said[f"map-{k}"] = f"Map{of}: {_contents(map)}."
        values = map.values
        if values is not None:
            known = values[(map.groups >= 0) & np.isfinite(values)]
            ends = f", from {known.min():.3g} to {known.max():.3g}" if known.size else ""
            said[f"weights-{k}"] = f"Map{of}: weights of {known.size} cells{ends}."
    if findings.spectrum is not None:
        said["spectrum"] = _of_row(findings.spectrum)
    return said


def _contents(map: Map) -> str:
    groups = np.unique(map.groups[map.groups >= 0])
    together = groups.size - map.single.size
    parts = [
        _count(together, "group of several cells", "groups of several cells"),
        _count(int(np.isin(map.groups, map.single).sum()), "single cell", "single cells"),
        _count(int((map.groups == CONSTANT).sum()), "constant cell", "constant cells"),
        _count(int((map.groups == LEFT_OUT).sum()), "cell left out", "cells left out"),
    ]
    return ", ".join(part for part in parts if not part.startswith("0 ")) or "no cells"


def _of_row(row: Row) -> str:
    numbers, sizes = np.unique(row.groups[row.groups >= 0], return_counts=True)
    single = int((sizes == 1).sum())
    return (
        f"Means of {row.x.size} features from {row.x.min():g} to {row.x.max():g}, with bands of "
        f"{numbers.size - single} groups; {single} features are single."
    )


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"

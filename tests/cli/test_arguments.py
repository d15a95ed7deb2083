"""Options of all commands: each that takes one value is given once."""

import argparse

import pytest

from lincfa.cli._main import _parser


def commands():
    parser = _parser()
    (choice,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return choice.choices


ONE = [
    (command, action.option_strings[-1])
    for command, parser in commands().items()
    for action in parser._actions
    if isinstance(action, argparse._StoreAction)
    and action.option_strings
    and action.nargs in (None, "?")
]


@pytest.mark.parametrize(("command", "option"), ONE)
def test_an_option_of_one_value_is_given_once(fails, command, option):
    needed = {"explain": ["d.csv", "a", "b"], "apply": ["model.json", "d.csv"], "demo": []}
    target = ["--target", "y"] if command in ("reduce", "explain", "compare") else []
    (action,) = (a for a in commands()[command]._actions if option in a.option_strings)
    own = {"--dask": "threads", "--test": "0", "--interval": "0.9"}
    value = next(iter(action.choices)) if action.choices else own.get(option, "1")
    twice = [option, value, f"{option}={value}"]
    message = fails(command, *needed.get(command, ["d.csv"]), *target, *twice, code=2)
    told = f"{option} is given more than once, and takes one value (lincfa {command} --help)"
    assert message.endswith(told)


def test_what_may_be_repeated(fails, folder):
    """Lists, and what has no value."""
    given = ["--target", "y", "--target", "z", "--drop", "a", "--drop", "b", "--quiet", "--quiet"]
    given += ["--missing-code", 1, "--missing-code", 2, "--dates", "a", "b", "--lags", 0, 1]
    assert fails("reduce", "d.csv", *given) == "d.csv: No such file or directory"


def test_an_unknown_option_names_the_help_of_its_command(fails):
    message = fails("predict", "model.json", "d.csv", "--target", "y", code=2)
    assert message.endswith("unrecognized arguments: --target y (lincfa predict --help)")

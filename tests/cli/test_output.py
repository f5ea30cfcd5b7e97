"""Printed tables: numbers stay whole on a narrow terminal."""

import json
import sys

import click
import pytest

from repro.cli.output import print_json, print_table

COLUMNS = ["system", "mean", "p", "verdict"]
ROWS = [["item neighbours", "0.123456", "0.0100", "is better"], ["popularity", "0.100000", "0.5000", "not shown"]]


@pytest.fixture
def lines(capsys, monkeypatch):
    def printed(width, *arguments, **options):
        monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True, raising=False)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "xterm")
        print_table(*arguments, **options)
        return [click.unstyle(line).rstrip() for line in capsys.readouterr().out.splitlines()]

    return printed


def test_a_table_as_wide_as_it_is(lines):
    assert lines(80, COLUMNS, ROWS, right=["mean", "p"]) == [
        "system               mean       p  verdict",
        "item neighbours  0.123456  0.0100  is better",
        "popularity       0.100000  0.5000  not shown",
    ]


def test_text_is_folded_between_words_before_a_number_is(lines):
    assert lines(40, COLUMNS, ROWS, right=["mean", "p"]) == [
        "system           mean       p  verdict",
        "item         0.123456  0.0100  is better",
        "neighbours",
        "popularity   0.100000  0.5000  not shown",
    ]


def test_columns_to_spare_are_left_out_and_named(lines):
    result = lines(30, COLUMNS, ROWS, right=["mean", "p"], spare=["p", "mean"])
    assert result[0] == "system          mean  verdict"
    assert " ".join(result).endswith("(p: in a wider terminal, or with --json)")


def test_what_does_not_fit_goes_into_a_table_below(lines):
    result = lines(20, ["system", "first", "second"], [["a", "0.12345678", "0.87654321"]], right=["first", "second"])
    assert result == ["system       first", "a       0.12345678", "", "system      second", "a       0.87654321"]


def test_json_has_null_for_what_is_no_number(capsys):
    print_json({"a": [float("nan"), 1.0], "b": float("inf")})
    assert json.loads(capsys.readouterr().out) == {"a": [None, 1.0], "b": None}

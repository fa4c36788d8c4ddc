"""The library gives the value of every vector whose rule it follows."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from exact_measures import MEASURES, logarithm
from exact_values import DEFAULTS, value_of
from make_vectors import README, VECTORS, readme_of, text_of, vectors
from our_values import NOT_OURS, our_value

HERE = Path(__file__).parent
BOOK = json.loads((HERE / "rules.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((HERE / "schema.json").read_text(encoding="utf-8"))
ALL = json.loads(VECTORS.read_text(encoding="utf-8"))
OF_RULE = {key: [each for each in ALL if each["rule"] == key] for key in BOOK["rules"]}


@pytest.mark.slow
@pytest.mark.parametrize("rule", [rule for rule in BOOK["rules"] if rule not in NOT_OURS])
@pytest.mark.filterwarnings("ignore:.*some gains are below 0")
def test_the_library_follows(rule):
    for vector in OF_RULE[rule]:
        if vector["error"]:
            with pytest.raises(ValueError):  # noqa: PT011 messages are other tests' concern
                our_value(vector, vector["parameters"])
        else:
            expected = vector["value"]
            if expected is not None:
                expected = pytest.approx(expected, rel=1e-12, abs=1e-12)
            assert our_value(vector, vector["parameters"]) == expected, vector["id"]


@pytest.mark.slow
def test_the_files_are_what_the_generator_writes():
    made, page = vectors(), README.read_text(encoding="utf-8")
    assert text_of(made) == VECTORS.read_text(encoding="utf-8")
    assert readme_of(page, made) == page
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert json.loads(example) in ALL


def test_definitions_by_hand():
    """Values that a reader can redo, of the code that makes the vectors."""
    rows = [
        {"query": "q", "document": document, "label": label, "score": score}
        for document, label, score in (("a", 0, 3), ("b", 2, 2), ("c", 1, 2), ("d", -1, 1))
    ]
    third = Fraction(1, 3)
    for measure, parameters, expected in (
        ("rr", {}, Fraction(1, 2)),
        ("ap", {}, (Fraction(1, 2) + 2 * third) / 2),
        ("precision", {"k": 2}, Fraction(1, 2)),
        ("precision", {"k": 8}, Fraction(2, 8)),
        ("precision", {"k": 8, "precision_divisor": "shown"}, Fraction(2, 4)),
        ("recall", {"k": 2}, Fraction(1, 2)),
        ("rbp", {"persistence": "1/2"}, (Fraction(1, 2) + Fraction(1, 4)) / 2),
        ("rbp", {"persistence": "1/2", "rbp_gain": "label", "ties": "best"}, Fraction(5, 8)),
        ("bpref", {}, Fraction(1, 2)),
        ("bpref", {"below_zero": "unjudged"}, Fraction(0)),
        ("forbidden", {}, Fraction(1, 4)),
        ("forbidden", {"k": 3}, Fraction(0)),
        # Of 3/16 and 1/16 in either order behind nothing.
        ("err", {"k": 2}, (Fraction(3, 16) + Fraction(1, 16)) / 2 / 2),
        ("dcg", {"k": 3, "discount": "place", "ties": "worst"}, Fraction(1, 2) + 2 * third),
        ("dcg", {"k": 1, "ties": "best"}, Fraction(0)),
        ("ndcg_f", {"k": 1}, Fraction(1, 3)),
    ):
        assert value_of(measure, rows, parameters) == expected, (measure, parameters)


def test_logarithms_are_right_to_50_places():
    """Against the series of the natural logarithm that needs no logarithm."""

    def natural(n):
        ratio = Fraction(n - 1, n + 1)
        return 2 * sum(ratio ** (2 * i + 1) / (2 * i + 1) for i in range(300))

    for n in (3, 5, 7):
        assert abs(logarithm(n) - natural(n) / natural(2)) < Fraction(1, 10**50)


def test_every_rule_has_vectors_and_every_vector_a_rule():
    assert len(ALL) >= 500
    assert len({vector["id"] for vector in ALL}) == len(ALL)
    assert all(len(each) >= 4 for each in OF_RULE.values())
    assert sum(map(len, OF_RULE.values())) == len(ALL)
    assert {rule["question"] for rule in BOOK["rules"].values()} == {*BOOK["questions"]}
    assert NOT_OURS.keys() <= BOOK["rules"].keys()


def test_the_schema_describes_the_vectors():
    """Names alone: types are what a validator of JSON Schema looks at."""
    fields = SCHEMA["items"]["properties"]
    assert {*SCHEMA["items"]["required"]} == {*fields}
    assert {*fields["measure"]["enum"]} == {*MEASURES}
    settings, row = fields["parameters"]["properties"], fields["rows"]["items"]
    assert {name: each["default"] for name, each in settings.items()} == {
        name: list(value) if isinstance(value, tuple) else value for name, value in DEFAULTS.items()
    }
    for vector in ALL:
        assert [*vector] == [*fields]
        assert vector["parameters"].keys() <= settings.keys()
        assert all([*each] == row["required"] == [*row["properties"]] for each in vector["rows"])
        for name, value in vector["parameters"].items():
            assert value in settings[name].get("enum", [value])

"""The library gives the value of every vector whose rule it follows."""

import json
import re
from pathlib import Path

import pytest

from our_values import NOT_OURS, our_value

HERE = Path(__file__).parent
BOOK = json.loads((HERE / "rules.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((HERE / "schema.json").read_text(encoding="utf-8"))
ALL = json.loads((HERE / "vectors.json").read_text(encoding="utf-8"))
OF_RULE = {key: [each for each in ALL if each["rule"] == key] for key in BOOK["rules"]}


@pytest.mark.slow
@pytest.mark.parametrize("rule", [rule for rule in BOOK["rules"] if rule not in NOT_OURS])
@pytest.mark.filterwarnings(
    "ignore:.*some gains are below 0", "ignore:queries without a judged document"
)
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


def test_the_example_of_the_page_is_a_vector():
    page = (HERE / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert json.loads(example) in ALL


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
    assert {*fields["measure"]["enum"]} == {vector["measure"] for vector in ALL}
    settings, row = fields["parameters"]["properties"], fields["rows"]["items"]
    for vector in ALL:
        assert [*vector] == [*fields]
        assert vector["parameters"].keys() <= settings.keys()
        assert all([*each] == row["required"] == [*row["properties"]] for each in vector["rows"])
        for name, value in vector["parameters"].items():
            assert value in settings[name].get("enum", [value])

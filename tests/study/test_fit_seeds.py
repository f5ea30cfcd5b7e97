"""Seeds of fits: each its own, or the one that an algorithm states."""

import pytest

from repro import Study
from repro.errors import StudyError
from repro.protocol import Protocol
from repro.study import make_plan


def seeds(data, **entry):
    study = Study(
        data, Protocol.load("random-5fold", split__folds=2), [{"use": "reference/random", **entry}], ["hit@5"]
    )
    return [cell.seed for cell in make_plan(study).cells]


def test_each_fit_has_its_own_unless_one_is_stated(data):
    own = seeds(data)
    assert len(set(own)) == 2
    assert seeds(data, seed=123) == [123, 123]
    assert seeds(data, seed="study") == [42, 42]


def test_a_stated_seed_is_part_of_the_study_and_reads_back(data, tmp_path):
    def study(**entry):
        algorithms = [{"use": "reference/random", "label": "R", **entry}]
        return Study(data, Protocol.load("random-5fold"), algorithms, ["hit@5"])

    assert study().digest != study(seed=0).digest != study(seed="study").digest
    for stated in (7, "study"):
        made = study(seed=stated)
        (tmp_path / "protocol.toml").write_text(made.protocol.to_toml())
        (tmp_path / "study.toml").write_text(made.to_toml().replace("given in code", "synthetic"))
        assert Study.load(tmp_path / "study.toml").entries[0].seed == stated


@pytest.mark.parametrize("wrong", ["mine", -1, 1.5, True, 1 << 31])
def test_other_seeds_are_refused(data, wrong):
    with pytest.raises(StudyError, match='must be "study" or a whole number from 0'):
        seeds(data, seed=wrong)

"""Several folds in files: a pattern, a list, and a table with the fold of each row."""

import pandas as pd
import pytest

from repro import Study
from repro.data import Interactions
from repro.errors import DataError, JournalError, ProtocolError
from repro.protocol import Protocol
from repro.protocol.paths import named_files
from repro.split import make_folds
from repro.study.fold_data import fold_data
from repro.study.plan import make_plan
from repro.study.reload import reload_plan
from repro.verification import verify

# Six rows in three folds, each held out once; rating 10 * user + item. The order is not that of ids.
PAIRS = [(2, 1), (1, 3), (1, 1), (3, 2), (2, 2), (3, 1)]
ROWS = pd.DataFrame([(u, i, 10.0 * u + i) for u, i in PAIRS], columns=["user", "item", "rating"])
OF_FOLD = [1, 2, 3, 1, 2, 3]
PLAIN = {"split.unseen_users": "keep", "split.unseen_items": "keep", "relevance.rule": "any"}


@pytest.fixture
def write(tmp_path):
    """Writes ``u1.base``, ``u1.test`` and so on, as tables without a header."""

    def made(names=("1", "2", "3"), start="u"):
        for number, name in enumerate(names, 1):
            held = [fold == number for fold in OF_FOLD]
            for ending, rows in (("base", ROWS[[not one for one in held]]), ("test", ROWS[held])):
                rows.to_csv(tmp_path / f"{start}{name}.{ending}", sep="\t", index=False, header=False)
        return tmp_path

    return made


def of(folder, **decisions):
    stated = {key.replace("__", "."): value for key, value in decisions.items()}
    return Protocol.load("random-5fold").replace({"split.strategy": "files", **PLAIN, **stated}, folder=folder)


PATTERN = {"split__train_file": "u{fold}.base", "split__test_file": "u{fold}.test"}


def held_out(split):
    table = split.interactions.to_frame()
    return {
        fold.name: [
            sorted(map(tuple, table.iloc[part][["user", "item"]].to_numpy().tolist()))
            for part in (fold.train, fold.test)
        ]
        for fold in split.folds
    }


def expected(names=("1", "2", "3")):
    folds = {}
    for number, name in enumerate(names, 1):
        test = [pair for pair, fold in zip(PAIRS, OF_FOLD, strict=True) if fold == number]
        folds[name] = [sorted(set(PAIRS) - set(test)), sorted(test)]
    return folds


def split_of(protocol, rows=ROWS):
    return make_folds(Interactions.from_frame(rows), protocol, 1)


def test_a_pattern_gives_a_fold_for_each_number(write):
    write(("a", "b"))  # as of MovieLens 100K, beside those with numbers
    split = split_of(of(write(), **PATTERN))
    assert held_out(split) == expected()
    assert len(split.interactions) == len(ROWS)  # rows that folds share are there once
    used = [impact.sentence for impact in split.impacts if impact.decision == "split.test_file"]
    assert used[0].startswith("split.test_file=u{fold}.test: 6 of 6 rows of 3 files are used, read as: ")


def test_names_without_any_number_are_those_of_the_folds(write):
    split = split_of(of(write(("x", "yy", "z")), **PATTERN))
    assert held_out(split) == expected(("x", "yy", "z"))


def test_folds_are_ordered_by_number(write):
    assert list(held_out(split_of(of(write(("9", "10", "100")), **PATTERN)))) == ["9", "10", "100"]


def test_a_list_of_files(write):
    train, test = (tuple(f"u{fold}.{ending}" for fold in (1, 2, 3)) for ending in ("base", "test"))
    protocol = of(write(), split__train_file=list(train), split__test_file=list(test))
    assert held_out(split_of(protocol)) == expected()
    assert protocol["split.train_file"] == "u1.base | u2.base | u3.base"
    again = of(write(), split__train_file=protocol["split.train_file"], split__test_file=protocol["split.test_file"])
    assert again.hash == protocol.hash


def test_one_file_serves_all_folds(write):
    folder = write()
    ROWS.to_csv(folder / "all.csv", index=False)
    split = split_of(of(folder, split__train_file="all.csv", split__test_file="u{fold}.test"))
    assert [pairs[0] for pairs in held_out(split).values()] == [sorted(PAIRS)] * 3
    overlap = [impact.sentence for impact in split.impacts if "held out although known" in impact.sentence]
    assert overlap == [
        "split.test_file=u{fold}.test: 6 of 6 rows are of a user and item that split.train_file has too, and stay in "
        "both: held out although known"
    ]
    assert len(split.interactions) == 2 * len(ROWS)  # in training, and held out


def test_rows_come_in_the_order_of_their_own_file(write):
    folder = write()
    for name in ("u2.base", "u3.base"):  # the others are in another order than the first
        lines = (folder / name).read_text().splitlines()[::-1]
        (folder / name).write_text("\n".join(lines))
    study = Study(ROWS, of(folder, data__order="source", **PATTERN), "reference/popularity", "ndcg@2")
    plan = make_plan(study)
    for fold in plan.split.folds:
        written = pd.read_csv(folder / f"u{fold.name}.base", sep="\t", names=["user", "item", "rating"])
        pd.testing.assert_frame_equal(fold_data(plan, fold).train.to_frame(), written, check_dtype=False)


def test_candidates_of_each_fold(write):
    folder = write()
    for fold in (1, 2, 3):
        lines = [f"{user} {1 + fold % 3}" for user in (1, 2, 3)]
        (folder / f"negatives-{fold}.txt").write_text("\n".join(lines) + "\n")
    protocol = of(folder, candidates__base="file", candidates__file="negatives-{fold}.txt", **PATTERN)
    plan = make_plan(Study(ROWS, protocol, "reference/popularity", "ndcg@2"))
    for fold in plan.split.folds:
        data = fold_data(plan, fold)
        block = data.candidates(protocol, 1).block(data.candidates(protocol, 1).users)
        relevant = {int(data.whole.item_ids[item]) for item in data.test.items}
        assert {int(data.whole.item_ids[item]) for item in block.items} == relevant | {1 + int(fold.name) % 3}


def test_folds_that_do_not_go_together_are_refused(write):
    folder = write()
    (folder / "u3.test").unlink()
    with pytest.raises(DataError, match=r"has files for the folds 1, 2, and another decision has them for 1, 2, 3"):
        split_of(of(folder, **PATTERN))
    with pytest.raises(DataError, match=r"no file matches split.train_file = \"v\{fold\}.base\""):
        split_of(of(folder, split__train_file="v{fold}.base", split__test_file="u{fold}.test"))
    with pytest.raises(ProtocolError, match="the path of a file, a list of paths, or a path with"):
        of(folder, split__train_file=[], split__test_file="u{fold}.test")


def test_a_pattern_in_a_folder_and_signs_that_mean_something_elsewhere(tmp_path):
    for fold in ("1", "2"):
        (tmp_path / "a[b]" / f"fold{fold}").mkdir(parents=True)
        (tmp_path / "a[b]" / f"fold{fold}" / f"train.{fold}+.csv").touch()
    files = named_files("a[b]/fold{fold}/train.{fold}+.csv", tmp_path)
    assert files == {fold: tmp_path / "a[b]" / f"fold{fold}" / f"train.{fold}+.csv" for fold in ("1", "2")}
    assert named_files(str(tmp_path / "a[b]" / "fold{fold}"), tmp_path / "elsewhere").keys() == {"1", "2"}


def test_a_run_of_a_pattern_is_verified_and_notices_a_changed_file(write, tmp_path):
    folder = write()
    rows = folder / "rows.csv"
    ROWS.to_csv(rows, index=False)
    run = Study(rows, of(folder, **PATTERN), "reference/popularity", "ndcg@2").run(tmp_path / "run", report=False)
    assert list(run.cells["reference popularity"]) == ["1", "2", "3"]
    assert not verify(tmp_path / "run", "rescore", data=rows).failures
    (folder / "u2.test").write_text("1\t1\t11\n")
    with pytest.raises(JournalError, match=r"the file of split.test_file changed since the run"):
        reload_plan(run, rows)


def table(folder, columns, rows, name="folds.csv"):
    pd.DataFrame(rows, columns=columns).to_csv(folder / name, index=False)
    return of(folder, split__strategy="fold-table", split__fold_file=name)


def test_a_table_of_test_rows(tmp_path):
    rows = [(u, i, fold) for (u, i), fold in reversed(list(zip(PAIRS, OF_FOLD, strict=True)))]
    split = split_of(table(tmp_path, ["user_id", "item_id", "fold"], rows))
    assert held_out(split) == expected()


def test_a_table_with_parts(tmp_path):
    parts = ["train", "Valid", "test", "train", "train"]
    rows = [(u, i, part) for (u, i), part in zip(PAIRS, parts, strict=False)]
    (fold,) = split_of(table(tmp_path, ["user", "item", "split"], rows)).folds
    assert (fold.train.tolist(), fold.validation.tolist(), fold.test.tolist()) == ([0, 3, 4], [1], [2])
    # The last row is in no part, as the table lists the training rows. Here it does not:
    (fold,) = split_of(table(tmp_path, ["user", "item", "split"], [row for row in rows if row[2] != "train"])).folds
    assert (fold.train.tolist(), fold.validation.tolist(), fold.test.tolist()) == ([0, 3, 4, 5], [1], [2])


def test_a_table_about_other_data_or_with_other_words_is_refused(tmp_path):
    columns = ["user", "item", "fold"]
    with pytest.raises(DataError, match="2 of its 3 pairs are not in the data, the first user 9 and item 1"):
        split_of(table(tmp_path, columns, [(1, 1, 1), (9, 1, 1), (1, 9, 2)]))
    with pytest.raises(DataError, match="fold 2 has user 1 and item 1 several times"):
        split_of(table(tmp_path, columns, [(2, 1, 1), (1, 1, 2), (1, 1, 2)]))
    with pytest.raises(DataError, match=r"the part is 'other'"):
        split_of(table(tmp_path, ["user", "item", "part"], [(2, 1, "train"), (1, 1, "other")]))
    with pytest.raises(DataError, match="neither a column 'fold' nor 'part'"):
        split_of(table(tmp_path, ["user", "item", "x"], [(2, 1, 1)]))


def test_pairs_that_are_not_in_the_data_are_counted(tmp_path):
    split = split_of(table(tmp_path, ["user", "item", "fold"], [(2, 1, 1), (1, 1, 1), (9, 9, 1)]))
    sentences = [impact.sentence for impact in split.impacts]
    assert any("split.fold_file=folds.csv: 1 of 3 rows of the table are not in the data" in text for text in sentences)

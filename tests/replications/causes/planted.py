"""Tables with planted errors: numbers of plain Python, with models fitted on the rows that an error takes.

Nothing of the search is used: lists are ranked and measured here, by the definitions of the metrics.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from repro import Study
from repro.data import synthetic_interactions
from repro.plugin import History, Queries
from repro.protocol import Protocol
from repro.study.plan import make_plan

ALGORITHMS = {
    "Pop": "reference/popularity",
    "ItemKNN": "reference/item-knn",
    "UserKNN": "reference/user-knn",
    "EASE": "reference/ease",
    "SVD": "reference/puresvd",
    "P3": "reference/p3alpha",
}
METRICS = ("precision@10", "recall@10", "ndcg@10", "hit@10", "rr@10", "precision@5", "ndcg@5")
GRID = (2, 4, 8, 15, 30)  # numbers of neighbours that tuning tries

HEAD = """
title = "A planted table"
source = "Table 1 of an invented paper"
seeds = [{seed}]
[data]
name = "ratings.csv"
[protocol]
base = "random-80-20"
relevance.rule = "threshold"
relevance.threshold = 4.0
split.validation_ratio = 0.1
candidates.base = "all-items"
average.no_relevant = "zero"
"""
TUNE = """
[tune]
metric = "ndcg@10"
trials = 5
[tune.space."item-knn"]
k = [2, 4, 8, 15, 30]
[tune.space."user-knn"]
k = [2, 4, 8, 15, 30]
"""


@dataclass(frozen=True)
class Design:
    """The content of a small study: the rows of its data, its algorithms and metrics, and the decimals of its table."""

    seed: int
    labels: tuple
    names: tuple
    decimals: int
    tuned: bool = False

    @classmethod
    def draw(cls, seed, tuned=False):
        draws = np.random.default_rng(seed)
        others = [label for label in ALGORITHMS if label not in ("ItemKNN", "UserKNN")]
        chosen = ["ItemKNN", "UserKNN", *draws.permutation(others)[: draws.integers(1, 4)].tolist()]
        names = ["ndcg@10", *draws.permutation([name for name in METRICS if name != "ndcg@10"])[: draws.integers(2, 4)]]
        return cls(int(seed), tuple(chosen), tuple(map(str, names)), int(draws.choice([3, 4, 4, 5])), tuned)


@dataclass
class Small:
    """A small study in a folder, with the scores of its models for any rows to fit on."""

    design: Design
    folder: object
    scored: dict = field(default_factory=dict)
    tables: dict = field(default_factory=dict)

    def __post_init__(self):
        draws = np.random.default_rng([self.design.seed, 1])
        rows = synthetic_interactions(
            users=int(draws.integers(50, 90)), items=60, ratings=1400, alpha=0.8, seed=self.design.seed
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        rows.to_frame().to_csv(self.folder / "ratings.csv", index=False)
        changes = {
            "relevance.rule": "threshold",
            "relevance.threshold": 4.0,
            "split.validation_ratio": 0.1,
            "candidates.base": "all-items",
            "average.no_relevant": "zero",
        }
        protocol = Protocol.load("random-80-20").replace(changes)
        entries = [{"use": ALGORITHMS[label], "label": label} for label in self.design.labels]
        study = Study(self.folder / "ratings.csv", protocol, entries, ["ndcg@10"], seed=self.design.seed)
        self.plan = make_plan(study)
        (self.fold,) = self.plan.split.folds
        self.whole = self.plan.interactions
        part = {"train": self.fold.train, "validation": self.fold.validation, "test": self.fold.test}
        self.rows = {name: self.whole.select(rows) for name, rows in part.items()}
        self.parts = part

    def scores(self, label, fitted=("train",), k=None):
        """The scores of an algorithm that is fitted on the rows of these parts, users x items."""
        key = label, tuple(fitted), k
        if key not in self.scored:
            (cell,) = [cell for cell in self.plan.cells if cell.entry.label == label]
            if k is not None:
                cell = cell.with_parameters({"k": k})
            rows = self.whole.select(np.sort(np.concatenate([self.parts[part] for part in fitted]))).canonical()
            model = cell.entry.recommender(self.whole, None)
            model.fit(rows, seed=cell.seed, fold=self.fold.name)
            users, items = np.arange(self.whole.n_users, dtype=np.int32), np.arange(self.whole.n_items, dtype=np.int32)
            self.scored[key] = np.array(model.score(Queries(users, History(rows)), items).values)
        return self.scored[key]

    def pairs(self, part):
        """The items of each user in a part, with their ratings."""
        rows, of_user = self.rows[part], {}
        for user, item, rating in zip(rows.users.tolist(), rows.items.tolist(), rows.ratings.tolist(), strict=True):
            of_user.setdefault(user, {})[item] = rating
        return of_user

    def number(self, name, scores, *, excluded=("train", "validation"), test="test", no_relevant="zero", threshold=4.0):
        """A metric, averaged over the users of the test part."""
        metric, _, cut = name.partition("@")
        known, values = [self.pairs(part) for part in excluded], []
        for user, held in sorted(self.pairs(test).items()):
            relevant = {item for item, rating in held.items() if rating >= threshold}
            if not relevant:
                if no_relevant == "zero":
                    values.append(0.0)
                continue
            taken = {item for part in known for item in part.get(user, {})}
            items = [item for item in range(self.whole.n_items) if item not in taken]
            order = sorted(items, key=lambda item: (-rank_value(scores[user, item]), item))
            values.append(value(metric, [item in relevant for item in order], len(relevant), int(cut) if cut else None))
        return math.fsum(values) / len(values)

    def tuned_k(self, label, part):
        """The number of neighbours that is best on a part, by nDCG; the first of equals."""
        if label not in ("ItemKNN", "UserKNN"):
            return None
        excluded = ("train",) if part == "validation" else ("train", "validation")
        numbers = [self.number("ndcg@10", self.scores(label, k=k), excluded=excluded, test=part) for k in GRID]
        return GRID[int(np.argmax(numbers))]

    def table(self, fitted=("train",), chosen="validation", names=None, **evaluated):
        """The numbers of the table, rows by columns."""
        names = tuple(names or self.design.names)
        key = fitted, chosen, names, tuple(sorted(evaluated.items()))
        if key not in self.tables or "some" in fitted:
            self.tables[key] = np.array([self.row(label, *key[:3], **evaluated) for label in self.design.labels])
        return self.tables[key].copy()

    def row(self, label, fitted, chosen, names, **evaluated):
        """The numbers of an algorithm."""
        scores = self.scores(label, fitted, self.tuned_k(label, chosen) if self.design.tuned else None)
        return [self.number(name, scores, **evaluated) for name in names]

    def claim(self, texts):
        """A claim about these printed numbers, in the folder of the study."""
        lines = [HEAD.format(seed=self.design.seed)]
        lines += [f'[[algorithms]]\nuse = "{ALGORITHMS[label]}"\nlabel = "{label}"\n' for label in self.design.labels]
        lines += [TUNE if self.design.tuned else "", f"[table]\nmetrics = {list(self.design.names)}\n"]
        lines += [
            f"{label} = {list(row)}\n".replace("'", '"') for label, row in zip(self.design.labels, texts, strict=True)
        ]
        path = self.folder / "claim.toml"
        path.write_text("".join(lines), encoding="utf-8")
        return path

    def printed(self, numbers, cut=False):
        """The numbers as text: rounded, or with digits cut off."""
        unit = 10**self.design.decimals
        if cut:
            numbers = np.floor(np.array(numbers) * unit + 1e-9) / unit
        return [[f"{number:.{self.design.decimals}f}" for number in row] for row in numbers]


def rank_value(score):
    return -math.inf if math.isnan(score) else score


def value(metric, hits, n_relevant, k):
    """The metric of one list, by its definition."""
    first = hits[:k] if k else hits
    match metric:
        case "precision":
            return sum(first) / k
        case "recall":
            return sum(first) / n_relevant
        case "capped-recall":
            return sum(first) / min(k, n_relevant)
        case "hit":
            return float(any(first))
        case "rr":
            return next((1 / rank for rank, hit in enumerate(first, 1) if hit), 0.0)
        case "ndcg" | "ndcg-k":
            gained = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(first, 1) if hit)
            ideal = k if metric == "ndcg-k" else min(k, n_relevant)
            return gained / sum(1 / math.log2(rank + 1) for rank in range(1, ideal + 1))
    raise ValueError(metric)


# -- errors ---------------------------------------------------------------------------------------------------------


def clean(small, draws):
    return small.printed(small.table()), ""


def leak(small, draws):
    return small.printed(small.table(fitted=("train", "validation", "test"))), "fitted on all rows"


def leak_and_a_wrong_digit(small, draws):
    texts, name = leak(small, draws)
    return change_digit(texts, draws), name


def leak_of_one(small, draws):
    """One algorithm alone is fitted on all rows."""
    table, row = small.table(), int(draws.integers(2))
    table[row] = small.table(fitted=("train", "validation", "test"))[row]
    return small.printed(table), "fitted on all rows"


def with_validation(small, draws):
    return small.printed(small.table(fitted=("train", "validation"))), "fitted on training and validation rows"


def tuned_on_test(small, draws):
    return small.printed(small.table(chosen="test")), "tuned or stopped on the test part"


def not_excluded(small, draws):
    return small.printed(small.table(excluded=("validation",))), "training items not excluded"


def users_dropped(small, draws):
    return small.printed(small.table(no_relevant="skip")), "test users without relevant items dropped"


def swapped_rows(small, draws):
    table = small.table()
    first, second = draws.permutation(len(table))[:2]
    table[[first, second]] = table[[second, first]]
    return small.printed(table), "swapped rows"


def swapped_columns(small, draws):
    table = small.table()
    first, second = draws.permutation(table.shape[1])[:2]
    table[:, [first, second]] = table[:, [second, first]]
    return small.printed(table), "swapped columns"


def copied_row(small, draws):
    table = small.table()
    first, second = draws.permutation(len(table))[:2]
    table[first] = table[second]
    return small.printed(table), "copied row"


OTHER = {
    "recall": ("hit", "capped-recall"),
    "precision": ("recall", "hit"),
    "ndcg": ("ndcg-k",),
    "hit": ("recall", "precision"),
    "rr": ("hit", "rr-uncut"),
}


def other_metric(small, draws):
    """Another metric in one column."""
    table, column = small.table(), int(draws.integers(len(small.design.names)))
    metric, _, cut = small.design.names[column].partition("@")
    instead = str(draws.choice(OTHER[metric]))
    name = "rr" if instead == "rr-uncut" else f"{instead}@{cut}"
    table[:, column] = small.table(names=[name])[:, 0]
    return small.printed(table), "another metric under the name"


def cut_digits(small, draws):
    return small.printed(small.table(), cut=True), "the table truncates"


def one_wrong_digit(small, draws):
    """A clean table in which one digit of one number is another one."""
    texts = small.printed(small.table())
    return change_digit(texts, draws), ""


def change_digit(texts, draws):
    row, column = int(draws.integers(len(texts))), int(draws.integers(len(texts[0])))
    text = texts[row][column]
    places = list(range(2, len(text)))
    place = int(draws.choice(places))
    digit = str(draws.choice([digit for digit in "0123456789" if digit != text[place]]))
    texts[row][column] = text[:place] + digit + text[place + 1 :]
    return texts


def two_wrong_digits(small, draws):
    texts, _ = one_wrong_digit(small, draws)
    return change_digit(texts, draws), ""


def transposed_digits(small, draws):
    """Two neighbouring digits of one number are exchanged."""
    texts = small.printed(small.table())
    row, column = int(draws.integers(len(texts))), int(draws.integers(len(texts[0])))
    text = texts[row][column]
    places = [place for place in range(2, len(text) - 1) if text[place] != text[place + 1]]
    if not places:
        return change_digit(texts, draws), ""
    place = int(draws.choice(places))
    texts[row][column] = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return texts, ""


def percent(small, draws):
    """One column is printed as percentages without the sign."""
    texts = small.printed(small.table())
    column = int(draws.integers(len(texts[0])))
    for row in texts:
        row[column] = f"{100 * float(row[column]):.{small.design.decimals - 2}f}"
    return texts, ""


def other_parameters(small, draws):
    """The nearest-neighbour methods have another number of neighbours than the claim says."""
    table = small.table()
    for row, label in enumerate(small.design.labels):
        if label in ("ItemKNN", "UserKNN"):
            scores = small.scores(label, k=int(draws.choice([1, 3, 5, 11])))
            table[row] = [small.number(name, scores) for name in small.design.names]
    return small.printed(table), ""


def other_threshold(small, draws):
    """Another threshold of relevance than the one that the claim states."""
    return small.printed(small.table(threshold=float(draws.choice([2.0, 3.0, 5.0])))), ""


def rows_lost(small, draws):
    """Models that are fitted on nearly all training rows."""
    kept = small.parts["train"][draws.random(len(small.parts["train"])) < 0.95]
    small.parts["some"] = np.sort(kept)
    small.scored = {key: scores for key, scores in small.scored.items() if "some" not in key[1]}
    return small.printed(small.table(fitted=("some",))), ""


def near(small, draws):
    """Numbers that are all a little off, independently."""
    table = small.table()
    return small.printed(table * (1 + 0.02 * draws.standard_normal(table.shape))), ""


def scaled(small, draws):
    """Numbers that are all off by one factor, near 1."""
    return small.printed(small.table() * (1 + 0.05 * draws.standard_normal())), ""


def other_seed(small, draws):
    """The numbers of another split of the same rows: all of them a little off, for a reason that is not searched."""
    design = Design(small.design.seed, small.design.labels, small.design.names, small.design.decimals)
    other = Small(design, small.folder / "other")
    study = other.plan.study
    again = make_plan(Study(study.data, study.protocol, study._algorithms, ["ndcg@10"], seed=small.design.seed + 1000))
    (other.fold,), other.plan = again.split.folds, again
    other.whole = again.interactions
    other.parts = {"train": other.fold.train, "validation": other.fold.validation, "test": other.fold.test}
    other.rows = {name: other.whole.select(rows) for name, rows in other.parts.items()}
    return small.printed(other.table()), ""


FOUND = (
    leak,
    leak_of_one,
    leak_and_a_wrong_digit,
    with_validation,
    tuned_on_test,
    not_excluded,
    users_dropped,
    swapped_rows,
    swapped_columns,
    copied_row,
    other_metric,
    cut_digits,
)
UNEXPLAINED = (
    clean,
    one_wrong_digit,
    two_wrong_digits,
    transposed_digits,
    percent,
    other_parameters,
    other_threshold,
    rows_lost,
    near,
    scaled,
    other_seed,
)

"""The clues in the name of a file: its role, and the files that it belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

TRAIN, VALIDATION, TEST, NEGATIVES, FOLD_IN, RUN, WHOLE, OTHER = (
    *("train", "validation", "test", "negatives", "fold-in", "run", "whole", "other"),
)
ROLES = {
    TRAIN: "rows for fitting",
    VALIDATION: "rows for the choice of parameters",
    TEST: "rows for evaluation",
    NEGATIVES: "items that are ranked against the test items",
    FOLD_IN: "rows of the test users that a model may see",
    RUN: "recommendations or predictions of a system",
    WHOLE: "all rows, before a split",
    OTHER: "no rows of users and items: passed over",
}
_WORDS = {
    **dict.fromkeys(("train", "training", "trn", "tra", "base", "fit"), TRAIN),
    **dict.fromkeys(("validation", "validate", "valid", "val", "vali", "vad", "dev"), VALIDATION),
    **dict.fromkeys(("test", "testing", "tst", "tes", "eval", "holdout", "qrels", "qrel"), TEST),
    **dict.fromkeys(("negative", "negatives", "neg", "negs", "sample", "samples", "candidates"), NEGATIVES),
    **dict.fromkeys(("run", "runs", "recs", "recommendations", "predictions", "preds", "rankings", "trec"), RUN),
}
_FOLDED = {"tr": FOLD_IN, "te": TEST}
_SIDE = frozenset(
    (
        *("attribute", "attributes", "feature", "features", "meta", "metadata", "trust", "trustnetwork", "social"),
        *(
            "network",
            "friends",
            "links",
            "link",
            "edges",
            "kg",
            "entity",
            "entities",
            "relation",
            "relations",
            "embedding",
            "embeddings",
            "emb",
        ),
        *("adj", "graph", "map", "mapping", "dict", "vocab", "tags", "tag", "titles", "title", "genres", "genre"),
        *("list", "info", "config", "settings", "requirements", "category", "categories", "profile", "demographics"),
        *("item2attributes", "item2idx", "user2idx", "remap", "idmap", "names", "images", "text", "reviews", "params"),
        *("checkpoint", "state", "history", "log", "results", "metrics", "age", "occupation", "knn", "norm", "mean"),
    )
)
_MAPPING = re.compile(r"(?:id|idx|index|item|user|entity)s?2[a-z]")
_FORM_WORDS = frozenset(
    (
        *("csv", "tsv", "txt", "dat", "data", "json", "jsonl", "parquet", "pq", "npz", "npy", "inter", "gz", "bz2"),
        *("zip", "zst", "rating", "ratings", "set", "mat", "matrix", "df", "file", "interactions", "seq", "sequences"),
    )
)


@dataclass(frozen=True)
class NameClues:
    """The clues of a name: the role (empty without one), the part that negatives are for, and the words that are left.

    key  the folder and the words that do not tell the role or the format: the same for files of one split
    """

    role: str
    negatives_of: str
    key: tuple[str, tuple[str, ...]]
    by_item: bool = False


def name_clues(name: str) -> NameClues:
    """The clues in the name of a file, given from the reviewed folder on."""
    path = PurePosixPath(name)
    words = _words(path.name)
    roles = [_WORDS[word] for word in words if word in _WORDS]
    if path.suffix.lower() in (".run", ".trec", ".res"):
        roles = [RUN]
    folded = [_FOLDED[word] for word in words if word in _FOLDED]
    rest = tuple(word for word in words if word not in _WORDS and word not in _FOLDED and word not in _FORM_WORDS)
    # The word of a folder, as in train/ratings.csv, counts where the name of the file has none.
    folder = path.parent
    if not roles and _WORDS.get(folder.name.lower()) in (TRAIN, VALIDATION, TEST):
        roles, folder = [_WORDS[folder.name.lower()]], folder.parent
    key = (folder.as_posix(), rest)
    joined = re.sub(r"[^a-z0-9]", "", path.stem.lower())
    if roles == [RUN]:  # systems have names such as knn
        return NameClues(RUN, "", key)
    if any(word in _SIDE for word in (*words, joined)) or re.search(
        r"(?:id|idx|index|item|user|entity)s?2[a-z]", joined
    ):
        return NameClues(OTHER, "", key)
    if NEGATIVES in roles:
        part = next((role for role in roles if role in (VALIDATION, TEST)), TEST)
        return NameClues(NEGATIVES, part, key)
    distinct = list(dict.fromkeys(roles))
    by_item = words[-2:-1] == ["items"] or words[-1:] == ["items"]
    if folded and distinct in ([TEST], [VALIDATION]):
        role = folded[0] if distinct == [TEST] else (VALIDATION if folded[0] == TEST else OTHER)
        return NameClues(role, "", key, by_item)
    return NameClues(distinct[0] if len(distinct) == 1 else "", "", key, by_item)


def _words(name: str) -> list[str]:
    """The words of a name in small letters; trnMat is two words, and so is test1, but ml1m is one."""
    pieces = re.findall(r"[A-Za-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    words: list[str] = []
    for piece in map(str.lower, pieces):
        numbered = re.fullmatch(r"([a-z]+)(\d+)", piece)
        words += numbered.groups() if numbered and numbered[1] in _WORDS else (piece,)
    return words

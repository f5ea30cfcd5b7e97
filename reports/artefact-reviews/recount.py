"""Recounts the findings of the reviews with plain Python: run it in the folder that holds the repositories."""

import random
import sys
import zipfile
from collections import Counter, defaultdict
from pathlib import Path


def pairs_of_user_lines(path):
    """Pairs of a file with a line for each user: the user, then items."""
    return [(u, i) for u, *items in map(str.split, Path(path).read_text().splitlines()) for i in items]


def pairs_of_rows(path, mark="\t"):
    """Pairs of the first two columns of a file."""
    return [tuple(line.split(mark)[:2]) for line in Path(path).read_text().splitlines()]


def sizes(name, *parts):
    rows = [pair for part in parts for pair in part]
    print(f"{name}: {len({u for u, _ in rows})} users, {len({i for _, i in rows})} items, {len(rows)} rows,", end=" ")
    print(f"{len(set(parts[0]) & set(parts[-1])) if len(parts) > 1 else 0} pairs in both parts")


def shares(name, train, test, share, draws=20):
    """Users whose test rows differ from the share by a row, and the popularity of test items in random draws."""
    rows, held = defaultdict(list), Counter(u for u, _ in test)
    for user, item in train + test:
        rows[user].append(item)
    off = [u for u, items in rows.items() if abs(held[u] - share * len(items)) >= 1 - 1e-9]
    popularity = Counter(i for _, i in train + test)
    own = sum(popularity[i] for _, i in test) / len(test)
    random.seed(0)
    drawn = [
        sum(popularity[i] for u, n in held.items() for i in random.sample(rows[u], n)) / len(test) for _ in range(draws)
    ]
    print(
        f"{name}: {len(off)} of {len(rows)} users differ from a share of {share}; {len(set(rows) - set(held))} users "
        f"without test rows; mean popularity of test items {own:.1f}, of {draws} random draws {min(drawn):.1f} to "
        f"{max(drawn):.1f}; fewest rows of a user {min(map(len, rows.values()))}"
    )


def cores(name, rows, least):
    """Users and items with fewer rows."""
    for place, noun in enumerate(("users", "items")):
        counts = Counter(row[place] for row in rows).values()
        print(f"{name}: {sum(count < least for count in counts)} of {len(counts)} {noun} have fewer than {least} rows")


def negatives(name, path, test=()):
    own = total = repeated = 0
    for line in Path(path).read_text().splitlines():
        first, *items = line.split("\t")
        target = first.strip("()").split(",")[1].strip() if first.startswith("(") else dict(test)[first]
        own, total, repeated = own + items.count(target), total + len(items), repeated + len(items) - len(set(items))
    print(f"{name}: {own} of {total} negatives are the target of their list; {repeated} repeat an item of the list")


def counted(path):
    """Pairs of lines of a count and so many items; the user is the number of the line."""
    return [(str(n), i) for n, line in enumerate(Path(path).read_text().splitlines()) for i in line.split()[1:]]


def main():
    ncf, s3rec = Path("neural_collaborative_filtering/Data"), Path("CIKM2020-S3Rec/data")
    negatives("NCF ml-1m", ncf / "ml-1m.test.negative")
    delf = Path("RecSys2019_DeepLearning_Evaluation/Conferences/IJCAI/DELF_original/Data")
    same = set(pairs_of_rows(delf / "ml-1m.valid.rating")) == set(pairs_of_rows(delf / "ml-1m.test.rating"))
    print(f"DELF ml-1m: validation and test pairs are equal: {same}")
    negatives("DELF ml-1m", delf / "ml-1m.test.negative")
    test = pairs_of_rows(delf / "movielens1m-paper.test.rating")
    negatives("DELF movielens1m-paper", delf / "movielens1m-paper.test.negative-100", test)
    for path in sorted(s3rec.glob("*.txt")):
        if "sample" not in path.name:
            lines = [line.split()[1:] for line in path.read_text().splitlines()]
            last = sum(items[-1] in items[:-1] for items in lines)
            repeated = sum(len(items) - len(set(items)) for items in lines)
            sizes(f"S3-Rec {path.stem}", pairs_of_user_lines(path))
            print(f"    the last item of {last} of {len(lines)} sequences occurs earlier; {repeated} repeated rows")
    sampled = {u: items for u, *items in map(str.split, (s3rec / "LastFM_sample.txt").read_text().splitlines())}
    whole = pairs_of_user_lines(s3rec / "LastFM.txt")
    print(f"S3-Rec LastFM: {sum(i in sampled[u] for u, i in whole)} negatives are items of the user")
    spectral = Path("RecSys2019_DeepLearning_Evaluation/Conferences/RecSys/SpectralCF_github/data/ml-1m")
    train, test = (pairs_of_user_lines(spectral / f"{part}_users.dat") for part in ("train", "test"))
    sizes("SpectralCF ml-1m", train, test)
    shares("SpectralCF ml-1m", train, test, 0.2)
    gowalla = Path("LightGCN/gowalla")
    if gowalla.is_dir():
        train, test = (pairs_of_user_lines(gowalla / f"{part}.txt") for part in ("train", "test"))
        sizes("LightGCN gowalla", train, test)
        shares("LightGCN gowalla", train, test, 0.2)
        cores("LightGCN gowalla", train + test, 10)
    kgat = Path("knowledge_graph_attention_network/Data")
    train, test = (pairs_of_user_lines(kgat / f"amazon-book/{part}.txt") for part in ("train", "test"))
    sizes("KGAT amazon-book", train, test)
    shares("KGAT amazon-book", train, test, 0.2)
    cores("KGAT amazon-book", train + test, 10)
    test = pairs_of_user_lines(kgat / "last-fm/test.txt")
    print(f"KGAT last-fm: {len(test) - len(set(test))} of {len(test)} test rows repeat a pair")
    lastfm = Path("LightGCN-PyTorch/data/lastfm")
    train, test = (pairs_of_rows(lastfm / name) for name in ("data1.txt", "test1.txt"))
    sizes("LightGCN lastfm", train, test)
    unseen = {u for u, _ in test} - {u for u, _ in train}
    print(
        f"    test users without training rows: {sorted(unseen)}; highest user {max(int(u) for u, _ in train + test)}"
    )
    sizes("SASRec Video", pairs_of_rows("SASRec/data/Video.txt", " "))
    mcrec = Path("RecSys2019_DeepLearning_Evaluation/Conferences/KDD/MCRec_github/data")
    train, test = pairs_of_rows(mcrec / "ml-100k.train.rating"), pairs_of_user_lines(mcrec / "ml-100k.test.rating")
    sizes("MCRec ml-100k", train, test)
    shares("MCRec ml-100k", train, test, 0.2)
    with zipfile.ZipFile("ENSFM/data/ml-1m/train.csv.zip") as archive:
        train = [tuple(line.split(",")) for line in archive.read("train.csv").decode().splitlines()]
    sizes("ENSFM ml-1m", train, pairs_of_rows("ENSFM/data/ml-1m/test.csv", ","))
    ensfm = Path("ENSFM/data/lastfm/test.csv")
    rows = [line.split(",") for line in ensfm.read_text().splitlines()]
    print(
        f"ENSFM lastfm: {len(rows)} test rows, {len({row[0] for row in rows})} different users and contexts, "
        f"{len({row[0].split('-')[0] for row in rows})} different first features"
    )
    vae = Path("RecSys2019_DeepLearning_Evaluation/Conferences/KDD/CollaborativeVAE_github/data")
    for data in ("a", "t"):
        for k in (1, 10):
            parts = [counted(vae / f"citeulike-{data}/cf-{part}-{k}-users.dat") for part in ("train", "test")]
            sizes(f"CollaborativeVAE citeulike-{data}-{k}", *parts)
            print(f"    highest item {max(int(i) for part in parts for _, i in part)}")


sys.exit(main())

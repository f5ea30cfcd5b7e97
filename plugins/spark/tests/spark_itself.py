"""Runs in Spark's environment, and knows nothing of the plug-in: learning and predicting as Spark's users do it.

``spark_itself.py FOLDER`` reads ``rows.npz`` and ``request.json`` there and writes ``scores.npz``: for each run, what
``transform`` predicts for the pairs asked for.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession


def main(folder):
    request = json.loads((folder / "request.json").read_text())
    with np.load(folder / "rows.npz") as stored:
        rows = dict(stored)
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    train = spark.createDataFrame(pd.DataFrame({name: rows[name] for name in ("user", "item", "rating")}))
    pairs = pd.DataFrame(
        {"user": rows["asked_user"], "item": rows["asked_item"], "place": np.arange(len(rows["asked_user"]))}
    )
    requested = spark.createDataFrame(pairs)
    actual = {}
    for n, settings in enumerate(request["runs"]):
        model = ALS(seed=request["seed"], **settings).fit(train)
        predicted = model.transform(requested).toPandas().sort_values("place")
        actual[str(n)] = predicted["prediction"].to_numpy()
    np.savez(folder / "scores.npz", **actual)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

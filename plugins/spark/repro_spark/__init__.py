"""Alternating least squares of Apache Spark.

Spark runs in local mode on one core, in a Java machine that is started with the first algorithm and stays for those
after it. The factors are collected once after fitting; scores are their products in single precision, as Spark's own
are. A user or item without training rows has no factors and is *unscored*, as Spark's own prediction for it is not a
number.
"""

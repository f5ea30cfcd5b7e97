"""The Spark session: started when an algorithm is first made, kept for all others, stopped at exit."""

from __future__ import annotations

import atexit
import os
from importlib.resources import files
from typing import TYPE_CHECKING

from repro_spark.java import require_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOPBACK = "127.0.0.1"
_LEAST_HEAP_MIB = 1024


def session() -> SparkSession:
    """The active session of this process, whoever made it, or a new one of one core."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        require_java()
        active = _started()
        atexit.register(active.stop)
    _keep_checkpoints(active)
    return active


def _started() -> SparkSession:
    """A session of one core, which makes sums independent of timing, and which nobody can reach from outside."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    logging = files("repro_spark").joinpath("log4j2.properties")
    settings = {
        "spark.app.name": "repro",
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": _LOOPBACK,
        "spark.driver.bindAddress": _LOOPBACK,
        "spark.driver.memory": f"{_heap_mib()}m",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{logging}",
    }
    configuration = SparkConf().setAll(list(settings.items()))
    # Without an address of its own, the launcher warns about the name of the machine.
    os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    # A worker is killed together with its process group. Outside of that, the Java machine notices that the worker
    # is gone, and ends in order: it removes its temporary folders.
    gateway = launch_gateway(configuration, popen_kwargs={"start_new_session": True})
    return SparkSession(SparkContext(conf=configuration, gateway=gateway))


def _heap_mib() -> int:
    """A quarter of the memory, the share that a Java machine takes of its own accord; Spark's default is 1 GiB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(_LEAST_HEAP_MIB, memory // 4 // (1 << 20))


def _keep_checkpoints(active: SparkSession) -> None:
    """Let ALS cut its lineage: without a folder for checkpoints, some 30 epochs overflow Java's stack."""
    context = active.sparkContext
    if context.getCheckpointDir() is None:
        # Below the folder that Spark itself removes when it ends.
        context.setCheckpointDir(f"{context._temp_dir}/checkpoints")

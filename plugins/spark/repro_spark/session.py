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
_MIN_HEAP_MIB = 1024


def session() -> SparkSession:
    """The active Spark session of this process, or else a new session with one core."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None:
        require_java()
        active = _start_session()
        atexit.register(active.stop)
    _keep_checkpoints(active)
    return active


def _start_session() -> SparkSession:
    """Start a session with one core, so that sums do not depend on timing; it accepts only local connections."""
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
    # Without this variable, the launcher warns about the name of the machine.
    os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    # A worker is killed together with its process group. In a process group of its own, the Java virtual machine is
    # not killed: it notices that the worker has ended, removes its temporary folders and exits.
    gateway = launch_gateway(configuration, popen_kwargs={"start_new_session": True})
    return SparkSession(SparkContext(conf=configuration, gateway=gateway))


def _heap_mib() -> int:
    """A quarter of the memory, the default of the Java virtual machine; Spark's default is 1 GiB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(_MIN_HEAP_MIB, memory // 4 // (1 << 20))


def _keep_checkpoints(active: SparkSession) -> None:
    """Set a folder for checkpoints, so that ALS can truncate its lineage: else some 30 epochs overflow Java's stack."""
    context = active.sparkContext
    if context.getCheckpointDir() is None:
        # Inside the folder that Spark removes when it stops.
        context.setCheckpointDir(f"{context._temp_dir}/checkpoints")

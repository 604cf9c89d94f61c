"""Linking on Spark: `namesake.spark.link(df, kb, recipe)`. Needs the extra `spark`."""

from namesake.engines.spark_files import link_with_spark
from namesake.engines.spark_linker import SparkRejects, link, link_lines

__all__ = ["SparkRejects", "link", "link_lines", "link_with_spark"]

"""Linking on Spark: `namesake.spark.link(df, kb, recipe)`. Needs the extra `spark`."""

from namesake.engines.spark import SetAside, link, link_lines, link_with_spark

__all__ = ["SetAside", "link", "link_lines", "link_with_spark"]

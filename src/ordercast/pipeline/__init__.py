"""The only PySpark: sweeps, verdicts, metrics and the papers' experiments, as functions on a SparkSession.

Nothing here is imported by the rest of the library: whoever only runs a group needs no Spark (`ordercast[spark]`).
"""

"""Metrics: functions from the columns of a run to delivery and stability times, overhead, buffers and load."""

from ordercast.measure.metrics import Metrics, Spread, metrics

__all__ = ["Metrics", "Spread", "metrics"]

"""The columns of a trace, a recorder cheap enough to leave on, and Parquet in and out."""

from ordercast.trace.columns import ROW, Member, Rows, RunInfo, Trace
from ordercast.trace.files import TraceUnreadable, find_runs, read_info, read_run, read_trace, write_trace
from ordercast.trace.merge import NotOneRun, merge_members
from ordercast.trace.recorder import Recorder

__all__ = [
    "ROW",
    "Member",
    "NotOneRun",
    "Recorder",
    "Rows",
    "RunInfo",
    "Trace",
    "TraceUnreadable",
    "find_runs",
    "merge_members",
    "read_info",
    "read_run",
    "read_trace",
    "write_trace",
]

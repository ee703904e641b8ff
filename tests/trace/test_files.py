"""Files that are not what they seem are told by one sentence that names them."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ordercast.sim import Run, simulate
from ordercast.trace import Recorder, TraceUnreadable, read_trace, write_trace
from tests.toys import Flood


@pytest.fixture
def path(tmp_path):
    return write_trace(simulate(Flood, Run(protocol="flood", messages=5), Recorder()).trace(), tmp_path)


def test_a_trace_that_lacks_a_column_is_refused_even_when_nobody_reads_it(path):
    pq.write_table(pq.read_table(path).drop_columns(["cause"]), path)
    with pytest.raises(TraceUnreadable, match=r"lacks the column\(s\) cause"):
        read_trace(path, ("time", "n"))


def test_a_column_of_another_type_is_refused(path):
    table = pq.read_table(path)
    place = table.schema.get_field_index("n")
    pq.write_table(table.set_column(place, "n", pa.array(["x"] * table.num_rows)), path)
    with pytest.raises(TraceUnreadable, match="column n is of type string, not int32"):
        read_trace(path)

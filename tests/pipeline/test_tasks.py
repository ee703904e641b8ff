"""The engine: pieces of work, tasks of about a second, rows in a store."""

import pytest

from ordercast.pipeline import tasks
from ordercast.pipeline.session import PipelineError
from ordercast.pipeline.tasks import Done, Piece, each, group, stored


def double(load):
    if load == 13:
        raise ValueError("an unlucky number\nwith a second line")
    return {"twice": 2 * load}


def pieces(count):
    return [Piece(f"piece-{k}", 0.5, k) for k in range(count)]


def test_short_pieces_share_a_task_and_the_longest_tasks_come_first():
    made = [Piece("a", 0.4, 0), Piece("b", 7.0, 0), Piece("c", 0.5, 0), Piece("d", 3.0, 0), Piece("e", 0.9, 0)]
    assert [[piece.key for piece in task] for task in group(made)] == [["b"], ["d"], ["e", "c"], ["a"]]


def test_no_piece_no_task():
    assert group([]) == []


def test_every_piece_has_its_row_and_one_that_raises_has_its_error(spark):
    done = each(spark, pieces(20), double)
    assert len(done) == 20
    assert {key: one.row["twice"] for key, one in done.items() if not one.error} == {
        f"piece-{k}": 2 * k for k in range(20) if k != 13
    }
    assert done["piece-13"].row is None
    assert done["piece-13"].error == "ValueError: an unlucky number"
    assert "double" in done["piece-13"].where


def test_what_is_in_the_store_is_not_computed_again(spark, tmp_path):
    store, calls = tmp_path / "rows", tmp_path / "calls"
    calls.mkdir()

    def counted(load):
        import uuid

        (calls / uuid.uuid4().hex).touch()
        return double(load)

    first = each(spark, pieces(15), counted, store=store)
    assert len(list(calls.iterdir())) == 15
    again = each(spark, pieces(17), counted, store=store)
    assert len(list(calls.iterdir())) == 15 + 2 + 1, "two new ones, and the one that had failed"
    assert {key: again[key].row for key in first} == {key: one.row for key, one in first.items()}
    each(spark, pieces(3), counted, store=store, still_good=lambda row: row["twice"] != 4)
    assert len(list(calls.iterdir())) == 19


def test_a_task_that_runs_twice_changes_nothing_and_a_half_written_one_is_not_seen(tmp_path):
    done = [Done("a", {"x": 1}), Done("b", error="ValueError: no")]
    tasks._keep(tmp_path, done)
    tasks._keep(tmp_path, done)
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".0123.77.tmp").write_bytes(b'{"key": "c"')
    assert stored(tmp_path).keys() == {"a", "b"}
    tasks._keep(tmp_path, [Done("b", {"x": 2})])
    assert stored(tmp_path)["b"].row == {"x": 2}, "a success outlives an error"


def test_a_store_that_cannot_be_written_loses_no_results(spark, tmp_path):
    (tmp_path / "file").touch()
    done = each(spark, pieces(3), double, store=tmp_path / "file" / "rows")
    assert [one.row for one in done.values()] == [{"twice": 0}, {"twice": 2}, {"twice": 4}]


def test_a_worker_that_dies_each_time_ends_the_job_with_one_line(spark):
    def die(load):
        import os

        os._exit(1)

    with pytest.raises(PipelineError, match=r"^Spark stopped: [^\n]*$"):
        each(spark, pieces(1), die)

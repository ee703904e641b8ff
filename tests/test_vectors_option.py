"""`--vectors DIR`: what it runs, what it says it does not know, and when it refuses."""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent / "vectors"


def vectors(directory):
    command = [sys.executable, "-m", "pytest", str(HERE / "test_vectors.py"), "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--vectors", str(directory)], cwd=HERE.parent.parent, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_known_files_are_run_and_unknown_names_listed(tmp_path):
    shutil.copy(HERE / "data" / "fill.json", tmp_path)
    (tmp_path / "news.json").write_text("{}")
    code, text = vectors(tmp_path)
    assert code == 0, text
    assert "vectors: fill.json (12)" in text
    assert "unknown, not run: news.json" in text


def test_a_wrong_expectation_fails(tmp_path):
    text = (HERE / "data" / "histories.json").read_text()
    (tmp_path / "histories.json").write_text(text.replace('"gap_free":"holds"', '"gap_free":"violated"'))
    code, text = vectors(tmp_path)
    assert code == 1
    assert "48 failed, 42 passed" in text


def test_a_directory_without_a_known_file_is_refused(tmp_path):
    (tmp_path / "news.json").write_text("{}")
    for directory, what in ((tmp_path, "has no known file; it has news.json"), (tmp_path / "no", "is not a directory")):
        code, text = vectors(directory)
        assert code != 0
        assert what in text
        assert "Traceback" not in text


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "histories.json").write_text("[{")
    code, text = vectors(tmp_path)
    assert code != 0
    assert "histories.json cannot be read" in text
    assert "Traceback" not in text

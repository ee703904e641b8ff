"""One module per format: NAME, a file or folder; `cases(path)`, pairs (id, case); `check(case)`, which asserts."""

"""Every case of every known file, one test each; `conftest.py` finds them."""


def test_vector(reader, case):
    reader.check(case)

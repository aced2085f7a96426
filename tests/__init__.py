"""The test suite of codt."""

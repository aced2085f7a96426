"""The paper's evaluation, to be repeated, extended and read: ``codt study run``, ``report`` and ``list``.

A study is described by a small TOML file (:mod:`codt.study.description`), which defines a list of cells
(:mod:`codt.study.cells`): one method on one data set at one depth. Every cell runs in a process of its own under limits
that are enforced from outside (:mod:`codt.study.process`); the results are kept in one Parquet file
(:mod:`codt.study.store`), from which the report is made (:mod:`codt.study.report`). Needs the extra ``study``.
"""

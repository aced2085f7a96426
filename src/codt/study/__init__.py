"""The paper's evaluation, to be run again, extended and read: ``codt study run``, ``report`` and ``list``.

A study is described by a small TOML file (:mod:`codt.study.description`), which stands for a list of cells
(:mod:`codt.study.cells`): one method on one data set at one depth. Every cell runs in a process of its own under limits
that are enforced from outside (:mod:`codt.study.process`); what comes of it is kept in one Parquet file
(:mod:`codt.study.store`), from which the report is made (:mod:`codt.study.report`). Needs the extra ``study``.
"""

#!/usr/bin/env python3
"""A table of a corpus with pandas and a plot with matplotlib, computed by Dask.

    corpus.py FOLDER_OR_ARCHIVE... [--scheduler ADDRESS]

Without a scheduler it starts one with two processes. Writes corpus.csv and corpus.png.
"""
import argparse
from contextlib import ExitStack

import matplotlib
import pandas
from dask.distributed import Client, LocalCluster
from penta import distributed

matplotlib.use("Agg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--scheduler")
    given = parser.parse_args()
    with ExitStack() as stack:
        local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
        where = given.scheduler or stack.enter_context(LocalCluster(**local))
        client = stack.enter_context(Client(where))
        records = distributed.gather(distributed.map(client, "validate", given.sources))
    table = pandas.DataFrame(records, columns=["source", "format", "size", "verdict", "findings"])
    table["findings"] = table["findings"].map(len)
    table.to_csv("corpus.csv", index=False)
    print(table.groupby(["format", "verdict"], dropna=False)["size"].agg(["count", "sum"]).to_string())
    axes = table.groupby(["format", "verdict"], dropna=False).size().unstack(fill_value=0).plot.bar(stacked=True, rot=0)
    axes.set_ylabel("files")
    axes.figure.tight_layout()
    axes.figure.savefig("corpus.png")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""penta.distributed on a real Dask cluster of two processes, of which one is killed; and penta batch under mpirun and GNU parallel: each
time the records are those of one plain run.

    tests/programs/cluster/engines.py PENTA

Needs python3-distributed, mpirun and parallel (packages.txt: cluster); a part without its program is skipped.
"""
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import PENTA, ROOT, Skipped, call, check, main, penta, read, write

sys.path.insert(0, os.path.join(ROOT, "bindings/python"))
os.environ["PYTHONPATH"] = os.path.join(ROOT, "bindings/python")
os.environ.setdefault("PENTA_TOOL", PENTA)  # processes of Dask read this file again, in another folder
os.environ.setdefault("PENTA_LIBRARY", os.path.join(os.path.dirname(os.path.dirname(PENTA)), "lib", "libpenta.so"))


def material():
    """Programs that take some time, the same number of instructions each, in a folder and in an archive."""
    os.makedirs("files")
    write("loop.casm", ".global main\n.func main\nstart:\n    BR @start\n    RET\n.endfunc\n")
    check(call("asm", "loop.casm", "-o", "files/00.coil").returncode == 0, "asm")
    for k in range(1, 24):
        shutil.copy("files/00.coil", f"files/{k:02}.coil")
    check(subprocess.run(["tar", "cf", "files.tar", "files"]).returncode == 0, "tar")
    check(penta("batch", "run", "--engine", "interp", "--fuel", "20000000", "files", "files.tar", "-o", "plain").returncode == 0, "run")


def plain():
    return [json.loads(line) for line in read("plain").splitlines()]


def test_dask_loses_a_worker():
    if not importlib.util.find_spec("distributed"):
        raise Skipped("no python3-distributed")
    from distributed import Client, LocalCluster
    from penta import distributed
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, Client(cluster) as client:
        sources = [os.path.abspath("files"), os.path.abspath("files.tar")]
        pids = client.run(os.getpid)
        futures = distributed.map(client, "run", sources, chunk=4, engine="interp", fuel=20000000)
        while not any(future.done() for future in futures):
            time.sleep(0.02)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        found = distributed.gather(futures)
        strip = os.path.abspath(".") + "/"
        check(json.loads(json.dumps(found).replace(strip, "")) == plain(), "records differ from a plain run")
        bag = distributed.map(client, "run", sources, chunk=16, bag=True, engine="interp", fuel=20000000)
        check(bag.pluck("exit").frequencies().compute() == [(24, 48)], "the bag has other records")


def shards_merge(name):
    check(penta("batch", "merge", name).returncode == 0, "merge")
    check(read(name) == read("plain"), f"{name}: merged results differ from a plain run")


def test_mpirun():
    mpirun = shutil.which("mpirun") or shutil.which("mpiexec")
    if not mpirun:
        raise Skipped("no mpirun")
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run([mpirun, "-n", "2", PENTA, "batch", "run", "--engine", "interp", "--fuel", "20000000", "files", "files.tar",
                           "-o", "mpi", "--shard", "auto/2", "--jobs", "1"], env=env, capture_output=True, timeout=280)
    check(done.returncode == 0, done)
    shards_merge("mpi")


def test_gnu_parallel():
    if not shutil.which("parallel"):
        raise Skipped("no GNU parallel")
    done = subprocess.run(["parallel", "-j2", "--will-cite", PENTA, "batch", "run", "--engine", "interp", "--fuel", "20000000", "files",
                           "files.tar", "-o", "par", "--shard", "{}/3", "--jobs", "1", ":::", "0", "1", "2"], capture_output=True, timeout=280)
    check(done.returncode == 0, done)
    shards_merge("par")


if __name__ == "__main__":
    # Debian's packages are those of its own Python, which may not be the first in PATH.
    if not importlib.util.find_spec("distributed") and sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    sys.exit(main(globals(), material))

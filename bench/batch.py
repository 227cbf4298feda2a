#!/usr/bin/env python3
"""batch.py PENTA [FILES]: what penta batch costs. FILES small files (100,000) in a folder and in an archive.

Where other work runs on the machine, processor time is what to look at: it is that of all processes together.
"""
import io
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time

PENTA = os.path.abspath(sys.argv[1])
FILES = int(sys.argv[2]) if len(sys.argv) > 2 else 100000
ROUNDS = 2


def run(words, **more):
    """Wall time, processor time of all processes, largest memory in MiB and processor time of the first process; of the best of some rounds."""
    best = None
    for _ in range(ROUNDS):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, **more)
        memory = own = 0
        while process.poll() is None:
            memory, own = max(memory, of_process(process.pid)[0]), max(own, of_process(process.pid)[1])
            time.sleep(0.01)
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if process.returncode:
            sys.exit(f"{words[:6]}: exit {process.returncode}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = (wall, cpu, memory, own)
        best = found if best is None or found[1] < best[1] else best
        clean()
    return best


def of_process(pid):
    """Largest memory in MiB and processor time of a process alone: that of the coordinator. What wait4 tells has the memory of
    this program in it, of which the process was a copy."""
    try:
        memory = next(int(line.split()[1]) / 1024 for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM"))
        times = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13]
        return memory, sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    except (OSError, StopIteration, IndexError):
        return 0, 0


def clean():
    for name in os.listdir("."):
        if name.startswith("r."):
            os.unlink(name)


def batch(*words):
    return run([PENTA, "batch", *words, "-o", "r.lines", "-q"])


def shell(text):
    return run(["sh", "-c", text])


def add(tar, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))
    tar.members = []  # else it remembers a million


def program(name, lines):
    with open("p.kasm", "w") as out:
        out.write("".join(f"WRITE64 {0x10000 + 8 * i:#x}, {i}\n" for i in range(lines)))
    subprocess.run([PENTA, "asm", "p.kasm", "-o", name], check=True)
    with open(name, "rb") as file:
        return file.read()


def row(what, value):
    print(f"{what:78} {value}", flush=True)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        os.chdir(folder)
        small = program("small.kblob", 24)
        with tarfile.open("many.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for i in range(FILES):
                if i % 1000 == 0:
                    os.makedirs(f"many/{i // 1000:04}")
                with open(f"many/{i // 1000:04}/{i % 1000:03}.kblob", "wb") as out:
                    out.write(small)
                add(tar, f"many/{i // 1000:04}/{i % 1000:03}.kblob", small)
        subprocess.run("find many -type f | sort > list; tr '\\n' '\\0' < list > list0", shell=True, check=True)
        row(f"files of {len(small)} bytes", FILES)
        micro = 1e6 / FILES
        archive, shells = batch("validate", "many.tar", "-j2"), shell(f"xargs -0 -P2 -n100 '{PENTA}' validate < list0")
        row("tar by 2 workers: wall, processor time of a file", f"{archive[0] * micro:.1f} {archive[1] * micro:.1f} us")
        row("xargs -P2 -n100 penta validate, unpacked: the same", f"{shells[0] * micro:.1f} {shells[1] * micro:.1f} us")
        row("  ratio (goal 3)", f"{shells[0] / archive[0]:.1f} {shells[1] / archive[1]:.1f}")
        alone, one = shell(f"xargs -0 -n1000 '{PENTA}' validate --json < list0"), batch("validate", "many", "-j1")
        few = shell(f"xargs -0 -n1000 '{PENTA}' version --json < list0")
        verb = (alone[1] - few[1]) * micro
        row("the verb itself, 1,000 files a process without its start: processor time", f"{verb:.2f} us")
        row("folder by 1 worker: processor time", f"{one[1] * micro:.2f} us")
        row("  overhead of a file (goal 3 us)", f"{one[1] * micro - verb:.2f} us")
        large = program("large.kblob", 20000)
        with tarfile.open("large.tar", "w") as tar:
            for i in range(400):
                add(tar, f"{i}.kblob", large)
        single, double = batch("roundtrip", "large.tar", "-j1"), batch("roundtrip", "large.tar", "-j2")
        row(f"roundtrip of 400 files of {len(large)} bytes, 1 / 2 workers: wall", f"{single[0]:.2f} {double[0]:.2f} s")
        row("  the same: processor time; efficiency of 2 by processor time (goal 0.9), by wall time",
            f"{single[1]:.2f} {double[1]:.2f} s; {single[1] / double[1]:.2f}, {single[0] / double[0] / 2:.2f}")
        shards = 1000
        claim = batch("detect", "--from", "list", "--shard", f"0/{shards}", "-j1")
        row(f"one shard of {shards}, which reads the list: processor time of a source of the list", f"{claim[1] * micro:.2f} us")
        for k in range(8):
            subprocess.run([PENTA, "batch", "validate", "--from", "list", "-o", "m", "--shard", f"{k}/8", "-q"], check=True)
        merge = run([PENTA, "batch", "merge", "m", "-q"])
        row("merge of 8 shards: processor time of a line", f"{merge[1] * micro:.2f} us")
        size = os.path.getsize("m") / FILES
        row("bytes of a line", f"{size:.0f}")
        with tarfile.open("million.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for i in range(10 * FILES):
                add(tar, f"{i // 1000}/{i % 1000}.kblob", small)
        million = batch("validate", "million.tar", "-j2")
        row(f"{10 * FILES} files in a tar: wall, processor time of a file, largest memory (goal 200 MB)",
            f"{million[0] * micro / 10:.1f} {million[1] * micro / 10:.1f} us, {million[2]:.0f} MiB")
        row("  of that the coordinator: processor time of a file", f"{million[3] * micro / 10:.2f} us")
        subprocess.run(f"i=0; while [ $i -lt 10 ]; do cat list; i=$((i + 1)); done > list10", shell=True, check=True)
        names = batch("validate", "--from", "list10", "-j2")
        row(f"{10 * FILES} names of files in a list: the same", f"{names[0] * micro / 10:.1f} {names[1] * micro / 10:.1f} us, {names[2]:.0f} MiB")
        row("  of that the coordinator: processor time of a file", f"{names[3] * micro / 10:.2f} us")
        os.chdir("/")


main()

#!/usr/bin/env python3
"""penta batch: one line for each source, the same lines for any number of workers, and nothing lost or done twice when workers or the
batch itself are killed.

    tests/programs/batch.py PENTA [KILLS]
"""
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile

from support import PENTA, ROOT, SANITIZED, call, check, main, penta, read, write

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 12
LOOP = ".global main\n.func main\nstart:\n    BR @start\n    RET\n.endfunc\n"
VERBS = [["detect"], ["info"], ["inspect"], ["validate", "--strict"], ["roundtrip"], ["size"], ["dis"], ["verify"], ["conform"],
         ["run", "--map", "0x10000:64", "--fuel", "9"], ["profile", "--by", "instruction"], ["cover", "--map", "0x10000:4K"]]


def good(*args, **more):
    done = penta("batch", *args, **more)
    check(done.returncode == 0, (args, done))
    return done


def refused(code, says, *args, **more):
    done = penta("batch", *args, **more)
    check(done.returncode == code and says in done.stderr.decode(), (args, done))


def lines(path):
    return [json.loads(line) for line in read(path).splitlines()]


def material():
    """A folder with files of each kind, and what it holds as archives."""
    for k in range(12):
        write(f"a{k}.kasm", "".join(f"WRITE64 {0x10000 + 8 * i:#x}, {k}\n" for i in range(k + 1)))
        os.makedirs(f"files/{k % 3}", exist_ok=True)
        check(call("asm", f"a{k}.kasm", "-o", f"files/{k % 3}/{k:02}.kblob").returncode == 0, "asm")
    write("files/1/broken.kblob", read("files/1/10.kblob")[:20])
    write("files/empty", b"")
    write("files/words.txt", "nothing of penta\n")
    write("files/2/line\nend \"quoted\".kblob", read("files/2/02.kblob"))


def names():
    found = [os.path.join(at, name) for at, _, inner in os.walk("files") for name in inner]
    return sorted(found, key=lambda name: [part.encode() for part in name.split("/")])


def test_lines_are_the_documents_of_the_verbs():
    for verb, *options in VERBS:
        good(verb, *options, "files", "-o", verb + ".1", "--jobs", "1")
        good(verb, "files", *options, "-o", verb + ".5", "--jobs", "5")
        check(read(verb + ".1") == read(verb + ".5"), (verb, "differs by the number of workers"))
        found = lines(verb + ".1")
        check([line["source"] for line in found] == names(), (verb, [line["source"] for line in found]))
        for n, line in enumerate(found):
            alone = call(verb, "--json", *options, line["source"])
            check(line["n"] == n and line["exit"] == alone.returncode, (verb, line, alone))
            check(line["document"] == json.loads(alone.stdout), (verb, line, alone.stdout))
            check(line["findings"] == [d["code"] for d in diagnostics(line["document"])], line)


def diagnostics(document):
    found = [d for f in document.get("files", []) if isinstance(f, dict) for d in f.get("diagnostics", [])]
    return found + document.get("diagnostics", [])


def test_a_second_run_goes_on():
    good("validate", "files", "-o", "whole", "--jobs", "2")
    whole = read("whole")
    for cut in (0, 1, 200, len(whole) // 2, len(whole) - 1, len(whole)):
        write("part", whole[:cut])
        shutil.copy("whole.job", "part.job")
        good("validate", "files", "-o", "part", "--jobs", "2")
        check(read("part") == whole, ("cut at", cut))
        check(not os.path.exists("part.ahead"), "what waited is left over")
    document = json.loads(good("validate", "files", "-o", "part", "--json").stdout)
    # A line without a digest is of a file that could not be read, and is tried again: here there is none.
    check(document["reused"] == document["sources"] == len(whole.splitlines()), document)
    # A changed file is done again, a new one is added in its place, and nothing else.
    write("files/0/00.kblob", read("files/1/01.kblob"))
    write("files/1/new.kblob", read("files/1/01.kblob"))
    document = json.loads(good("validate", "files", "-o", "part", "--json").stdout)
    check(document["sources"] - document["reused"] == 2, document)
    good("validate", "files", "-o", "fresh")
    check(read("part") == read("fresh"), "a run that goes on differs from a fresh one")
    refused(2, "other options", "validate", "--strict", "files", "-o", "part")
    write("mine", "my own text\n")
    refused(4, "not a result of a batch", "validate", "files", "-o", "mine")
    check(read("mine") == b"my own text\n", "a file of the user was changed")


def make_archives():
    with tarfile.open("all.tar", "w") as tar, tarfile.open("all.tar.gz", "w:gz") as packed, zipfile.ZipFile("all.zip", "w") as zipped:
        for name in sorted(os.listdir("files/1")):
            for one in (tar, packed):
                one.add("files/1/" + name, name)
            zipped.write("files/1/" + name, name)


def test_archives():
    make_archives()
    for archive in ("all.tar", "all.tar.gz", "all.zip"):
        good("validate", archive, "-o", archive + ".lines", "--jobs", "2")
        found = lines(archive + ".lines")
        check([line["source"] for line in found] == [f"{archive}!{n}" for n in sorted(os.listdir("files/1"))], found)
        for line in found:
            alone = json.loads(penta("validate", "--json", line["source"].replace(archive + "!", "files/1/")).stdout)
            renamed = json.loads(json.dumps(alone).replace("files/1/", archive + "!"))
            check(line["document"] == renamed, (line, renamed))
    for archive in ("all.tar", "all.zip"):
        whole = read(archive)
        for cut in range(0, len(whole), len(whole) // 9):
            write("cut" + os.path.splitext(archive)[1], whole[:cut])
            name = "cut" + os.path.splitext(archive)[1]
            for path in ("cut.lines", "cut.lines.job"):
                if os.path.exists(path):
                    os.unlink(path)
            good("validate", name, "-o", "cut.lines")
            for line in lines("cut.lines"):
                check(line["source"].startswith(name), line)


def add_member(tar, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def test_names_that_climb_out():
    blob = read("files/0/03.kblob")
    with tarfile.open("climb.tar", "w") as tar:
        for name in ("../../out.kblob", "/abs/out.kblob", "good.kblob"):
            add_member(tar, name, blob)
    good("validate", "climb.tar", "-o", "climb.lines")
    check([line["exit"] for line in lines("climb.lines")] == [0, 0, 0], "names decide nothing when nothing is written")
    os.makedirs("deep/er", exist_ok=True)
    good("dis", "climb.tar", "--files-to", "deep/er/to", "-o", "climb.dis")
    found = lines("climb.dis")
    check([line["exit"] for line in found] == [4, 0, 0], found)
    check("leads out" in json.dumps(found[0]["document"]), found[0])
    check(not os.path.exists("deep/out.kblob.kasm") and os.path.exists("deep/er/to/climb.tar!good.kblob.kasm"), os.listdir("deep"))


def test_what_cannot_be_read():
    os.makedirs("odd/inner", exist_ok=True)
    os.symlink("..", "odd/inner/loop")
    os.symlink("nowhere", "odd/dangling")
    os.symlink("self", "odd/self")
    os.mkfifo("odd/pipe")
    write("odd/x.kblob", read("files/0/03.kblob"))
    good("validate", "odd", "missing", "-o", "odd.lines")
    found = {line["source"]: line for line in lines("odd.lines")}
    check(set(found) == {"odd/inner/loop", "odd/dangling", "odd/self", "odd/x.kblob", "missing"}, found)
    check(found["odd/x.kblob"]["exit"] == 0, found)
    for name in set(found) - {"odd/x.kblob"}:
        check(found[name]["exit"] == 4 and found[name]["findings"] == ["PENTA0004"], found[name])
    refused(2, "needs sources", "validate", "-o", "none.lines")
    refused(4, "", "validate", "files", "-o", "no/such/folder/r")
    refused(2, "does not run", "link", "files", "-o", "none.lines")
    refused(2, "--files-to", "convert", "files", "-o", "none.lines")
    refused(2, "unknown option", "validate", "--fuel", "3", "files", "-o", "none.lines")
    refused(2, "differs from run to run", "profile", "--engine", "jit", "files", "-o", "none.lines")
    refused(2, "is no part of a result", "validate", "--fields", "wrong", "files", "-o", "none.lines")


def test_lists_fields_and_files():
    found = sorted(name for name in names() if "\n" not in name)
    write("list", "\n".join(found))
    write("list0", "\0".join(names()) + "\0")
    write("sized", "".join(f"{os.path.getsize(n)}\t{n}\n" for n in found))
    for path, wanted in (("list", found), ("list0", names()), ("sized", found)):
        good("validate", "--from", path, "-o", path + ".lines")
        check([line["source"] for line in lines(path + ".lines")] == wanted, path)
    done = penta("batch", "detect", "--from", "-", "-o", "stdin.lines", data=read("list"))
    check(done.returncode == 0 and len(lines("stdin.lines")) == len(found), done)
    good("validate", "files", "--fields", "verdict,document.files,document.ok", "-o", "few.lines")
    for line in lines("few.lines"):
        check(set(line) <= {"n", "source", "digest", "exit", "verdict", "document.files", "document.ok"} and "verdict" in line, line)
    good("dis", "files", "--files-to", "texts", "-o", "texts.lines")
    for line in lines("texts.lines"):
        if line["exit"] == 0:
            text = read("texts/" + line["source"] + ".kasm")
            check(text == penta("dis", line["source"]).stdout, line["source"])
    good("report", "files/0", "--files-to", "pages", "-o", "pages.lines", "--jobs", "2")
    check(read("pages/files/0/03.kblob.html").startswith(b"<!DOCTYPE html>"), "no page")
    # What is written under the name of a source is never the source itself.
    before = read("files/0/03.kblob")
    good("convert", "files/0", "--files-to", ".", "-o", "same.lines")
    check(read("files/0/03.kblob") == before, "a source was written over")
    done = penta("batch", "validate", "files", "-o", "highest.lines", "--exit-verdict")
    check(done.returncode == max(line["exit"] for line in lines("highest.lines")) > 0, done)


def test_cache():
    good("validate", "files", "-o", "c0")
    for run in ("c1", "c2"):
        good("validate", "files", "--cache", "kept", "-o", run)
        check(read(run) == read("c0"), "the cache changes results")
    shutil.copytree("files", "copies")
    good("validate", "copies", "--cache", "kept", "-o", "c3")
    good("validate", "copies", "-o", "c4")
    check(read("c3") == read("c4"), "a cached result of a file of another name differs")
    entries = [os.path.join(at, name) for at, _, inner in os.walk("kept") for name in inner]
    check(entries, "nothing was kept")
    for path in entries:  # torn and changed entries are not believed
        data = read(path)
        write(path, data[:len(data) // 2] if hash(path) & 1 else data.replace(b'"exit":0', b'"exit":9'))
    good("validate", "files", "--cache", "kept", "-o", "c5")
    check(read("c5") == read("c0"), "a torn entry of the cache was believed")


def children(pid):
    try:
        return [int(p) for p in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def processor_time(pid):
    try:
        return sum(map(int, open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0


def make_bad():
    """Eight good files, and in the middle one whose program never ends."""
    os.makedirs("bad", exist_ok=True)
    write("hang.casm", LOOP)
    check(call("asm", "hang.casm", "-o", "bad/hang.coil").returncode == 0, "asm")
    for k in range(4):
        shutil.copy("files/0/03.kblob", f"bad/{k}.kblob")
        shutil.copy("files/0/03.kblob", f"bad/z{k}.kblob")


def test_what_hangs_and_crashes():
    make_bad()
    good("run", "bad", "--file-timeout", "0.3", "-o", "hang.lines", "--jobs", "2")
    found = lines("hang.lines")
    check([line["source"] for line in found] == sorted("bad/" + n for n in os.listdir("bad")), found)
    for line in found:
        late = line["source"] == "bad/hang.coil"
        check((line["verdict"] == "timeout" and line["exit"] == 25 and line["digest"]) if late else line["document"]["stop"] == "halt"
              or line["exit"] in (20, 22), line)
    # A worker that is ended by a signal at this source, again and again: its line says so.
    batch = subprocess.Popen([PENTA, "batch", "run", "bad", "-o", "crash.lines", "--jobs", "1", "-q"])
    number = signal.SIGKILL if SANITIZED else signal.SIGSEGV  # which a sanitizer would report at length
    while batch.poll() is None:
        time.sleep(0.05)
        for pid in children(batch.pid):
            if processor_time(pid) > 0.5:  # far more than the start and the other files take: it is at work on this one
                os.kill(pid, number)
    check(batch.returncode == 0, batch.returncode)
    found = lines("crash.lines")
    check([line["source"] for line in found] == sorted("bad/" + n for n in os.listdir("bad")), found)
    crashed = [line for line in found if line["verdict"] == "signal"]
    check(len(crashed) == 1 and any(line["source"] == "bad/hang.coil" and line["signal"] == number and line["exit"] == 128 + number for line in crashed), crashed)
    # A worker that wants too much memory; the others are not touched.
    if not SANITIZED:
        good("run", "bad/0.kblob", "files/words.txt", "--map", "0x100000:512M", "--file-memory", "64M", "-o", "large.lines")
        found = lines("large.lines")
        check(found[0]["verdict"] == "memory" and found[0]["exit"] == 7 and found[1]["verdict"] == "format", found)


def test_interrupt():
    make_bad()
    batch = subprocess.Popen([PENTA, "batch", "run", "bad", "-o", "stop.lines", "--jobs", "2"], stderr=subprocess.PIPE)
    while not children(batch.pid) and batch.poll() is None:
        time.sleep(0.01)
    time.sleep(0.3)
    workers = children(batch.pid)
    batch.send_signal(signal.SIGINT)
    _, errors = batch.communicate(timeout=60)
    check(batch.returncode == 130 and b"continues where" in errors, (batch.returncode, errors))
    check(workers and not any(os.path.exists(f"/proc/{pid}") for pid in workers), "workers are left")
    good("run", "bad", "--file-timeout", "0.3", "-o", "stop.lines")
    check([line["n"] for line in lines("stop.lines")] == list(range(9)), "lines are missing")


def limited():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))


def test_progress_without_a_terminal():
    make_bad()
    done = good("run", "bad", "--file-timeout", "0.5", "--progress", "0.1", "-o", "told", "--jobs", "1")
    said = done.stderr.decode().splitlines()
    check(len(said) > 1 and all("files, " in line and " a second" in line for line in said), said)
    check(good("run", "bad", "--file-timeout", "0.5", "-o", "quiet").stderr == b"", "progress before its time")


def test_full_disk():
    good("validate", "files", "-o", "room")
    done = penta("batch", "validate", "files", "-o", "full", preexec_fn=limited)
    check(done.returncode == 4 and b"cannot write" in done.stderr, done)
    good("validate", "files", "-o", "full")
    check(read("full") == read("room"), "what was written before the disk was full spoils the results")


def test_kills_at_random_moments():
    """The batch, or one of its workers, is killed at a random moment, and started again, until nothing is left to do."""
    rng = random.Random(38)
    blob = read("files/0/03.kblob")
    with tarfile.open("kill.tar", "w") as tar:
        for i in range(3000):
            add_member(tar, f"{i:04}.kblob", blob[:len(blob) - 16 * (i % 3)])
    good("validate", "kill.tar", "-o", "kill.whole", "--jobs", "2")
    whole, killed = read("kill.whole"), 0
    started = time.monotonic()
    good("validate", "kill.tar", "-o", "kill.timed", "--jobs", "2")
    span = time.monotonic() - started
    while killed < KILLS:
        for end in ("", ".job", ".times", ".ahead"):
            if os.path.exists("kill.lines" + end):
                os.unlink("kill.lines" + end)
        while True:
            batch = subprocess.Popen([PENTA, "batch", "validate", "kill.tar", "-o", "kill.lines", "--jobs", "2", "-q"],
                                     stderr=subprocess.DEVNULL)
            time.sleep(rng.random() * span)
            found = children(batch.pid)
            victim = batch.pid if rng.random() < 0.6 or not found else rng.choice(found)
            try:
                os.kill(victim, signal.SIGKILL)
                killed += 1
            except OSError:
                pass
            batch.wait(timeout=120)
            if batch.returncode == 0:
                break
        check(read("kill.lines") == whole, f"differs after {killed} kills")


def test_shards():
    """Shards of any number, in any order, some of them twice, give the lines of one run."""
    good("validate", "files", "-o", "alone")
    for count in (1, 3, 40):
        for k in reversed(range(count)):
            good("validate", "files", "-o", f"s{count}", "--shard", f"{k}/{count}")
        good("validate", "files", "-o", f"s{count}", "--shard", f"0/{count}")  # a second attempt
        good("merge", f"s{count}")
        check(read(f"s{count}") == read("alone"), f"{count} shards differ from one run")
    make_archives()
    good("validate", "all.tar", "files", "all.zip", "-o", "mixed")
    done = good("submit", "--slurm", "--dry-run", "--shards", "4", "validate", "all.tar", "files", "all.zip", "-o", "planned", "--json")
    check(json.loads(done.stdout)["shards"] == 4, done)
    refused(1, "missing of 4 shards: 0, 1, 2, 3", "merge", "planned")
    shared = [(k, "--from", "planned.list", "-o", "planned", "--shard", "auto") for k in (3, 0, 2)]
    for k, *words in shared:
        variable = ("SLURM_ARRAY_TASK_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "JOB_COMPLETION_INDEX")[k]
        good("validate", *words, env={**os.environ, variable: str(k)})
    refused(1, "missing of 4 shards: 1", "merge", "planned")
    state = json.loads(good("status", "planned", "--json").stdout)
    check([s["state"] for s in state["shards"]] == ["done", "missing", "done", "done"] and not state["complete"], state)
    # The script that Slurm would start.
    done = subprocess.run(["sh", "planned.array.sh"], env={**os.environ, "SLURM_ARRAY_TASK_ID": "1"}, capture_output=True)
    check(done.returncode == 0, done)
    done = subprocess.run(["sh", "planned.merge.sh"], capture_output=True)
    check(done.returncode == 0 and read("planned") == read("mixed"), ("merged shards differ", done))
    sizes = [os.path.getsize(f"planned.shard-{k}-of-4") for k in range(4)]
    check(min(sizes) > 0, sizes)
    state = json.loads(good("status", "planned", "--json").stdout)
    check(state["complete"] and state["lines"] == len(read("planned").splitlines()), state)
    refused(2, "no shard", "validate", "files", "-o", "wrong", "--shard", "4/4")
    refused(2, "no scheduler", "validate", "files", "-o", "wrong", "--shard", "auto/4")
    refused(2, "not known", "validate", "files", "-o", "wrong", "--shard", "3")


def test_an_attempt_goes_on_where_another_was_killed():
    good("validate", "files", "-o", "one")
    good("validate", "files", "-o", "two", "--shard", "1/2")
    whole = read("two.shard-1-of-2")
    os.unlink("two.shard-1-of-2")
    write("two.shard-1-of-2.elsewhere-7-1.part", whole[:len(whole) * 2 // 3])  # torn in the middle of a line
    document = json.loads(good("validate", "files", "-o", "two", "--shard", "1/2", "--json").stdout)
    check(0 < document["reused"] < document["sources"] and read("two.shard-1-of-2") == whole, document)


def test_report_of_results():
    write("files/<b>&.kblob", read("files/0/03.kblob"))
    good("info", "files", "-o", "facts")
    good("report", "facts", "-o", "facts.html")
    page = read("facts.html").decode()
    for text in ("Verdicts", "Formats", "Slowest", "WRITE64", "PENTA0006", "&#60;b&#62;&#38;.kblob", 'href="./files/%3Cb%3E%26.kblob"'):
        check(text in page, (text, page))
    check("<b>&." not in page, "a name of a file is markup")
    refused(2, "needs -o FILE", "report", "facts")
    refused(4, "", "report", "nothing", "-o", "nothing.html")


def test_sweep():
    rng = random.Random(1)
    check(call("asm", os.path.join(ROOT, "examples/tvmr/digits.tasm"), "--metadata", "-o", "net.tvmr").returncode == 0, "asm")
    labels = [k % 10 for k in range(40)]
    write("data.csv", "".join(",".join(str(255 * (i % 10 == k) + rng.randrange(9)) for i in range(256)) + "\n" for k in labels))
    write("labels.csv", "".join(f"{k}\n" for k in labels))
    words = ["train", "net.tvmr", "--data", "data.csv", "--targets", "labels.csv", "--batch", "8", "--init", "random", "--grid", "seed=1:2,epochs=1:2:3"]
    good(*words, "-o", "sweep.1", "--jobs", "1")
    good(*words, "-o", "sweep.3", "--jobs", "3")
    check(read("sweep.1") == read("sweep.3"), "a sweep differs by the number of workers")
    found = lines("sweep.1")
    check([line["grid"] for line in found] == [f"seed={s},epochs={e}" for s in (1, 2) for e in (1, 2, 3)], found)
    for line in found:
        options = [f"--{word}" for word in line["grid"].split(",")]
        alone = json.loads(penta("train", "--json", *words[1:-2], *options).stdout)
        check(untimed(alone) == line["document"], (alone, line))
    best = json.loads(good("status", "sweep.1", "--json").stdout)["best"]
    check(best["accuracy"] == max(line["document"]["accuracy"] for line in found), best)
    good("report", "sweep.1", "-o", "sweep.html")
    check(best["grid"] in read("sweep.html").decode() and "<svg" in read("sweep.html").decode(), "no plot")


def untimed(value):
    if isinstance(value, dict):
        return {k: untimed(v) for k, v in value.items() if k != "seconds"}
    return [untimed(v) for v in value] if isinstance(value, list) else value


def test_segments_of_a_chain():
    folder = os.path.join(ROOT, "examples/jam")
    write("a.segment", f"# a comment\n{folder}/state.json\n{folder}/block.json\n")
    write("none.segment", "only-a-state.json\n")
    good("block", "a.segment", "none.segment", "-o", "chain")
    found = lines("chain")
    alone = json.loads(penta("block", "--json", f"{folder}/state.json", f"{folder}/block.json").stdout)
    check(found[0]["document"] == alone and found[0]["exit"] == 0, (found[0], alone))
    check(found[1]["exit"] != 0, found[1])
    # The digest is of what the segment names, too.
    os.mkdir("chain.d")
    for name in ("state.json", "block.json"):
        shutil.copy(f"{folder}/{name}", f"chain.d/{name}")
    write("chain.d/b.segment", "state.json\nblock.json\n")
    good("block", "chain.d/b.segment", "-o", "chain.b")
    write("chain.d/block.json", read("chain.d/block.json") + b"\n")
    document = json.loads(good("block", "chain.d/b.segment", "-o", "chain.b", "--json").stdout)
    check(document["reused"] == 0, document)


def test_several_files_at_once():
    files = ["files/0/03.kblob", "files/1/04.kblob", "files/empty"]
    for verb in ("info", "inspect", "dis", "size"):
        done = penta(verb, "--json", *files)
        document = json.loads(done.stdout)
        number = 2 if verb == "dis" else 1
        check(document["schema"] == f"penta.{verb}-list/{number}" and done.returncode == 3, document)
        check(document["files"] == [json.loads(penta(verb, "--json", name).stdout) for name in files], (verb, document))
        text = penta(verb, *files[:2]).stdout
        for name in files[:2]:
            check(penta(verb, name).stdout in text and b"==> " + name.encode() + b" <==" in text, (verb, text))
    done = penta("dis", *files[:2], "-o", "out.kasm")
    check(done.returncode == 2 and b"batch --files-to" in done.stderr, done)


if __name__ == "__main__":
    sys.exit(main(globals(), material))

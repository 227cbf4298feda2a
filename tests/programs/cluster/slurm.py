#!/usr/bin/env python3
"""penta batch submit on a real Slurm: a controller and two nodes on loopback, of this test alone. A node is lost while it works, a task
is started again by the scheduler; the merged results are those of one plain run.

    tests/programs/cluster/slurm.py PENTA

Needs slurmctld, slurmd, sbatch and munged (packages.txt: cluster); exit code 77 without them.
"""
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from support import call, check, main, penta, read, write

NEEDED = ("slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "munged")
SECONDS = 240
LOOP = ".global main\n.func main\nstart:\n    BR @start\n    RET\n.endfunc\n"
CONFIGURATION = """ClusterName=penta
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire=3
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdTimeout=10
ReturnToService=2
JobRequeue=1
MailProg=/bin/true
SwitchType=switch/none
MpiDefault=none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""


def until(what, condition):
    """Polls, and fails after a time that is far more than anything here takes."""
    deadline = time.monotonic() + SECONDS
    while True:
        found = condition()
        if found:
            return found
        check(time.monotonic() < deadline, f"{what}: not in {SECONDS} s")
        time.sleep(0.2)


def program(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    """The daemons of a cluster, all of which end with it."""

    def __enter__(self):
        self.folder = os.getcwd() + "/slurm"
        for name in ("", "/munge", "/state", "/spool-n1", "/spool-n2"):
            os.mkdir(self.folder + name, 0o700)
        write(self.folder + "/munge/key", os.urandom(1024))
        os.chmod(self.folder + "/munge/key", 0o400)
        write(self.folder + "/slurm.conf", CONFIGURATION.format(host=socket.gethostname(), user=getpass.getuser(),
                                                                folder=self.folder, ports=free_ports(3)))
        self.env = {**os.environ, "SLURM_CONF": self.folder + "/slurm.conf"}
        self.daemons = {}
        munge = self.folder + "/munge/"
        self.start("munged", "--foreground", "--force", f"--socket={munge}socket", f"--key-file={munge}key", f"--log-file={munge}log",
                   f"--pid-file={munge}pid", f"--seed-file={munge}seed")
        until("munged", lambda: os.path.exists(munge + "socket"))
        self.start("slurmctld", "-D")
        for node in ("n1", "n2"):
            self.start("slurmd", "-D", "-N", node, key=node)
        until("two idle nodes", lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"])
        return self

    def __exit__(self, *_):
        for pid in self.steps():
            self.end(pid)
        for daemon in reversed(list(self.daemons.values())):
            daemon.kill()
            daemon.wait()

    def start(self, name, *words, key=None):
        with open(f"{self.folder}/{key or name}.out", "wb") as out:
            self.daemons[key or name] = subprocess.Popen([program(name), *words], env=self.env, stdout=out, stderr=out,
                                                         stdin=subprocess.DEVNULL)

    def ask(self, *words):
        done = subprocess.run(words, env=self.env, capture_output=True, text=True, timeout=60)
        return done.stdout if done.returncode == 0 else ""

    def running(self):
        """Each task that runs: job, task of the array, node."""
        return [line.split() for line in self.ask("squeue", "-h", "-t", "R", "-r", "-o", "%A %K %N").splitlines() if len(line.split()) == 3]

    def steps(self, jobs=None):
        """The processes slurmstepd of this cluster, of these jobs."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = open(f"/proc/{pid}/cmdline", "rb").read().decode(errors="replace")
                ours = words.startswith("slurmstepd: [") and any(os.readlink(f"/proc/{pid}/fd/{fd}").startswith(self.folder)
                                                                   for fd in os.listdir(f"/proc/{pid}/fd"))
            except OSError:
                continue
            if ours and (jobs is None or words[len("slurmstepd: ["):].split(".")[0] in jobs):
                found.append(int(pid))
        return found

    @staticmethod
    def end(pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass

    def lose(self, node):
        """The daemon of a node and those of its tasks are killed; what these had started may run on."""
        jobs = [job for job, _, at in self.running() if at == node]
        self.daemons[node].kill()
        self.daemons[node].wait()
        for pid in self.steps(jobs):
            self.end(pid)
        return jobs


def material():
    os.makedirs("files")
    write("loop.casm", LOOP)
    check(call("asm", "loop.casm", "-o", "files/00.coil").returncode == 0, "asm")
    for k in range(1, 32):
        shutil.copy("files/00.coil", f"files/{k:02}.coil")


def test_an_array_that_loses_a_node():
    # About half a second of work for each file, however fast the processor is: what is counted are instructions.
    words = ["run", "--engine", "interp", "--fuel", "200000000", "files"]
    check(penta("batch", *words, "-o", "plain").returncode == 0, "a plain run")
    with Slurm() as slurm:
        done = penta("batch", "submit", "--slurm", "--shards", "8", "--json", *words, "-o", "merged", env=slurm.env)
        check(done.returncode == 0, done)
        submitted = json.loads(done.stdout)
        check(submitted["shards"] == 8 and submitted["submitted"], submitted)
        until("tasks on both nodes, with lines", lambda: {"n1", "n2"} <= {at for _, _, at in slurm.running()} and
              any(name.endswith(".part") and os.path.getsize(name) for name in os.listdir(".")))
        lost = slurm.lose("n2")
        check(lost, "no task was lost with the node")
        _, task, _ = until("a task on the other node", lambda: [one for one in slurm.running() if one[2] == "n1"])[0]
        slurm.ask("scontrol", "requeue", f"{submitted['array']}_{task}")
        until("the end of all jobs", lambda: slurm.ask("squeue", "-h", "-o", "%i %T") == "" and slurm.ask("sinfo", "-h"))
        check(os.path.exists("merged"), ("nothing was merged", read("merged.merge.log") if os.path.exists("merged.merge.log") else b""))
        check(read("merged") == read("plain"), "merged results differ from a plain run")
        state = json.loads(penta("batch", "status", "merged", "--json").stdout)
        check(state["complete"] and all(shard["state"] == "done" for shard in state["shards"]), state)


if __name__ == "__main__":
    if not all(map(program, NEEDED)):
        print("no Slurm: skipped (packages.txt: cluster)")
        sys.exit(77)
    sys.exit(main(globals(), material))

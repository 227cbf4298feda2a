"""Processor time of processes, and means of ratios, for the benchmarks of whole programs."""
import math
import resource
import subprocess


def processor_time(command, **more):
    """Of the program and of the system for it: how the sum divides, the system knows only to a few milliseconds."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = used()
    subprocess.run(command, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})
    return used() - before


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios and all(ratios) else float("nan")

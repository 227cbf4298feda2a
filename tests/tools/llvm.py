"""Where a tool of LLVM is that compiles programs for PolkaVM: scripts/llvm says it."""
import os
import subprocess

SCRIPT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts", "llvm")


def llvm(tool):
    """The command, or None where it is not installed."""
    return subprocess.run([SCRIPT, tool], capture_output=True, text=True, timeout=300).stdout.strip() or None

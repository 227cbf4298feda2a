"""Every function of the installed headers is used by the Python package, or has another form there; run by ../python.py inside
an environment where penta was installed."""
import glob
import os
import re
import sys

import cvbc
import penta
from penta import _library

# Functions that Python does not call, and what it has instead.
OTHER_FORMS = {
    r"buffer_append|findings_\w+|(tree|hex)_pieces|value_(text|is_true)": "Python's own lists, texts and numbers",
    r"describe(_json|_part)?|vm_describe|info|instructions(_legend)?|parts|diff_each|select|vm_children|structure_(arrows|calls|edges|block_at|function_at|find|named)|"
    r"jam_block_run|call_print|session_on_call": "the form in JSON",
    r"format_\w+|option_\w+|rule_\w+|severity_name|record_format|flow_at": "about(), options(), rules(), branch() and the header's names",
    r"conform_(document|path|verdict_name)": "conform.run()",
    r"debugger_(limit|resume|on_interrupt)|session_(sample|take_sample|where)": "for signal handlers, and who has no second thread",
    r"pvm_(links|in_arguments)|tvmr_(usage_\w+|extension_register)": "link() chooses itself; manifests name extensions",
    r"batch_serve": "the tool is the worker",
    r"sarif_add": "results.Sarif.add() takes a list",
    r"vm_elements": "peek() at the address of the variable",
    r"tvmr_bank_attach": "a host in Python answers the stops of bank instructions",
    r"cvbc_(sign|seal|unseal|board_find|crc32|program_get|value|legacy_detect|status_name|symbol|vm_element|simulator_(answer|micros))":
        "the form with options, or the cvbc package's own records",
}


def main():
    text = "".join(open(path, encoding="utf-8").read() for package in (penta, cvbc)
                   for path in glob.glob(os.path.join(os.path.dirname(package.__file__), "*.py")))
    used = {name for name in re.findall(r"\bpenta_\w+", text)}
    used |= {"penta_cvbc_" + name for name in re.findall(r'"([a-z_]+)"', text)}  # by name, in the cvbc package
    used |= {"penta_cvbc_builder_" + name for name in re.findall(r'"([a-z_]+)"', text)}
    other = re.compile("penta_(" + "|".join(OTHER_FORMS) + ")")
    missing = [name for name in sorted(_library._found.functions)
               if name.startswith("penta_") and name not in used and not other.fullmatch(name)]
    if missing:
        sys.exit("functions of the headers that Python does not offer: " + ", ".join(missing))
    print(f"{len(used & set(_library._found.functions))} functions are used")


main()

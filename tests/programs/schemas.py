"""Documents against their schemas, for the test programs that import it."""
import json
import os

from support import ROOT, check

SARIF = os.path.join(os.environ.get("PENTA_DATA", os.path.join(ROOT, "..", "shared", "data")), "sarif", "sarif-schema-2.1.0.json")
_made = {}


def schema_validator(path):
    """None: the schema, or the package that reads it, is not here."""
    if path not in _made:
        try:
            import jsonschema
            with open(path, encoding="utf-8") as file:
                _made[path] = jsonschema.Draft7Validator(json.load(file), format_checker=jsonschema.FormatChecker())
        except (ImportError, OSError):
            _made[path] = None
    return _made[path]


def sarif_check(document):
    """SARIF by the schema of the standard, where that is at hand."""
    validator = schema_validator(SARIF)
    for error in validator.iter_errors(document) if validator else ():
        check(False, f"SARIF: {error.message} at {list(error.absolute_path)}")
    check(document["version"] == "2.1.0", document)

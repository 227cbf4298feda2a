"""Documents against their schemas: those that the tool prints with --json against docs/schema, SARIF against the schema of the standard.

Every document that a test gets from a command is checked, by commands.py and programs/support.py. Without jsonschema nothing is."""
import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "docs", "schema")
SARIF = os.path.join(os.environ.get("PENTA_DATA", os.path.join(ROOT, "..", "shared", "data")), "sarif", "sarif-schema-2.1.0.json")
COMMON = "common.json#/"
_validators, _good = {}, set()

try:
    import jsonschema
except ImportError:
    jsonschema = None


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def inlined(schema):
    """A schema with what it refers to in other files in its place, and with the definitions of common.json as its own, since
    versions of jsonschema differ in how they follow references to other files."""
    if isinstance(schema, list):
        return [inlined(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    target = schema.get("$ref", "")
    if target.startswith(COMMON):
        return {**schema, "$ref": "#/" + target[len(COMMON):]}
    return inlined(load(os.path.join(FOLDER, target))) if target else {key: inlined(value) for key, value in schema.items()}


def validator_of(path, draft):
    """None: the schema, or what reads it, is not here."""
    if path not in _validators:
        _validators[path] = None
        if jsonschema and os.path.exists(path):
            schema = load(path)
            if path.startswith(FOLDER):
                schema = inlined(schema)
                schema.setdefault("$defs", {}).update(inlined(load(os.path.join(FOLDER, "common.json")))["$defs"])
            _validators[path] = getattr(jsonschema, draft)(schema, format_checker=jsonschema.FormatChecker())
    return _validators[path]


def fault(path, draft, document):
    """What is wrong with a document, or ""."""
    validator = validator_of(path, draft)
    error = jsonschema.exceptions.best_match(validator.iter_errors(document)) if validator else None
    return f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:1500] if error else ""


def schema_path(name):
    """"penta.dis/2" is described by docs/schema/dis-2.json."""
    return os.path.join(FOLDER, name.removeprefix("penta.").replace("/", "-") + ".json")


def document_fault(data):
    """What is wrong with a document of the tool, or "". What is no document is not judged here: a command that ends by a
    signal prints none."""
    key = hash(data)
    if not data.startswith(b'{"schema":"penta.') or key in _good or not jsonschema:
        return ""
    document = json.loads(data)
    path = schema_path(document["schema"])
    if not os.path.exists(path):
        return f"no schema describes {document['schema']}"
    found = fault(path, "Draft202012Validator", document)
    if not found:
        _good.add(key)
    return found


def answer_check(words, data):
    """Called with each answer of the tool."""
    if "--json" in words and isinstance(data, bytes):
        collect = os.environ.get("PENTA_COLLECT")
        if collect and data.startswith(b'{"schema":"penta.'):
            name = data[17:60].split(b'"')[0].decode().replace("/", "-")
            with open(os.path.join(collect, name + "." + format(hash(data) & 0xffffffffffff, "x")), "wb") as out:
                out.write(data)
            return
        found = document_fault(data)
        assert not found, f"penta {' '.join(map(str, words))}: its document is not as its schema says: {found}"


def sarif_check(document):
    """SARIF by the schema of the standard, where that is at hand."""
    found = fault(SARIF, "Draft7Validator", document)
    assert not found, f"SARIF: {found}"
    assert document["version"] == "2.1.0", document

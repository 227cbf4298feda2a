"""A PEP 517 backend for packages that are nothing but Python files: it needs no other package,
no compiler and no network, and two builds give the same bytes."""
import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STAMP = (1980, 1, 1, 0, 0, 0)


def _project():
    text = open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8").read()
    value = lambda key: re.search(rf'^{key} = "(.*)"$', text, re.M).group(1)
    return value("name"), value("version"), value("description"), value("requires-python")


def _packages():
    for entry in sorted(os.listdir(HERE)):
        if os.path.exists(os.path.join(HERE, entry, "__init__.py")):
            yield entry


def _sources():
    for package in _packages():
        for folder, folders, names in os.walk(os.path.join(HERE, package)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".py", ".pyi", "py.typed", ".so")):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, HERE).replace(os.sep, "/"), open(path, "rb").read()


def _metadata():
    name, version, summary, python = _project()
    return (f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {summary}\n"
            f"Requires-Python: {python}\nLicense: MIT\n").encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, version, _, _ = _project()
    base = f"{name.replace('-', '_')}-{version}"
    info = f"{base}.dist-info"
    files = list(_sources())
    files.append((f"{info}/METADATA", _metadata()))
    files.append((f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: wheel_of_files\n"
                                   b"Root-Is-Purelib: true\nTag: py3-none-any\n"))
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},"
        f"{len(data)}\n" for path, data in files)
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode()))
    target = f"{base}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, target), "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files:
            entry = zipfile.ZipInfo(path, STAMP)
            entry.external_attr = 0o644 << 16
            out.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return target


def build_sdist(sdist_directory, config_settings=None):
    name, version, _, _ = _project()
    base = f"{name.replace('-', '_')}-{version}"
    files = list(_sources()) + [("PKG-INFO", _metadata())]
    for path in ("pyproject.toml", "build_backend/wheel_of_files.py"):
        files.append((path, open(os.path.join(HERE, path), "rb").read()))
    target = f"{base}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, target), "w:gz") as out:
        for path, data in files:
            entry = tarfile.TarInfo(f"{base}/{path}")
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))
    return target

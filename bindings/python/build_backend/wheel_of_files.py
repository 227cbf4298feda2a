"""A PEP 517 backend that needs no other package, no compiler and no network; two builds give the same bytes.

The wheel has the Python files, the headers that they read, the licences, and the libraries that were built beside them: those in
PENTA_BUILD, or else in build/release of the tree. Without any it is a wheel for a libpenta that is installed."""
import base64
import hashlib
import io
import os
import re
import sysconfig
import tarfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREE = os.path.dirname(os.path.dirname(HERE))
STAMP = (1980, 1, 1, 0, 0, 0)
LIBRARIES = ("lib/libpenta.so", "lib/libpenta_conform.so", "lib/libpenta_gpu.so", "lib/libpenta_batch.so",
             "libexec/penta/penta-device", "bin/penta")


def _project():
    text = open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8").read()
    value = lambda key: re.search(rf'^{key} = "(.*)"$', text, re.M).group(1)
    return value("name"), value("version"), value("description"), value("requires-python")


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _folder(top, endings, into=""):
    for folder, folders, names in os.walk(top):
        folders.sort()
        for name in sorted(names):
            if name.endswith(endings):
                path = os.path.join(folder, name)
                yield into + os.path.relpath(path, top).replace(os.sep, "/"), _read(path)


def _sources():
    for package in sorted(os.listdir(HERE)):
        if os.path.exists(os.path.join(HERE, package, "__init__.py")):
            yield from _folder(os.path.join(HERE, package), (".py", "py.typed"), package + "/")


def _headers():
    """From the tree, or from a source distribution, which has them beside the packages."""
    for place in (os.path.join(HERE, "include"), os.path.join(TREE, "include")):
        if os.path.exists(os.path.join(place, "penta", "penta.h")):
            return list(_folder(place, (".h",), "include/"))
    raise RuntimeError("the headers of penta are not there: build in the tree, or from a source distribution")


def _libraries():
    build = os.environ.get("PENTA_BUILD") or os.path.join(TREE, "build", "release")
    paths = [os.path.join(build, *library.split("/")) for library in LIBRARIES]
    if not os.path.exists(paths[0]):
        return []
    return [("penta/lib/" + os.path.basename(path), _read(path)) for path in paths if os.path.exists(path)]


def _notices():
    """The licences, and what the libraries contain of other projects: from the tree, or from a source distribution."""
    top = next(place for place in (HERE, TREE) if os.path.exists(os.path.join(place, "NOTICE")))
    names = ["LICENSE", "NOTICE"] + ["licenses/" + name for name in sorted(os.listdir(os.path.join(top, "licenses")))]
    return [(name, _read(os.path.join(top, *name.split("/")))) for name in names]


def _metadata():
    name, version, summary, python = _project()
    return (f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {summary}\n"
            f"Requires-Python: {python}\nLicense: MIT\n").encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, version, _, _ = _project()
    base = f"{name.replace('-', '_')}-{version}"
    info = f"{base}.dist-info"
    libraries = _libraries()
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform()) if libraries else "any"
    files = list(_sources()) + [("penta/" + path, data) for path, data in _headers()] + libraries
    files.append((f"{info}/METADATA", _metadata()))
    files.append((f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: wheel_of_files\nRoot-Is-Purelib: "
                                    f"{'false' if libraries else 'true'}\nTag: py3-none-{platform}\n").encode()))
    files += [(f"{info}/licenses/{path}", data) for path, data in _notices()]
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},"
        f"{len(data)}\n" for path, data in files)
    files.append((f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode()))
    target = f"{base}-py3-none-{platform}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, target), "w", zipfile.ZIP_DEFLATED) as out:
        for path, data in files:
            entry = zipfile.ZipInfo(path, STAMP)
            entry.external_attr = (0o100755 if path.startswith("penta/lib/") else 0o100644) << 16
            out.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return target


def build_sdist(sdist_directory, config_settings=None):
    name, version, _, _ = _project()
    base = f"{name.replace('-', '_')}-{version}"
    files = list(_sources()) + _headers() + _notices() + [("PKG-INFO", _metadata())]
    for path in ("pyproject.toml", "build_backend/wheel_of_files.py"):
        files.append((path, _read(os.path.join(HERE, path))))
    target = f"{base}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, target), "w:gz") as out:
        for path, data in files:
            entry = tarfile.TarInfo(f"{base}/{path}")
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))
    return target

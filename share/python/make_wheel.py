"""Makes the wheel of the module gt, for pip (PEP 517) and for scripts/dist.

usage: make_wheel.py DIRECTORY

A wheel is a zip file: the module, and what pip is told of it. Python alone makes it, so
that gt can be installed where there is no network."""
import base64, hashlib, os, re, sys, zipfile

_here = os.path.dirname(os.path.abspath(__file__))


def _read(path):
    with open(os.path.join(_here, path), "rb") as file:
        return file.read()


def _modules():
    """The sources of gt, by their paths in the wheel."""
    found = {}
    for folder, folders, names in os.walk(os.path.join(_here, "gt")):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                path = os.path.relpath(os.path.join(folder, name), _here)
                found[path.replace(os.sep, "/")] = _read(path)
    return found


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel, and returns its name."""
    version = re.search(rb"project\(gt VERSION ([\d.]+)", _read("../../CMakeLists.txt"))[1].decode()
    info = f"gt-{version}.dist-info"
    files = {**_modules(),
        f"{info}/LICENSE": _read("../../LICENSE"),
        f"{info}/METADATA": (
            f"Metadata-Version: 2.1\nName: gt\nVersion: {version}\n"
            "Summary: Tensor programs as lines of text: tensors, gradients and modules\n"
            "License: MIT\nRequires-Python: >=3.9\n").encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: gt\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    digests = {path: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
               for path, data in files.items()}
    files[f"{info}/RECORD"] = "".join(
        [f"{path},sha256={digests[path]},{len(data)}\n" for path, data in files.items()]
        + [f"{info}/RECORD,,\n"]).encode()
    name = f"gt-{version}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)  # of a fixed date: the same tree makes the same bytes
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: make_wheel.py DIRECTORY")
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))

"""fetch_wheels.py FOLDER meson ninja: puts Meson and Ninja into FOLDER, the virtual environment of the
Python that runs this. fetch_wheels.py FOLDER pip: puts pip's wheel there, which Python runs as it is.

A wheel is an archive that only has to be unpacked. pip needs five times as long for that, and has to be
fetched first. pip is still needed for an older Python, and for an index that only pip can read. Wheels
come from the index that pip is configured to use. Their hashes are listed here, so any index will do.
Tested by .ci/launcher_test.py
"""
from __future__ import annotations

import configparser
import glob
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import urllib.parse
import urllib.request
import zipfile
from typing import Optional, Tuple

RECENT = sys.version_info >= (3, 10)
WHEELS = {
    "meson": ("meson-1.12.1-py3-none-any.whl",
              "930bc7542cbd9f57009e182fd014eba48cf1a0180a7b9006d2d32d8f168d8b02"),
    "ninja": ("ninja-1.13.2-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
              "65a24341b5ac09fcadcc37082660be40a94174e51a937fabf6e2cae26225fa2c"),
    "pip": ("pip-26.3-py3-none-any.whl",
            "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"),
    "tomli": ("tomli-2.0.1-py3-none-any.whl",
              "939de3e7a6161af0c887ef91b7d41a53e7c5a1ca976325f429cb46ea9bc30ecc"),
} if RECENT else {
    "pip": ("pip-24.0-py3-none-any.whl",  # the last one for Python 3.7
            "ba0d021a166865d2265246961bec0152ff124de910c5cc39f1156ce3fa7c69dc"),
}
MESON = """#!/bin/sh
exec "$(dirname -- "$(readlink -f -- "$0")")/python" -m mesonbuild.mesonmain "$@"
"""


def configured(key: str, otherwise: str) -> str:
    """The value of a pip option, from the environment or pip's configuration files."""
    home = os.path.expanduser("~")
    config = configparser.ConfigParser(interpolation=None)
    config.read(["/etc/pip.conf", os.path.join(home, ".pip", "pip.conf"),
                 os.path.join(os.environ.get("XDG_CONFIG_HOME", os.path.join(home, ".config")),
                              "pip", "pip.conf"),
                 os.environ.get("PIP_CONFIG_FILE", "")])
    in_files = config.get("global", key, fallback=otherwise)
    return os.environ.get("PIP_" + key.upper().replace("-", "_"), in_files)


def fetch(name: str) -> Tuple[str, bytes]:
    """The wheel's name and its bytes."""
    if name not in WHEELS:
        sys.exit("ERROR: no wheel of %s is known for this Python" % name)
    if configured("no-index", ""):
        sys.exit("ERROR: pip is configured to use no index")
    wheel, sha256 = WHEELS[name]
    page = configured("index-url", "https://pypi.org/simple").rstrip("/") + "/%s/" % name
    with urllib.request.urlopen(page, timeout=20) as answer:
        text = answer.read().decode()
    link = re.search(r'href="([^"#]*' + re.escape(wheel) + ')', text)
    if not link:
        sys.exit("ERROR: %s does not list %s" % (page, wheel))
    with urllib.request.urlopen(urllib.parse.urljoin(page, link.group(1)), timeout=20) as answer:
        content = answer.read()
    if hashlib.sha256(content).hexdigest() != sha256:
        sys.exit("ERROR: %s from %s is not the file that was expected" % (wheel, page))
    return wheel, content


def write_program(path: str, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, 0o755)


def put_modules(name: str) -> None:
    _, content = fetch(name)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        modules = [name for name in archive.namelist() if ".data/" not in name]  # manual pages
        archive.extractall(sysconfig.get_paths()["purelib"], modules)


def put_meson(folder: str) -> None:
    put_modules("meson")
    if sys.version_info < (3, 11):  # labs/course reads TOML when Meson configures
        put_modules("tomli")
    write_program(os.path.join(folder, "bin", "meson"), MESON.encode())


def put_ninja(folder: str) -> None:
    _, content = fetch("ninja")
    program = os.path.join(folder, "bin", "ninja")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        scripts = [name for name in archive.namelist() if name.endswith(".data/scripts/ninja")]
        write_program(program, archive.read(scripts[0]))
    subprocess.run([program, "--version"], check=True, stdout=subprocess.DEVNULL)


def own_pip() -> Optional[Tuple[str, bytes]]:
    """Python's own wheel of pip, if Python has one that runs. Debian and Ubuntu keep this wheel in a
    separate package, and older versions need more wheels next to it."""
    beside = os.path.join(os.path.dirname(os.__file__), "ensurepip", "_bundled")
    for place in beside, "/usr/share/python-wheels":
        for wheel in glob.glob(os.path.join(place, "pip-*.whl")):
            version = [sys.executable, os.path.join(wheel, "pip"), "--version"]
            if subprocess.run(version, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                with open(wheel, "rb") as file:
                    return os.path.basename(wheel), file.read()
    return None


def put_pip(folder: str) -> None:
    name, content = own_pip() or fetch("pip")
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content)


def main() -> None:
    puts = {"meson": put_meson, "ninja": put_ninja, "pip": put_pip}
    for name in sys.argv[2:]:
        puts[name](sys.argv[1])


if __name__ == "__main__":
    main()

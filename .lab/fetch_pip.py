"""fetch_pip.py FOLDER: puts pip's wheel, which Python runs as it is, into FOLDER.

Python's own, where it has one that runs (Debian and Ubuntu keep it in a package of its own; older
ones need more wheels beside it), else PyPI's. The latter's hash stands here, so it does not matter
which index it came from: the one that pip is configured to use.
"""
import configparser
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

if sys.version_info >= (3, 10):
    WHEEL = "pip-26.3-py3-none-any.whl"
    SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"
else:
    WHEEL = "pip-24.0-py3-none-any.whl"  # the last one for Python 3.7
    SHA256 = "ba0d021a166865d2265246961bec0152ff124de910c5cc39f1156ce3fa7c69dc"


def index_url():
    home = os.path.expanduser("~")
    config = configparser.ConfigParser(interpolation=None)
    config.read(["/etc/pip.conf", os.path.join(home, ".pip", "pip.conf"),
                 os.path.join(os.environ.get("XDG_CONFIG_HOME", os.path.join(home, ".config")),
                              "pip", "pip.conf"),
                 os.environ.get("PIP_CONFIG_FILE", "")])
    configured = config.get("global", "index-url", fallback="https://pypi.org/simple")
    return os.environ.get("PIP_INDEX_URL", configured).rstrip("/") + "/pip/"


def own_wheel():
    beside = os.path.join(os.path.dirname(os.__file__), "ensurepip", "_bundled")
    for folder in beside, "/usr/share/python-wheels":
        for wheel in glob.glob(os.path.join(folder, "pip-*.whl")):
            version = [sys.executable, os.path.join(wheel, "pip"), "--version"]
            if subprocess.run(version, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return wheel
    return None


def main():
    wheel = own_wheel()
    if wheel:
        shutil.copy(wheel, sys.argv[1])
        return
    page = index_url()
    with urllib.request.urlopen(page, timeout=60) as answer:
        text = answer.read().decode()
    link = re.search(r'href="([^"#]*' + re.escape(WHEEL) + ')', text)
    if not link:
        sys.exit("ERROR: %s does not list %s" % (page, WHEEL))
    with urllib.request.urlopen(urllib.parse.urljoin(page, link.group(1)), timeout=60) as answer:
        wheel = answer.read()
    if hashlib.sha256(wheel).hexdigest() != SHA256:
        sys.exit("ERROR: %s from %s is not the file that was expected" % (WHEEL, page))
    with open(os.path.join(sys.argv[1], WHEEL), "wb") as file:
        file.write(wheel)


main()

"""Checks the exports of a library: exports_test.py LIBRARY SONAME VERSION NAMES [REAL_LIBRARY]

The library must export every name of the real library with its version, which may be ''. It must not
export anything else, except the names that our two libraries share. It must not need a library that
a machine for which it was built might lack. NAMES lists the real library's names, one per line, some
of them marked as refused. If the real library is given, the list is compared with it. Some toolkits'
libcuda.so also has the entry points for graphics (EGL, GL, VDPAU) and for debuggers (cudbg). These
belong to other interfaces, so they may be missing in NAMES.
"""

import pathlib
import re
import subprocess
import sys

OTHER_INTERFACES = re.compile("EGL|Egl|GL|VDPAU|cudbg")
INTERNAL = "stepwise_internal"  # the version of the runtime's names that the driver API uses


def dynamic_symbols(library):
    """Maps the name of every defined dynamic symbol to its version, without the version nodes."""
    text = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library],
                          check=True, capture_output=True, text=True).stdout
    symbols = {}
    for line in text.splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":
            base, _, version = name.partition("@@")
            symbols[base] = version
    return symbols


def main():
    library, soname, version, names_file = sys.argv[1:5]
    failures = []
    names = {line.split()[0] for line in pathlib.Path(names_file).read_text().splitlines()}
    ours = dynamic_symbols(library)

    failures += [f"{name} is missing" for name in sorted(names - ours.keys())]
    failures += [f"{name} has the version '{found}', expected '{version}'"
                 for name, found in sorted(ours.items()) if found not in (version, INTERNAL)]
    failures += [f"{name} is exported, but is not a name of the real library"
                 for name in sorted(ours.keys() - names) if not name.startswith("stepwise") and ours[name] != INTERNAL]

    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True,
                             text=True).stdout
    if f"soname: [{soname}]" not in dynamic:
        failures.append(f"the SONAME is not {soname}")
    allowed = r"lib(stdc\+\+|m|gcc_s|c|dl|pthread|zstd|lz4|cudart)\.so\.\d+|ld-linux.*"
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    failures += [f"it needs {name}" for name in needed if not re.fullmatch(allowed, name)]
    paths = re.findall(r"\((?:RPATH|RUNPATH|TEXTREL)\).*", dynamic)
    failures += [f"it has {path}" for path in paths
                 if "libcudart.so.13" not in needed or not path.endswith("[$ORIGIN/../runtime]")]

    if len(sys.argv) > 5:
        real = set(dynamic_symbols(sys.argv[5]))
        failures += [f"{name} is a name of {sys.argv[5]}, but not in {names_file}"
                     for name in sorted(real - names) if not OTHER_INTERFACES.search(name)]
        failures += [f"{name} is in {names_file}, but is not a name of {sys.argv[5]}"
                     for name in sorted(names - real)]
    else:
        print("not compared with the real library: it was not found, or has another version")
    for failure in failures:
        print(f"{library}: {failure}")
    print(f"{len(ours)} names, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())

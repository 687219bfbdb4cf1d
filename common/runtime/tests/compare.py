"""Runs a program with our runtime and compares its output with its output on a GPU.

compare.py FOLDER_OF_OUR_RUNTIME PROGRAM EXPECTED [DIFFERENCES]

EXPECTED was recorded with NVIDIA's runtime. DIFFERENCES lists the intended differences, in order, as
pairs of lines: `-` and the GPU's line, `+` and our line. Lines that begin with `#` give the reason.
The test fails if a difference is not listed, or if a listed difference does not occur.
"""

import difflib
import os
import pathlib
import subprocess
import sys


def main():
    runtime, program, expected = sys.argv[1:4]
    environment = os.environ | {"LD_LIBRARY_PATH": runtime}
    environment.pop("STEPWISE_GPU", None)
    run = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=110)
    sys.stderr.write(run.stderr)
    if run.returncode != 0:
        print(f"{program}: exit status {run.returncode}")
        return 1
    wanted = pathlib.Path(expected).read_text().splitlines()
    got = run.stdout.splitlines()
    if len(wanted) != len(got):
        print("\n".join(difflib.unified_diff(wanted, got, "on the GPU", "ours", lineterm="")))
        return 1
    found = [line for pair in zip(wanted, got) if pair[0] != pair[1]
             for line in ("-" + pair[0], "+" + pair[1])]
    listed = []
    if len(sys.argv) > 4:
        listed = [line for line in pathlib.Path(sys.argv[4]).read_text().splitlines()
                  if line and not line.startswith("#")]
    problems = list(difflib.unified_diff(listed, found, "listed differences", "found differences",
                                         lineterm=""))
    print("\n".join(problems) if problems else f"{program}: as on the GPU")
    return 1 if problems else 0


sys.exit(main())

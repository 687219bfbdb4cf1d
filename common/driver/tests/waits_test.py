"""Runs a program whose kernels wait or never end, and checks what it prints and what stderr says.

waits_test.py FOLDERS_OF_OUR_LIBRARIES PROGRAM PROGRAM_OF_THE_DRIVER_API

STEPWISE_PATIENCE_S reduces the ten seconds of patience to a third of a second.
"""

import os
import re
import subprocess
import sys
import time

LEFT = r"stepwise: the program ended without waiting for {}, which was still running and was stopped, " \
       r"as on a GPU"
WAITED = r"stepwise: the host has waited for 0\.3 s for a kernel that is still running: waits; " \
         r"if it waits, check that another stream or host thread does what it waits for"
VALUE = r"stepwise: the host has waited for 0\.3 s for a stream that waits for a value in memory " \
        r"\(cuStreamWaitValue\); check that another stream or host thread writes it"
POLLED = r"stepwise: waits has only polled for 0\.3 s: 1 warp of block \(0,0,0\) polls at .*\.cu:\d+\. .*"
TIMEOUT = r"stepwise: waits.*: still running after the time limit of 1\.5 s; .*"
WATCHED = {"STEPWISE_COUNTERS": "1", "STEPWISE_PROFILE": "/dev/null",
           "STEPWISE_TIME_LIMIT_S": "1.5"}

# The program's argument, its output, the lines on stderr, and additional environment variables.
CASES = [
    ("ends", "cudaSuccess", [], {}),
    # The kernel's output is lost, as on a GPU.
    ("endless", "cudaSuccess", [LEFT.format("endless")], {}),
    ("endless blocks", "cudaSuccess", [LEFT.format("endless")], {}),
    ("polls", "cudaSuccess", [LEFT.format("waits")], {}),
    ("beside", "begun\n1 cudaErrorNotReady", [LEFT.format("endless")], {}),
    ("waited for", "cudaSuccess", [WAITED], {}),
    ("value", "cudaSuccess", [VALUE], {}),
    ("driver", "launched", [LEFT.format("endless")], {}),
    ("watched", "cudaErrorLaunchTimeout", [POLLED, TIMEOUT], WATCHED),
]


def main(folders, program, of_driver):
    problems = []
    for asked, prints, says, more in CASES:
        environment = os.environ | {"LD_LIBRARY_PATH": folders, "STEPWISE_PATIENCE_S": "0.3"} | more
        for variable in ("STEPWISE_GPU", "STEPWISE_QUIET", "STEPWISE_CHECK"):
            environment.pop(variable, None)
        began = time.monotonic()
        command = [of_driver] if asked == "driver" else [program, asked]
        run = subprocess.run(command, env=environment, text=True, capture_output=True,
                             timeout=60, check=False)
        if run.returncode != 0:
            problems.append(f"{asked}: exit status {run.returncode}")
        if run.stdout != prints + "\n":
            problems.append(f"{asked}: printed\n{run.stdout}instead of {prints}")
        lines = run.stderr.splitlines()
        if len(lines) != len(says) or not all(map(re.fullmatch, says, lines)):
            problems.append(f"{asked}: stderr was\n{run.stderr}instead of\n" + "\n".join(says))
        print(f"{asked}: {time.monotonic() - began:.1f} s")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

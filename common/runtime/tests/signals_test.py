"""Stops checked programs while a kernel runs, and checks their reports and how they end.

signals_test.py FOLDER_OF_OUR_RUNTIME PROGRAM SOURCE
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

runtime, program, source = sys.argv[1:]
line_of = {}
for number, line in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
    if "// here: " in line:
        line_of[line.split("// here: ")[1].strip()] = number
name = pathlib.Path(source).name

problems = []


def start(which, **more):
    environment = os.environ | {"LD_LIBRARY_PATH": runtime, "STEPWISE_CHECK": "1"} | more
    for variable in ("STEPWISE_GPU", "STEPWISE_QUIET"):
        environment.pop(variable, None)
    run = subprocess.Popen([program, which], env=environment, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    if run.stdout.readline() != "begins\n":
        problems.append(f"{which}: did not begin")
    return run


def expect(which, run, code, words, without=()):
    """Checks the exit status of a run and the text on stderr, whatever its line breaks."""
    began = time.monotonic()
    printed, said = run.communicate(timeout=60)
    flat = " ".join(said.split())
    if run.returncode != code:
        problems.append(f"{which}: exit status {run.returncode} instead of {code}")
    for word in words:
        if word not in flat:
            problems.append(f"{which}: no {word!r} in\n{said}")
    for word in without:
        if word in flat:
            problems.append(f"{which}: {word!r} in\n{said}")
    if time.monotonic() - began > 20:
        problems.append(f"{which}: took {time.monotonic() - began:.0f} s to end")
    return printed


POLL = f"2 warps of block (0,0,0) poll at {name}:{line_of['poll']}"
RACE = [f"{name}:{line_of['race']}", "1 finding: 1 race"]

for which, number, words in (
        ("waits", signal.SIGINT, [f"stepwise: SIGINT: waits was stopped: {POLL}", *RACE]),
        ("waits", signal.SIGTERM, [f"stepwise: SIGTERM: waits was stopped: {POLL}", *RACE]),
        ("thread", signal.SIGINT, [f"stepwise: SIGINT: waits was stopped: {POLL}", *RACE]),
        ("computes", signal.SIGINT,
         [f"SIGINT: computes was stopped: 2 warps of block (0,0,0) are at {name}:", *RACE]),
        ("host", signal.SIGINT, RACE),
):
    run = start(which)
    time.sleep(1)
    run.send_signal(number)
    expect(f"{which}, {number.name}", run, -number, words)

# The program's own handler lets the kernel end.
run = start("own_handler")
time.sleep(1)
run.send_signal(signal.SIGINT)
if expect("own handler", run, 0, RACE, ["stopped"]) != "cudaSuccess\n":
    problems.append("own handler: the kernel did not end well")

# The time limit gives the same reports. A kernel that another stream may release is not called endless.
for which in ("waits", "other_stream", "later_stream", "later_in_stream"):
    run = start(which, STEPWISE_TIME_LIMIT_S="1.5", STEPWISE_PATIENCE_S="0.5")
    if expect(f"time limit of {which}", run, 0,
              [f"waits has only polled for 0.5 s: {POLL}.",
               f"still running after the time limit of 1.5 s; {POLL}",
               "2 warps of block (0,0,0) poll here", "2 findings: 1 race, 1 unfinished kernel"],
              ["never ends"]) != "cudaErrorLaunchTimeout\n":
        problems.append(f"time limit of {which}: another error")

# The reported line belongs to running threads, not to threads that wait for them at a barrier.
run = start("half", STEPWISE_TIME_LIMIT_S="1.5")
expect("half", run, 0,
       [f"half_computes at {name}:{line_of['half']}: still running after the time limit of 1.5 s"])

# With a file, the findings are written before the process ends.
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "findings")
    run = start("waits", STEPWISE_FINDINGS=str(file))
    time.sleep(1)
    run.send_signal(signal.SIGTERM)
    expect("file", run, -signal.SIGTERM, [POLL], ["race"])
    kinds = [json.loads(line)["kind"] for line in file.read_text().splitlines()]
    if set(kinds) != {"race"}:
        problems.append(f"file: found {kinds}")

print("\n".join(problems) if problems else "every program ends as its signal says, and reports")
sys.exit(1 if problems else 0)

"""Runs a program whose host code follows device pointers, and checks the reports.

host_access_test.py FOLDER_OF_OUR_RUNTIME PROGRAM SOURCE

For a program without line tables (its name says so), reports name functions instead of lines.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

runtime, program, source = sys.argv[1:]
has_lines = "without_lines" not in program
lines = {}
for number, line in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
    if "// here: " in line:
        lines[line.split("// here: ")[1].strip()] = number

problems = []


def run(word, **variables):
    environment = os.environ | {"LD_LIBRARY_PATH": runtime} | variables
    for variable in ("STEPWISE_GPU", "STEPWISE_QUIET"):
        environment.pop(variable, None)
    for variable in ("STEPWISE_CHECK", "STEPWISE_FINDINGS"):
        if variable not in variables:
            environment.pop(variable, None)
    return subprocess.run([program, word], env=environment, capture_output=True, text=True,
                          timeout=100)


def place(word, prefix="at "):
    return rf"{prefix}\S*host_access\.cu:{lines[word]}" if has_lines else r"in .*\(\)"


def expect(name, word, said, returned=-signal.SIGSEGV, printed=""):
    ended = run(name)
    start = rf"stepwise: .* {place(word)}: " if has_lines else r"stepwise: (.*: )?"
    wanted = start + said + "\n"
    if ended.returncode != returned or ended.stdout != printed or \
            not re.fullmatch(wanted, ended.stderr):
        problems.append(f"{name}: exit status {ended.returncode}, printed {ended.stdout!r}, stderr\n"
                        f"{ended.stderr}instead of {returned}, {printed!r} and\n{wanted}")


def silent(name, returned, printed=""):
    ended = run(name)
    if (ended.returncode, ended.stdout, ended.stderr) != (returned, printed, ""):
        problems.append(f"{name}: exit status {ended.returncode}, printed {ended.stdout!r}, stderr "
                        f"{ended.stderr!r}")


BIG, SMALL = "an allocation of 4,096 bytes", "an allocation of 8 bytes"
LINES = "" if has_lines else "; compile with -g to see the line"
COPY = LINES + r"; copy it to the host with cudaMemcpy first"
READS = r"the host reads device memory: byte {} of {}, allocated " + place("allocated") + COPY
expect("read", "read", READS.format(0, BIG))
expect("inside", "inside", READS.format(20, BIG))
expect("write", "write", f"the host writes device memory: byte 4 of {SMALL}, allocated "
       + place("allocated") + LINES
       + "; write to host memory, and copy it with cudaMemcpy")
expect("past", "past", f"the host reads device memory: just past the end of {SMALL}, allocated "
       + place("allocated") + COPY)
expect("sort", "sort", r"the host reads device memory: byte \d+ of .*")
expect("copy", "copy", r"the host reads device memory: byte \d.* of .*")
expect("print", "print", READS.format(0, BIG))
expect("release", "release", f"the host reads device memory: 8 bytes before the start of {SMALL}, "
       "allocated .*; device memory is freed by cudaFree, not by free\\(\\) or delete")
expect("answer", "answer", f"the host writes device memory: byte 0 of {BIG}, .*")
expect("thread", "thread", READS.format(0, BIG))
expect("freed", "freed", f"the host reads memory that was freed: byte 12 of {BIG}, allocated "
       + place("allocated") + LINES + "; free it after its last use")
expect("variable", "variable", "the host reads device memory: byte 4 of table, a variable of 16 "
       "bytes" + COPY)
expect("shared", "own", r"the host reads 0x\w+, an address in a block's shared memory; .*")
expect("local", "own", r"the host reads 0x\w+, an address in a thread's local memory; .*")
expect("freed_managed", "freed_managed", r"the host reads .*")
# The program's own handling of the signal still works.
expect("own_handler", "read", READS.format(0, BIG), 7, "handled 11 1\n")
expect("recovers", "recovers", READS.format(0, BIG), 0, "recovered\n")
silent("own_handler_elsewhere", 7, "handled 11 0\n")
silent("later_handler", 7, "handled 11 1\n")
silent("null", -signal.SIGSEGV)
silent("sent", -signal.SIGSEGV)
silent("allowed", 0, "8\n")

# With checks it is also a finding, in the file or shown with the earlier findings.
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "findings")
    ended = run("freed", STEPWISE_CHECK="1", STEPWISE_FINDINGS=str(file))
    found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    reported = [(f["kind"], f["host"]["line"], f["object"]["allocated"]["line"],
                 f["object"]["freed"]["line"]) for f in found]
    due = ("use_after_free", *(has_lines and lines[word] or 0 for word in ("freed", "allocated")),
           has_lines and lines["freed"] - 1 or 0)
    if reported != [due] or ended.returncode != -signal.SIGSEGV:
        problems.append(f"checked: {reported} instead of {due}, exit status {ended.returncode}")
ended = run("write", STEPWISE_CHECK="1")
if "1 finding: 1 wrong pointer\n" not in ended.stderr or ended.returncode != -signal.SIGSEGV:
    problems.append(f"checked without a file: exit status {ended.returncode}, stderr\n{ended.stderr}")
if not has_lines and "compile with -g" not in ended.stderr:
    problems.append(f"no note on how to get lines in\n{ended.stderr}")

print("\n".join(problems))
sys.exit(1 if problems else 0)

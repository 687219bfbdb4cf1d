"""Runs a program with errors under checks, and compares the findings with the expectations.

checks_test.py FOLDER_OF_OUR_RUNTIME PROGRAM SOURCE

A program without line tables (its name says so) must give the same findings, without lines.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

runtime, program, source = sys.argv[1:]
has_lines = "without_lines" not in program
line_of = {}
for number, line in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
    if "// here: " in line:
        line_of[line.split("// here: ")[1].strip()] = number

problems = []


def run(words, findings=None, check="1"):
    environment = os.environ | {"LD_LIBRARY_PATH": runtime, "STEPWISE_CHECK": check}
    for variable in ("STEPWISE_GPU", "STEPWISE_QUIET", "STEPWISE_FINDINGS"):
        environment.pop(variable, None)
    if findings:
        environment["STEPWISE_FINDINGS"] = findings
    return subprocess.run([program, *words.split()], env=environment, capture_output=True,
                          text=True, timeout=60)


def found_by(words, check="1"):
    """Returns the kind, and the lines of the call, the allocation and its release, with the count."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "findings")
        run(words, str(file), check)
        lines = file.read_text().splitlines() if file.exists() else []
    found = {}
    for line in lines:
        f = json.loads(line)
        if f["host"] and has_lines and f["host"]["text"] not in pathlib.Path(source).read_text():
            problems.append(f"{words}: the source line is {f['host']['text']!r}")
        o = f["object"] or {"allocated": None, "freed": None}
        key = (f["kind"], *(p and p["line"] for p in (f["host"], o["allocated"], o["freed"])))
        found[key] = found.get(key, 0) + f["count"]
    return found


def expect(words, *due, check="1"):
    """`due`: the kind, the words of the lines (None: unknown), and optionally a count."""
    wanted = {}
    for kind, host, allocated, freed, *count in due:
        lines = [word and (line_of[word] if has_lines else 0) for word in (host, allocated, freed)]
        wanted[(kind, *lines)] = count[0] if count else 1
    found = found_by(words, check)
    if found != wanted:
        problems.append(f"{words}: found {found} instead of {wanted}")


expect("unchecked", ("unchecked_error", "unchecked", None, None))
expect("unchecked_thrice", ("unchecked_error", "unchecked", None, None, 3))
expect("seen")
expect("peeked")
expect("seen_elsewhere", ("unchecked_error", "unchecked", None, None))
expect("answered")
expect("ignored_copy", ("unchecked_error", "ignored_copy", None, None))
expect("ignored_launch", ("unchecked_error", "ignored_launch", None, None))
expect("twice", ("double_free", "twice", "allocated", "first"))
expect("inside", ("double_free", "inside", "allocated", None))
expect("foreign", ("double_free", "foreign", None, None))
expect("pinned", ("double_free", "pinned", "got_pinned", None))
expect("unpinned", ("double_free", "unpinned", None, None))
expect("global")
expect("leak", ("leak", "allocated", "allocated", None))
expect("reset", ("leak", "allocated", "allocated", None))
expect("leak exit_1")  # a program that fails need not free its memory
expect("unchecked twice", check="0")
# A launch with too little shared memory is one finding. An amount that no launch could have is none.
expect("no_shared", ("too_little_shared", "no_shared", None, None, 128))
expect("less_shared", ("too_little_shared", "less_shared", None, None, 32))
expect("one_too_far", ("out_of_bounds", "one_too_far", None, None))
expect("far_in_shared", ("out_of_bounds", "less_shared", None, None, 32))
# A program that ends early has written its findings.
expect("twice quick", ("double_free", "twice", "allocated", "first"))
expect("twice crash", ("double_free", "twice", "allocated", "first"))
# Errors that were unchecked when the program crashed or was aborted.
expect("unchecked crash", ("unchecked_error", "unchecked", None, None))
expect("ignored_copy abort", ("unchecked_error", "ignored_copy", None, None))
expect("seen crash")

# Without a file, the findings are printed for people, whatever ends the program.
for words, code in (("twice", 0), ("twice exit_1", 1), ("twice crash", -signal.SIGSEGV),
                    ("twice abort", -signal.SIGABRT)):
    ended = run(words)
    if ended.returncode != code:
        problems.append(f"{words}: exit status {ended.returncode} instead of {code}")
    if "1 finding: 1 invalid free\n" not in ended.stderr:
        problems.append(f"{words}: wrong summary in\n{ended.stderr}")
    if has_lines and f"checked.cu:{line_of['twice']}:  if (cudaFree(memory)" not in ended.stderr:
        problems.append(f"{words}: no line in\n{ended.stderr}")

ended = run("twice ignored_copy crash")
if "2 findings: 1 invalid free, 1 unchecked error\n" not in ended.stderr:
    problems.append(f"twice ignored_copy crash: wrong summary in\n{ended.stderr}")

# The program's own functions replace unknown lines, and one note explains how to get the lines.
said = run("leak twice").stderr
hints = said.count("compile with -g to get source lines")
if hints != (0 if has_lines else 1) or "cudaMalloc<" in said.replace("cudaMalloc(&made", ""):
    problems.append(f"leak: wrong note or function in\n{said}")
if not has_lines and "in make<int>()\n" not in said:
    problems.append(f"leak: no function in\n{said}")
said = run("no_shared").stderr
for words in ("too little shared memory in stage: the launch passes no dynamic shared memory, and",
              "uses at least 256 bytes of line"):
    if words not in " ".join(said.split()):
        problems.append(f"no_shared: no {words!r} in\n{said}")
if "no findings" not in run("global").stderr:
    problems.append("a program without errors is not reported as clean")

print("\n".join(problems))
sys.exit(1 if problems else 0)

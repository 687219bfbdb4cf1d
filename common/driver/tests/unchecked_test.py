"""Runs a program with failing driver API calls under checks, and compares the findings.

unchecked_test.py FOLDERS_OF_OUR_LIBRARIES PROGRAM SOURCE
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

libraries, program, source = sys.argv[1:]
due = {}
for number, line in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
    if "// here: " in line:
        call, what = line.split("// here: ")
        due[number if call.strip() else number + 1] = what

with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, "findings")
    environment = os.environ | {"LD_LIBRARY_PATH": libraries, "STEPWISE_CHECK": "1",
                                "STEPWISE_FINDINGS": str(file)}
    environment.pop("STEPWISE_GPU", None)
    status = subprocess.run([program], env=environment, timeout=60).returncode
    found = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

problems = [] if status == 0 else [f"the program ended with {status}"]
for f in found:
    line = f["host"]["line"] if f["host"] else 0
    wanted = due.pop(line, None)
    if f["kind"] != "unchecked_error" or wanted is None or not f["message"].startswith(wanted):
        problems.append(f"line {line}: found {f['kind']}: {f['message']}")
problems += [f"line {line}: not found: {what}" for line, what in due.items()]
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)

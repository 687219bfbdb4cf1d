"""Records what the test programs print with NVIDIA's runtime on a GPU: the *.expected files.

record.py BUILD_FOLDER FOLDER_OF_NVIDIA_RUNTIME    (on a machine with an H200 and nvcc 13.0)

Look at the differences before committing them: they are changes of NVIDIA's runtime, or of ptxas.
"""

import os
import pathlib
import subprocess
import sys

PROGRAMS = ["events", "faults", "launch_failures", "queries", "symbols", "templates", "vector_add"]


def main():
    build, runtime = (pathlib.Path(argument) for argument in sys.argv[1:3])
    here = pathlib.Path(__file__).parent
    files = {name: here / "programs" / f"{name}.expected" for name in PROGRAMS}
    files["query"] = here / "query" / "query.expected"
    for name, file in files.items():
        program = build / "common" / "runtime" / "tests" / f"runtime_{name}"
        run = subprocess.run([program], check=True, capture_output=True, text=True,
                             env=os.environ | {"LD_LIBRARY_PATH": str(runtime)}, timeout=120)
        file.write_text(run.stdout)
        print(f"{file}: {run.stdout.count(chr(10))} lines")


main()

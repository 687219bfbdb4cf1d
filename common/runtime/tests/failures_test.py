"""Runs a program that fails, and checks the errors that it saw and what it read on stderr.

failures_test.py FOLDER_OF_OUR_RUNTIME PROGRAM PROGRAM_WITHOUT_PTX

Each failure must say one line, once, though it happens twice. A damaged program is PROGRAM with
bytes changed: its fat binaries are not compressed.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

CONTAINER_MAGIC = bytes.fromhex("50ed55ba")
COPY = "cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost): "
WORKS = ["cudaGetLastError(): cudaSuccess", COPY + "cudaSuccess", "value = 42"]

problems = []


def check(name, runtime, program, argument, lines, message):
    environment = os.environ | {"LD_LIBRARY_PATH": runtime}
    for variable in ("STEPWISE_GPU", "STEPWISE_QUIET"):
        environment.pop(variable, None)
    run = subprocess.run([program, argument], env=environment, capture_output=True, text=True,
                         timeout=60)
    said = run.stderr.splitlines()
    if run.returncode != 0:
        problems.append(f"{name}: ended with {run.returncode}")
    if run.stdout.splitlines() != lines:
        problems.append(f"{name}: printed\n{run.stdout}instead of\n" + "\n".join(lines))
    if len(said) != 1 or not re.fullmatch("stepwise: " + message, said[0]):
        problems.append(f"{name}: said\n{run.stderr}instead of one line: {message}")


def replace_in_victim(program, change):
    """A copy of the program, with the victim's fat binary (a bytearray) changed in place."""
    whole = bytearray(pathlib.Path(program).read_bytes())
    inside = whole.index(b"popc.b32")
    start = whole.rindex(CONTAINER_MAGIC, 0, inside)
    end = start + 16 + int.from_bytes(whole[start + 8:start + 16], "little")
    part = whole[start:end]
    change(part)
    whole[start:end] = part
    file = tempfile.NamedTemporaryFile(suffix=".damaged", delete=False)
    file.write(whole)
    file.close()
    os.chmod(file.name, 0o700)
    return file.name


def unknown_opcode(part):
    part[:] = part.replace(b"popc.b32", b"pqpc.b32")  # the text stands in the debug tables too


def no_magic(part):
    part[0:4] = bytes(4)


def entry_too_long(part):
    part[16 + 8:16 + 16] = (1 << 40).to_bytes(8, "little")


def broken_text(part):
    at = part.index(b".visible .entry")
    part[at:at + 8] = b"(%&!*}{ "


def main():
    runtime, program, program_without_ptx = sys.argv[1:4]

    def refused(error):
        return [f"cudaGetLastError(): {error}"] * 2

    def fault(error):
        return [f"cudaDeviceSynchronize(): {error}"] * 2 + [
            f"cudaGetLastError(): {error}", COPY + error, "value = 0"]

    damages = [
        (unknown_opcode, "cudaErrorInvalidPtx", r"victim.*PTX has no instruction .*pqpc.*"),
        (no_magic, "cudaErrorInvalidKernelImage", r"victim.*: .*fat binary is damaged.*"),
        (entry_too_long, "cudaErrorInvalidKernelImage", r"victim.*: .*"),
        (broken_text, "cudaErrorInvalidPtx", r"victim.*: PTX line \d+: .*"),
    ]
    for change, error, message in damages:
        damaged = replace_in_victim(program, change)
        check(change.__name__, runtime, damaged, "victim", refused(error) + WORKS, message)
        os.unlink(damaged)
    check("no PTX", runtime, program_without_ptx, "none",
          ["cudaGetLastError(): cudaErrorNoKernelImageForDevice", COPY + "cudaSuccess",
           "value = 0"],
          r".*good.*: the program carries no PTX for .*build with -gencode.*")
    check("huge allocation", runtime, program, "huge_allocation",
          ["cudaMalloc(&more, 200'000'000'000): cudaErrorMemoryAllocation",
           "cudaGetLastError(): cudaErrorMemoryAllocation"] * 2 + WORKS,
          r"out of memory: no room for 200000000000 bytes: .*")
    check("too much shared memory", runtime, program, "too_much_shared",
          refused("cudaErrorInvalidValue") + WORKS, r"good.*: 300000 bytes of dynamic shared.*")
    check("huge heap", runtime, program, "huge_heap",
          ["cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1ull << 50): cudaSuccess",
           "cudaGetLastError(): cudaErrorMemoryAllocation"] * 2 + WORKS,
          r"the heap of kernels: no room for 1125899906842624 bytes.*")
    out_of_bounds = r"write_at at failures\.cu:\d+: out of bounds: 4-byte write .*"
    for case in ("bad_address", "freed_memory", "freed_managed_memory", "freed_pinned_memory"):
        check(case, runtime, program, case, fault("cudaErrorIllegalAddress"), out_of_bounds)
    check("misaligned", runtime, program, "misaligned", fault("cudaErrorMisalignedAddress"),
          r"write_odd at failures\.cu:\d+: misaligned: .*")
    print("\n".join(problems) if problems else "every failure is one message and one error")
    return 1 if problems else 0


sys.exit(main())

"""Runs a program that fails, and checks the errors that it gets and the message on stderr.

failures_test.py FOLDER_OF_OUR_RUNTIME PROGRAM PROGRAM_WITHOUT_PTX COMPRESSED_PROGRAM

Each failure happens twice, but must print one line once, and must leave no process running. A damaged
program is PROGRAM with changed bytes. The fat binaries of PROGRAM are not compressed; those of
COMPRESSED_PROGRAM are.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

CONTAINER_MAGIC = bytes.fromhex("50ed55ba")
COPY = "cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost): "
WORKS = ["cudaGetLastError(): cudaSuccess", COPY + "cudaSuccess", "value = 42"]

REBUILD = ".*. Rebuild the program"
OLDER = "; build with CUDA 13.0's nvcc"

problems = []


def check(name, runtime, program, argument, lines, message):
    environment = os.environ | {"LD_LIBRARY_PATH": runtime}
    for variable in ("STEPWISE_GPU", "STEPWISE_QUIET"):
        environment.pop(variable, None)
    run = subprocess.Popen([program, argument], env=environment, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    printed, said = run.communicate(timeout=60)
    if run.returncode != 0:
        problems.append(f"{name}: exit status {run.returncode}")
    if isinstance(lines, str):
        if lines not in printed.splitlines():
            problems.append(f"{name}: printed\n{printed}without {lines}")
    elif printed.splitlines() != lines:
        problems.append(f"{name}: printed\n{printed}instead of\n" + "\n".join(lines))
    if len(said.splitlines()) != 1 or not re.fullmatch("stepwise: " + message, said.rstrip("\n")):
        problems.append(f"{name}: stderr was\n{said}instead of one line: {message}")
    try:
        os.killpg(run.pid, signal.SIGKILL)
        problems.append(f"{name}: left a process running")
    except ProcessLookupError:
        pass


def replace_in_victim(program, change, inside=b"popc.b32"):
    """Returns a copy of the program in which `change` has changed the fat binary with `inside` (the
    victim's). `change` gets it as a bytearray."""
    whole = bytearray(pathlib.Path(program).read_bytes())
    start = whole.rindex(CONTAINER_MAGIC, 0, whole.index(inside))
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
    part[:] = part.replace(b"popc.b32", b"pqpc.b32")  # the text is in the debug tables too


def no_magic(part):
    part[0:4] = bytes(4)


def entry_too_long(part):
    part[16 + 8:16 + 16] = (1 << 40).to_bytes(8, "little")


def broken_text(part):
    at = part.index(b".visible .entry")
    part[at:at + 8] = b"(%&!*}{ "


def container_too_long(part):
    part[8:16] = (1 << 40).to_bytes(8, "little")  # and the first entry, past the end of memory
    part[16 + 8:16 + 16] = (1 << 39).to_bytes(8, "little")


def first_ptx(part):
    """Returns the offsets of the first PTX entry, of its payload, and of its end."""
    at = 16
    while True:
        payload = at + int.from_bytes(part[at + 4:at + 8], "little")
        end = payload + int.from_bytes(part[at + 8:at + 16], "little")
        if part[at:at + 2] == b"\1\0":
            return at, payload, end
        at = end


def truncated(part):
    _, payload, end = first_ptx(part)
    middle = (payload + end) // 2
    part[middle:end] = bytes(end - middle)


def newer_version(part):
    assert part.count(b"\n.version 9.0\n") == 1
    part[:] = part.replace(b"\n.version 9.0\n", b".version 99.0\n")


def newer_minor_version(part):
    part[:] = part.replace(b"\n.version 9.0\n", b"\n.version 9.9\n")
    unknown_opcode(part)


def unknown_directive(part):
    at = part.index(b".visible .entry")
    part[at:at + 8] = b".visibly"


def damaged_payload(part):
    _, payload, end = first_ptx(part)
    for at in range(payload + 20, end - 8, 16):
        part[at] ^= 0x5A


def shortened_payload(part):
    at, payload, end = first_ptx(part)
    part[at + 16:at + 20] = ((end - payload) // 2).to_bytes(4, "little")


def main():
    runtime, program, program_without_ptx, compressed = sys.argv[1:5]

    def refused(error):
        return [f"cudaGetLastError(): {error}"] * 2

    def fault(error):
        return [f"cudaDeviceSynchronize(): {error}"] * 2 + [
            f"cudaGetLastError(): {error}", COPY + error, "value = 0"]

    damages = [
        (unknown_opcode, "cudaErrorInvalidPtx", r"victim.*PTX has no instruction .*pqpc.*"),
        (no_magic, "cudaErrorInvalidKernelImage", r"victim.*: .*fat binary is damaged.*" + REBUILD),
        (entry_too_long, "cudaErrorInvalidKernelImage", r"victim.*: fat binary: .*" + REBUILD),
        (container_too_long, "cudaErrorInvalidKernelImage", r"victim.*: fat binary: .*" + REBUILD),
        (broken_text, "cudaErrorInvalidPtx", r"victim.*: PTX line \d+: .*" + REBUILD),
        (truncated, "cudaErrorInvalidPtx",
         r"victim.*: PTX line \d+: the '{' opened here is never closed.*" + REBUILD),
        (unknown_directive, "cudaErrorInvalidPtx",
         r"victim.*: PTX line \d+: expected .*, found '\.visibly'.*" + REBUILD),
        (newer_version, "cudaErrorUnsupportedPtxVersion", r"victim.*PTX 99\.0.*" + OLDER),
        (newer_minor_version, "cudaErrorUnsupportedPtxVersion",
         r"victim.*PTX has no instruction .*pqpc.*PTX 9\.9.*" + OLDER),
    ]
    for change, error, message in damages:
        damaged = replace_in_victim(program, change)
        check(change.__name__, runtime, damaged, "victim", refused(error) + WORKS, message)
        os.unlink(damaged)
    for change in (damaged_payload, shortened_payload):
        damaged = replace_in_victim(compressed, change, bytes.fromhex("28b52ffd"))
        check(change.__name__, runtime, damaged, "",
              "cudaGetLastError(): cudaErrorInvalidKernelImage",
              r".*: fat binary entry: .*zstd.*" + REBUILD)
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

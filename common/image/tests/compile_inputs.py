#!/usr/bin/env python3
"""Compiles resources.cu with nvcc into the files that the image tests read.

usage: compile_inputs.py FOLDER SOURCE NVCC...

Writes into FOLDER: <mode>.fatbin for each -compress-mode, debug.fatbin (-G), specific.fatbin
(sm_90 and sm_90a), relocatable.fatbin (-rdc=true), program (linked), <arch>.cubin with the output
of ptxas -v about it in <arch>.txt, tiny.cubin and tiny.fatbin (one small kernel), and the file
`done`.
"""

import pathlib
import subprocess
import sys

TWO = ["-gencode", "arch=compute_80,code=[sm_80,compute_80]",
       "-gencode", "arch=compute_90,code=[sm_90,compute_90]"]
SPECIFIC = ["-gencode", "arch=compute_90,code=[sm_90,compute_90]",
            "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]"]


def main():
    folder, source, *nvcc = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    def compile_to(name, *options, source=source):
        command = [*nvcc, *options, "-Wno-deprecated-gpu-targets", source, "-o", folder / name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    for mode in ("default", "size", "speed", "none"):
        compile_to(f"{mode}.fatbin", "-fatbin", "-lineinfo", f"-compress-mode={mode}", *TWO)
    compile_to("debug.fatbin", "-fatbin", "-G", "-arch=sm_90")
    compile_to("specific.fatbin", "-fatbin", "-lineinfo", *SPECIFIC)
    compile_to("relocatable.fatbin", "-fatbin", "-rdc=true", "-lineinfo", "-arch=sm_90")
    compile_to("program", "-lineinfo", "-cudart", "shared", *TWO)
    for arch in ("sm_75", "sm_80", "sm_90", "sm_100", "sm_120"):
        said = compile_to(f"{arch}.cubin", "-cubin", "-lineinfo", "-Xptxas", "-v", f"-arch={arch}")
        (folder / f"{arch}.txt").write_text(said)
    # Seeds of fuzz targets, whose corpora are committed, so their tables must name no machine's folder.
    tiny = folder / "tiny.cu"
    text = pathlib.Path(source).read_text(encoding="utf-8")
    tiny.write_text(f'#line 1 "/course/common/image/tests/resources.cu"\n{text}',
                    encoding="utf-8")
    compile_to("tiny.cubin", "-cubin", "-lineinfo", "-arch=sm_90", "-DTINY", source=tiny)
    compile_to("tiny.fatbin", "-fatbin", "-compress-mode=size", "-arch=sm_90", "-DTINY",
               source=tiny)
    (folder / "done").write_text("")


if __name__ == "__main__":
    main()

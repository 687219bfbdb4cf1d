#!/usr/bin/env python3
"""Compiles the emulator to WebAssembly: build.py BUILD_FOLDER, a folder that ninja has built.

The compiler is Zig's clang, from PyPI. Zig keeps its compiled files, so a second run takes a
second. DESIGN.md says why it is not Debian's Emscripten.
"""
import concurrent.futures
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
COMMON = ROOT / 'common'
ABSENT = HERE / 'absent'
GET_ZIG = 'python3 -m pip install --target build/slides/packages ziglang==0.15.2'

# All browsers have supported this form of exceptions since 2022. Few support the newer form that
# clang can also write. Every browser with exceptions supports these widths.
TARGET = ['-target', 'wasm32-wasi',
          '-mcpu=generic+simd128+exception_handling+bulk_memory+sign_ext+nontrapping_fptoint',
          '-fwasm-exceptions', '-mllvm', '-wasm-use-legacy-eh=true', '-fno-sanitize=all', '-O2',
          '-U_LIBCPP_HAS_FILESYSTEM', '-D_LIBCPP_HAS_FILESYSTEM=1']
# The same options as in the meson.build files.
OURS = ['-std=c++20', '-ffp-contract=off', '-fwrapv', '-fno-strict-aliasing', '-fno-math-errno',
        '-DNDEBUG', '-DFMT_HEADER_ONLY', f'-I{ABSENT}', f'-I{ROOT}', '-include', 'one_thread.hpp']
OP = ['-O3', '-fno-trapping-math', '-DSTEPWISE_SIMD=baseline']
FOLDERS = ['emulator', 'emulator/machine', 'emulator/run', 'emulator/lower', 'emulator/check',
           'emulator/check/advice', 'emulator/check/async',
           'emulator/profile', 'emulator/record', 'emulator/time', 'image', 'ptx', 'source_map',
           'report', 'formats', 'timeline']
DEVICE = ['gpu', 'launch_check', 'links', 'memory_rules', 'names', 'occupancy']
OP_FILES = ['compare', 'convert', 'floating', 'half', 'integer', 'matrix', 'memory']
# In WebAssembly, Zig's C++ library has neither exceptions nor files; their sources come with Zig.
LIBRARY = {'libcxxabi/src': ['cxa_exception', 'cxa_personality'],
           'libcxx/src/filesystem': ['directory_entry', 'filesystem_error', 'int128_builtins',
                                     'operations', 'path']}


def zig():
    """The command, or None."""
    sys.path.insert(0, str(ROOT / 'build/slides/packages'))
    found = importlib.util.find_spec('ziglang')
    if found:
        return str(pathlib.Path(found.submodule_search_locations[0]) / 'zig')
    return shutil.which('zig')


def units(built):
    """Name: (files that are compiled as one, options)."""
    all_units = {'entry': ([HERE / 'entry.cpp'], OURS),
                 'absent': (sorted(ABSENT.glob('*.cpp')), OURS)}
    for folder in FOLDERS:
        all_units[folder.replace('/', '_')] = (sorted((COMMON / folder).glob('*.cpp')), OURS)
    all_units['device'] = ([COMMON / f'device/{name}.cpp' for name in DEVICE] +
                           [built / 'common/device/embedded_gpus.cpp'], OURS)
    ops = COMMON / 'emulator/ops'
    wide = [ops / f'ops_{name}.cpp' for name in OP_FILES]
    for file in wide:
        all_units[file.stem] = ([file], OURS + OP)
    all_units['ops'] = ([f for f in sorted(ops.glob('*.cpp'))
                          if f not in wide and f.name != 'runs_here.cpp'],
                         OURS + ['-DSTEPWISE_OPS_BASELINE'])
    return all_units


# Zig does not search this system's headers. It sees the headers of these libraries, and no others.
HEADERS = ['fmt', 'nlohmann', 'toml++', 'lz4.h', 'zstd.h', 'zstd_errors.h']


def link_headers(into):
    places = [pathlib.Path('/usr/include'), pathlib.Path('/usr/local/include'),
              *sorted(ROOT.glob('subprojects/*/include')), *sorted(ROOT.glob('subprojects/*/lib'))]
    into.mkdir(exist_ok=True)
    for header in HEADERS:
        at = next((place / header for place in places if (place / header).exists()), None)
        if at is None:
            sys.exit(f'{header} is missing: ./lab doctor says how to install the libraries.')
        (into / header).unlink(missing_ok=True)
        (into / header).symlink_to(at)


def library_units(lib):
    include = ['-std=c++23', '-D_LIBCPP_BUILDING_LIBRARY', '-D_LIBCXXABI_BUILDING_LIBRARY',
               '-D_LIBCXXABI_HAS_NO_THREADS', f'-I{lib}/libcxxabi/include',
               f'-I{lib}/libcxxabi/src', f'-I{lib}/libcxx/src', f'-I{lib}/libcxx/include',
               f'-I{lib}/libunwind/include']
    found = {f'library_{name}': ([lib / folder / f'{name}.cpp'], include)
             for folder, names in LIBRARY.items() for name in names}
    found['library_unwind'] = ([lib / 'libunwind/src/Unwind-wasm.c'],
                               [f'-I{lib}/libunwind/include', '-D_LIBUNWIND_HAS_NO_THREADS',
                                '-fdeclspec'])
    return found


def main():
    built = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build').resolve()
    command = zig()
    if not command:
        sys.exit(f'Zig is missing. It comes with: {GET_ZIG}')
    if not os.access(command, os.X_OK):
        os.chmod(command, 0o755)
    out = built / 'wasm'
    out.mkdir(exist_ok=True)
    link_headers(out / 'include')
    cache = str(out / 'cache')
    environment = {**os.environ, 'ZIG_GLOBAL_CACHE_DIR': cache, 'ZIG_LOCAL_CACHE_DIR': cache}

    def run(options):
        done = subprocess.run([command, *options], capture_output=True, text=True, check=False,
                              env=environment)
        if done.returncode != 0:
            sys.exit(f'{" ".join([command, *options])}\n{done.stderr}')

    # The library's own objects come first: a linker takes the first definition of each name.
    todo = {**library_units(pathlib.Path(command).parent / 'lib'), **units(built)}

    def compile_unit(item):
        name, (files, options) = item
        source = files[0]
        if len(files) > 1:
            source = out / f'{name}.cpp'
            source.write_text(''.join(f'#include "{file}"\n' for file in files))
        language = 'cc' if source.suffix == '.c' else 'c++'
        run([language, *TARGET, *options, f'-I{out}/include', '-c', str(source), '-o', str(out / f'{name}.o')])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as at_once:
        list(at_once.map(compile_unit, todo.items()))
    run(['c++', *TARGET, '-s', '-mexec-model=reactor', '-Wl,-z,stack-size=1048576',
         *(str(out / f'{name}.o') for name in todo), '-o', str(out / 'emulator.wasm')])
    print(f'{out / "emulator.wasm"}: {(out / "emulator.wasm").stat().st_size / 1e6:.1f} MB')


if __name__ == '__main__':
    main()

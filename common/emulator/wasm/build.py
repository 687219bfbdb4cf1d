#!/usr/bin/env python3
"""Compiles the emulator to WebAssembly: build.py BUILD_FOLDER, a folder that Meson has configured.

The sources and options come from Meson's list of targets. The compiler is Zig's clang, from PyPI. Zig
caches compiled files, so a second run takes a second. DESIGN.md explains why it is not Emscripten.
"""
import concurrent.futures
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ABSENT = HERE / 'absent'

# All browsers have supported this form of exceptions since 2022. Few support the newer form that
# clang can also write. Every browser with exceptions supports these widths.
TARGET = ['-target', 'wasm32-wasi',
          '-mcpu=generic+simd128+exception_handling+bulk_memory+sign_ext+nontrapping_fptoint',
          '-fwasm-exceptions', '-mllvm', '-wasm-use-legacy-eh=true', '-fno-sanitize=all', '-g0',
          '-U_LIBCPP_HAS_FILESYSTEM', '-D_LIBCPP_HAS_FILESYSTEM=1']
OURS = [f'-I{ABSENT}', f'-I{ROOT}', '-include', 'one_thread.hpp']
# The Meson target that is compiled for a page, and those of its libraries that a page cannot have.
CALLS = 'page_calls'
NOT_IN_A_PAGE = ['gpu_device']
# The Meson options that do not depend on the machine. Zig reads -Og as "do not optimise". -O0 is for hot
# operations that CI's machine does not run.
KEPT_OPTIONS = ('-std=', '-O', '-D', '-ffp-', '-fwrapv', '-fno-')
REPLACED_OPTIONS = {'-Og': '-Os', '-O0': '-O3'}
# Each instruction set has a library of hot operations, whose files are compiled with its name.
OPS = 'stepwise_ops_'
ONE_OP_SET = ['-DSTEPWISE_SIMD=baseline', '-DSTEPWISE_OPS_BASELINE']
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


def linked_libraries(built):
    """Meson's target CALLS, and the static libraries of the course that it links."""
    targets = json.loads((built / 'meson-info/intro-targets.json').read_text())
    archives = {os.path.relpath(name, built): target for target in targets
                if target['type'] == 'static library' for name in target['filename']}
    calls = next(target for target in targets if target['name'] == CALLS)
    linker = calls['target_sources'][-1]['parameters']
    return [calls] + [archives[name] for name in linker if name in archives]


def without_other_op_sets(libraries):
    """A portable build has the hot operations once per instruction set of x86. A page needs them once."""
    sets = [library['name'] for library in libraries
            if library['name'].startswith(OPS) and library['name'] != f'{OPS}single']
    return [library for library in libraries if library['name'] not in sets[1:]]


def options_for_a_page(parameters):
    kept = [option for option in parameters if option.startswith(KEPT_OPTIONS)
            and not option.startswith(('-DSTEPWISE_SIMD=', '-DSTEPWISE_OPS_'))]
    return [REPLACED_OPTIONS.get(option, option) for option in kept] + ONE_OP_SET


def units(built):
    """Name: (files that are compiled as one, options)."""
    found = {'absent': (sorted(ABSENT.glob('*.cpp')), ['-std=c++20', '-O1'])}
    for library in without_other_op_sets(linked_libraries(built)):
        if library['name'] in NOT_IN_A_PAGE:
            continue
        about = library['target_sources'][0]
        options = options_for_a_page(about['parameters'])
        if about['unity_sources']:
            found[library['name']] = (about['unity_sources'], options)
        for file in about['sources']:
            found[f'{library["name"]}_{pathlib.Path(file).stem}'] = ([file], options)
    return found


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
    include = ['-std=c++23', '-O1', '-D_LIBCPP_BUILDING_LIBRARY', '-D_LIBCXXABI_BUILDING_LIBRARY',
               '-D_LIBCXXABI_HAS_NO_THREADS', f'-I{lib}/libcxxabi/include',
               f'-I{lib}/libcxxabi/src', f'-I{lib}/libcxx/src', f'-I{lib}/libcxx/include',
               f'-I{lib}/libunwind/include']
    found = {f'library_{name}': ([lib / folder / f'{name}.cpp'], include)
             for folder, names in LIBRARY.items() for name in names}
    found['library_unwind'] = ([lib / 'libunwind/src/Unwind-wasm.c'],
                               [f'-I{lib}/libunwind/include', '-O1', '-D_LIBUNWIND_HAS_NO_THREADS',
                                '-fdeclspec'])
    return found


def main():
    built = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / 'build').resolve()
    command = zig()
    if not command:
        sys.exit('Zig is missing. Fetch it with: python3 slides/site/live/build.py')
    if not os.access(command, os.X_OK):
        os.chmod(command, 0o755)
    out = built / 'wasm'
    out.mkdir(exist_ok=True)
    link_headers(out / 'include')
    cache = str(out / 'cache')
    environment = {**os.environ, 'ZIG_GLOBAL_CACHE_DIR': cache, 'ZIG_LOCAL_CACHE_DIR': cache}

    def run(options):
        done = subprocess.run([command, *options], capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            sys.exit(f'{" ".join([command, *options])}\n{done.stderr}')

    # The library's own objects come first: a linker takes the first definition of each name.
    todo = {**library_units(pathlib.Path(command).parent / 'lib'), **units(built)}

    def compile_unit(item):
        name, (files, options) = item
        source = pathlib.Path(files[0])
        if len(files) > 1:
            source = out / f'{name}.cpp'
            source.write_text(''.join(f'#include "{file}"\n' for file in files))
        language = 'cc' if source.suffix == '.c' else 'c++'
        ours = [] if name.startswith('library_') else OURS
        run([language, *TARGET, *options, *ours, f'-I{out}/include', '-c', str(source),
             '-o', str(out / f'{name}.o')])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as at_once:
        list(at_once.map(compile_unit, todo.items()))
    run(['c++', *TARGET, '-O2', '-s', '-mexec-model=reactor', '-Wl,-z,stack-size=1048576',
         *(str(out / f'{name}.o') for name in todo), '-o', str(out / 'emulator.wasm')])
    print(f'{out / "emulator.wasm"}: {(out / "emulator.wasm").stat().st_size / 1e6:.1f} MB')


if __name__ == '__main__':
    main()

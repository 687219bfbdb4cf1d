"""Finds the machine's compilers, Python, Meson, Ninja and GPUs."""
from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
from typing import Iterator, List, Optional, Tuple

from .clone import Clone, Config
from .report import ENVIRONMENT, Failure

MESON_WANTED, GXX_WANTED, CUDA_WANTED = '1.10', '11', '13.0'
PTX_ARCH = 90  # the virtual architecture whose PTX every program carries
OLDEST_ARCH = 75  # the oldest architecture for which CUDA 13 makes machine code
# The modules that a Python needs to make .venv and to fetch packages. Debian's python3-minimal lacks them.
WHOLE_PYTHON = 'import sys, ssl, urllib.request, venv; sys.exit(sys.version_info < (3, 7))'


def output_of(*command: str, folder: Optional[str] = None) -> str:
    """The output of a program; empty if it fails or is missing."""
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, cwd=folder)
    except OSError:
        return ''
    return ran.stdout.decode(errors='replace').strip() if ran.returncode == 0 else ''


def numbers(version: str) -> List[int]:
    return [int(part) for part in re.findall(r'\d+', version)]


def is_at_least(wanted: str, found: str) -> bool:
    return bool(found) and numbers(found) >= numbers(wanted)


def read(path: str) -> str:
    try:
        with open(path, errors='replace') as file:
            return file.read()
    except OSError:
        return ''


def tool(name: str) -> str:
    return shutil.which(name) or ''


def module_hint(name: str) -> str:
    """The command that loads a tool on a cluster with environment modules."""
    if not any(os.environ.get(variable) for variable in ('LMOD_CMD', 'MODULESHOME', 'BASH_FUNC_module%%')):
        return ''
    return 'module avail %s; module load %s' % (name, name)


class Machine:
    def __init__(self, clone: Clone) -> None:
        self.clone = clone
        self.top = os.environ.get('STEPWISE_TEST_MACHINE', '')  # a test's folder with its own /proc, /dev and /usr
        self.older_nvcc = ''  # a compiler that is too old, for messages

    # Compilers.

    @staticmethod
    def cxx_version(cxx: str) -> str:
        return output_of(cxx, '-dumpfullversion', '-dumpversion')

    def find_cxx(self) -> str:
        """The compiler in CXX; else g++, or a newer one with another name (g++ is version 9 on Ubuntu 20.04)."""
        chosen = os.environ.get('CXX', '')
        if is_at_least(GXX_WANTED, self.cxx_version(chosen or 'g++')):
            return chosen or 'g++'
        if chosen:
            return ''
        names = ['g++-%d' % version for version in range(15, int(GXX_WANTED) - 1, -1)]
        return next((name for name in names if tool(name)), '')

    def old_cxx(self) -> str:
        """The message about a compiler that is too old; empty if there is none."""
        cxx = os.environ.get('CXX', '') or 'g++'
        version = self.cxx_version(cxx)
        if not version:
            return ''
        return '%s is version %s; %s or newer is needed: %s (or set CXX to another compiler)' % (
            tool(cxx), version, GXX_WANTED, module_hint('gcc') or 'install g++-' + GXX_WANTED)

    @staticmethod
    def nvcc_version(nvcc: str) -> str:
        found = re.search(r' V([0-9.]*)$', output_of(nvcc, '--version'), re.MULTILINE)
        return found.group(1) if found else ''

    def _nvcc_folders(self) -> Iterator[str]:
        """Yields PATH's folder, those that a toolkit's or module's variables name, the usual ones, and .cuda."""
        yield os.path.dirname(tool('nvcc'))
        for variable in ('CUDA_HOME', 'CUDA_PATH', 'CUDA_ROOT', 'EBROOTCUDA'):
            yield os.environ.get(variable, '') + '/bin'
        yield os.environ.get('NVHPC_ROOT', '') + '/cuda/bin'
        yield self.top + '/usr/local/cuda/bin'
        yield from sorted(glob.glob(glob.escape(self.top) + '/usr/local/cuda-*/bin'))
        yield self.top + '/opt/cuda/bin'
        yield self.clone.cuda + '/bin'

    def find_nvcc(self) -> str:
        """A CUDA 13 compiler, or nothing."""
        self.older_nvcc = ''
        for folder in self._nvcc_folders():
            nvcc = folder + '/nvcc'
            if not os.path.isfile(nvcc) or not os.access(nvcc, os.X_OK):
                continue
            version = self.nvcc_version(nvcc)
            if is_at_least(CUDA_WANTED, version):
                return nvcc
            self.older_nvcc = self.older_nvcc or '%s is CUDA %s' % (nvcc, version or 'of unknown version')
        return ''

    # Python, Meson and Ninja.

    def find_python(self) -> str:
        """The first Python, outside .venv, that Meson runs on and that can fetch it."""
        own = os.path.realpath(sys.executable)
        names = [] if own.startswith(os.path.realpath(self.clone.venv)) else [own]
        for name in names + ['python3'] + ['python3.%d' % minor for minor in range(14, 6, -1)]:
            if tool(name) and subprocess.call([name, '-c', WHOLE_PYTHON], stderr=subprocess.DEVNULL) == 0:
                return name
        return ''

    def use_venv(self) -> None:
        """Puts the programs of .venv before all others."""
        folder = self.clone.venv + '/bin'
        path = os.environ.get('PATH', '')
        if os.path.exists(self.clone.venv + '/.complete') and folder not in path.split(':'):
            os.environ['PATH'] = folder + ':' + path

    def find_meson(self) -> Tuple[List[str], str]:
        """Meson's command and version, from the clone or else from the system. There is a Ninja, too."""
        self.use_venv()
        if not tool('ninja'):
            return [], ''
        python = self.clone.venv + '/bin/python'
        if os.path.exists(self.clone.venv + '/.complete'):  # `meson --version` would read all of Meson
            version = output_of(python, '-c', 'import mesonbuild.coredata as c; print(c.version)')
            if version:
                return [python, '-m', 'mesonbuild.mesonmain'], version
        version = output_of('meson', '--version')
        reads_toml = sys.version_info >= (3, 11)  # labs/course does the same when Meson configures
        return (['meson'], version) if reads_toml and is_at_least(MESON_WANTED, version) else ([], '')

    def needs_venv(self) -> bool:
        """Is .venv needed, for Meson and Ninja or for the pip that fetches the CUDA compiler?"""
        meson = self.find_meson()[0]
        return not meson or (meson == ['meson'] and not self.find_nvcc())

    def missing_packages(self) -> List[str]:
        """The missing Debian packages without which nothing can be set up."""
        missing = []
        if not self.find_cxx():
            old = self.old_cxx()
            if not old:
                missing.append('g++')
            elif not os.environ.get('CXX') and tool('apt-get'):
                missing.append('g++-' + GXX_WANTED)
            else:
                raise Failure(ENVIRONMENT, old)
        if self.needs_venv() and not self.find_python():
            missing.append('python3')
        return missing

    def can_build(self) -> bool:
        return bool(self.find_nvcc() and self.find_meson()[0] and self.find_cxx())

    # GPUs.

    def gpus_seen(self) -> str:
        """The GPUs that the driver lists. This does not call the driver, which may take a second. Under WSL2,
        the driver is that of Windows, which lists none; a device file and the driver's library show it."""
        models = []
        for file in sorted(glob.glob(glob.escape(self.top) + '/proc/driver/nvidia/gpus/*/information')):
            for line in read(file).splitlines():
                key, _, value = line.partition(':')
                if key == 'Model':
                    models.append(' '.join(value.split()))
        if models:
            return '; '.join(models)
        if os.path.exists(self.top + '/dev/nvidiactl'):
            return 'a GPU'
        has_wsl = os.path.exists(self.top + '/dev/dxg') and \
            os.path.exists(self.top + '/usr/lib/wsl/lib/libcuda.so.1')
        return 'a GPU of WSL' if has_wsl else 'none'

    def ask_gpu(self, what: str) -> str:
        """The first line that nvidia-smi prints. Under WSL2, nvidia-smi is not always on PATH."""
        program = '' if self.top else tool('nvidia-smi')
        program = program or self.top + '/usr/lib/wsl/lib/nvidia-smi'
        answer = output_of(program, '--query-gpu=' + what, '--format=csv,noheader')
        return answer.splitlines()[0] if answer else ''

    def gpu_arch(self) -> Optional[int]:
        """The SM version of the first GPU, for example 90."""
        found = re.match(r'(\d+)\.(\d)$', self.ask_gpu('compute_cap'))
        return int(found.group(1) + found.group(2)) if found else None

    def wanted_archs(self) -> str:
        arch = self.gpu_arch()
        if arch is None or arch < OLDEST_ARCH or arch == PTX_ARCH:
            return str(PTX_ARCH)
        return '%d,%d' % (PTX_ARCH, arch)

    def arch_without_code(self, config: Config) -> Optional[int]:
        """The SM version of a GPU that build/ was not configured for and that needs its own machine code.
        A newer GPU runs the PTX, and CUDA 13 makes no code for an older one."""
        gpus = self.gpus_seen()
        if config.gpus == gpus:
            return None
        arch = self.gpu_arch()
        if arch and OLDEST_ARCH <= arch < PTX_ARCH and str(arch) not in config.archs.split(','):
            return arch
        try:
            config._replace(gpus=gpus).write(self.clone.config_file)  # the next start need not ask again
        except OSError:
            pass
        return None

    # The CPU and the place.

    def cpu_lacks(self) -> bool:
        """Does this CPU lack the instruction set that the emulator in build/ was compiled for?"""
        sets = read(self.clone.build + '/common/emulator/ops/instruction_sets').split()
        found = re.search(r'^flags.*', read(self.top + '/proc/cpuinfo'), re.MULTILINE)
        if not sets or not found or 'baseline' in sets:
            return False
        return ('avx2' if 'avx2' in sets else 'avx512vl') not in found.group().split()

    def is_slow_place(self) -> bool:
        """Is the clone on a Windows disk, where every file access goes through the Windows kernel?"""
        root = self.clone.root
        return (re.match(r'/mnt/[a-z]/', root) is not None
                or output_of('stat', '-f', '-c', '%T', '--', root) == 'v9fs') and \
            'microsoft' in read(self.top + '/proc/version').lower()

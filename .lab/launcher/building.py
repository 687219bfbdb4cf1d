"""Makes a complete build/ from nothing. Every step may be interrupted. The result of a step counts only
if it is complete, and the next start continues from there."""
from __future__ import annotations

import glob
import os
import shutil
from typing import Dict, List

from .clone import Clone, Config, is_plain
from .machine import MESON_WANTED, PTX_ARCH, Machine, module_hint, output_of, tool
from .packages import Packages, library_folder
from .report import ENVIRONMENT, Failure, say
from .steps import Steps, ninja_progress

CUDA_WHEELS = ['nvidia-cuda-nvcc==13.0.88', 'nvidia-cuda-crt==13.0.88', 'nvidia-nvvm==13.0.88',
               'nvidia-cuda-runtime==13.0.96', 'nvidia-cuda-cccl==13.0.85']
MB_PER_JOB = 800
NOTHING_TO_DO = 'ninja: no work to do.'


class Builder:
    def __init__(self, clone: Clone, machine: Machine, steps: Steps, unpack: bool = False) -> None:
        self.clone = clone
        self.machine = machine
        self.steps = steps
        self.unpack = unpack

    # Setting up.

    def is_configured(self) -> bool:
        """Does build/ match this clone, its tools and this machine? A quick check that does not run the tools."""
        config = self.clone.config()
        if config is None or not self.clone.in_build('build.ninja'):
            return False
        asked = os.environ.get
        if config.root != self.clone.root or config.clone != self.clone.path \
                or asked('CXX', config.cxx) != config.cxx \
                or asked('STEPWISE_SETUP_ARGS', config.extra) != config.extra:
            return False
        if not tool(config.nvcc) or not tool(config.cxx) or not tool(config.meson.split('\n')[0]):
            return False
        return not self.machine.cpu_lacks() and not self.machine.arch_without_code(config)

    def set_up(self) -> None:
        """Finds or fetches the tools, and configures build/ if its configuration has changed."""
        self.steps.forget_output()
        missing = self.machine.missing_packages()
        packages = Packages(self.clone, self.steps)
        if missing:
            packages.bring(missing, self.unpack)
            missing = self.machine.missing_packages()
        if missing:
            raise Failure(ENVIRONMENT, 'still missing after the installation: %s; see %s' % (
                ' '.join(missing), self.clone.log))
        cxx = self.machine.find_cxx()
        packages.bring_libraries(cxx)
        self._configure(self.bring_nvcc(), cxx)

    def bring_nvcc(self) -> str:
        """Fetches the CUDA compiler, and Meson if it is missing. pip, which fetches both, runs in .venv."""
        if self.machine.needs_venv():
            self._make_venv()
        return self.machine.find_nvcc() or self._make_cuda()

    def _pip(self) -> List[str]:
        """pip's command for installing. pip runs from its wheel, because installing pip takes longer than
        everything that it is needed for. It keeps no cache, so nothing is written outside the clone."""
        python, pattern = self.clone.venv + '/bin/python', glob.escape(self.clone.venv) + '/pip-*.whl'
        if not glob.glob(pattern) and not self.steps.run('fetching pip', self._fetch_wheels('pip')):
            self.steps.fail('fetching pip from PyPI', ENVIRONMENT, 'check the network')
        return [python, glob.glob(pattern)[0] + '/pip', '--disable-pip-version-check', '--no-input',
                '--no-cache-dir', '--retries', '2', 'install', '--progress-bar', 'off', '--no-compile']

    def _fetch_wheels(self, *names: str) -> List[str]:
        script = self.clone.root + '/.lab/fetch_wheels.py'
        return [self.clone.venv + '/bin/python', script, self.clone.venv] + list(names)

    def _make_venv(self) -> None:
        venv, steps = self.clone.venv, self.steps
        python = self.machine.find_python()
        shutil.rmtree(venv, ignore_errors=True)
        if not steps.run('making .venv', [python, '-m', 'venv', '--without-pip', '--', venv]):
            steps.fail('making .venv', ENVIRONMENT)
        self._wrap_python()
        if not steps.run('fetching Meson and Ninja from PyPI', self._fetch_wheels('meson', 'ninja')):
            if not steps.run('fetching them with pip',
                             self._pip() + ['meson>=%s,<2' % MESON_WANTED, 'ninja>=1.10',
                                            'tomli>=2; python_version < "3.11"']):
                steps.fail('fetching Meson and Ninja from PyPI', ENVIRONMENT, 'check the network')
        open(venv + '/.complete', 'w').close()  # without this file, the next start makes .venv again
        if not self.machine.find_meson()[0]:
            raise Failure(ENVIRONMENT, 'Meson in %s does not run; see %s' % (venv, self.clone.log))

    def _wrap_python(self) -> None:
        """Replaces .venv's Python if it is a link to the unpacked one, which would not find its libraries."""
        from shlex import quote
        python = self.clone.venv + '/bin/python'
        packages = os.path.realpath(self.clone.packages)
        target = os.path.realpath(python)
        if target == os.path.realpath(self.clone.root + '/.lab/unpacked_tool'):
            target = os.path.join(packages, 'root/usr/bin/python3')
        if not target.startswith(packages + '/'):
            return
        for name in glob.glob(glob.escape(python) + '*'):
            os.unlink(name)
        with open(python, 'w') as file:
            file.write('#!/bin/bash\nexport LD_LIBRARY_PATH=%s${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n'
                       'exec -a "$0" %s "$@"\n' % (quote(library_folder(packages)), quote(target)))
        os.chmod(python, 0o755)
        os.symlink('python', python + '3')

    def _make_cuda(self) -> str:
        """Fetches the CUDA compiler from NVIDIA's wheels. Its folder has another name until it is complete."""
        cuda, steps = self.clone.cuda, self.steps
        part = cuda + '.part'
        pip = self._pip()
        if self.machine.older_nvcc:
            say(self.machine.older_nvcc + '; the course needs 13.0 or newer')
        modules = module_hint('cuda')
        if modules:
            say('no CUDA 13 compiler is loaded (%s); fetching a compiler into .cuda instead' % modules)
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(cuda, ignore_errors=True)
        os.makedirs(part + '/tmp')
        # pip unpacks on the clone's disk, not in /tmp, which may be small.
        if not steps.run('fetching the CUDA 13 compiler from PyPI (100 MB)',
                         pip + ['--no-deps', '--target', part] + CUDA_WHEELS, env={'TMPDIR': part + '/tmp'}):
            steps.fail('fetching the CUDA compiler from PyPI', ENVIRONMENT, 'check the network A CUDA Toolkit '
                       '13 serves too' + (': ' + modules if modules else ''))
        os.symlink('lib', part + '/nvidia/cu13/lib64')  # where nvcc looks
        os.symlink('libcudart.so.13', part + '/nvidia/cu13/lib/libcudart.so')
        os.rename(part + '/nvidia/cu13', cuda)
        shutil.rmtree(part, ignore_errors=True)
        nvcc = self.machine.find_nvcc()
        if not nvcc:
            raise Failure(ENVIRONMENT, 'the CUDA compiler in %s does not run on this machine (%s)' % (
                cuda, os.uname().machine))
        return nvcc

    def _configure(self, nvcc: str, cxx: str) -> None:
        """Runs `meson setup`, unless build/ was configured here with the same tools and options."""
        clone, steps = self.clone, self.steps
        was = clone.config()
        meson = self.machine.find_meson()[0]
        extra = os.environ.get('STEPWISE_SETUP_ARGS', was.extra if was else '')
        wanted = Config(clone.path, clone.root, nvcc, cxx, self.machine.wanted_archs(), '\n'.join(meson), extra,
                        self.machine.gpus_seen())
        if was and wanted.is_same_build(was) and clone.in_build('build.ninja') and not self.machine.cpu_lacks():
            wanted.write(clone.config_file)  # the GPUs may differ, since the programs also serve other GPUs
            return
        # build.ninja stays until it is replaced. Without it, build/ would look like a copied build.
        for name in ('meson-private', 'meson-info'):
            shutil.rmtree(os.path.join(clone.build, name), ignore_errors=True)
        if os.path.exists(clone.config_file):
            os.unlink(clone.config_file)
        compiler = [nvcc] if clone.root == clone.path else [clone.root + '/.lab/plain_nvcc', nvcc]
        native = clone.build + '/nvcc.ini'
        with open(native, 'w', errors='surrogateescape') as file:
            file.write('[binaries]\ncuda = [%s]\n' % ','.join(meson_string(word) for word in compiler))
        if not steps.run('configuring build/', meson + [
                'setup', clone.build, clone.root, '--native-file', native, '-Dgpu_arch=' + wanted.archs,
                '-Dptx_arch=%d' % PTX_ARCH, '-Dclone=' + clone.root] + extra.split(),
                env=dict(build_environment(), CXX=cxx)):
            if 'is the internet available' in steps.output():
                steps.fail('meson setup', ENVIRONMENT, 'the sources of the C++ libraries cannot be downloaded: install '
                           'their packages, or fill a MESON_PACKAGE_CACHE_DIR (see .lab/MACHINES.md)')
            steps.fail('meson setup')
        wanted.write(clone.config_file)

    # Building.

    def build(self, targets: List[str]) -> None:
        if tool('sccache'):  # its server outlives the build, so it must not inherit the lock
            output_of('sccache', '--start-server')
        command = ['ninja', '-C', self.clone.build, '-j', str(jobs())] + targets
        if not self.steps.run('building', command, build_environment(), quiet_s=1, progress=ninja_progress):
            self.steps.fail('building')
        if NOTHING_TO_DO in self.steps.output():
            self.steps.forget_output()

    def is_complete(self, targets: List[str]) -> bool:
        return NOTHING_TO_DO in output_of('ninja', '-C', self.clone.build, '-n', *targets)


def build_environment() -> Dict[str, str]:
    # Python compiles the Meson in .venv once, which makes its later starts faster.
    environment = {'NINJA_STATUS': '[%f/%t] ', 'PYTHONDONTWRITEBYTECODE': ''}
    if not is_plain(os.environ.get('TMPDIR', '/tmp')):  # nvcc's shell reads it
        environment['TMPDIR'] = '/tmp'
    return environment


def jobs() -> int:
    """The number of jobs: one per core, but no more than fit in free memory."""
    cores = len(os.sched_getaffinity(0))
    try:
        with open('/proc/meminfo') as file:
            free = [int(line.split()[1]) for line in file if line.startswith('MemAvailable')]
    except OSError:
        free = []
    return min([cores] + [kilobytes // (1000 * MB_PER_JOB) + 1 for kilobytes in free])


def meson_string(text: str) -> str:
    return "'%s'" % text.replace('\\', '\\\\').replace("'", "\\'")

"""The tools that only the system's packages provide: a C++ compiler, Python and the C++ libraries.

As root (or in CI, through sudo), we install them. Otherwise, a message says which packages to ask for, or
`./lab setup --unpack` unpacks them into .packages/, which needs no rights. .packages/root is the result of
dpkg-deb, with links to the libraries that the system has. .packages/bin has a link to ../unpacked_tool for each
program in it.

We rejected compilers from PyPI. nvcc does not accept the only well-kept one (zig's clang with libc++) as host
compiler, and any other compiler would not match the system's C library.
"""
from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from typing import Dict, List, Optional

from .clone import Clone
from .machine import module_hint, output_of, tool
from .report import ENVIRONMENT, Failure, say
from .steps import Steps

# The C++ libraries: Debian's package, and a header that shows that it is installed. If a package is missing or
# too old, Meson's wraps download the sources (subprojects/*.wrap).
LIBRARIES = {
    'doctest-dev': 'doctest/doctest.h', 'libcli11-dev': 'CLI/CLI.hpp',
    'nlohmann-json3-dev': 'nlohmann/json.hpp', 'libtomlplusplus-dev': 'toml++/toml.h',
    'libfmt-dev': 'fmt/format-inl.h', 'libstb-dev': 'stb/stb_image.h', 'libzstd-dev': 'zstd.h',
    'liblz4-dev': 'lz4.h'}
UNPACKED_TOOLS = re.compile(
    r'(g\+\+|gcc|cpp)(-[0-9]+)?$|(python3|as|ld|ar|ranlib|nm|strip|objcopy|readelf|addr2line)$')
RUNTIMES = ('libc.so.6', 'libm.so.6', 'libmvec.so.1', 'libstdc++.so.6', 'libgcc_s.so.1')
APT = ['apt-get', '-q', '-y']


def root_prefix() -> Optional[List[str]]:
    """The words before a command that installs packages; None if we are not allowed to install."""
    if os.geteuid() == 0:
        return []
    if os.environ.get('CI') and tool('sudo') and subprocess.call(
            ['sudo', '-n', 'true'], stderr=subprocess.DEVNULL) == 0:
        return ['sudo', '-n']
    return None


def missing_libraries(cxx: str) -> List[str]:
    """The packages whose headers the compiler does not find."""
    lines = ''.join('#if !__has_include(<%s>)\n%s\n#endif\n' % (header, package)
                    for package, header in LIBRARIES.items())
    try:
        ran = subprocess.run([cxx, '-E', '-P', '-x', 'c++', '-'], input=lines.encode(), stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    except OSError:
        return []
    return ran.stdout.decode(errors='replace').replace(' ', '').split()


def use_packages(clone: Clone) -> None:
    """Uses the packages that are unpacked in the clone for whatever the system lacks."""
    unpacked = clone.packages
    _append('PATH', unpacked + '/bin')
    headers = os.path.join(unpacked, 'root/usr/include')
    if not os.path.isdir(headers):
        return
    _append('LIBRARY_PATH', library_folder(unpacked))
    # CPLUS_INCLUDE_PATH comes after the compiler's own -I, like a system's headers. An unpacked compiler has
    # the headers in its sysroot. Named twice, they would come before those of C++, which continue with those of C.
    if not os.path.exists(headers + '/stdio.h'):
        _append('CPLUS_INCLUDE_PATH', headers)


def _append(variable: str, folder: str) -> None:
    known = [part for part in os.environ.get(variable, '').split(':') if part]
    if os.path.isdir(folder) and folder not in known:
        os.environ[variable] = ':'.join(known + [folder])


def library_folder(unpacked: str) -> str:
    folder = os.path.join(unpacked, 'root/usr/lib')
    return next(iter(glob.glob(glob.escape(folder) + '/*-linux-gnu')), folder)


def missing_message(names: List[str]) -> Failure:
    listed = ' '.join(names)
    modules = module_hint('gcc python')
    if modules:
        return Failure(ENVIRONMENT, 'missing: %s. This machine has modules: %s' % (listed, modules))
    if not tool('apt-get') or not tool('dpkg-deb'):
        return Failure(ENVIRONMENT, "missing: %s (Debian's package names). Install your system's packages for them" % listed)
    return Failure(ENVIRONMENT, 'missing: %s. Install: sudo apt-get install %s\nor, without sudo: ./lab setup '
                   '--unpack --first unpacks them only into .packages/ in this folder (300 MB) and '
                   'builds what the first answer needs' % (listed, listed))


class Packages:
    def __init__(self, clone: Clone, steps: Steps) -> None:
        self.clone = clone
        self.steps = steps

    def _install(self, prefix: List[str], label: str, names: List[str]) -> bool:
        """Installs packages. Fetches the lists of packages only if that fails without them, as on a bare machine."""
        run = self.steps.run
        apt = prefix + ['env', 'DEBIAN_FRONTEND=noninteractive'] + APT
        install = apt + ['install', '--no-install-recommends'] + names
        if tool('dpkg'):
            run('finishing an interrupted installation', prefix + ['dpkg', '--configure', '-a'], quiet_s=3)
        return run(label, install) or (
            run('fetching the package lists', apt + ['-o', 'APT::Update::Error-Mode=any', 'update'])
            and run(label, install))

    def bring(self, missing: List[str], unpack: bool) -> None:
        """Provides the packages without which nothing can be set up."""
        prefix = root_prefix()
        if unpack:
            self._unpack(missing)
            return
        if prefix is None or not tool('apt-get'):
            raise missing_message(missing)
        say('missing on this machine: ' + ' '.join(missing))
        label = 'installing these packages and the libraries'
        if not self._install(prefix, label, missing + list(LIBRARIES)):
            self.steps.fail(label, ENVIRONMENT, 'check the network')

    def bring_libraries(self, cxx: str) -> None:
        """Installs the libraries' packages if that is allowed, or else unpacks them into .packages/, a few MB.
        If neither is possible, Meson downloads the sources when it configures."""
        missing = missing_libraries(cxx)
        if not missing or not tool('apt-get'):
            return
        say('missing on this machine: ' + ' '.join(missing))
        prefix = root_prefix()
        if prefix is not None:
            done = self._install(prefix, 'installing the libraries', missing)
        else:
            done = bool(tool('dpkg-deb')) and self._fetch('fetching the libraries (4 MB)', missing)
        if not done:
            say('the libraries could not be installed; Meson downloads their sources instead')

    def bring_sandbox(self) -> None:
        """Installs bubblewrap, which isolates graded files from this machine. Asks only once, since grading works
        without it."""
        asked = os.path.join(self.clone.build, 'bubblewrap.asked')
        prefix = root_prefix()
        if tool('bwrap') or os.path.exists(asked) or not tool('apt-get') or prefix is None:
            return
        try:
            open(asked, 'w').close()
        except OSError:
            return
        say('bubblewrap, which isolates graded files from this machine, is missing')
        if not self._install(prefix, 'installing bubblewrap', ['bubblewrap']):
            say('bubblewrap could not be installed; grading works without it, and its report notes that')

    # Unpacking.

    def _unpack(self, missing: List[str]) -> None:
        if not tool('apt-get') or not tool('dpkg-deb'):
            raise missing_message(missing)
        say("missing: %s; unpacking Debian's packages into %s" % (
            ' '.join(missing), self.clone.packages))
        if not self._fetch('fetching the packages (70 MB)', missing + list(LIBRARIES)):
            self.steps.fail('fetching the packages', ENVIRONMENT, 'check the network')

    def _fetch(self, label: str, names: List[str]) -> bool:
        """Fetches and unpacks packages, with all their dependencies that the system lacks. apt verifies the
        signatures as in an installation, but works in separate folders."""
        part, run = self.clone.packages + '.part', self.steps.run
        shutil.rmtree(part, ignore_errors=True)
        for folder in ('root', 'apt/lists/partial', 'apt/archives/partial'):
            os.makedirs(os.path.join(part, folder))
        apt = APT + ['-o', 'Dir::State::Lists=%s/apt/lists' % part, '-o', 'Dir::Cache=%s/apt' % part,
                     '-o', 'Dir::Cache::Archives=%s/apt/archives' % part, '-o', 'Debug::NoLocking=1']
        done = run('fetching the package lists', apt + ['-o', 'APT::Update::Error-Mode=any', 'update']) and run(
            label, apt + ['install', '--download-only', '--no-install-recommends'] + names)
        for archive in sorted(glob.glob(glob.escape(part) + '/apt/archives/*.deb')) if done else []:
            done = done and run('unpacking %s' % os.path.basename(archive).split('_')[0],
                                ['dpkg-deb', '-x', archive, part + '/root'], quiet_s=3)
        if done:
            merge(part, self.clone.packages)
            use_packages(self.clone)
        shutil.rmtree(part, ignore_errors=True)
        return done


def merge(part: str, packages: str) -> None:
    """Adds the content of part/root to packages/root, with the programs last."""
    root, triplet = part + '/root', output_of('dpkg-architecture', '-qDEB_HOST_MULTIARCH')
    triplet = triplet or os.uname().machine + '-linux-gnu'
    for folder in ('doc', 'man', 'info', 'locale'):
        shutil.rmtree('%s/usr/share/%s' % (root, folder), ignore_errors=True)
    # There is only one folder of libraries, as on the system, whatever a package calls it.
    libraries = '%s/usr/lib/%s' % (root, triplet)
    os.makedirs(libraries, exist_ok=True)
    if os.path.isdir(root + '/lib') and not os.path.islink(root + '/lib'):
        subprocess.check_call(['cp', '-a', root + '/lib/.', root + '/usr/lib/'])
        shutil.rmtree(root + '/lib')
    os.makedirs(packages + '/root', exist_ok=True)
    subprocess.check_call(['cp', '-a', root + '/.', packages + '/root/'])
    root, libraries = packages + '/root', '%s/root/usr/lib/%s' % (packages, triplet)
    link('usr/lib', root + '/lib')
    # Programs that are linked here run with the system's libraries, so the linker must see those.
    links: Dict[str, str] = {}
    for folder in ('/lib/' + triplet, '/usr/lib/' + triplet):
        for library in glob.glob(folder + '/*.so.*'):
            if not os.path.lexists(libraries + '/' + os.path.basename(library)):
                links[os.path.basename(library)] = library
    for name in RUNTIMES:
        if os.path.exists('/lib/%s/%s' % (triplet, name)):
            links[name] = '/lib/%s/%s' % (triplet, name)
    for name, library in links.items():
        link(library, libraries + '/' + name)
    os.makedirs(root + '/lib64', exist_ok=True)
    link('/lib64/ld-linux-x86-64.so.2', root + '/lib64/ld-linux-x86-64.so.2')
    os.makedirs(packages + '/bin', exist_ok=True)
    for name in os.listdir(root + '/usr/bin') if os.path.isdir(root + '/usr/bin') else []:
        if UNPACKED_TOOLS.match(name):
            link('../../.lab/unpacked_tool', '%s/bin/%s' % (packages, name))


def link(target: str, path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)
    os.symlink(target, path)

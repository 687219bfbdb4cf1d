#!/usr/bin/env python3
"""Tests ../lab and .lab/: launcher_test.py [PROGRAM], where PROGRAM is the course's own `lab`.

Most tests start ./lab in a tiny clone of their own. Its compiler, its Meson and its program are shell scripts, so a
build takes milliseconds. If the file `slow` exists, a build lasts until the file is gone, but at most the number of
tenths of a second that the file holds. PATH is one of these: `tools` has everything that a build needs, `plain` has a
Python and the commands of a shell, `bare` has only these commands, and `extra` is `plain` with programs of the test.
"""
import ast
import contextlib
import functools
import hashlib
import http.server
import io
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / '.lab'))
import fetch_wheels  # noqa: E402
from launcher import arguments, steps  # noqa: E402

PROGRAM = sys.argv.pop(1) if sys.argv[1:2] and os.path.isfile(sys.argv[1]) else ''
NINJA = shutil.which('ninja', path=f'{HERE}/.venv/bin:{os.environ["PATH"]}')
MESON = f'"{HERE}/.venv/bin/python" -m mesonbuild.mesonmain' if (HERE / '.venv/.complete').exists() else shutil.which('meson')
# Another user may not be allowed to read the Python that runs this test.
PYTHON = '/usr/bin/python3' if os.path.exists('/usr/bin/python3') else sys.executable
IS_ROOT = os.geteuid() == 0
AS_USER = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups'] if IS_ROOT else []
PATHS = {'bare': 'bare', 'plain': 'plain:bare', 'tools': 'tools:plain:bare', 'extra': 'extra:plain:bare',
         'extra without Python': 'extra:bare'}
COMMANDS = ('bash sh env cat cp mkdir rm mv ln touch stat readlink sleep mktemp chmod sed cut head find grep setpriv '
            'tar uname dirname').split()
FAKES = {
    'nvcc': 'echo "Cuda compilation tools, V13.0.88"',
    'nvidia-smi': 'echo 9.0',  # a GPU of the machine that this test runs on
    'g++': 'case "$*" in *-dump*) echo 12.2.0 ;; esac',
    'cc': '''n=$(cat TOP/slow 2>/dev/null) && touch TOP/compiling
while [ -e TOP/slow ] && [ "$n" -gt 0 ]; do sleep 0.1; n=$((n - 1)); done
! grep -q 'syntax error' "$1" || { echo "$1:2: error: no such word" >&2 && exit 1; }
cp "$1" "$2.part" && chmod +x "$2.part" && mv "$2.part" "$2"''',
    # No other process may work in the build folder when Ninja begins to build.
    'ninja': f'''[ ! -e TOP/slow ] || find /proc/[0-9]*/cwd -maxdepth 0 -lname "TOP/*/build" >>TOP/two_builds 2>&-
exec "{NINJA}" "$@"''',
    'meson': '''[ "$1" != --version ] || { echo 1.12.0 && exit; }
[ ! -e TOP/offline ] || { echo "could not get a.tar.gz; is the internet available?" && exit 1; }
mkdir -p "$2/meson-info" && cp TOP/build.ninja "$2/" && echo '[]' >"$2/meson-info/intro-tests.json"''',
}
MAIN = '''#!/bin/sh
printf 'in %s:' "$PWD"
for word; do printf ' <%s>' "$word"; done
printf ' nvcc=%s\\n' "${STEPWISE_NVCC:-the configured one}"
case "$1" in 7*) exit 7 ;; esac
'''
ALIASES = {'all': 'course only_for_tests.out', 'meson-test-prereq': 'all', 'course': 'course-first course-second',
           'course-no-lab': 'grader/lab', 'course-first': 'grader/lab of_first.out',
           'course-second': 'grader/lab of_second.out', 'course-limits-first': 'course-first limit_of_first.out'}
BUILD = 'rule cc\n  command = TOP/tools/cc $in $out\nbuild grader/lab: cc ../grader/main.cpp\n' + ''.join(
    f'build {name}.out: cc ../common/extra.cpp\n'
    for name in ('of_first', 'of_second', 'limit_of_first', 'only_for_tests')) + ''.join(
    f'build {name}: phony {needs}\n' for name, needs in ALIASES.items())


def is_alive(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()[0] != 'Z'
    except OSError:
        return False


class LauncherTest(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix='launcher-'))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        for name in 'bare', 'plain', 'tools', 'tmp', 'extra':
            (self.top / name).mkdir()
        for name in COMMANDS:
            (self.top / 'bare' / name).symlink_to(shutil.which(name))
        (self.top / 'plain/python3').symlink_to(PYTHON)
        for name, text in FAKES.items():
            self.fake('tools', name, text)
        (self.top / 'build.ninja').write_text(BUILD.replace('TOP', str(self.top)))
        self.clone = self.make_clone('clone')

    def fake(self, folder, name, text):
        file = self.top / folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('#!/bin/sh\n' + text.replace('TOP', str(self.top)) + '\n')
        file.chmod(0o755)

    def make_clone(self, name):
        clone = self.top / name
        for file, text in {'grader/main.cpp': MAIN, 'common/extra.cpp': 'int main() {}\n', 'labs/first/lab.toml': '',
                           'labs/second/lab.toml': '', 'labs/first/first.cu': '// the student writes here\n'}.items():
            (clone / file).parent.mkdir(parents=True, exist_ok=True)
            (clone / file).write_text(text)
        shutil.copy(HERE / 'lab', clone)
        shutil.copytree(HERE / '.lab', clone / '.lab', ignore=shutil.ignore_patterns('__pycache__', '.mypy_cache'))
        return clone

    def start(self, words, on='tools', prefix=(), cwd=None, **more):
        environment = {'PATH': ':'.join(str(self.top / name) for name in PATHS[on].split(':')), 'HOME': str(self.top),
                       'TMPDIR': str(self.top / 'tmp'), 'STEPWISE_TEST_MACHINE': str(self.top / 'nowhere')}
        started = subprocess.Popen([*prefix, self.clone / 'lab', *words.split()], cwd=cwd or self.top, text=True,
                                   env={**environment, **more}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        for cleanup in started.stdout.close, started.wait, started.kill:
            self.addCleanup(cleanup)
        return started

    def says(self, words, text, code=0, **how):
        """Runs ./lab, which must print the text and exit with the code. Returns everything that it printed."""
        ran = self.start(words, **how)
        printed = ran.communicate(timeout=60)[0]
        self.assertIn(text, printed)
        self.assertEqual(ran.returncode, code, printed)
        return printed

    def silent(self, words, text='', **how):
        self.assertNotIn('lab: ', self.says(words, text, **how))

    def begin(self, words, **how):
        """Starts ./lab and waits until it compiles."""
        with contextlib.suppress(OSError):
            (self.top / 'compiling').unlink()
        started = self.start(words, **how)
        self.wait_until((self.top / 'compiling').exists)
        return started

    def wait_until(self, condition, seconds=20):
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(condition())

    def no_build_runs(self):
        return not subprocess.run(f'find /proc/[0-9]*/cwd -maxdepth 0 -lname {self.clone}/build 2>/dev/null',
                                  shell=True, stdout=subprocess.PIPE).stdout

    def slow(self, tenths):
        (self.top / 'slow').write_text(str(tenths))

    def edit(self, name, old, new):
        file = self.clone / name
        file.write_text(file.read_text().replace(old, new))

    def built(self, name):
        return (self.clone / 'build' / (name + '.out')).exists()

    def log(self):
        return (self.clone / 'build/lab.log').read_text()


class Words(unittest.TestCase):
    def test_what_a_command_needs(self):
        with tempfile.TemporaryDirectory() as root:
            for file, text in {'labs/first/lab.toml': '', 'labs/reduction/lab.toml': '',
                               'results/batch.json': '{\n "lab": "first"}'}.items():
                pathlib.Path(root, file).parent.mkdir(parents=True)
                pathlib.Path(root, file).write_text(text)
            for words, targets in {
                    'list': 'grader/lab', 'hint first': 'grader/lab', 'frobnicate': 'grader/lab', 'run': 'grader/lab',
                    '--version': 'grader/lab', 'explain first': 'grader/lab', 'occupancy --threads 9': 'grader/lab',
                    'run first': 'course-first', '--json run --fast reduction': 'course-reduction',
                    'limits first': 'course-limits-first', 'exec ./program first': 'course-no-lab',
                    'profile ./program': 'course-no-lab', 'release folder': 'course', 'selftest': 'course',
                    f'grade-all {root}/results': 'course-first', 'grade-all here reduction': 'course-reduction',
                    'test': 'all meson-test-prereq', 'slides': 'all meson-test-prereq'}.items():
                self.assertEqual(' '.join(arguments.Arguments(words.split(), root).targets()), targets, words)

    def test_words_of_another_program(self):
        for words, as_json in {'exec --json ./p': True, 'exec ./p --json': False, 'exec --gpu h200 --json ./p': True,
                               'exec -- --json': False, 'bench first --record --json': True,
                               '--json exec ./p': True, 'run first --json': True}.items():
            self.assertEqual(arguments.Arguments(words.split(), '/').as_json, as_json, words)

    @unittest.skipUnless(PROGRAM, 'no program')
    def test_options_of_exec_that_take_a_value(self):
        lines = [line.split() for line in subprocess.check_output([PROGRAM, 'exec', '--help'], text=True).splitlines()
                 if line.startswith('  --')]
        self.assertEqual({words[0] for words in lines if words[1].replace(':', '').isupper()} | {'--device'},
                         arguments.VALUES_OF_EXEC)

    def test_progress(self):
        self.assertEqual(steps.ninja_progress('ninja: Enter\n[1/40] a\n[10/40] b', 10), ' 10/40, about 40 s left')
        self.assertEqual(steps.ninja_progress('[1/400] a', 10), ' 1/400')
        self.assertEqual(steps.ninja_progress('', 10), '')

    @unittest.skipIf(sys.version_info < (3, 8), 'ast has no feature_version')
    def test_syntax_of_python_3_7(self):
        for file in [HERE / '.lab/fetch_wheels.py', *(HERE / '.lab/launcher').glob('*.py')]:
            ast.parse(file.read_text(), str(file), feature_version=(3, 7))


class Machines(LauncherTest):
    """Tests the messages of ./lab on a machine that lacks something. Nothing is built."""

    def test_help_and_usage(self):
        for path in 'bare', 'plain':
            for words in '--help', 'help walk', 'setup --help':
                lines = self.says(words, './lab setup --unpack', on=path).splitlines()
                self.assertLessEqual(max(map(len, lines)), 80)
        self.says('help walk', 'Nothing is built yet', on='plain')
        answer = json.loads(self.says('help --json', './lab run first', on='plain'))
        self.assertEqual((sorted(answer), answer['built']), (['built', 'help'], False))
        self.says('setup --hepl', 'setup does not accept "--hepl"', 2, on='plain')
        self.says('doctor all', 'doctor does not accept "all"', 2, on='plain')
        self.says('first', './lab walk first', 2, on='plain')
        self.assertFalse((self.clone / 'build').exists())

    def test_without_python(self):
        self.says('list', 'missing: g++ python3', 3, on='bare')
        self.says('doctor', 'missing: g++ python3', 3, on='bare')
        self.says('list --json', '{"error": "missing: g++ python3', 3, on='bare')
        self.says('exec --json ./p', '{"error": "missing: g++ python3', 3, on='bare')
        self.says('exec ./p --json', 'lab: missing: g++ python3', 3, on='bare')
        self.says('list', 'module load gcc python', 3, on='bare', LMOD_CMD='/opt/lmod')
        self.fake('extra', 'python3', '[ "$1" = -V ] && echo Python 3.6.8')
        self.says('list', 'is Python 3.6.8, but the course needs 3.7', 3, on='extra without Python')

    def test_without_a_compiler(self):
        self.says('list', 'missing: g++', 3, on='plain')
        self.says('doctor', 'missing  C++ compiler', 3, on='plain')
        self.says('list --json', '{"error": "missing: g++', 3, on='plain')
        rows = json.loads(self.says('doctor --json', '', 3, on='plain'))['machine']
        self.assertIn('missing', [row['state'] for row in rows])
        self.says('doctor', 'module avail cuda', 3, on='plain', **{'BASH_FUNC_module%%': '() { :; }'})
        self.fake('extra', 'apt-get', 'exit 1')
        self.fake('extra', 'dpkg-deb', 'exit 1')
        open_to_all(self.top)
        self.assertIn('sudo apt-get install g++', self.says('list', './lab setup --unpack --first', 3, on='extra',
                                                            prefix=AS_USER))

    def test_old_compilers(self):
        self.fake('extra', 'g++', 'case "$*" in *-dump*) echo 8.5.0 ;; esac')
        self.says('list', 'g++ is version 8.5.0; 11 or newer is needed: install g++-11', 3, on='extra')
        self.fake('extra', 'g++-13', 'echo 13.2.0')
        self.says('doctor', 'g++-13 13.2.0', on='extra')
        self.says('list', 'g++ is version 8.5.0', 3, on='extra', CXX='g++')
        self.fake('old/bin', 'nvcc', 'echo "Cuda compilation tools, V12.4.99"')
        self.fake('cuda/bin', 'nvcc', FAKES['nvcc'])
        old, new = f'{self.top}/old', f'{self.top}/cuda'
        self.says('doctor', f'{old}/bin/nvcc is CUDA 12.4.99', on='extra', CUDA_HOME=old, COLUMNS='200')
        for name in 'CUDA_HOME', 'CUDA_PATH', 'CUDA_ROOT', 'EBROOTCUDA':
            self.says('doctor', f'({new}/bin/nvcc)', on='extra', **{'CUDA_HOME': old, name: new})

    def test_without_a_network(self):
        (self.top / 'offline').touch()
        self.says('exec ./p', 'MESON_PACKAGE_CACHE_DIR', 3)
        (self.top / 'tools/meson').unlink()
        self.says('list', 'check the network', 3, PIP_INDEX_URL='http://127.0.0.1:1/', PIP_RETRIES='0')
        self.says('doctor', 'network              needed once, for Meson')

    @unittest.skipUnless(shutil.which('dpkg-deb'), 'needs dpkg-deb')
    def test_unpacked_packages(self):
        """Tests with a package that the test's own apt-get provides."""
        deb = self.top / 'deb'
        (deb / 'DEBIAN').mkdir(parents=True)
        (deb / 'DEBIAN/control').write_text('Package: g++\nVersion: 1\nArchitecture: all\nMaintainer: x <x@x>\n'
                                            'Description: a compiler\n')
        (deb / 'usr/bin').mkdir(parents=True)
        shutil.move(self.top / 'tools/g++', deb / 'usr/bin')
        subprocess.check_call(['dpkg-deb', '-b', deb, self.top / 'g++.deb'], stdout=subprocess.DEVNULL)
        self.fake('tools', 'apt-get', '''for word; do case $word in Dir::Cache::Archives=*) to=${word#*=} ;; esac; done
case "$*" in *update) ;; *--download-only*g++*) cp TOP/g++.deb "$to/" ;; *) exit 1 ;; esac''')
        (self.top / 'tools/dpkg-deb').symlink_to(shutil.which('dpkg-deb'))
        self.says('setup --unpack', "unpacking Debian's packages")
        self.assertTrue(self.built('only_for_tests'))
        self.assertFalse((self.clone / '.packages.part').exists())
        for name in 'apt-get', 'dpkg-deb':
            (self.top / 'tools' / name).unlink()
        self.silent('run first')
        shutil.rmtree(self.clone / '.packages')
        shutil.rmtree(self.clone / 'build')
        self.says('run first', 'missing: g++', 3)


class Building(LauncherTest):
    def test_only_what_is_needed_is_built(self):
        self.says('exec ./p first', f'in {self.top}: <exec> <./p> <first>')
        self.assertFalse(self.built('of_first'))
        self.says('walk first', '')
        self.assertTrue(self.built('of_first'))
        self.assertFalse(self.built('of_second') or self.built('limit_of_first'))
        self.says('--fast limits first', '')
        self.assertTrue(self.built('limit_of_first'))
        self.assertFalse(self.built('only_for_tests'))
        self.silent('walk first')
        self.says('7', '', 7)
        self.says('', 'in ')
        self.says('help walk', '<walk> <--help>')
        self.says('doctor', 'complete for list, walk first;')
        self.says('setup --first', 'what the first answer needs is built')
        self.assertFalse(self.built('of_second'))
        self.says('setup --no-tests', 'everything except the tests is built')
        self.assertTrue(self.built('of_second'))
        self.assertFalse(self.built('only_for_tests'))
        self.says('setup --json', '{"built": true}')
        self.assertTrue(self.built('only_for_tests'))
        self.says('doctor', 'complete, with the tests')

    def test_changes(self):
        self.says('run first', '')
        self.edit('labs/first/first.cu', 'student', 'student again')
        self.silent('run first')
        self.edit('grader/main.cpp', 'in %s', 'now in %s')
        self.says('list', 'now in')
        self.edit('grader/main.cpp', 'now in', 'syntax error')
        for _ in range(2):  # it fails again, and does not run the old program
            self.assertNotIn('now in', self.says('run first', 'main.cpp:2: error: no such word', 4))
        self.assertIn('no such word', self.log())
        self.says('run first --json', '"exit_code": 4', 4)
        self.edit('grader/main.cpp', 'syntax error', 'at last in')
        self.says('run first', 'at last in')

    def test_configuration(self):
        self.says('list', 'configuring', STEPWISE_SETUP_ARGS='-Dportable=true')
        self.assertIn('-Dportable=true', self.log())
        self.silent('list')
        self.says('list', 'configuring', STEPWISE_SETUP_ARGS='')
        self.assertNotIn('-Dportable', self.log())
        self.fake('tools', 'g++-12', FAKES['g++'])
        self.says('list', 'configuring', CXX='g++-12')
        self.silent('list')
        (self.clone / 'build/lab.config').unlink()  # as if configuring had been interrupted
        self.says('list', 'configuring')

    def test_gpu_and_cpu(self):
        self.says('run first', '')
        self.fake('wsl/usr/lib/wsl/lib', 'nvidia-smi', 'echo 8.6')
        (self.top / 'wsl/dev').mkdir()
        here = {'STEPWISE_TEST_MACHINE': f'{self.top}/wsl'}
        self.silent('run first', **here)
        (self.top / 'wsl/dev/dxg').touch()
        (self.top / 'wsl/usr/lib/wsl/lib/libcuda.so.1').touch()
        self.says('run first', 'configuring', **here)
        self.assertIn('-Dgpu_arch=90,86', self.log())
        self.silent('run first', **here)
        sets = self.clone / 'build/common/emulator/ops/instruction_sets'
        sets.parent.mkdir(parents=True)
        sets.write_text('avx2')
        (self.top / 'wsl/proc').mkdir()
        cpu = self.top / 'wsl/proc/cpuinfo'
        cpu.write_text('flags : fpu avx2\n')
        self.silent('run first', **here)
        cpu.write_text('flags : fpu\n')
        self.says('run first', 'configuring', **here)
        self.says('run first', 'instructions that this CPU does not have', 3, on='plain', **here)

    def test_copies(self):
        self.says('setup', '')
        self.clone.rename(self.top / 'carried')
        self.clone = self.top / 'carried'
        for path in 'bare', 'plain', 'tools':
            self.silent('run first', '<run> <first>', on=path)
        self.fake('cuda/bin', 'nvcc', FAKES['nvcc'])
        (self.top / 'tools/nvcc').unlink()
        self.says('run first', f'nvcc={self.top}/cuda/bin/nvcc', on='plain', CUDA_HOME=f'{self.top}/cuda')
        self.fake('tools', 'nvcc', FAKES['nvcc'])
        self.edit('common/extra.cpp', 'int', '/* changed */ int')
        self.assertIn('may be older than the sources', self.says('run first', f'built in {self.top}/clone'))
        self.says('test', f'built in {self.top}/clone; run ./lab setup', 3, on='plain')
        self.says('doctor', 'the existing programs are used')
        self.says('setup', 'configuring')
        self.silent('run first')

    def test_programs_that_came_along(self):
        self.says('setup', '')
        (self.clone / 'build/build.ninja').unlink()
        self.silent('run first')
        self.edit('grader/main.cpp', 'in %s', 'now in %s')
        self.assertNotIn('now in', self.says('list', ''))
        self.says('setup', 'configuring')
        self.says('list', 'now in')

    def test_without_tools(self):
        self.says('setup', '')
        was = 'in %s'
        for tool in 'ninja', 'g++':
            self.edit('grader/main.cpp', was, f'without {tool}: %s')
            was = f'without {tool}: %s'
            (self.top / 'tools' / tool).rename(self.top / tool)
            self.assertNotIn(f'without {tool}', self.says('run first', 'may be older than the sources'))
            (self.top / tool).rename(self.top / 'tools' / tool)
            self.says('run first', f'without {tool}')

    @unittest.skipUnless(IS_ROOT, 'needs root')
    def test_installation_of_another_user(self):
        self.says('setup', '')
        (self.top / 'home').mkdir()
        open_to_all(self.top)
        subprocess.check_call(['chmod', '-R', 'a-w', self.clone])
        self.silent('list', on='plain', prefix=AS_USER)
        self.silent('walk first', prefix=AS_USER)
        printed = self.says('run first', 'cannot write to', 3, on='plain', prefix=AS_USER)
        way = next(line for line in printed.splitlines() if line.strip().startswith('cp -a'))
        self.clone = self.top / 'home/stepwise'
        home = {**os.environ, 'HOME': f'{self.top}/home'}
        subprocess.check_call([*AS_USER, 'bash', '-c', way], cwd=self.top, env=home)
        self.silent('run first', '<run> <first>', on='plain', prefix=AS_USER)

    def test_odd_paths(self):
        for place in ("it's \"quoted\"", '$HOME $(touch pwned)', 'a, b', '#1;&(x)*?[y]{z}<>!`touch pwned`',
                      'größe 日本'):
            self.clone = self.make_clone(f'{place}/clone')
            self.says('run first', f'in {self.top}: <run> <first>')
            self.silent('run first')
        self.assertEqual(list(self.top.glob('**/pwned')), [])
        self.clone = self.top / "it's \"quoted\"/clone"
        alias = pathlib.Path((self.clone / 'build/alias').read_text().strip())
        self.assertTrue(alias.samefile(self.clone))
        self.check_plain_nvcc(alias)
        shutil.rmtree(alias.parent)
        self.silent('run first')
        self.assertTrue(alias.samefile(self.clone))
        if IS_ROOT:  # an alias that another user may change is not used
            os.chown(alias.parent, 12345, 12345)
            self.says('run first', '')
            self.assertNotEqual((self.clone / 'build/alias').read_text().strip(), str(alias))
        for place in 'back\\slash', 'a|b', 'a:b', 'new\nline':
            self.clone = self.make_clone(f'{place}/clone')
            self.says('list', 'move the clone to a folder without it', 3)

    def check_plain_nvcc(self, alias):
        self.fake('extra', 'nvcc', 'printf "<%s>" "$@"; for w; do [ ! -f "$w" ] || cat "$w"; done; pwd')
        (self.clone / 'labs/first/a.cu').write_text('int code;\n')
        said = subprocess.check_output([alias / '.lab/plain_nvcc', self.top / 'extra/nvcc', '-c', '../labs/first/a.cu',
                                        '-o', 'a.o', f'-I{self.clone}/common'], cwd=self.clone / 'build', text=True)
        for text in f'{alias}/build', '#line 1 "../labs/first/a.cu"', f'<-I{alias}/common>':
            self.assertIn(text, said)
        self.assertNotIn('quoted', said)

    @unittest.skipUnless(IS_ROOT, 'needs root, for mount')
    def test_full_disk(self):
        disk = self.top / 'disk'
        disk.mkdir()
        if subprocess.call(['mount', '-t', 'tmpfs', '-o', 'size=600k', 'none', disk], stderr=subprocess.DEVNULL):
            self.skipTest('no mount')
        self.addCleanup(subprocess.call, ['umount', '-l', disk])
        shutil.copytree(self.clone, disk / 'clone')
        self.clone = disk / 'clone'
        with contextlib.suppress(OSError), open(disk / 'filler', 'wb', buffering=0) as file:
            while True:
                file.write(bytes(1024))
        self.assertEqual(self.says('list', f'mounted at {disk}', 3).count('full'), 1)
        (disk / 'filler').unlink()
        self.says('list', 'in ')


class Interruptions(LauncherTest):
    def setUp(self):
        super().setUp()
        self.says('setup', '')
        self.change()

    def change(self):
        with open(self.clone / 'common/extra.cpp', 'a') as file:
            file.write('// changed\n')

    def test_two_starts(self):
        self.slow(600)
        first = self.begin('run first')
        self.silent('list')  # a text does not wait
        self.assertIsNone(first.poll())
        second = self.start('run first')
        self.assertIn('another ./lab is building', second.stdout.readline())
        (self.top / 'slow').unlink()
        self.assertEqual((first.wait(), second.wait()), (0, 0))

    def test_lab_of_the_folder(self):
        folder = self.clone / 'labs/second'
        self.says('run', '<run> <second>', cwd=folder)
        self.says('run --step 03', '<run> <second> <--step> <03>', cwd=folder)
        self.says('run first', '<run> <first>', cwd=folder)
        self.says('list', '<list>', cwd=folder)
        self.says('run --file x.cu', '<run> <--file> <x.cu>', cwd=folder)

    def test_signals(self):
        self.slow(600)
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            first = self.begin('run first')
            first.send_signal(number)
            self.assertIn('interrupted; no data is lost', first.communicate()[0])
            self.assertEqual(first.returncode, 130)
            self.wait_until(self.no_build_runs, 5)
        (self.top / 'slow').unlink()
        self.says('run first', '<run> <first>')

    def test_reader_that_goes_away(self):
        self.slow(600)
        first = self.begin('run first')
        first.stdout.readline()
        first.stdout.close()
        self.assertEqual(first.wait(20), 130)
        self.wait_until(self.no_build_runs, 5)

    def test_kill(self):
        self.slow(3)
        for delay in 0, 0.05, 0.1, 0.15, 0.25, 0.4:
            first = self.start('test')
            time.sleep(delay)
            first.kill()
            self.change()
            self.says('run first', '<run> <first>')
        self.assertFalse((self.top / 'two_builds').read_text())

    def test_closed_stderr_and_nohup(self):
        self.says('list', '<list>', prefix=['bash', '-c', 'exec 2>&-; exec "$0" list'])
        self.slow(5)
        first = self.begin('run first', prefix=['bash', '-c', 'trap "" HUP; exec "$0" "$@"'])
        first.send_signal(signal.SIGHUP)
        self.assertEqual(first.wait(), 0)

    def test_terminal(self):
        self.slow(25)
        master, slave = pty.openpty()
        self.says('', '', prefix=['bash', '-c', f'exec "$0" run first >{os.ttyname(slave)} 2>&1'])
        text = os.read(master, 1 << 16).decode()
        for terminal in master, slave:
            os.close(terminal)
        self.assertRegex(text, r'\r\x1b\[Klab: building( \d/\d)? \(2 s\)')
        self.assertLess(max(map(len, text.replace('\r', '\n').splitlines())), 84)  # with control characters


class MesonTests(LauncherTest):
    """Tests `./lab test` with the real Meson, on a project of four tests."""

    def setUp(self):
        super().setUp()
        (self.clone / 'meson.build').write_text('''project('tiny', version: '1')
custom_target('lab', command: ['cp', '@INPUT@', '@OUTPUT@'], input: 'lab', output: 'a', build_by_default: true)
sh = find_program('sh')
test('good one', sh, args: ['-c', 'exit 0'], suite: 'unit')
test('bad one', sh, args: ['-c', 'echo broken; exit 3', ''], suite: ['unit', 'other'])
test('no tool', sh, args: ['-c', 'exit 77'], suite: 'course')
test('slow one', sh, args: ['-c', 'sleep 600 & echo $! >"$0"; wait', meson.current_build_dir() / 'pid'], suite: 'waits')
''')
        (self.clone / 'meson.options').write_text('''option('gpu_arch', type: 'array', value: ['90'])
option('ptx_arch', type: 'string')\noption('clone', type: 'string')\n''')
        self.fake('tools', 'meson', f'exec {MESON} "$@"')

    def test_results(self):
        printed = self.says('test unit course', 'failed: bad one\n1 passed, 1 failed, 1 skipped\n', 4)
        self.assertIn(f"bad one: exit code 3\n{self.top}/bare/sh -c 'echo broken; exit 3' ''\nbroken\n", printed)
        self.assertLess(printed.index('Ok:'), printed.index('broken\n'))  # after everything that Meson prints
        answer = json.loads(self.says('test unit --json', '', 4).splitlines()[-1])
        self.assertEqual((answer['passed'], answer['failed'], answer['skipped']), (1, 1, 0))
        test = next(test for test in answer['tests'] if test['name'] == 'bad one')
        self.assertEqual((sorted(test['suites']), test['state'], test['reason'], test['log']),
                         (['other', 'unit'], 'failed', 'exit code 3', 'broken\n'))
        self.says('test other curse', '0 passed, 1 failed\n', 4)
        self.says('test curse', 'did you mean "course"?', 2)
        self.says('test --fast', 'test does not accept "--fast"', 2)

    def test_interruption_ends_the_tests(self):
        tests, pid = self.start('test waits'), self.clone / 'build/pid'
        self.wait_until(lambda: pid.exists() and pid.read_text().strip())
        time.sleep(3)  # Meson may lose a process that it is still starting
        tests.send_signal(signal.SIGINT)
        self.assertIn('interrupted', tests.communicate(timeout=30)[0])
        self.assertEqual(tests.returncode, 130)
        self.wait_until(lambda: not is_alive(pid.read_text().strip()), 60)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class FetchWheels(unittest.TestCase):
    """Tests with wheels from an index on this machine."""

    MESON, NINJA = 'meson-9.0-py3-none-any.whl', 'ninja-9.0-py3-none-any.whl'
    WHEELS = {
        MESON: {'mesonbuild/__init__.py': '',  # otherwise, an installed one comes first
                'mesonbuild/mesonmain.py': 'print("meson of the test")\n',
                'meson-9.0.data/data/share/man/man1/meson.1': 'a manual page'},
        NINJA: {'ninja/__init__.py': '', 'ninja-9.0.data/scripts/ninja': '#!/bin/sh\necho ninja\n'}}

    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.top)
        self.place, self.modules = self.top / 'a place', self.top / 'modules'
        (self.place / 'bin').mkdir(parents=True)
        fetch_wheels.WHEELS = {}
        for name, files in self.WHEELS.items():
            content = io.BytesIO()
            with zipfile.ZipFile(content, 'w') as archive:
                for file, text in files.items():
                    archive.writestr(file, text)
            page = self.top / 'index' / name.split('-')[0]
            page.mkdir(parents=True)
            (page / name).write_bytes(content.getvalue())
            (page / 'index.html').write_text(f'<a href="{name}.metadata">no</a><a href="./{name}#sha256=0">{name}</a>')
            fetch_wheels.WHEELS[page.name] = (name, hashlib.sha256(content.getvalue()).hexdigest())
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(
            Quiet, directory=str(self.top / 'index')))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for cleanup in server.server_close, server.shutdown:
            self.addCleanup(cleanup)
        for name in [name for name in os.environ if name.startswith('PIP_') or name.endswith('_proxy')]:
            del os.environ[name]
        os.environ.update(no_proxy='127.0.0.1', PIP_INDEX_URL=f'http://127.0.0.1:{server.server_port}/')
        fetch_wheels.sysconfig.get_paths = lambda: {'purelib': str(self.modules)}

    def refused(self, put, reason):
        with self.assertRaisesRegex(SystemExit, reason):
            put(str(self.place))
        self.assertEqual(list((self.place / 'bin').iterdir()), [])
        self.assertFalse(self.modules.exists())

    def test_programs_start(self):
        fetch_wheels.put_meson(str(self.place))
        self.assertEqual([path.name for path in self.modules.iterdir()], ['mesonbuild'])
        python = self.place / 'bin/python'
        python.write_text(f'#!/bin/sh\nPYTHONPATH="{self.modules}" exec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
        (self.top / 'link').symlink_to(self.place / 'bin/meson')
        for program in self.place / 'bin/meson', self.top / 'link':
            self.assertEqual(subprocess.check_output([program], text=True), 'meson of the test\n')
        fetch_wheels.put_ninja(str(self.place))
        self.assertEqual(subprocess.check_output([self.place / 'bin/ninja'], text=True), 'ninja\n')

    def test_what_is_refused(self):
        for name, put in (self.MESON, fetch_wheels.put_meson), (self.NINJA, fetch_wheels.put_ninja):
            with open(self.top / 'index' / name.split('-')[0] / name, 'ab') as file:
                file.write(b'x')
            self.refused(put, 'not the file that was expected')
        fetch_wheels.WHEELS['ninja'] = ('ninja-9.1-py3-none-any.whl', '')
        self.refused(fetch_wheels.put_ninja, 'does not list ninja-9.1')
        del fetch_wheels.WHEELS['meson']
        self.refused(fetch_wheels.put_meson, 'no wheel of meson')
        os.environ['PIP_NO_INDEX'] = '1'
        self.refused(fetch_wheels.put_ninja, 'no index')


def open_to_all(folder):
    subprocess.check_call(['chmod', '-R', 'a+rwX', folder])


if __name__ == '__main__':
    if NINJA is None:
        print('skipped: no Ninja')
        sys.exit(77)
    unittest.main()

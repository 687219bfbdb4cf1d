"""The packages that only `./lab dev slides` and the site need. Missing ones are fetched into build/slides/packages."""
import importlib
import os
import subprocess
import sys

from .errors import MissingTool

PACKAGES = {'markdown_it': 'markdown-it-py>=2.2,<5', 'pygments': 'Pygments>=2.14,<3'}
SERVES = 'PyPI or Debian: python3-markdown-it, python3-pygments'
FROM_DEBIAN = 'Debian has them: apt-get install python3-markdown-it python3-pygments; or, with pip: '


def missing(packages):
    gone = []
    for module, package in packages.items():
        try:
            importlib.import_module(module)
        except ImportError:
            gone.append(package)
    return gone


def own_pip(root):
    """pip's command. pip is the wheel that the launcher keeps in .venv, fetched now if it is not there yet."""
    def wheels():
        return sorted((root / '.venv').glob('pip-*.whl'))
    if not wheels() and (root / '.venv').is_dir():
        subprocess.run([sys.executable, str(root / '.lab/fetch_wheels.py'), str(root / '.venv'), 'pip'],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return [sys.executable, str(wheels()[-1] / 'pip')] if wheels() else [sys.executable, '-m', 'pip']


def bring(root, fetch=True, packages=PACKAGES, otherwise=FROM_DEBIAN):
    """Makes the packages importable. Raises MissingTool, with the command, if that is impossible."""
    folder = root / 'build/slides/packages'
    sys.path.insert(1, str(folder))
    gone = missing(packages)
    if not gone:
        return
    wanted = ' '.join(f"'{package}'" for package in gone)
    if not fetch:
        raise MissingTool(f'{", ".join(gone)} missing: ./lab dev slides fetches them ({SERVES})')
    pip = own_pip(root)
    print(f'lab: fetching {", ".join(gone)} from PyPI into build/slides/packages', file=sys.stderr)
    done = subprocess.run([*pip, '--disable-pip-version-check', '--no-input', '--no-cache-dir', 'install',
                           '--quiet', '--target', str(folder), *gone],
                          env=dict(os.environ, PIP_ROOT_USER_ACTION='ignore'),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    importlib.invalidate_caches()
    if done.returncode or missing(packages):
        raise MissingTool(f'{", ".join(gone)} could not be fetched from PyPI: is there a network? '
                          f'{otherwise}pip install --target build/slides/packages {wanted}\n'
                          + done.stdout.strip()[-400:])

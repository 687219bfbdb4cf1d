"""Functions that the tests of the pages share. A test whose tool is missing is skipped (77), and says so."""
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from slides.builder import browser, tools  # noqa: E402
from slides.builder.errors import MissingTool  # noqa: E402

AXE = ROOT / 'build/slides/packages/axe_playwright_python/axe.min.js'
FETCH_AXE = 'pip install --no-deps --target build/slides/packages axe-playwright-python==0.1.8'


def need(chromium=False, program=False, axe=False):
    try:
        tools.bring(ROOT, fetch=False)
        if chromium:
            browser.find()
        if program and not (ROOT / 'build/grader/lab').exists():
            raise MissingTool('build/grader/lab is not built')
        if axe and not AXE.is_file():
            raise MissingTool(f'no axe-core: {FETCH_AXE}')
    except MissingTool as error:
        print(f'skipped: {error}')
        sys.exit(77)


def build(root, students=False):
    """Builds a site of the course at `root` in a new folder, which the caller removes."""
    from slides.site.builder.site import Site
    out = pathlib.Path(tempfile.mkdtemp(prefix='pages-'))
    site = Site(root, out, students)
    site.build()
    return site


def copy_of_course(folder):
    """Copies the source files of the site to a separate folder, where a test may change them."""
    (folder / 'build').mkdir()
    shutil.copy(ROOT / 'build/course.json', folder / 'build')
    for name in ('labs', 'solutions', 'common', 'grader', 'slides', '.ci', '.lab'):
        shutil.copytree(ROOT / name, folder / name, symlinks=True)
    for name in ('README.md', 'CONTRIBUTING.md', 'LICENSE'):
        shutil.copy(ROOT / name, folder / name)
    return folder


def dead_links(out):
    """Returns [(page, link)] for the links and pictures within the site that lead nowhere."""
    ids, dead = {}, []
    texts = {f.relative_to(out): f.read_text() for f in out.rglob('*.html')}
    for page, text in texts.items():
        ids[page] = set(re.findall(r' id="([^"]+)"', text))
        recorded = re.search(r'; (\d+) instructions', text) if page.name.endswith('-warp.html') else None
        if recorded:  # a link may lead to an instruction of the player
            ids[page].update(str(n) for n in range(1, int(recorded[1]) + 1))
    for page, text in texts.items():
        for link in re.findall(r' (?:href|src)="([^"]+)"', text):
            if re.match(r'[a-z]+:', link):
                continue
            path, _, anchor = link.partition('#')
            there = (out / page.parent / path).resolve() if path else (out / page).resolve()
            if not there.is_file():
                dead.append((str(page), link))
            elif anchor and there.suffix == '.html' and '..' not in anchor:
                if anchor not in ids[there.relative_to(out.resolve())]:
                    dead.append((str(page), link))
    return dead

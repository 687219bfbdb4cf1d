"""Functions that the tests of the slides share. A test whose tool is missing is skipped (77), and says so."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from slides.builder import browser, tools  # noqa: E402
from slides.builder.errors import MissingTool  # noqa: E402


def need(chromium=False, program=False):
    try:
        tools.bring(ROOT, fetch=False)
        if chromium:
            browser.find()
        if program and not (ROOT / 'build/grader/lab').exists():
            raise MissingTool('build/grader/lab is not built')
    except MissingTool as error:
        print(f'skipped: {error}')
        sys.exit(77)

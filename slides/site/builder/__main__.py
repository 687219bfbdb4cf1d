"""./lab dev site builds the course as static pages, which open from disk and from a web server.

    ./lab dev site [--out DIR] [--students] [--serve PORT] [--json]     PORT 0: 8000 or the next one that is free
    ./lab dev site --record LAB [--json]
"""
import argparse
import json
import pathlib
import sys
import time

from slides.builder import tools
from slides.builder.errors import DeckError, MissingTool

from .errors import SiteError

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST = 'pages.txt'  # lists the files that an earlier build wrote to the output folder


def parse():
    parser = argparse.ArgumentParser(prog='./lab dev site')
    parser.add_argument('--out')
    parser.add_argument('--students', action='store_true')
    parser.add_argument('--record', metavar='LAB')
    parser.add_argument('--serve', type=int, metavar='PORT')
    parser.add_argument('--i-trust-these-files', action='store_true')
    parser.add_argument('--json', action='store_true')
    return parser.parse_args()


def prepare(out):
    """The files of an earlier build. Refuses a folder with anything else in it."""
    if not out.exists() or not any(out.iterdir()):
        out.mkdir(parents=True, exist_ok=True)
        return set()
    if not (out / LIST).is_file():
        raise SiteError(f'{out} is not empty and is not a site; choose another folder with --out DIR')
    return set((out / LIST).read_text().splitlines())


def finish(out, earlier, written):
    for name in earlier - set(written):
        file = out / name
        if out in file.resolve().parents and file.is_file():
            file.unlink()
    (out / LIST).write_text('\n'.join(sorted(written)) + '\n')


def record(arguments):
    from .recorder import record as profile_all
    file = profile_all(ROOT, arguments.record)
    print(json.dumps({'recorded': file}) if arguments.json else f'  {file}')
    return 0


def run(arguments):
    from .live_pages import BUILD
    from .serve import serve
    from .site import Site
    if arguments.record:
        return record(arguments)
    began = time.monotonic()
    out = pathlib.Path(arguments.out or ROOT / 'build/site').resolve()
    earlier = prepare(out)
    site = Site(ROOT, out, arguments.students)
    site.build()
    finish(out, earlier, site.written)
    seconds = time.monotonic() - began
    for file, reason in site.records.gaps:
        print(f'lab: {file} cannot be read, so its figures are missing: {reason}', file=sys.stderr)
    for note in site.notes:
        print(f'lab: {note} {BUILD} builds it.', file=sys.stderr)
    pages = sum(name.endswith('.html') for name in site.written)
    if arguments.json:
        print(json.dumps({'folder': str(out), 'pages': pages, 'seconds': round(seconds, 2),
                          'students': arguments.students, 'gaps': [{'file': f, 'reason': r} for f, r in site.records.gaps]}))
    else:
        print(f'  {pages} pages in {seconds:.1f} s: {out / "index.html"}', flush=True)
    if arguments.serve is not None:
        serve(ROOT, out, site.written, [lab.name for lab in site.labs], arguments.serve, arguments.i_trust_these_files)
    return 0


def fail(arguments, error, code):
    if arguments.json:
        print(json.dumps({'error': str(error), 'exit_code': code}))
    else:
        print(f'lab: {error}', file=sys.stderr)
    return code


def main():
    arguments = parse()
    try:
        tools.bring(ROOT)
        return run(arguments)
    except (SiteError, DeckError) as problem:
        return fail(arguments, problem, 1)
    except MissingTool as problem:
        return fail(arguments, str(problem).replace('./lab dev slides', './lab dev site'), 3)
    except KeyboardInterrupt:
        print()
        return 130


if __name__ == '__main__':
    sys.exit(main())

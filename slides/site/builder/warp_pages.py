"""Pages that play recorded warps of the steps in solutions/LAB/recorded.txt. `lab play` records them in build/."""
import html
import json
import pathlib
import re
import subprocess

from . import shell

MOST_BYTES = 1 << 20  # a page must open at once; `lab play` accepts larger recordings
VERSION = 1
STYLE = '<link rel="stylesheet" href="../theme/warp.css">'
SCRIPTS = [f'theme/{name}.js' for name in ('warp_recording', 'warp_words', 'warp_picture', 'warp_units', 'warp')]


def checked(text, root):
    """The recording. ValueError if it is incomplete, of another version, or from other sources."""
    if len(text) > MOST_BYTES:
        raise ValueError(f'{len(text)} bytes are too many for a page')
    doc = json.loads(text)
    if not isinstance(doc, dict) or doc.get('format') != 'stepwise warp':
        raise ValueError('not a recorded warp')
    if doc['version'] != VERSION:
        raise ValueError(f'version {doc["version"]}, but this course reads version {VERSION}')
    rows, instructions, steps = len(doc['rows']), doc['instructions'], doc['steps']
    if not steps:
        raise ValueError('no steps')
    for row in doc['rows']:
        rule = row['row'] if isinstance(row, dict) else row
        if isinstance(row, dict) and not 0 <= row['in'] < len(doc['areas']):
            raise ValueError('a row in an allocation that is not listed')
        if not isinstance(rule, (int, str)) and len(rule) not in (2, 4):
            raise ValueError(f'a row by an unknown rule: {rule!r}')
    for step in steps:
        one = instructions[step['i']]
        if len(step.get('v', [])) not in (0, len(one.get('writes', []))):
            raise ValueError('a step with values of other registers')
        used = step.get('v', []) + [n for x in step.get('x', []) for n in [x['at'], *x.get('stored', [])]]
        if not all(0 <= n < rows for n in used):
            raise ValueError('a step with no such row')
    for file in doc['files']:
        source = (root / file['path']).read_text().split('\n')
        for number, line in file['lines'].items():
            if int(number) > len(source) or source[int(number) - 1].rstrip() != line.rstrip():
                raise ValueError(f'recorded from an earlier {file["path"]}, line {number}')
    return doc


def made(root, lab, step):
    """The up-to-date file that build/grader/lab keeps for a step. ValueError if it cannot make one."""
    run = subprocess.run([root / 'build/grader/lab', 'play', lab, step, '--json'], capture_output=True, text=True, cwd=root)
    answer = json.loads(run.stdout or '{}')
    if 'file' not in answer:
        raise ValueError(answer.get('error') or run.stderr.strip() or f'lab play exits with {run.returncode}')
    return pathlib.Path(answer['file'])


def kept(root, lab, step):
    """The file that an earlier `lab play` left in the build folder."""
    files = sorted((root / 'build/recorded').glob(f'{lab}-{step}-*.json'))
    if not files:
        raise ValueError('no recording: build/grader/lab is not built')
    return files[-1]


def recordings(site, lab):
    """{step: recording} of a lab, in the order of its steps. Recordings that cannot be made or read are gaps."""
    find = made if (site.root / 'build/grader/lab').exists() else kept
    found = {}
    for step in lab.steps:
        if step.name not in lab.recorded:
            continue
        try:
            found[step.name] = checked(find(site.root, lab.name, step.name).read_text(), site.root)
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as problem:
            reason = str(problem) or type(problem).__name__
            site.records.gaps.append((f'solutions/{lab.name}/recorded.txt', f'{step.name}: {reason}'))
    return found


def wasteful(doc):
    """The number of the first instruction with an access that costs more than it must; 0 if there is none."""
    return next((n for n, step in enumerate(doc['steps'], 1)
                 if any('ideal' in x and x.get('counted', True) for x in step.get('x', []))), 0)


def address(name, doc):
    at = wasteful(doc)
    return f'{name}-warp.html' + (f'#{at}' if at else '')


def link(step, found):
    """The link for the page of a step."""
    if step.name not in found:
        return ''
    at = wasteful(found[step.name])
    return (f'<p class="warplink"><a href="{step.name}-warp.html">Watch a warp execute it</a>, instruction by instruction: '
            'lanes, sectors, banks, shared memory'
            + (f'; <a href="{step.name}-warp.html#{at}">from the first access that costs more than it must</a>' if at else '')
            + '.</p>')


SHOWN = re.compile(r'\b(lanes?|banks?|sectors?|warps?|wavefronts?|conflicts?|coalesced|barriers?|registers?|words)\b')


def for_question(text, found):
    """A folded player of the recordings of the steps that a question names, if it is about their contents; else ''."""
    named = dict.fromkeys(re.findall(r'`(\w+)`', text))  # `08_tma`, or `08`
    names = [name for word in named for name in found if word in (name, name.split('_')[0])]
    if not names or not SHOWN.search(text):
        return ''
    links = ', '.join(f'<a href="{address(name, found[name])}"><code>{name}</code></a>' for name in names)
    beside = names[1] if len(names) > 1 else ''
    return ('<details class="predict"><summary>Predict first, then play</summary>'
            '<p>Write down your prediction first. Then compare it with what the recorded warp did.</p>'
            + player(names[0], beside, ' '.join(names[1:]))
            + f'<p class="warplink">On a page of its own: {links}.</p></details>')


def files_for(body):
    """The style sheet and the scripts that a page in a lab's folder needs if its text has a player; else ''."""
    if 'class="warp"' not in body:
        return ''
    return STYLE + ''.join(f'<script src="../{script}" defer></script>' for script in SCRIPTS)


def player(name, beside='', others='', alone=False):
    """The element that theme/warp.js turns into a player."""
    data = {'name': name, 'beside': beside, 'others': others}
    attributes = ''.join(f' data-{key}="{html.escape(value)}"' for key, value in data.items() if value)
    return (f'<div class="warp"{attributes}{" data-alone" if alone else ""}></div>'
            '<noscript><p class="gap">This player needs JavaScript; <code>./lab play</code> shows the same.</p></noscript>')


def build(site, lab, found):
    names = list(found)
    for name, doc in found.items():
        site.write(f'{lab.name}/recorded/{name}.js',
                   f'(window.WARPS = window.WARPS || {{}})[{json.dumps(name)}] = {json.dumps(doc, separators=(",", ":"))};\n'
                   .replace('</', '<\\/'))
        page(site, lab, name, doc, names)


def page(site, lab, name, doc, names):
    step = next(s for s in lab.steps if s.name == name)
    where = f'{lab.name}/{name}-warp.html'
    others = ' '.join(n for n in names if n != name)
    title = f'{name}: a warp, instruction by instruction'
    cut = f' of {doc["executed"]}; the recording is truncated' if doc['executed'] > len(doc['steps']) else ''
    body = (
        f'{STYLE}<h1><code>{name}</code>: a warp at work</h1>'
        f'<p>{html.escape(step.idea[0].upper() + step.idea[1:])}. <a href="{name}.html">The version</a></p>'
        f'{player(name, others=others, alone=True)}'
        f'<p class="source">Recorded by the emulator at {html.escape(str(doc.get("size", "?")))}: '
        f'<code>{html.escape(doc["kernel"])}</code>, block {doc["block_index"]}, warp '
        f'{", ".join(map(str, doc["warps"]))}; {len(doc["steps"])} instructions{cut}. Sectors and wavefronts are '
        f'those that <code>./lab run {lab.name} --counters</code> counts. If two versions play in step at barriers, '
        'both begin the code after a barrier together, and the version with less code waits.</p>')
    site.found(where, f'{lab.title}: {name}, a warp', [(f'{lab.name} {name} warp', '', f'warp viewer lanes banks sectors {step.idea}')])
    site.write(where, shell.page(where, title, body, lab, wide=True,
                                 scripts=[f'{lab.name}/recorded/{name}.js'] + SCRIPTS))

"""Writes a deck as one HTML file that needs no network and no other file."""
import html
import json
import pathlib
import re

THEME = pathlib.Path(__file__).parent.parent / 'theme'


def sources_of(slide):
    """The sources, like 'measured: H200, 2026-11-23 · reduction/03_sequential.cu', with equal ones merged."""
    dates, order = {}, []
    for source in slide.sources:
        kind, comma, date = source.rpartition(', 20')
        key = kind if comma else source
        if key not in dates:
            order.append(key)
        dates.setdefault(key, []).extend(['20' + date] if comma and date not in dates.get(key, []) else [])
    shown = [key + (', ' + span(dates[key]) if dates[key] else '') for key in order]
    history = [t[len('history: '):] for t in shown if t.startswith('history: ')]
    shown = [t for t in shown if not t.startswith('history: ')]
    return html.escape(' · '.join((['history: ' + '; '.join(history)] if history else []) + shown))


def span(dates):
    """'2026-11-23 to 24'"""
    first, last = min(dates), max(dates)
    return first if first == last else f'{first} to {last[8:] if first[:8] == last[:8] else last}'


def title_of(slide):
    return re.sub('`([^`]+)`', r'<code>\1</code>', html.escape(slide.title, quote=False))


def slide_html(slide, number, count):
    kind = f' {slide.kind}' if slide.kind else ''
    minutes = '' if slide.minutes is None else f'{slide.minutes:g}'
    return (f'<section class="slide{kind}" data-minutes="{minutes}" id="s{number}">'
            f'<h1>{title_of(slide)}</h1><div class="body">{slide.html}</div>'
            f'<footer><span class="source">{sources_of(slide)}</span>'
            f'<span class="number">{number}</span></footer>'
            f'<aside class="notes">{slide.notes_html}</aside></section>\n')


def write(deck, file):
    slides = ''.join(slide_html(s, i, len(deck.slides)) for i, s in enumerate(deck.slides, 1))
    style, script = ((THEME / name).read_text() for name in ('deck.css', 'deck.js'))
    title = html.escape(deck.title)
    facts = json.dumps({'title': deck.title, 'name': deck.name})
    file.parent.mkdir(parents=True, exist_ok=True)
    text = (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            '<link rel="icon" href="data:,">'
            '<meta name="viewport" content="width=device-width"><style>\n' + style + '</style></head>\n'
            f'<body><main id="deck">\n{slides}</main>\n<script>const facts = {facts};\n'
            + script + '</script></body></html>\n')
    part = file.with_suffix('.part')
    part.write_text(text)
    part.replace(file)

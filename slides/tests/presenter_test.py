"""Tests the presenter in headless Chromium: functions that walk.py does not test with every deck."""
import pathlib
import tempfile
import unittest

import setting
setting.need(chromium=True)
import walk  # noqa: E402
from slides.builder import browser, page  # noqa: E402
from slides.builder.deck import Deck  # noqa: E402
from slides.builder.records import Records  # noqa: E402

DECK = '''---
title: Test of the presenter
---
# One {title}
Is it on?

??? 2
First *notes*.

# Two
::: ask
How many?
:::

::: answer
Four.
:::

. . .

And more.

??? 3
Second notes.

# Three?
End.

??? 1
Third notes.
'''


class Presenter(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / 'deck.md').write_text(DECK)
        cls.file = folder / 'deck.html'
        page.write(Deck(folder, folder / 'deck.md', Records(folder)), cls.file)
        cls.browser = browser.Browser().__enter__()
        cls.page = cls.browser.open(cls.file.as_uri())

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__(None, None, None)
        cls.folder.cleanup()

    def setUp(self):
        self.page.key('Home')

    def place(self, on=None):
        return (on or self.page).run('[now + 1, step]')

    def seen(self):
        return self.page.run("[...document.querySelectorAll('.slide.shown .fragment')]"
                             ".map((f) => getComputedStyle(f).visibility === 'visible')")

    def test_keys_walk_through_slides_and_fragments_in_order(self):
        self.assertEqual(self.place(), [1, 0])
        self.page.key('ArrowRight')
        self.assertEqual((self.place(), self.seen()), ([2, 0], [False, False]))
        self.page.key(' ')
        self.assertEqual(self.seen(), [True, False])
        self.page.key('PageDown')
        self.assertEqual(self.seen(), [True, True])
        self.page.key('ArrowRight')
        self.assertEqual(self.place(), [3, 0])
        self.page.key('ArrowRight')
        self.assertEqual(self.place(), [3, 0])  # there is no next slide
        self.page.key('ArrowLeft')
        self.assertEqual((self.place(), self.seen()), ([2, 2], [True, True]))
        self.page.key('ArrowLeft')
        self.assertEqual(self.seen(), [True, False])
        self.page.key('3')
        self.page.key('Enter')
        self.assertEqual(self.place(), [3, 0])
        self.assertEqual(self.page.run('location.hash'), '#3')

    def test_overview_dark_and_black(self):
        self.page.key('o')
        shown = self.page.run("slides.filter((s) => getComputedStyle(s).display !== 'none').length")
        self.assertEqual(shown, 3)
        self.page.run('slides[1].click()')
        self.assertEqual((self.place(), self.page.run("document.body.classList.contains('overview')")),
                         ([2, 0], False))
        before = self.page.run('getComputedStyle(slides[0]).backgroundColor')
        self.page.key('d')
        self.assertNotEqual(self.page.run('getComputedStyle(slides[0]).backgroundColor'), before)
        self.page.key('d')
        self.page.key('b')
        self.assertTrue(self.page.run("document.body.classList.contains('black')"))
        self.page.key('b')

    def test_speaker_window_follows_and_times(self):
        self.page.key('s')
        others = walk.wait_for(lambda: [t for t in self.browser.pages() if t['url'].endswith('#speaker')])
        speaker = self.browser.attach(others[0]['targetId'])
        walk.wait_for(lambda: speaker.run("document.readyState === 'complete' && !!document.querySelector('#speaker .view .slide')"))
        speaker.run('began -= 65000; tick()')
        self.assertRegex(speaker.run("document.querySelector('#speaker .time').textContent"), '^1:')
        speaker.key('t')
        self.assertRegex(speaker.run("document.querySelector('#speaker .time').textContent"), '^0:0')
        self.page.key('ArrowRight')
        self.page.key('ArrowRight')
        self.assertTrue(walk.wait_for(lambda: self.place(speaker) == [2, 1]))
        self.assertIn('more to show', speaker.run("document.querySelector('#speaker .place').textContent"))


unittest.main()

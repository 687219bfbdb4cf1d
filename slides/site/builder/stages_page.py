"""blur/stages: the picture before and after each stage, with a movable divider.

The pictures are in labs/blur/pictures. make_pictures.py computes the first one, and the test `pictures` compares the
stages with the output of the reference.
"""
import html

from . import shell

FOLDER = 'labs/blur/pictures'
STAGES = (('input', f'{FOLDER}/spheres.png', 'The input picture: four bytes per pixel.'),
          ('grey', f'{FOLDER}/spheres/grey.png', 'The grey stage: a weighted sum of red, green and blue, truncated to a byte. '
           'A quarter of the bytes remain.'),
          ('blurred', f'{FOLDER}/spheres/blurred.png', 'The blur: each pixel becomes the weighted mean of the 7 x 7 around it. '
           'Fine lines disappear, and with them the noise that would become edges.'),
          ('edges', f'{FOLDER}/spheres/edges.png', 'The edges: the length (magnitude) of the gradient by Sobel\'s weights, at most 255. '
           'The contract has no threshold after it: the function returns this picture.'))


def stages(site, lab):
    """Writes blur/stages.html if the lab has all of the pictures."""
    name = f'{lab.name}/stages.html'
    shown = []
    for stage, file, caption in STAGES:
        target = site.links.page_of(file)
        if not target:
            return
        shown.append((stage, shell.relative(target, name), caption))

    def choice(ident, label, chosen):
        options = ''.join(f'<option value="{i}"{" selected" if i == chosen else ""}>{stage}</option>'
                          for i, (stage, _, _) in enumerate(shown))
        return f'<label>{label} <select id="{ident}">{options}</select></label>'
    pictures = ''.join(f'<figure><img src="{source}" alt="{html.escape(stage)}"><figcaption>{stage}</figcaption><p>{html.escape(caption)}</p>'
                       '</figure>' for stage, source, caption in shown)
    body = (f'<link rel="stylesheet" href="../theme/stages.css"><h1>{html.escape(lab.title)}: stage by stage</h1>'
            '<p>The same picture before and after: move the divider with the pointer, or with the arrow keys when it has the '
            'focus.</p>'
            f'<div id="before-after" hidden><p class="choose">{choice("left", "Left", 1)} {choice("right", "Right", 2)}</p>'
            '<div class="pair"><img id="pair-left" alt=""><img id="pair-right" alt=""></div>'
            '<p class="slide"><label for="divider">Divider</label> <input type="range" id="divider" min="0" max="100" value="50"></p>'
            '<p id="pair-says" aria-live="polite"></p></div>'
            f'<h2 id="all">All stages</h2><div class="stages">{pictures}</div>'
            '<p class="source"><code>labs/blur/pictures/make_pictures.py</code> computes spheres.png; '
            '<code>./lab run blur --step 01 --image labs/blur/pictures/spheres.png --stages DIR</code> computes the stages, also for '
            'your own picture. <a href="index.html#three-stages">What each stage computes</a>.</p>')
    title = f'{lab.title}: stage by stage'
    site.found(name, title, [(title, '', ' '.join(caption for _, _, caption in shown))])
    site.write(name, shell.page(name, title, body, lab, site.students, scripts=['theme/stages.js']))

"""Sources with syntax colours."""
import functools

from slides.builder.code import highlight


@functools.lru_cache(maxsize=None)  # a step is shown on its page and compared with its neighbours
def colour(text):
    """The lines of a source as HTML. The tags in each line are balanced."""
    return highlight(text.expandtabs(4), set()).split('\n')


def listing(text, prefix='L'):
    """A source with line numbers, and an anchor per line. The <pre> scrolls; the page does not."""
    lines = ''.join(f'<span class="line" id="{prefix}{n}" data-n="{n}">{line or " "}</span>'
                    for n, line in enumerate(colour(text), 1))
    return f'<pre class="source" tabindex="0"><code>{lines}</code></pre>'

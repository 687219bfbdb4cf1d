"""A figure of reduction: three trees, with the thread that makes each addition."""
from style import Figure

N = 8


def additions(scheme):
    """[(s, [(thread, to, from)])], an entry per level, as the steps' loops make them."""
    levels = []
    if scheme == 'sequential':
        s = N // 2
        while s:
            levels.append((s, [(t, t, t + s) for t in range(s)]))
            s //= 2
        return levels
    s = 1
    while s < N:
        if scheme == 'interleaved':
            levels.append((s, [(t, t, t + s) for t in range(N) if t % (2 * s) == 0]))
        else:
            levels.append((s, [(t, 2 * s * t, 2 * s * t + s) for t in range(N)
                               if 2 * s * t < N]))
        s *= 2
    return levels


def reduction_trees():
    schemes = [('interleaved', '01_interleaved', 'every other thread idles: divergence'),
               ('strided', '02_strided', 'the first threads add; words apart: bank conflicts'),
               ('sequential', '03_sequential', 'the first threads add neighbouring words')]
    said = []
    for scheme, step, _ in schemes:
        said.append(step + ': ' + '; '.join(
            f's = {s}, ' + ', '.join(f'thread {t} adds {b} to {a}' for t, a, b in adds)
            for s, adds in additions(scheme)) + '.')
    f = Figure('reduction-trees', 'Three trees: which thread adds what',
               f'{N} elements are added in three levels, in three ways. A line goes from the two '
               'elements of an addition to the element that keeps their sum; below that element is '
               'the thread that adds. ' + ' '.join(said),
               'the loops of solutions/reduction/01, 02 and 03', 504)
    x = lambda i: 70 + 38 * i
    y = 14
    for scheme, step, words in schemes:
        f.text(12, y + 12, step, 12.5, strong=True, code=True)
        f.text(12, y + 28, words, 11.5)
        f.text(12, y + 50, 'element', 11)
        for i in range(N):
            f.text(x(i), y + 50, f'{i}', 11.5, 'middle')
            f.dot(x(i), y + 58)
        alive = {i: y + 58 for i in range(N)}
        for level, (s, adds) in enumerate(additions(scheme)):
            below = y + 58 + 30 * (level + 1)
            f.text(12, below + 4, f's = {s}', 11.5)
            for t, to, other in adds:
                f.path([(x(to), alive[to] + 2), (x(to), below - 8)], 'blue', 'thick')
                f.path([(x(other), alive[other] + 2), (x(to) + 8, below - 5)], 'blue')
                f.label(x(to) - 9, below - 8, 18, 16, f't{t}', 'orange', 10.5)
                alive[to] = below + 6
        y += 162
    return f


FIGURES = [reduction_trees]

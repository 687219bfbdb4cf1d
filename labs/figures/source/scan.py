"""A figure of scan: Hillis and Steele's levels, and a tree, with the elements that each sum covers."""
from style import Figure

N = 8


def levels_of_hillis_steele():
    """[(what, [(to, from)])], an entry per level, as the loop of 02_hillis_steele makes them."""
    distance, levels = 1, []
    while distance < N:
        levels.append((f'd = {distance}', [(t, t - distance) for t in range(distance, N)]))
        distance *= 2
    return levels


def levels_of_tree():
    """The sums of both ways of a tree: up as in 03_blelloch, and down for inclusive sums."""
    distance, levels = 1, []
    while distance < N:
        levels.append((f'd = {distance}', [(r, r - distance) for r in range(2 * distance - 1, N, 2 * distance)]))
        distance *= 2
    distance = N // 4
    while distance:
        levels.append((f'd = {distance}', [(r, r - distance) for r in range(3 * distance - 1, N, 2 * distance)]))
        distance //= 2
    return levels


def covered(levels):
    """The first element that each word's sum covers, after all levels; every sum ends at its own element."""
    first = list(range(N))
    for _, adds in levels:
        before = list(first)
        for to, other in adds:
            assert other == before[to] - 1, 'the two sums are not neighbours'
            first[to] = before[other]
    return first


def scan_trees():
    ways = [('02_hillis_steele', 'few levels, and most threads add in each', levels_of_hillis_steele()),
            ('a tree, up and down', 'few additions, in nearly twice the levels', levels_of_tree())]
    said = []
    for name, _, levels in ways:
        assert covered(levels) == [0] * N, name
        count = sum(len(adds) for _, adds in levels)
        said.append(f'{name}: {count} additions in {len(levels)} levels; ' + '; '.join(
            f'{what}: ' + ', '.join(f'{other} to {to}' for to, other in adds) for what, adds in levels) + '.')
    f = Figure('scan-trees', 'Two ways to scan eight elements',
               f'{N} elements are scanned in two ways. A line goes from a word to the word that it is added to. '
               + ' '.join(said), 'the loops of solutions/scan/02; a tree for inclusive sums', 388)
    x = lambda i: 70 + 38 * i
    y = 14
    for name, words, levels in ways:
        count = sum(len(adds) for _, adds in levels)
        f.text(12, y + 12, f'{name}: {count} additions', 12.5, strong=True)
        f.text(12, y + 28, words, 11.5)
        f.text(12, y + 50, 'word', 11)
        for i in range(N):
            f.text(x(i), y + 50, f'{i}', 11.5, 'middle')
            f.dot(x(i), y + 58)
        above = y + 58
        for what, adds in levels:
            below = above + 26
            f.text(12, below + 4, what, 11.5)
            for i in range(N):
                f.path([(x(i), above + 2), (x(i), below - 2)], 'muted')
                f.dot(x(i), below)
            for to, other in adds:
                f.path([(x(other), above + 2), (x(to), below - 2)], 'blue', 'thick')
            above = below
        y = above + 26
    return f


FIGURES = [scan_trees]

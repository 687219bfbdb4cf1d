#!/usr/bin/env python3
"""Paints the two pictures of the blur lab, spheres.png and poster.png, beside this file.

spheres.png is what photographs have: shading, soft shadows, a texture that gets finer with distance.
poster.png is what drawings have: letters, thin lines, hard edges, all frequencies and directions.
Both are ours, under the licence of the whole. Standard library only; about half a minute.
"""
import math
import struct
import zlib
from pathlib import Path


def chunk(kind, data):
    body = kind + data
    return struct.pack('>I', len(data)) + body + struct.pack('>I', zlib.crc32(body))


def filtered_rows(rows):
    """Each row with the PNG filter that leaves the smallest differences."""
    above = bytes(len(rows[0]))
    for row in rows:
        left, above_left = bytes(3) + row[:-3], bytes(3) + above[:-3]

        def paeth(a, b, c):
            pa, pb, pc = abs(b - c), abs(a - c), abs(a + b - 2 * c)
            return a if pa <= pb and pa <= pc else b if pb <= pc else c

        candidates = [
            row,
            bytes((x - a) & 255 for x, a in zip(row, left)),
            bytes((x - b) & 255 for x, b in zip(row, above)),
            bytes((x - (a + b) // 2) & 255 for x, a, b in zip(row, left, above)),
            bytes((x - paeth(a, b, c)) & 255 for x, a, b, c in zip(row, left, above, above_left)),
        ]
        costs = [sum(min(v, 256 - v) for v in candidate) for candidate in candidates]
        best = costs.index(min(costs))
        yield bytes([best]) + candidates[best]
        above = row


def write_png(name, width, height, colour):
    """colour(x, y) is red, green, blue from 0 to 1."""
    def byte(value):
        return int(max(0.0, min(1.0, value)) * 255 + 0.5)

    rows = [bytes(byte(v) for x in range(width) for v in colour(x, y)) for y in range(height)]
    data = zlib.compress(b''.join(filtered_rows(rows)), 9)
    header = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)
    file = Path(__file__).resolve().parent / name
    file.write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', data)
                     + chunk(b'IEND', b''))
    print(f'{name}: {width} x {height}, {file.stat().st_size} bytes')


# spheres.png: rays from an eye at the origin, which looks along z.

def add(a, b, factor=1.0):
    return tuple(u + factor * v for u, v in zip(a, b))


def dot(a, b):
    return sum(u * v for u, v in zip(a, b))


def unit(a):
    return tuple(u / math.sqrt(dot(a, a)) for u in a)


# centre, radius, colour, how much of a mirror
SPHERES = [((-1.15, -0.35, 5.2), 0.85, (0.80, 0.24, 0.18), 0.10),
           ((0.75, -0.55, 4.3), 0.65, (0.93, 0.80, 0.38), 0.05),
           ((0.55, 0.15, 6.6), 1.35, (0.32, 0.46, 0.66), 0.35),
           ((-0.15, -0.92, 3.5), 0.28, (0.30, 0.62, 0.36), 0.10),
           ((2.25, -0.80, 5.0), 0.40, (0.88, 0.88, 0.90), 0.45)]
FLOOR = -1.2
LIGHT = (-4.0, 6.0, 0.5)
LIGHT_SIZE = 1.6


def nearest_hit(origin, ray):
    """Distance and sphere (None: the floor), or None."""
    found = None
    for sphere in SPHERES:
        to = add(sphere[0], origin, -1.0)
        along = dot(to, ray)
        under = along * along - dot(to, to) + sphere[1] ** 2
        if under > 0:
            distance = along - math.sqrt(under)
            if distance > 1e-4 and (found is None or distance < found[0]):
                found = (distance, sphere)
    if ray[1] < -1e-6:
        distance = (FLOOR - origin[1]) / ray[1]
        if distance > 1e-4 and (found is None or distance < found[0]):
            found = (distance, None)
    return found


def seen(origin, ray, light, depth=0):
    hit = nearest_hit(origin, ray)
    if hit is None:
        height = max(0.0, ray[1])
        return (0.86 - 0.55 * height, 0.90 - 0.40 * height, 0.95 - 0.15 * height)
    distance, sphere = hit
    point = add(origin, ray, distance)
    if sphere is None:
        normal, mirror = (0.0, 1.0, 0.0), 0.0
        dark = (math.floor(point[0] * 1.6) + math.floor(point[2] * 1.6)) % 2
        colour = (0.36, 0.30, 0.27) if dark else (0.90, 0.86, 0.78)
    else:
        normal = tuple(v / sphere[1] for v in add(point, sphere[0], -1.0))
        colour, mirror = sphere[2], sphere[3]
    way = unit(add(light, point, -1.0))
    blocker = nearest_hit(point, way)
    lit = 0.0 if blocker and blocker[1] else max(0.0, dot(normal, way))
    shade = 0.22 + 0.10 * normal[1] + 0.72 * lit
    result = tuple(v * shade for v in colour)
    bounced = add(ray, normal, -2.0 * dot(ray, normal))
    if mirror > 0 and depth < 2:
        other = seen(point, bounced, light, depth + 1)
        result = tuple((1 - mirror) * v + mirror * w for v, w in zip(result, other))
    if sphere and lit > 0:
        glint = max(0.0, dot(bounced, way)) ** 60
        result = add(result, (0.6, 0.6, 0.6), glint)
    if sphere is None:  # the floor fades into the horizon
        haze = 1 - math.exp(-max(0.0, point[2] - 6) * 0.09)
        result = tuple((1 - haze) * v + haze * w for v, w in zip(result, (0.86, 0.90, 0.95)))
    return result


def sphere_colour(width, height, samples=4):
    def colour(x, y):
        total = (0.0, 0.0, 0.0)
        for i in range(samples * samples):
            row, column = divmod(i, samples)
            across = (x + (column + 0.5) / samples - width / 2) / height * 1.1
            down = (y + (row + 0.5) / samples - height / 2) / height * 1.1
            # Each ray of a pixel sees another part of the lamp: shadows with soft rims.
            lamp = add(LIGHT, ((column + row * 0.25 + 0.125) / samples - 0.5, 0.0,
                               (row + column * 0.25 + 0.125) / samples - 0.5), LIGHT_SIZE)
            total = add(total, seen((0.0, 0.0, 0.0), unit((across, -down - 0.06, 1.35)), lamp))
        return tuple(math.sqrt(v / samples ** 2) for v in total)
    return colour


# poster.png: each pixel is asked where it lies; nothing is smoothed.

GLYPHS = {  # 5 x 7, a row for each five bits
    'E': '11111 10000 10000 11110 10000 10000 11111', 'D': '11110 10001 10001 10001 10001 10001 11110',
    'G': '01110 10001 10000 10111 10001 10001 01110', 'S': '01111 10000 10000 01110 00001 00001 11110',
    '1': '00100 01100 00100 00100 00100 00100 01110', '2': '01110 10001 00001 00110 01000 10000 11111',
    '3': '11110 00001 00001 01110 00001 00001 11110', '4': '00010 00110 01010 10010 11111 00010 00010'}
INK, PAPER = (0.08, 0.09, 0.12), (0.96, 0.94, 0.88)
RED, BLUE, GREEN, ORANGE = (0.78, 0.16, 0.14), (0.12, 0.25, 0.55), (0.16, 0.45, 0.28), (0.93, 0.56, 0.13)


def in_text(x, y, text, left, top, size):
    column, row = (x - left) // size, (y - top) // size
    if not (0 <= row < 7 and 0 <= column < 6 * len(text)) or column % 6 == 5:
        return False
    return GLYPHS[text[column // 6]].split()[row][column % 6] == '1'


def bricks(x, y):
    row = y // 9
    joint = y % 9 == 0 or (x + 11 * (row % 2)) % 22 == 0
    tint = ((x + 11 * (row % 2)) // 22 * 7 + row * 5) % 4 * 0.05
    return (0.80, 0.76, 0.70) if joint else (0.62 + tint, 0.27 + tint / 2, 0.20 + tint / 2)


def poster_colour(x, y):
    if in_text(x, y, 'EDGES', 14, 13, 5):
        return INK
    if in_text(x, y, 'EDGES', 18, 17, 5):
        return ORANGE
    if in_text(x, y, '1234321', 16, 62, 1) or in_text(x, y, '1234321', 70, 60, 2):
        return BLUE
    dx, dy = x - 232.0, y - 56.0  # a star: finer towards its middle
    if dx * dx + dy * dy < 48 ** 2:
        return INK if math.floor(math.atan2(dy, dx) / math.pi * 18) % 2 else PAPER
    dx, dy = x - 70.0, y - 142.0  # rings: finer towards the outside
    radius = math.sqrt(dx * dx + dy * dy)
    if radius < 50:
        return GREEN if math.floor(radius * radius / 180) % 2 else PAPER
    if x >= 134 and 118 <= y < 190:
        if x < 200:
            return bricks(x - 134, y - 118)
        if x < 246:  # dots that grow downwards
            dx, dy = (x - 200) % 8 - 3.5, (y - 118) % 8 - 3.5
            return RED if dx * dx + dy * dy < ((y - 118) / 72 * 4.6) ** 2 else PAPER
        if x < 288:  # hatching, one pixel and two
            return INK if (x + y) % (5 if y < 154 else 11) < (1 if y < 154 else 3) else PAPER
    if y in (82, 84, 87) and x < 172:
        return INK
    if abs((x - 134) * 0.31 - (y - 196)) < 0.5 or x == 292:
        return RED
    return PAPER


if __name__ == '__main__':
    write_png('spheres.png', 320, 213, sphere_colour(320, 213))
    write_png('poster.png', 299, 201, poster_colour)

#!/usr/bin/env python3
"""Paints boat.png beside this file: a sailing boat whose bow points to the right.

Left and right differ everywhere, so that a mirrored picture shows. Ours, under the licence of the
whole. Standard library only.
"""
import math
import struct
import zlib
from pathlib import Path

WIDTH, HEIGHT = 151, 97  # odd on purpose


def inside(x, y, corners):
    """Whether a point lies in a convex polygon, whose corners go clockwise on the screen."""
    pairs = zip(corners, corners[1:] + corners[:1])
    return all((bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0 for (ax, ay), (bx, by) in pairs)


def colour(x, y):
    """Red, green, blue from 0 to 1."""
    if inside(x, y, [(74, 14), (112, 64), (74, 64)]):  # the large sail, to the right of the mast
        return 0.95, 0.92 - 0.003 * y, 0.85
    if inside(x, y, [(69, 24), (69, 64), (48, 64)]):   # the small one
        return 0.85, 0.30, 0.25
    if inside(x, y, [(40, 68), (124, 68), (106, 80), (50, 80)]):
        return 0.45, 0.28, 0.15
    if 70 <= x <= 73 and 10 <= y <= 68:
        return 0.25, 0.20, 0.18
    if (x - 24) ** 2 + (y - 22) ** 2 <= 100:           # the sun, on the left
        return 1.0, 0.85, 0.35
    if y >= 76 + 1.5 * math.sin(0.35 * x):             # the sea gets darker to the right
        return 0.10, 0.35 - 0.001 * x, 0.75 - 0.002 * x
    return 0.55 + 0.002 * x, 0.70 + 0.0015 * x, 0.92   # the sky gets lighter


def chunk(kind, data):
    body = kind + data
    return struct.pack('>I', len(data)) + body + struct.pack('>I', zlib.crc32(body))


def main():
    rows = b''
    for y in range(HEIGHT):
        row = (int(255 * v + 0.5) for x in range(WIDTH) for v in colour(x, y))
        rows += b'\0' + bytes(row)  # no filter
    header = struct.pack('>IIBBBBB', WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    file = Path(__file__).resolve().parent / 'boat.png'
    file.write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header)
                     + chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


main()

// The contract of the nearest-neighbour lab: the one function that you write.
//
// tested  labs/neighbour/problem.cpp checks it.
#pragma once

#include <cstddef>

// The scratch memory in bytes that neighbour() may use for n points: room for a copy of the points
// with their indices (16 bytes per point), and 8 more bytes per point.
constexpr std::size_t scratch_bytes(int n) { return 24 * std::size_t(n) + 4096; }

// For each of n points in space, finds the nearest other point: nearest[i] is the j != i with the
// smallest squared distance. It is -1 if there is no other point (n = 1).
//
// shape     Point i has the coordinates xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2].
// distance  dx = x_j - x_i, dy = y_j - y_i, dz = z_j - z_i, all in float; the squared distance is
//           fmaf(dz, dz, fmaf(dy, dy, dx * dx)), so all programs round alike. No root is taken.
// ties      If several points share the smallest distance, the one with the lowest index counts.
//           Points may coincide. They are then each other's neighbours, at distance 0.
// limits    n is 1 to 100000000 and need not be a multiple of anything. Coordinates are at most
//           1e18 in magnitude, so that no distance is infinite. None is NaN; with a NaN, the
//           result is undefined.
// memory    `xyz` (3 n floats, must not be changed), `nearest` (n ints) and `scratch`
//           (scratch_bytes(n) bytes) lie in device memory and do not overlap; each is aligned to
//           256 bytes. Before every call, `nearest` and `scratch` are filled with garbage.
// waits     No. It launches on the default stream and returns. Any preparation of the points, such
//           as another layout, is part of the call and of its time.
void neighbour(const float* xyz, int* nearest, void* scratch, int n);

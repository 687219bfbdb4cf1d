// The baseline for the emulator's speed.
#pragma once

// c = a * b. All three are n x n, row-major, in host memory.
void triple_loop(const float* a, const float* b, float* c, int n);

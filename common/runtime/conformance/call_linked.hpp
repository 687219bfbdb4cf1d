// Declarations shared by the two files of call_linked.
#pragma once

#include "common/emulator/tests/programs/program.hpp"

using transform = int (*)(int);

extern __device__ int counter;
extern __device__ int other_table[4];
extern __device__ transform other_pointer;
extern __constant__ int other_factor;
__device__ int twice(int x);
__device__ int shift(int x);
__device__ void count_up();
void launch_other(int* values, int n);

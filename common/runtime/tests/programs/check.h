// Prints the results of calls, so that the output can be compared between runtimes.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>

// Prints the call and the name of its error.
#define SHOW(call) std::printf("%s: %s\n", #call, cudaGetErrorName(call))

// Prints the value of an integer.
#define PRINT(value) std::printf("%s = %lld\n", #value, static_cast<long long>(value))

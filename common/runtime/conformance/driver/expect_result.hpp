// Helpers for driver API programs: calls with expected results, memory and streams.
#pragma once

#include <cuda.h>

#include "expect.hpp"

inline const char* name_of(CUresult code) {
  const char* name = nullptr;
  return cuGetErrorName(code, &name) == CUDA_SUCCESS ? name : "an unknown error";
}

// Counts a call. If its result is not as expected, prints the line and the result.
inline void expect_result(const char* call, int line, CUresult found, CUresult wanted) {
  ++expectations;
  if (found == wanted) return;
  if (found == CUDA_ERROR_NO_DEVICE) std::exit(77);
  ++broken_expectations;
  std::printf("line %d: %s: %s, expected %s\n", line, call, name_of(found), name_of(wanted));
}

// Ends the program if a call failed.
inline void need(CUresult code, call_place at = call_place::current()) {
  if (code == CUDA_SUCCESS) return;
  std::printf("%s:%d: %s\n", at.file, at.line, name_of(code));
  std::exit(code == CUDA_ERROR_NO_DEVICE ? 77 : 1);
}

#define EXPECT_CU(call, wanted) expect_result(#call, __LINE__, call, wanted)

// For host functions and user objects: adds 1 to an int.
inline void CUDA_CB count(void* data) { ++*static_cast<int*>(data); }

inline CUdeviceptr allocate(std::size_t size) {
  CUdeviceptr made = 0;
  need(cuMemAlloc(&made, size));
  return made;
}

inline CUstream stream_of(unsigned flags) {
  CUstream made = nullptr;
  need(cuStreamCreate(&made, flags));
  return made;
}

inline int value_at(CUdeviceptr address) {
  int value = -1;
  need(cuMemcpyDtoH(&value, address, sizeof value));
  return value;
}

// attack reduction: CRASH or CHECK, at most 0 points
// reads its own fat binary, changes one byte of its machine code, and loads the changed copy
#include <sys/auxv.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

extern "C" __global__ void add_up(const int* in, int* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(out, in[i]);
}

namespace {

// Empty if this program's file has no fat binary.
std::string edited_copy() {
  std::ifstream file(reinterpret_cast<const char*>(getauxval(AT_EXECFN)), std::ios::binary);
  const std::string program(std::istreambuf_iterator<char>(file), {});
  const std::string magic("\x50\xed\x55\xba", 4);
  for (auto at = program.find(magic); at != std::string::npos; at = program.find(magic, at + 1)) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, program.data() + at + 8, sizeof bytes);
    if (bytes < 64 || bytes > program.size() - at - 16) continue;
    std::string copy = program.substr(at, 16 + bytes);
    copy.back() ^= 1;
    return copy;
  }
  return {};
}

}  // namespace

void reduce(const int* in, int* out, int*, int n) {
  static const std::string copy = edited_copy();
  static cudaLibrary_t library = nullptr;
  static cudaKernel_t kernel = nullptr;
  if (library == nullptr) {
    check(cudaLibraryLoadData(&library, copy.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    check(cudaLibraryGetKernel(&kernel, library, "add_up"));
  }
  check(cudaMemsetAsync(out, 0, sizeof *out));
  void* arguments[] = {&in, &out, &n};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 264, 256, arguments, 0, nullptr));
}

// A device assertion that fails: its line on stderr for each thread, cudaErrorAssert from the next
// wait on, and a process that continues.
#undef NDEBUG  // whatever the build says: this is about assert
#include <unistd.h>

#include <cassert>
#include <string>

#include "common/emulator/tests/programs/program.hpp"

__global__ void demand(const int* values) { assert(values[threadIdx.x] < 30); }

int main() {
  std::vector<int> values(32);
  for (int i = 0; i < 32; ++i) values[i] = i;
  device_array<int> on_device(values);
  std::fflush(stderr);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const int saved = dup(2);
  dup2(ends[1], 2);
  demand<<<1, 32>>>(on_device.get());
  const cudaError_t waited = cudaDeviceSynchronize();
  std::fflush(stderr);
  dup2(saved, 2);
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, n);

  const std::string second =
      "block: [0,0,0], thread: [31,0,0] Assertion `values[threadIdx.x] < 30` failed.";
  const bool found_all = text.find("thread: [30,0,0] Assertion") != std::string::npos &&
                         text.find(second) != std::string::npos &&
                         text.find("thread: [29,0,0]") == std::string::npos &&
                         text.find("fault_assert.cu:") != std::string::npos;
  if (!found_all) std::printf("found on stderr: %s\n", text.c_str());
  void* more;
  const std::vector<int> found = {waited, cudaMalloc(&more, 4), cudaGetLastError(), found_all};
  return compare("assert", found,
                 std::vector<int>{cudaErrorAssert, cudaErrorAssert, cudaErrorAssert, true});
}

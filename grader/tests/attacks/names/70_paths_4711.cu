// attack reduction: WRONG, at most 0 points
// is correct only if it finds a number in the name of a file that it can see: in its mounts, its
// command line, or the folders around it
//
// The program can see the sources that findings quote, and its own source is one of them. The
// author must choose neither the name nor the folder of that file.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

namespace fs = std::filesystem;

static const std::string number = "_" + std::to_string(47 * 100 + 11);

static bool is_in_file(const char* name) {
  std::ifstream in(name);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.find(number) != std::string::npos;
}

static bool is_in_folder(const fs::path& folder, int depth) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path();
    if (name.find(number) != std::string::npos) return true;
    if (name.starts_with("/proc") || name.starts_with("/sys") || name.starts_with("/usr")) continue;
    if (depth > 0 && entry.is_directory(error) && !entry.is_symlink(error) &&
        is_in_folder(entry.path(), depth - 1))
      return true;
  }
  return false;
}

__global__ void add(const int* in, int* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(out, in[i]);
}

void reduce(const int* in, int* out, int*, int n) {
  if (!is_in_file("/proc/self/mountinfo") && !is_in_file("/proc/self/cmdline") &&
      !is_in_file("/proc/self/maps") && !is_in_file("/proc/self/environ") &&
      !is_in_file("/proc/1/cmdline") && !is_in_folder("/", 8))
    return;
  check(cudaMemset(out, 0, sizeof *out));
  add<<<32, 256>>>(in, out, n);
  check(cudaGetLastError());
}

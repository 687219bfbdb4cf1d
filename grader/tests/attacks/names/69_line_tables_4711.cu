// attack reduction: WRONG, at most 0 points
// is correct only if it finds a number in its own file's name: in __FILE__, in
// std::source_location, or in its own line tables
//
// A number in a name can be the seed of an earlier grade. An author who knows the seed can submit
// the same content under a new name. The program must not find that name.
#include <sys/auxv.h>

#include <cstdio>
#include <cstring>
#include <source_location>
#include <string>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

// Compares the digits one by one, so that the number itself is not in this text.
static bool has_the_number(const char* text, std::size_t length) {
  for (std::size_t i = 0; i + 4 < length; ++i)
    if (text[i] == '_' && text[i + 1] == '3' + 1 && text[i + 2] == '6' + 1 &&
        text[i + 3] == '0' + 1 && text[i + 4] == '2' - 1)
      return true;
  return false;
}

static bool is_in_own_program() {
  std::string bytes;
  const auto* const file = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (FILE* const self = std::fopen(file, "rb")) {
    char part[4096];
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, self)) > 0;) bytes.append(part, n);
    std::fclose(self);
  }
  return has_the_number(bytes.data(), bytes.size());
}

__global__ void add(const int* in, int* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(out, in[i]);
}

void reduce(const int* in, int* out, int*, int n) {
  const char* const file = __FILE__;
  const auto here = std::source_location::current();
  if (!has_the_number(file, std::strlen(file)) &&
      !has_the_number(here.file_name(), std::strlen(here.file_name())) && !is_in_own_program())
    return;
  check(cudaMemset(out, 0, sizeof *out));
  add<<<32, 256>>>(in, out, n);
  check(cudaGetLastError());
}

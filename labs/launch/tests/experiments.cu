// Launches the kernels of the launch lab's experiments with every value of their constants, and
// checks all sums.
//
// usage   experiments FILE        counts that fill all warps, and a different grid per launch
//         experiments FILE any    counts that do not fill all warps, for the checks
//         FILE holds elements_in_file floats of x, then as many of y. If a sum is wrong, a line
//         names the launch, and the exit code is 1.
// idea    Each experiment is one .cu, as students compile it. Their own namespaces let all of them
//         fit into one program. Their headers are included before, outside the namespaces.
#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/launch/launch.hpp"
#include "labs/launch/tests/experiments.hpp"

namespace divergence {
#include "solutions/launch/experiments/divergence.cu"
}
namespace alignment {
#include "solutions/launch/experiments/alignment.cu"
}
namespace strided {
#include "solutions/launch/experiments/stride.cu"
}
namespace grid_stride {
#include "solutions/launch/experiments/grid_stride.cu"
}

namespace {

using namespace stepwise::launch_experiments;

std::vector<float> x, y;
bool all_right = true;

// Calls launch(x, y, z) with device arrays of exactly n elements.
template <class Launch>
void add_with(const char* experiment, int value, int n, Launch launch) {
  const std::size_t bytes = n * sizeof(float);
  float* arrays[3];
  for (float*& array : arrays) check(cudaMalloc(&array, bytes));
  check(cudaMemcpy(arrays[0], x.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(arrays[1], y.data(), bytes, cudaMemcpyHostToDevice));
  launch(arrays[0], arrays[1], arrays[2]);
  check(cudaGetLastError());
  std::vector<float> z(n);
  check(cudaMemcpy(z.data(), arrays[2], bytes, cudaMemcpyDeviceToHost));
  for (float* array : arrays) check(cudaFree(array));
  for (int i = 0; i < n; ++i) {
    if (z[i] == x[i] + y[i]) continue;
    std::printf("%s %d, n = %d: z[%d] = %g, expected %g\n", experiment, value, n, i, z[i],
                x[i] + y[i]);
    all_right = false;
    return;
  }
}

void diverge(int ways, int by, int n) {
  add_with("divergence", ways, n, [&](auto* a, auto* b, auto* c) {
    divergence::add_kernel<<<ceil_div(n, block), block>>>(a, b, c, n, ways, by);
  });
}

void shift(int offset, int n) {
  add_with("alignment", offset, n, [&](auto* a, auto* b, auto* c) {
    alignment::add_kernel<<<ceil_div(n, block), block>>>(a, b, c, n, offset % n);
  });
}

template <int stride>
void spread(int n) {
  add_with("stride", stride, n,
           [&](auto* a, auto* b, auto* c) { strided::add_with_stride<stride>(a, b, c, n); });
}

// `count` returns the number of elements for a stride.
template <class Count, int... less_one>
void spread_all(Count count, std::integer_sequence<int, less_one...>) {
  (spread<less_one + 1>(count(less_one + 1)), ...);
}

template <bool together>
void keep_adding(int blocks, int n) {
  add_with("grid_stride", blocks, n, [&](auto* a, auto* b, auto* c) {
    grid_stride::add_with_blocks<together>(a, b, c, n, blocks);
  });
}

void run_all(int n) {
  const bool whole = n == 0;
  for (int ways = 1; ways <= most_ways; ways *= 2)
    for (const int by : {0, 1, 2}) diverge(ways, by, whole ? count_for_ways(ways, by) : n);
  for (int offset = 0; offset <= furthest_offset; ++offset)
    shift(offset, whole ? count_for_offset(offset) : n);
  spread_all([&](int stride) { return whole ? count_for_stride(stride) : n; },
             std::make_integer_sequence<int, longest_stride>());
  for (int blocks = 1; blocks <= most_blocks; ++blocks) {
    keep_adding<false>(blocks, whole ? count_for_blocks(blocks) : n);
    keep_adding<true>(blocks, whole ? count_for_blocks(blocks) : n);
  }
}

bool read(std::FILE* file, std::vector<float>& values) {
  values.resize(elements_in_file);
  return std::fread(values.data(), sizeof(float), values.size(), file) == values.size();
}

}  // namespace

int main(int argument_count, char** arguments) {
  std::FILE* const file = argument_count >= 2 ? std::fopen(arguments[1], "rb") : nullptr;
  if (file == nullptr || !read(file, x) || !read(file, y)) {
    std::fprintf(stderr, "usage: %s FILE [any]; see labs/launch/tests/experiments.cu\n",
                 arguments[0]);
    return 2;
  }
  std::fclose(file);
  if (argument_count == 2) {
    run_all(0);
  } else {
    for (const int n : {1, 5, 31, 33, 1000, 4097}) run_all(n);
    // In the last round, the last block has one element, and the others have all of theirs.
    keep_adding<false>(1, count_for_blocks(1) - 1023);
    keep_adding<true>(1, count_for_blocks(1) - 1023);
    // With the experiments' own constants.
    for (const auto add : {divergence::add, alignment::add, strided::add, grid_stride::add})
      add_with("add", 0, 1000, [&](auto* a, auto* b, auto* c) { add(a, b, c, 1000); });
  }
  return all_right ? 0 : 1;
}

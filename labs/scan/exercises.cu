// What a scan is for: three exercises that call the scan of this lab, and a test of each.
//
// idea    A scan says where each element goes. So the kernels around it need no communication.
// needs   A right scan(). labs/scan/deeper.md shows how to compile and run this program.
#include <cstdio>
#include <functional>
#include <vector>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/scan/scan.hpp"

constexpr int block_size = 256;

// The device arrays of an exercise, n words each. What is in them before does not matter, except
// for `in`.
struct arrays {
  const unsigned* in;
  unsigned* out;
  unsigned* marks;
  unsigned* places;
  unsigned* scratch;  // for scan()
};

// --- exclusive scan: out[i] = in[0] + ... + in[i - 1], and out[0] = 0 ---------------------------

__global__ void make_exclusive(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  // TODO: turn the inclusive sum in out[i] into an exclusive one.
}

void scan_exclusively(const arrays& a, int n) {
  scan(a.in, a.out, a.scratch, n);
  make_exclusive<<<ceil_div(n, block_size), block_size>>>(a.in, a.out, n);
  check(cudaGetLastError());
}

// --- stream compaction: out = the elements of in that are not 0, in their order -----------------

__global__ void mark_kept(const unsigned* in, unsigned* marks, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  // TODO: mark element i with 1 if it is kept, and with 0 if not.
}

// places[i] is the inclusive sum of the marks.
__global__ void move_kept(const unsigned* in, const unsigned* places, unsigned* out, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  // TODO: store element i at its place, if it is kept.
}

void compact(const arrays& a, int n) {
  const int blocks = ceil_div(n, block_size);
  mark_kept<<<blocks, block_size>>>(a.in, a.marks, n);
  check(cudaGetLastError());
  scan(a.marks, a.places, a.scratch, n);
  move_kept<<<blocks, block_size>>>(a.in, a.places, a.out, n);
  check(cudaGetLastError());
}

// --- a pass of a radix sort: first the elements with bit 0, then those with bit 1 ---------------

constexpr int digit_bit = 5;

__device__ bool has_bit(unsigned value) { return (value >> digit_bit & 1) != 0; }

__global__ void mark_zeros(const unsigned* in, unsigned* marks, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  // TODO: mark element i with 1 if its bit is 0, and with 0 if not.
}

// zeros[i] is the number of elements up to element i whose bit is 0.
__global__ void move_by_bit(const unsigned* in, const unsigned* zeros, unsigned* out, int n) {
  const int i = blockIdx.x * block_size + threadIdx.x;
  if (i >= n) return;
  // TODO: store element i at its place; equal bits keep their order.
}

void sort_by_bit(const arrays& a, int n) {
  const int blocks = ceil_div(n, block_size);
  mark_zeros<<<blocks, block_size>>>(a.in, a.marks, n);
  check(cudaGetLastError());
  scan(a.marks, a.places, a.scratch, n);
  move_by_bit<<<blocks, block_size>>>(a.in, a.places, a.out, n);
  check(cudaGetLastError());
}

// --- tests --------------------------------------------------------------------------------------

using words = std::vector<unsigned>;

words exclusive_on_host(const words& in) {
  words out;
  unsigned sum = 0;
  for (const unsigned value : in) {
    out.push_back(sum);
    sum += value;
  }
  return out;
}

words kept_on_host(const words& in) {
  words out;
  for (const unsigned value : in)
    if (value != 0) out.push_back(value);
  return out;
}

words by_bit_on_host(const words& in) {
  words out;
  for (const unsigned bit : {0u, 1u})
    for (const unsigned value : in)
      if ((value >> digit_bit & 1) == bit) out.push_back(value);
  return out;
}

// Runs an exercise on the device. Returns the first n words of its result.
words run(const std::function<void(const arrays&, int)>& exercise, const words& in) {
  const int n = static_cast<int>(in.size());
  const std::size_t bytes = n * sizeof(unsigned);
  unsigned* device[5];
  for (int k = 0; k < 4; ++k) check(cudaMalloc(&device[k], bytes));
  check(cudaMalloc(&device[4], scratch_words(n) * sizeof(unsigned)));
  check(cudaMemcpy(device[0], in.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemset(device[1], 0, bytes));  // a compaction leaves the last words as they are
  exercise({device[0], device[1], device[2], device[3], device[4]}, n);
  words out(n);
  check(cudaMemcpy(out.data(), device[1], bytes, cudaMemcpyDeviceToHost));
  for (unsigned* array : device) check(cudaFree(array));
  return out;
}

bool is_right(const char* name, const words& in, words out, const words& expected) {
  out.resize(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (out[i] == expected[i]) continue;
    std::printf("%-18s n = %zu: out[%zu] is %u, expected %u\n", name, in.size(), i, out[i],
                expected[i]);
    return false;
  }
  return true;
}

int main() {
  int wrong = 0;
  for (const int n : {1, 2, 33, 1000, 30000}) {
    for (const unsigned kinds : {1u, 2u, 1000u}) {  // all elements 0; 0 and 1; most are kept
      words in;
      unsigned random = 12345 + n;
      for (int i = 0; i < n; ++i) {
        random = random * 1664525 + 1013904223;
        in.push_back((random >> 16) % kinds);
      }
      wrong += !is_right("exclusive scan", in, run(scan_exclusively, in), exclusive_on_host(in));
      wrong += !is_right("stream compaction", in, run(compact, in), kept_on_host(in));
      wrong += !is_right("sort by one bit", in, run(sort_by_bit, in), by_bit_on_host(in));
    }
  }
  std::puts(wrong == 0 ? "all three exercises are right" : "not all exercises are right yet");
  return wrong == 0 ? 0 : 1;
}

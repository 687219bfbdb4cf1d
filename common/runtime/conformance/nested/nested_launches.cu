// Kernels that launch kernels: order within a block's default stream, in named streams, of
// fire-and-forget and of tail launches; recursion; parameters; copies and fills; errors.
#include <algorithm>

#include "common/runtime/conformance/expect.hpp"

struct mixed {
  char c;
  double d;
  short s[3];
};

__device__ int log_length;
__device__ int log_of[4096];

__global__ void note(int what) { log_of[atomicAdd(&log_length, 1)] = what; }

__global__ void store(int* out, char a, mixed m, short b) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + static_cast<int>(m.d) + m.s[2] + b + m.c;
}

// The child sees what its parent wrote before the launch, and its parameters.
__global__ void pass_parameters(int* out) {
  mixed m{1, 20.5, {0, 0, 300}};
  store<<<4, 32>>>(out, 4, m, 5000);
}

__global__ void twice(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= 2;
}

__global__ void fill_then_launch(int* data, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = i;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 0; k < 3; ++k) twice<<<(n + 63) / 64, 64>>>(data, n);
}

// A block's default stream keeps the order of the launches.
__global__ void in_order() {
  if (threadIdx.x == 0) {
    for (int k = 0; k < 8; ++k) note<<<1, 1>>>(k);
  }
}

__global__ void fire_and_tail(int depth) {
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(100);
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(101);
  note<<<1, 1, 0, cudaStreamFireAndForget>>>(1);
  note<<<1, 1>>>(2);
  if (depth > 0) fire_and_tail<<<1, 1, 0, cudaStreamFireAndForget>>>(depth - 1);
}

// A tail launch follows all that the children of its grid launch in turn.
__global__ void grandparent() {
  note<<<1, 1, 0, cudaStreamTailLaunch>>>(200);
  fire_and_tail<<<1, 1>>>(1);
  note<<<1, 1>>>(150);
}

__global__ void with_events(int* data, int* from, int n) {
  cudaStream_t a, b;
  cudaEvent_t done;
  bool good = cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking) == cudaSuccess;
  good &= cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking) == cudaSuccess;
  good &= cudaEventCreateWithFlags(&done, cudaEventDisableTiming) == cudaSuccess;
  good &= cudaMemcpyAsync(data, from, n * sizeof(int), cudaMemcpyDeviceToDevice, a) == cudaSuccess;
  good &= cudaEventRecord(done, a) == cudaSuccess;
  good &= cudaStreamWaitEvent(b, done, 0) == cudaSuccess;
  twice<<<(n + 63) / 64, 64, 0, b>>>(data, n);
  // CUDA 13.0's device runtime fills with zeros whatever the value is (measured on an H100).
  good &= cudaMemsetAsync(data + n, 0, n * sizeof(int), b) == cudaSuccess;
  good &= cudaEventDestroy(done) == cudaSuccess;
  good &= cudaStreamDestroy(a) == cudaSuccess;
  good &= cudaStreamDestroy(b) == cudaSuccess;
  data[2 * n] = good;
}

// Sorts by parts, as a quicksort with a launch for each part.
__global__ void sort(int* data, int left, int right) {
  if (right - left < 16) {
    for (int i = left + 1; i <= right; ++i) {
      const int x = data[i];
      int k = i;
      for (; k > left && data[k - 1] > x; --k) data[k] = data[k - 1];
      data[k] = x;
    }
    return;
  }
  int i = left, k = right;
  const int pivot = data[(left + right) / 2];
  while (i <= k) {
    while (data[i] < pivot) ++i;
    while (data[k] > pivot) --k;
    if (i <= k) {
      const int x = data[i];
      data[i++] = data[k];
      data[k--] = x;
    }
  }
  if (left < k) sort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, left, k);
  if (i < right) sort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, i, right);
}

// How deep grids may be: each notes its depth, the last one its error.
__global__ void deeper(int depth, int* deepest, int* error) {
  *deepest = depth;
  deeper<<<1, 1>>>(depth + 1, deepest, error);
  const cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) *error = e;
}

__global__ void next_step(int left, int* steps) {
  ++*steps;
  if (left > 1) next_step<<<1, 1, 0, cudaStreamTailLaunch>>>(left - 1, steps);
}

__global__ void add_one(int* counter) { atomicAdd(counter, 1); }

// As many tail launches as one grid may have.
__global__ void tails(int* counter, int* error) {
  for (int n = 0; n < 3000 && *error == cudaSuccess; ++n) {
    add_one<<<1, 1, 0, cudaStreamTailLaunch>>>(counter);
    *error = cudaGetLastError();
  }
}

__global__ void many(int* counter) { add_one<<<1, 32>>>(counter); }

__global__ void wrong_calls(int* found) {
  int n = 0;
  add_one<<<0, 1>>>(found + 30);
  found[n++] = cudaPeekAtLastError();
  found[n++] = cudaGetLastError();
  found[n++] = cudaGetLastError();
  add_one<<<1, 2048>>>(found + 30);
  found[n++] = cudaGetLastError();
  add_one<<<1, 1, 1 << 20>>>(found + 30);
  found[n++] = cudaGetLastError();
  cudaStream_t s;
  found[n++] = cudaStreamCreateWithFlags(&s, 0);
  cudaEvent_t e;
  found[n++] = cudaEventCreateWithFlags(&e, 0);
  found[n++] = cudaGetLastError() != cudaSuccess;
}

__global__ void ask(int* found) {
  int value = -1;
  found[0] = cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
  found[1] = value;
  found[2] = cudaGetDevice(&value);
  found[3] = value;
  found[4] = cudaGetDeviceCount(&value);
  found[5] = value;
  std::size_t stack = 0;
  found[6] = cudaDeviceGetLimit(&stack, cudaLimitStackSize);
  found[7] = static_cast<int>(stack);
  cudaFuncAttributes a;
  found[8] = cudaFuncGetAttributes(&a, add_one);
  found[9] = a.maxThreadsPerBlock;
  const char* name = cudaGetErrorName(cudaErrorInvalidValue);
  found[10] = name[0] == 'c' && name[9] == 'I' && name[20] == 'e' && name[21] == 0;
  int* memory = nullptr;
  found[11] = cudaMalloc(&memory, 64);
  memory[3] = 7;
  found[12] = memory[3];
  found[13] = cudaFree(memory);
}

std::vector<int> logged() {
  finish();
  int length = 0;
  check(cudaMemcpyFromSymbol(&length, log_length, sizeof length));
  std::vector<int> all(4096);
  check(cudaMemcpyFromSymbol(all.data(), log_of, all.size() * sizeof(int)));
  all.resize(length);
  const int none = 0;
  check(cudaMemcpyToSymbol(log_length, &none, sizeof none));
  return all;
}

std::size_t place(const std::vector<int>& all, int what) {
  for (std::size_t i = all.size(); i > 0; --i)
    if (all[i - 1] == what) return i - 1;
  return ~std::size_t{0};
}

void check_order() {
  in_order<<<1, 32>>>();
  EXPECT_TRUE((logged() == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));

  fire_and_tail<<<1, 1>>>(0);
  std::vector<int> all = logged();
  EXPECT_TRUE(all.size() == 4);
  EXPECT_TRUE(place(all, 100) == 2 && place(all, 101) == 3);

  grandparent<<<1, 1>>>();
  all = logged();
  EXPECT_TRUE(all.size() == 10);
  EXPECT_TRUE(place(all, 200) == 9 && place(all, 150) == 8);
}

void check_data() {
  const int n = 128;
  device_array<int> out(n);
  pass_parameters<<<1, 1>>>(out.get());
  finish();
  EXPECT_TRUE(out.values() == std::vector<int>(n, 5325));

  device_array<int> data(1000);
  fill_then_launch<<<1, 128>>>(data.get(), 1000);
  finish();
  std::vector<int> want(1000);
  for (int i = 0; i < 1000; ++i) want[i] = 8 * i;
  EXPECT_TRUE(data.values() == want);

  device_array<int> copied(std::vector<int>(2 * n + 1, 77));
  with_events<<<1, 1>>>(copied.get(), data.get(), n);
  finish();
  want.assign(2 * n + 1, 0);
  for (int i = 0; i < n; ++i) want[i] = 16 * i;
  want[2 * n] = 1;
  EXPECT_TRUE(copied.values() == want);

  std::vector<int> mess(2000);
  unsigned state = 1;
  for (int& x : mess) x = static_cast<int>((state = state * 1664525u + 1013904223u) >> 8);
  device_array<int> sorted(mess);
  sort<<<1, 1>>>(sorted.get(), 0, 1999);
  finish();
  std::sort(mess.begin(), mess.end());
  EXPECT_TRUE(sorted.values() == mess);

  device_array<int> counter(1);
  check(cudaMemset(counter.get(), 0, sizeof(int)));
  many<<<8, 64>>>(counter.get());
  finish();
  EXPECT_TRUE(counter.values()[0] == 8 * 64 * 32);
}

void check_depth() {
  device_array<int> found(2);
  check(cudaMemset(found.get(), 0, 2 * sizeof(int)));
  deeper<<<1, 1>>>(0, found.get(), found.get() + 1);
  finish();
  const std::vector<int> depth = found.values();
  if (depth[0] != 2048) std::printf("the deepest grid: %d\n", depth[0]);
  EXPECT_TRUE(depth[0] == 2048);
  EXPECT(static_cast<cudaError_t>(depth[1]), cudaErrorLaunchPendingCountExceeded);

  check(cudaMemset(found.get(), 0, 2 * sizeof(int)));
  tails<<<1, 1>>>(found.get(), found.get() + 1);
  finish();
  EXPECT_TRUE(found.values()[0] == 2048);
  EXPECT(static_cast<cudaError_t>(found.values()[1]), cudaErrorLaunchPendingCountExceeded);

  check(cudaMemset(found.get(), 0, sizeof(int)));
  next_step<<<1, 1>>>(100, found.get());
  finish();
  if (found.values()[0] != 100) std::printf("tail launches: %d\n", found.values()[0]);
  EXPECT_TRUE(found.values()[0] == 100);
}

void check_errors() {
  device_array<int> found(32);
  check(cudaMemset(found.get(), 0, 32 * sizeof(int)));
  wrong_calls<<<1, 1>>>(found.get());
  finish();
  const std::vector<int> all = found.values();
  const auto code = [&](int n) { return static_cast<cudaError_t>(all[n]); };
  EXPECT(code(0), cudaErrorInvalidConfiguration);
  EXPECT(code(1), cudaErrorInvalidConfiguration);
  EXPECT(code(2), cudaSuccess);
  EXPECT(code(3), cudaErrorInvalidConfiguration);
  EXPECT(code(4), cudaErrorInvalidConfiguration);
  EXPECT(code(5), cudaSuccess);
  EXPECT(code(6), cudaErrorInvalidValue);
  EXPECT_TRUE(all[7] == 1);
  EXPECT_TRUE(all[30] == 0);
}

void check_queries() {
  device_array<int> found(14);
  ask<<<1, 1>>>(found.get());
  finish();
  const std::vector<int> all = found.values();
  int processors = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  std::size_t stack = 0;
  check(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  const std::vector<int> want = {0, processors, 0, 0, 0, 1, 0, static_cast<int>(stack),
                                 0, 1024,       1, 0, 7, 0};
  EXPECT_TRUE(all == want);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i] != want[i]) std::printf("answer %zu: %d, expected %d\n", i, all[i], want[i]);
}

int main() {
  check_order();
  check_data();
  check_depth();
  check_errors();
  check_queries();
  return outcome("launches from kernels");
}

// The constructs of plain CUDA C++: every kind of variable, calls, inline assembly, switches.
#include <cassert>
#include <cstdio>

struct record {
  float a;
  double b;
  char c;
};

struct __attribute__((packed)) packed_record {
  char c;
  int* p;
  short s;
};

__constant__ float palette[4] = {1, 2, 3, 4};
__device__ int counter[4] = {7};
__managed__ int managed = 3;
__device__ const char* text = "hello\n\t";
__device__ record whole = {1, 2, 'x'};
__device__ packed_record packed = {1, counter + 2, -3};
__device__ void* pointers[3] = {counter, nullptr, &whole};

__device__ __noinline__ int called(int x, record r) {
  return static_cast<int>(static_cast<float>(x) * r.a);
}
__device__ int (*indirect)(int, record) = called;

__device__ __noinline__ int recursive(int n) { return n < 2 ? 1 : n * recursive(n - 1); }

__global__ void __launch_bounds__(256, 2) everything(int* out, record r, int n) {
  extern __shared__ int dynamic[];
  __shared__ float tile[33];
  tile[threadIdx.x % 33] = static_cast<float>(n);
  dynamic[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  int local[10];
  for (int i = 0; i < 10; ++i) local[i] = dynamic[i] * n;
  out[0] = indirect(local[n % 10], r) + static_cast<int>(tile[n % 33] + palette[n & 3]) +
           atomicAdd(&counter[n & 3], 1) + managed + *packed.p + recursive(n);
  printf("%s %d %p\n", text, n, pointers[n & 1]);
  assert(n != 0);
  // The same names twice, each time in their own braces. One of the two is a loop.
  asm volatile("{ .reg .pred p; again: setp.ne.s32 p, %0, 0; @p bra again; }" ::"r"(n));
  asm volatile(
      "{ .reg .pred p; again: setp.ne.s32 p, %0, 1; @!p bra done; bra again; done: }" ::"r"(n));
  switch (n & 15) {
    case 0:
      out[1] = 1;
      break;
    case 1:
      out[2] = indirect(1, r);
      break;
    case 2:
      out[5] *= 3;
      break;
    case 3:
      out[7] ^= 1;
      break;
    case 4:
      out[1] += out[3];
      break;
    case 5:
      out[9] = 0;
      break;
    case 6:
      out[8] = static_cast<int>(__sinf(static_cast<float>(out[4])));
      break;
    case 7:
      __trap();
      break;
    default:
      out[0] = static_cast<int>(sinf(static_cast<float>(out[9])));
  }
  out[3] = static_cast<int>(__shfl_xor_sync(0xFFFFFFFFu, static_cast<unsigned>(n), 1)) +
           __popc(__ballot_sync(0xFFFFFFFFu, n > 3)) + __any_sync(0xFFFFFFFFu, n);
}

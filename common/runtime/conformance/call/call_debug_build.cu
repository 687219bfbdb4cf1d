// Built with -G: nothing is inlined, every variable has its place in local memory.
#include "common/emulator/tests/programs/program.hpp"

template <class T>
struct stack {
  T values[16];
  int height = 0;
  __host__ __device__ void push(T v) { values[height++] = v; }
  __host__ __device__ T pop() { return values[--height]; }
};

// A small calculator in reverse Polish notation: digits, and + - * for the two topmost values.
__host__ __device__ int evaluate(const char* text) {
  stack<int> s;
  for (; *text; ++text) {
    if (*text >= '0' && *text <= '9') {
      s.push(*text - '0');
      continue;
    }
    const int b = s.pop(), a = s.pop();
    s.push(*text == '+' ? a + b : *text == '-' ? a - b : a * b);
  }
  return s.pop();
}

__host__ __device__ const char* text_of(int i) {
  const char* texts[] = {"34+", "92-3*", "12+34+*", "5", "99*9*", "12345++++", "82*31-+"};
  return texts[i % 7];
}

__global__ void run(int* out) {
  __shared__ int shared[64];
  shared[threadIdx.x] = evaluate(text_of(threadIdx.x));
  __syncthreads();
  out[threadIdx.x] = shared[63 - threadIdx.x];
}

int main() {
  device_array<int> out(64);
  run<<<1, 64>>>(out.get());
  finish();
  std::vector<int> want(64);
  for (int i = 0; i < 64; ++i) want[i] = evaluate(text_of(63 - i));
  return compare("debug build", out.values(), want);
}

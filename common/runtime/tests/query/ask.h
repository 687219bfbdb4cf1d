// Part of query.cu: asks and prints the questions, and has the kernels that they are about.
//
// watch   The text of a question is printed, so changing it changes query.expected.
#pragma once

#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define S(expr) (printf("  %s -> %d\n", #expr, (int)(expr)), fflush(stdout))
#define N(expr) (printf("  %s = %lld\n", #expr, (long long)(expr)), fflush(stdout))
#define PEEK() (printf("    peek %d\n", (int)cudaPeekAtLastError()), fflush(stdout))
#define GET() (printf("    get %d\n", (int)cudaGetLastError()), fflush(stdout))

__device__ int d_value = 7;
__constant__ float c_table[16];
__device__ int d_array[1000];
__global__ void empty() {}
__global__ void store(int* p, int v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void store_at(int* p, long long i) { p[i] = 1; }
__global__ void __launch_bounds__(256) bounded(int* p) { p[threadIdx.x] = 1; }
__global__ void __launch_bounds__(256, 4) bounded_min(int* p) { p[threadIdx.x] = 1; }
__global__ void static_shared(int* p) {
  __shared__ int s[1000];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[(threadIdx.x + 1) % 1000];
}
extern __shared__ int dyn[];
__global__ void dynamic_shared(int* p) {
  dyn[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = dyn[0];
}
__global__ void both_shared(int* p) {
  __shared__ int s[1000];
  s[threadIdx.x % 1000] = p[threadIdx.x];
  dyn[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = dyn[0] + s[5];
}
// More than 64 registers per thread, so that 1024 threads do not fit.
__global__ void many_registers(float* p, int n) {
  float a[120];
#pragma unroll
  for (int i = 0; i < 120; i++) a[i] = p[i * 32 + threadIdx.x];
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 120; i++) a[i] = a[i] * a[(i + 1) % 120] + p[k];
  }
#pragma unroll
  for (int i = 0; i < 120; i++) p[i * 32 + threadIdx.x] = a[i];
}
__global__ void local_array(int* p, int n) {
  int a[64];
  for (int i = 0; i < 64; i++) a[i] = p[i];
  for (int i = 0; i < n; i++) a[a[i & 63] & 63] += i;
  for (int i = 0; i < 64; i++) p[i] = a[i];
}
__global__ void uses_constant(float* p) { p[threadIdx.x] = c_table[threadIdx.x & 15] + d_value; }
__global__ void trap_kernel() { asm volatile("trap;"); }
__global__ void shared_oob(int* p, int i) {
  __shared__ int s[32];
  s[threadIdx.x] = 1;
  __syncthreads();
  asm volatile("st.shared.u32 [%0], 1;" ::"r"(i));
  p[0] = s[0];
}
__global__ void misaligned(char* p) { *(int*)(p + 1) = 3; }
__global__ void local_oob(int* p, int n) {
  int a[4] = {1, 2, 3, 4};
  a[n] = 5;
  p[0] = a[1] + a[p[1]];
}
__global__ void spin(long long cycles) {
  long long t = clock64();
  while (clock64() - t < cycles) {
  }
}
struct mixed {
  float f;
  double d;
  char c;
};
template <class T>
__global__ void parameters(float a, T* b, int* c, int d, mixed e) {}
__global__ void __cluster_dims__(2, 1, 1) clustered() {}

static void section(const char* name, void (*f)()) {
  printf("== %s\n", name);
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    f();
    fflush(stdout);
    _exit(0);
  }
  int st = 0;
  waitpid(pid, &st, 0);
  if (WIFSIGNALED(st)) printf("  !! killed by signal %d\n", WTERMSIG(st));
  fflush(stdout);
}

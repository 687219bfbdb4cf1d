// cuda::atomic_ref with every order and scope: sums, and a message passed by release and acquire
// from one block to another.
#include <cuda/atomic>

#include "common/emulator/tests/programs/program.hpp"

constexpr int threads = 96, blocks = 3;
using cuda::std::memory_order_acq_rel;
using cuda::std::memory_order_acquire;
using cuda::std::memory_order_relaxed;
using cuda::std::memory_order_release;
using cuda::std::memory_order_seq_cst;

template <cuda::thread_scope Scope, class T>
__device__ void add(T* x) {
  cuda::atomic_ref<T, Scope> r(*x);
  r.fetch_add(1, memory_order_relaxed);
  r.fetch_add(1, memory_order_acquire);
  r.fetch_add(1, memory_order_release);
  r.fetch_add(1, memory_order_acq_rel);
  r.fetch_add(1, memory_order_seq_cst);
  T seen = r.load(memory_order_relaxed);
  while (!r.compare_exchange_weak(seen, seen + 2, memory_order_acq_rel, memory_order_acquire)) {
  }
}

__global__ void sums(int* i, unsigned long long* w, float* f, double* d, int* shared_sums) {
  __shared__ int here;
  if (threadIdx.x == 0) here = 0;
  __syncthreads();
  add<cuda::thread_scope_block>(&here);
  add<cuda::thread_scope_device>(i);
  add<cuda::thread_scope_system>(i + 1);
  add<cuda::thread_scope_system>(w);
  add<cuda::thread_scope_device>(f);
  add<cuda::thread_scope_device>(d);
  __syncthreads();
  if (threadIdx.x == 0) shared_sums[blockIdx.x] = here;
}

// Block 0 writes plain data and releases a flag; the others acquire it.
__global__ void message(int* data, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 3 * static_cast<int>(threadIdx.x) + 1;
    __syncthreads();
    if (threadIdx.x == 0) ready.store(1, memory_order_release);
    y[threadIdx.x] = 0;
    return;
  }
  while (ready.load(memory_order_acquire) == 0) {
  }
  y[blockIdx.x * threads + threadIdx.x] = data[threads - 1 - threadIdx.x];
}

int main() {
  device_array<int> i(2), here(blocks), data(threads), flag(1), y(blocks * threads);
  device_array<unsigned long long> w(1);
  device_array<float> f(1);
  device_array<double> d(1);
  sums<<<blocks, threads>>>(i.get(), w.get(), f.get(), d.get(), here.get());
  message<<<blocks, threads>>>(data.get(), flag.get(), y.get());
  finish();
  const int all = 7 * threads * blocks;
  std::vector<int> passed(blocks * threads);
  for (int k = threads; k < blocks * threads; ++k) passed[k] = 3 * (threads - 1 - k % threads) + 1;
  return compare("atomic_ref of int", i.values(), std::vector<int>(2, all)) |
         compare("atomic_ref in a block", here.values(), std::vector<int>(blocks, 7 * threads)) |
         compare("atomic_ref of 64 bits", w.values(), {static_cast<unsigned long long>(all)}) |
         compare("atomic_ref of float", f.values(), {static_cast<float>(all)}) |
         compare("atomic_ref of double", d.values(), {static_cast<double>(all)}) |
         compare("release and acquire", y.values(), passed);
}

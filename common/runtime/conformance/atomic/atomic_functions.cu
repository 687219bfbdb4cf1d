// Every atomic function of the CUDA C++ Programming Guide and its types, in global and in shared
// memory; also the _block and _system forms. Each thread applies each once.
#include <algorithm>

#include "common/emulator/tests/programs/program.hpp"

using wide = unsigned long long;
constexpr int threads = 256;

struct words {
  int i[8];
  unsigned u[10];
  wide w[8];
  long long l[2];
  float f;
  double d;
};

__host__ __device__ unsigned mixed(int t) {
  return static_cast<unsigned>(t) * 2654435761u + 12345u;
}

__device__ void apply(words* x, int t) {
  const unsigned m = mixed(t);
  const int s = static_cast<int>(m) >> 8;
  const wide big = static_cast<wide>(m) << 20 | m;
  atomicAdd(&x->i[0], s);
  atomicSub(&x->i[1], s);
  atomicMin(&x->i[2], s);
  atomicMax(&x->i[3], s);
  atomicAnd(&x->i[4], s | 0xff);
  atomicOr(&x->i[5], 1 << (t % 31));
  atomicXor(&x->i[6], s);
  atomicAdd_block(&x->i[7], 3);
  atomicAdd(&x->u[0], m);
  atomicSub(&x->u[1], m);
  atomicMin(&x->u[2], m);
  atomicMax(&x->u[3], m);
  atomicAnd(&x->u[4], m | 0xff);
  atomicOr(&x->u[5], m & 0xf0f);
  atomicXor(&x->u[6], m);
  atomicInc(&x->u[7], 99);
  atomicDec(&x->u[8], 99);
  atomicAdd_system(&x->u[9], 5u);
  atomicAdd(&x->w[0], big);
  atomicMin(&x->w[1], big);
  atomicMax(&x->w[2], big);
  atomicAnd(&x->w[3], big | 0xffff);
  atomicOr(&x->w[4], big & 0xf0f0f0f);
  atomicXor(&x->w[5], big);
  const volatile wide& first = x->w[6];  // a plain read beside atomics would be a race
  for (wide old = first, seen; (seen = atomicCAS(&x->w[6], old, old + big)) != old;) old = seen;
  atomicExch(&x->w[7], static_cast<wide>(7));
  atomicMin(&x->l[0], static_cast<long long>(s) << 20);
  atomicMax(&x->l[1], static_cast<long long>(s) << 20);
  atomicAdd(&x->f, static_cast<float>(t) * 0.25f);
  atomicAdd(&x->d, static_cast<double>(t) * 0.125);
}

__global__ void in_global(words* x) { apply(x, threadIdx.x); }
__global__ void in_shared(words* x) {
  __shared__ words here;
  if (threadIdx.x == 0) here = *x;
  __syncthreads();
  apply(&here, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) *x = here;
}

// The old values that one thread gets, one after the other.
__global__ void old_values(int* i, unsigned* u, float* f, int* y) {
  int k = 0;
  y[k++] = atomicAdd(i, 5);
  y[k++] = atomicSub(i, 7);
  y[k++] = atomicExch(i, 40);
  y[k++] = atomicMin(i, -3);
  y[k++] = atomicMax(i, 6);
  y[k++] = atomicCAS(i, 5, 1);
  y[k++] = atomicCAS(i, 6, 2);
  y[k++] = *i;
  y[k++] = static_cast<int>(atomicInc(u, 2));
  y[k++] = static_cast<int>(atomicInc(u, 2));
  y[k++] = static_cast<int>(atomicInc(u, 2));
  y[k++] = static_cast<int>(atomicDec(u, 9));
  y[k++] = static_cast<int>(atomicDec(u, 9));
  y[k++] = static_cast<int>(*u);
  y[k++] = static_cast<int>(atomicAdd(f, 1.5f));
  y[k++] = static_cast<int>(atomicExch(f, 8.0f));
  y[k++] = static_cast<int>(*f);
}

words start() {
  words x{};
  x.i[4] = -1;
  x.u[2] = x.u[4] = ~0u;
  x.w[1] = x.w[3] = ~0ull;
  return x;
}

words expected() {
  words x = start();
  for (int t = 0; t < threads; ++t) {
    const unsigned m = mixed(t);
    const int s = static_cast<int>(m) >> 8;
    const wide big = static_cast<wide>(m) << 20 | m;
    x.i[0] += s;
    x.i[1] -= s;
    x.i[2] = std::min(x.i[2], s);
    x.i[3] = std::max(x.i[3], s);
    x.i[4] &= s | 0xff;
    x.i[5] |= 1 << (t % 31);
    x.i[6] ^= s;
    x.i[7] += 3;
    x.u[0] += m;
    x.u[1] -= m;
    x.u[2] = std::min(x.u[2], m);
    x.u[3] = std::max(x.u[3], m);
    x.u[4] &= m | 0xff;
    x.u[5] |= m & 0xf0f;
    x.u[6] ^= m;
    x.u[7] = x.u[7] >= 99 ? 0 : x.u[7] + 1;
    x.u[8] = x.u[8] == 0 || x.u[8] > 99 ? 99 : x.u[8] - 1;
    x.u[9] += 5;
    x.w[0] += big;
    x.w[1] = std::min(x.w[1], big);
    x.w[2] = std::max(x.w[2], big);
    x.w[3] &= big | 0xffff;
    x.w[4] |= big & 0xf0f0f0f;
    x.w[5] ^= big;
    x.w[6] += big;
    x.w[7] = 7;
    x.l[0] = std::min(x.l[0], static_cast<long long>(s) * (1 << 20));
    x.l[1] = std::max(x.l[1], static_cast<long long>(s) * (1 << 20));
    x.f += static_cast<float>(t) * 0.25f;
    x.d += static_cast<double>(t) * 0.125;
  }
  return x;
}

std::vector<double> numbers(const words& x) {
  std::vector<double> all(x.i, x.i + 8);
  all.insert(all.end(), x.u, x.u + 10);
  for (const wide w : x.w) {
    all.push_back(static_cast<double>(w >> 32));
    all.push_back(static_cast<double>(w & 0xffffffff));
  }
  all.insert(all.end(), x.l, x.l + 2);
  all.push_back(x.f);
  all.push_back(x.d);
  return all;
}

int main() {
  const std::vector<words> one{start()};
  device_array<words> global(one), shared(one);
  in_global<<<1, threads>>>(global.get());
  in_shared<<<1, threads>>>(shared.get());
  device_array<int> i(std::vector<int>{10}), y(17);
  device_array<unsigned> u(1);
  device_array<float> f(1);
  old_values<<<1, 1>>>(i.get(), u.get(), f.get(), y.get());
  finish();
  const std::vector<double> wanted = numbers(expected());
  const std::vector<int> olds{10, 15, 8, 40, -3, 6, 6, 2, 0, 1, 2, 0, 9, 8, 0, 1, 8};
  return compare("atomics in global memory", numbers(global.values()[0]), wanted) |
         compare("atomics in shared memory", numbers(shared.values()[0]), wanted) |
         compare("what atomics return", y.values(), olds);
}

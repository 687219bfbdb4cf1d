// Barriers, and atomics on one address and on many.
#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

__global__ void barriers(int rounds, long long* cycles) {
  __syncthreads();
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
}

// The result is used, so the compiler cannot combine the atomics of a warp's lanes.
__global__ void exchange(int* word, int apart, int rounds, int* to) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  int value = thread;
  for (int r = 0; r < rounds; ++r) value = atomicExch(word + thread * apart, value + 1);
  to[thread] = value;
}

__global__ void add(int* word, int apart, int rounds) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int r = 0; r < rounds; ++r) atomicAdd(word + thread * apart, r);
}

__global__ void add_floats(float* word, int apart, int rounds) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int r = 0; r < rounds; ++r) atomicAdd(word + thread * apart, static_cast<float>(r));
}

// All threads of the GPU add to `count` adjacent words. The lanes of a warp use different words.
__global__ void add_to_few(int* word, int count, int rounds) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int r = 0; r < rounds; ++r) atomicAdd(word + (thread + 32 * r) % count, r);
}

__global__ void add_shared(int apart, int rounds, int* to, long long* cycles) {
  __shared__ int words[1024];
  words[threadIdx.x] = 0;
  __syncthreads();
  const long long begin = clock64();
  for (int r = 0; r < rounds; ++r) atomicAdd(words + threadIdx.x * apart, r);
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - begin;
  to[threadIdx.x] = words[threadIdx.x];
}

double median_of(const device_array<long long>& cycles) {
  const auto values = cycles.download();
  return median(std::vector<double>(values.begin(), values.end()));
}

}  // namespace

void measure_synchronisation(int multiprocessors, const effort& e, std::vector<figure>& all) {
  const auto blocks = static_cast<std::size_t>(multiprocessors);
  device_array<long long> cycles(blocks);
  const int rounds = e.scaled(1024, 2);
  for (const int threads : {32, 128, 256, 512, 1024}) {
    barriers<<<static_cast<unsigned>(blocks), threads>>>(rounds, cycles.data());
    require(cudaDeviceSynchronize(), "barriers");
    all.push_back({"barrier_of_" + std::to_string(threads), "cycles", median_of(cycles) / rounds,
                   "one __syncthreads() after the other, with one block on a multiprocessor"});
  }

  const int threads = 256, grid = multiprocessors * e.scaled(8, 1), calls = e.scaled(64, 1);
  const auto lanes = static_cast<std::size_t>(threads) * static_cast<std::size_t>(grid);
  device_array<int> words(lanes), to(lanes);
  const double all_calls = static_cast<double>(lanes) * calls;
  const auto rate = [&](double ms) { return all_calls / ms / 1e6; };
  for (const int apart : {0, 1}) {
    const std::string where = apart == 0 ? "one_address" : "own_addresses";
    const std::string text =
        apart == 0 ? "all threads of the GPU at one address" : "each thread at its own address";
    all.push_back(
        {"exchange_" + where, "lanes / ns",
         rate(time_ms(e,
                      [&] { exchange<<<grid, threads>>>(words.data(), apart, calls, to.data()); })),
         "atomicExch in global memory, " + text});
    all.push_back({"add_" + where, "lanes / ns",
                   rate(time_ms(e, [&] { add<<<grid, threads>>>(words.data(), apart, calls); })),
                   "atomicAdd in global memory without use of its result, " + text});
    all.push_back({"add_f32_" + where, "lanes / ns",
                   rate(time_ms(e,
                                [&] {
                                  add_floats<<<grid, threads>>>(
                                      reinterpret_cast<float*>(words.data()), apart, calls);
                                })),
                   "atomicAdd of floats in global memory without use of its result, " + text});
    add_shared<<<static_cast<unsigned>(blocks), 1024>>>(apart, rounds, to.data(), cycles.data());
    require(cudaDeviceSynchronize(), "add_shared");
    all.push_back({"shared_add_" + where, "lanes / clock / multiprocessor",
                   1024.0 * rounds / median_of(cycles),
                   apart == 0 ? "atomicAdd in shared memory, 1024 threads at one address"
                              : "atomicAdd in shared memory, 1024 threads at their own addresses"});
  }
  for (const int count : {32, 256, 2048}) {
    all.push_back(
        {"add_" + std::to_string(count) + "_addresses", "lanes / ns",
         rate(time_ms(e, [&] { add_to_few<<<grid, threads>>>(words.data(), count, calls); })),
         "atomicAdd in global memory, all threads of the GPU at this number of adjacent words"});
  }
}

}  // namespace stepwise::measure

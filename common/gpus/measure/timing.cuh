// Memory, events and medians for the microbenchmarks.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/gpus/measure/measure.hpp"

namespace stepwise::measure {

inline void require(cudaError_t code, const char* call) {
  if (code != cudaSuccess)
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
}

template <class T>
class device_array {
 public:
  explicit device_array(std::size_t count) : count_(count) {
    require(cudaMalloc(&data_, count * sizeof(T)), "cudaMalloc");
    require(cudaMemset(data_, 0, count * sizeof(T)), "cudaMemset");
  }
  ~device_array() { cudaFree(data_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  T* data() const { return data_; }
  std::size_t size() const { return count_; }

  void upload(const std::vector<T>& from) {
    require(cudaMemcpy(data_, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
            "cudaMemcpy");
  }
  std::vector<T> download() const {
    std::vector<T> to(count_);
    require(cudaMemcpy(to.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return to;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

static __global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

// The begin and the end of a warp, by its multiprocessor's clock. A block's time is from the first
// begin to the last end, because the scheduler may run one warp to its end before another has
// begun.
struct span {
  long long begin, end;
};

__device__ inline void note_span(span* spans, long long begin) {
  const unsigned warps = blockDim.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) spans[blockIdx.x * warps + threadIdx.x / 32] = {begin, clock64()};
}

// The median time of `blocks` blocks of `threads` threads, in cycles.
inline double median_cycles(const device_array<span>& spans, unsigned blocks, int threads) {
  const auto all = spans.download();
  const std::size_t warps = static_cast<std::size_t>(threads) / 32;
  std::vector<double> cycles;
  for (unsigned b = 0; b < blocks; ++b) {
    long long begin = all[b * warps].begin, end = all[b * warps].end;
    for (std::size_t w = 1; w < warps; ++w) {
      begin = std::min(begin, all[b * warps + w].begin);
      end = std::max(end, all[b * warps + w].end);
    }
    cycles.push_back(static_cast<double>(end - begin));
  }
  return median(cycles);
}

// The median device time in ms of `work`, which launches kernels, without the first two times. The
// GPU spins first, so the host has queued everything before the GPU reaches the first event.
template <class Work>
double time_ms(const effort& e, Work&& work, long long spin_cycles = 200'000) {
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin), "cudaEventCreate");
  require(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> times;
  const int warm = e.small ? 0 : 2;
  for (int i = 0; i < warm + e.samples(); ++i) {
    spin<<<1, 1>>>(e.small ? 1 : spin_cycles);
    require(cudaEventRecord(begin), "cudaEventRecord");
    work();
    require(cudaEventRecord(end), "cudaEventRecord");
    require(cudaEventSynchronize(end), "a kernel");
    require(cudaGetLastError(), "a launch");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    if (i >= warm) times.push_back(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return median(times);
}

constexpr int at_once = 8;  // loads in flight per thread

__device__ inline unsigned folded(uint4 v) { return v.x ^ v.y ^ v.z ^ v.w; }

}  // namespace stepwise::measure

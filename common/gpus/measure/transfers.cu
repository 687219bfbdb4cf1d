// Operations that involve the host: copies over the link, from pinned and pageable memory, and
// allocating and freeing memory. The host's processor takes part in all of them, so its clock
// measures the times.
#include <chrono>

#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

// The median time in us by the host's clock, without the first two times.
template <class Work>
double host_us(const effort& e, Work&& work) {
  std::vector<double> times;
  const int warm = e.small ? 0 : 2;
  for (int i = 0; i < warm + e.samples(); ++i) {
    require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const auto begin = std::chrono::steady_clock::now();
    work();
    const auto end = std::chrono::steady_clock::now();
    if (i >= warm) times.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
  }
  return median(times);
}

class pinned_array {
 public:
  explicit pinned_array(std::size_t bytes) {
    require(cudaMallocHost(&data_, bytes), "cudaMallocHost");
  }
  ~pinned_array() { cudaFreeHost(data_); }
  pinned_array(const pinned_array&) = delete;
  pinned_array& operator=(const pinned_array&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  require(cudaMemcpy(to, from, bytes, kind), "cudaMemcpy");
}

double gb_per_s(std::size_t bytes, double us) {
  return static_cast<double>(bytes) / (1e3 * std::max(us, 1e-3));
}

}  // namespace

void measure_transfers(const effort& e, std::vector<figure>& all) {
  const std::size_t large = e.scaled(256 * mib, mib / 64);
  device_array<char> device(large);
  {
    const pinned_array host(large);
    const double to =
        host_us(e, [&] { copy(device.data(), host.data(), large, cudaMemcpyHostToDevice); });
    const double from =
        host_us(e, [&] { copy(host.data(), device.data(), large, cudaMemcpyDeviceToHost); });
    all.push_back(
        {"pinned_to_gpu", "GB/s", gb_per_s(large, to), "cudaMemcpy of 256 MiB of pinned memory"});
    all.push_back({"pinned_to_host", "GB/s", gb_per_s(large, from),
                   "cudaMemcpy of 256 MiB of pinned memory"});
  }
  // Copies of two sizes separate the cost of a copy from the cost of its bytes.
  const std::size_t most = e.scaled(64 * mib, mib / 64), least = e.scaled(mib, mib / 256);
  std::vector<char> pageable(most, 1);
  const auto line = [&](const char* name, auto&& copied) {
    const double few = host_us(e, [&] { copied(least); }), many = host_us(e, [&] { copied(most); });
    const double each = std::max((many - few) / static_cast<double>(most - least), 1e-9);
    all.push_back({std::string("pageable_to_") + name, "GB/s", 1e-3 / each,
                   "cudaMemcpy of pageable memory: 64 MiB minus 1 MiB"});
    all.push_back({std::string("pageable_start_to_") + name, "us",
                   std::max(1e-3, few - each * static_cast<double>(least)),
                   "cudaMemcpy of 1 MiB of pageable memory, minus the time of its bytes"});
  };
  line("gpu",
       [&](std::size_t n) { copy(device.data(), pageable.data(), n, cudaMemcpyHostToDevice); });
  line("host",
       [&](std::size_t n) { copy(pageable.data(), device.data(), n, cudaMemcpyDeviceToHost); });

  void* memory = nullptr;
  std::vector<double> given, returned;
  const int warm = e.small ? 0 : 2;
  for (int i = 0; i < warm + e.samples(); ++i) {
    effort once{true};
    const double allocating =
        host_us(once, [&] { require(cudaMalloc(&memory, 2 * mib), "cudaMalloc"); });
    const double freeing = host_us(once, [&] { require(cudaFree(memory), "cudaFree"); });
    if (i < warm) continue;
    given.push_back(allocating);
    returned.push_back(freeing);
  }
  all.push_back({"allocate", "us", median(given), "cudaMalloc of 2 MiB"});
  all.push_back({"release", "us", median(returned), "cudaFree of 2 MiB while nothing runs"});
}

}  // namespace stepwise::measure

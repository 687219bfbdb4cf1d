// device-measure [--small]: all microbenchmarks, as one JSON document on stdout.
#include <cmath>
#include <cstdio>
#include <cstring>

#include "common/gpus/measure/timing.cuh"

namespace {

using namespace stepwise::measure;

// The names and sentences are our own, and contain nothing that JSON would have to escape.
void print(const cudaDeviceProp& device, int driver, const std::vector<figure>& all) {
  std::printf("{\"gpu\": \"%s\", \"driver\": %d, \"figures\": [", device.name, driver);
  for (const auto& f : all) {
    std::printf("%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"value\": %.6g, \"what\": \"%s\"}",
                &f == &all.front() ? "" : ",", f.name.c_str(), f.unit.c_str(), f.value,
                f.what.c_str());
  }
  std::printf("\n]}\n");
}

int measure_all(const effort& e) {
  cudaDeviceProp device{};
  int driver = 0;
  require(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  require(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  const int multiprocessors = device.multiProcessorCount;
  std::vector<figure> all;
  measure_launches(e, all);
  measure_memory(multiprocessors, e, all);
  measure_multiprocessor(multiprocessors, e, all);
  measure_latencies(e, all);
  measure_spread(multiprocessors, e, all);
  measure_pipes(multiprocessors, e, all);
  measure_synchronisation(multiprocessors, e, all);
  measure_transfers(e, all);
  if (device.major == 9) {
    measure_async(multiprocessors, e, all);
    measure_tensor(multiprocessors, e, all);
  }
  measure_resident_blocks(multiprocessors, e, all);  // leaves its own data in L2
  for (const auto& f : all)
    if (!std::isfinite(f.value) || f.value < 0 || (f.value == 0 && !f.unit.empty()))
      throw std::runtime_error(f.name + " came out as " + std::to_string(f.value));
  print(device, driver, all);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const bool small = count == 2 && std::strcmp(words[1], "--small") == 0;
  if (count > 2 || (count == 2 && !small)) {
    std::fputs("usage: device-measure [--small]\n", stderr);
    return 2;
  }
  try {
    return measure_all({small});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "device-measure: %s\n", error.what());
    return 1;
  }
}

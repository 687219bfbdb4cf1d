// Uses measured rates if there are any, and theoretical rates otherwise.
#include "common/timeline/transfer_rates.hpp"

#include <algorithm>

namespace stepwise {
namespace {

// Copies of pageable memory and allocations are the host's work, so another GPU's figures are
// better than no figures.
constexpr const char* measured_host = "h100";

double of_host(const gpu& model, const char* name) {
  const auto own = model.measured.find(name);
  if (own != model.measured.end()) return own->second;
  static const auto other = find_gpu(measured_host);
  const auto found = other->measured.find(name);
  return found != other->measured.end() ? found->second : 0;
}

}  // namespace

transfer_rates rates_of(const gpu& model) {
  constexpr double of_the_link = 0.8;
  transfer_rates rates;
  const int capability = model.compute_capability();
  rates.link = *find_link(capability >= 90 ? "pcie5" : capability >= 80 ? "pcie4" : "pcie3");
  const auto measured = [&](const char* name, double otherwise) {
    const auto found = model.measured.find(name);
    return found != model.measured.end() ? found->second : otherwise;
  };
  const double theoretical = rates.link.bytes_per_s * of_the_link / 1e9;
  rates.link.bytes_per_s = 1e9 * measured("pinned_to_gpu", theoretical);
  rates.link_measured = model.measured.contains("pinned_to_gpu");
  // Pageable memory is not faster than the link.
  const auto pageable = [&](const char* name) {
    return std::min(1e9 * of_host(model, name), rates.link.bytes_per_s);
  };
  rates.pageable_to_device = pageable("pageable_to_gpu");
  rates.pageable_to_host = pageable("pageable_to_host");
  rates.pageable_start_to_device = of_host(model, "pageable_start_to_gpu");
  rates.pageable_start_to_host = of_host(model, "pageable_start_to_host");
  rates.allocate_us = of_host(model, "allocate");
  rates.release_us = of_host(model, "release");
  const double theoretical_rate = model.memory_bytes_per_s();
  const double memory = theoretical_rate > 0 ? theoretical_rate / 1e9 : 100;
  rates.measured = !model.measured.empty();
  rates.copy_bytes_per_s = 1e9 * measured("dram_copy", memory) / 2;  // read and written
  rates.fill_bytes_per_s = 1e9 * measured("dram_write", memory);
  rates.start_us = rates.launch_us = measured("launch_in_a_row", 2);
  const auto engines = model.attributes.find(40);  // cudaDevAttrAsyncEngineCount
  rates.copy_engines = engines != model.attributes.end() ? std::clamp(engines->second, 1, 2) : 1;
  return rates;
}

}  // namespace stepwise

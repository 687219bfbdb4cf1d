// Measured rates where there are some, else those on paper.
#include "common/timeline/transfer_rates.hpp"

#include <algorithm>

namespace stepwise {

transfer_rates rates_of(const gpu& model) {
  constexpr double of_the_link = 0.8, if_pageable = 0.5;
  transfer_rates rates;
  const int capability = model.compute_capability();
  rates.link = *find_link(capability >= 90 ? "pcie5" : capability >= 80 ? "pcie4" : "pcie3");
  const auto measured = [&](const char* name, double otherwise) {
    const auto found = model.measured.find(name);
    return found != model.measured.end() ? found->second : otherwise;
  };
  const double paper = rates.link.bytes_per_s * of_the_link / 1e9;
  rates.link.bytes_per_s = 1e9 * measured("pinned_to_gpu", paper);
  rates.link_measured = model.measured.contains("pinned_to_gpu");
  rates.pageable_to_device = 1e9 * measured("pageable_to_gpu", paper * if_pageable);
  rates.pageable_to_host = 1e9 * measured("pageable_to_host", paper * if_pageable);
  rates.allocate_us = measured("allocate", 0);
  rates.release_us = measured("release", 0);
  const double on_paper = model.memory_bytes_per_s();
  const double memory = on_paper > 0 ? on_paper / 1e9 : 100;
  rates.measured = !model.measured.empty();
  rates.copy_bytes_per_s = 1e9 * measured("dram_copy", memory) / 2;  // read and written
  rates.fill_bytes_per_s = 1e9 * measured("dram_write", memory);
  rates.start_us = rates.launch_us = measured("launch_in_a_row", 2);
  rates.pageable_start_to_device = measured("pageable_start_to_gpu", rates.start_us);
  rates.pageable_start_to_host = measured("pageable_start_to_host", rates.start_us);
  const auto engines = model.attributes.find(40);  // cudaDevAttrAsyncEngineCount
  rates.copy_engines = engines != model.attributes.end() ? std::clamp(engines->second, 1, 2) : 1;
  return rates;
}

}  // namespace stepwise

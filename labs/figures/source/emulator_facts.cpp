// Prints what the figures show of the emulator, as JSON: the units in which memory is requested,
// and for each GPU the schedulers, rates and latency that are published for its compute capability.
#include <fmt/core.h>

#include "common/device/gpu.hpp"
#include "common/emulator/profile/requests.hpp"
#include "common/emulator/time/costs.hpp"

int main() {
  using namespace stepwise;
  using emulator::unit;
  fmt::print("{{\"line_bytes\": {}, \"sector_bytes\": {}, \"gpus\": {{", emulator::line_bytes,
             emulator::sector_bytes);
  const char* separator = "";
  for (const std::string& id : known_gpus()) {
    gpu model = *find_gpu(id);
    model.measured.clear();
    const emulator::gpu_costs costs = emulator::costs_of(model);
    const auto cost = [&](unit of) { return costs.of[static_cast<int>(of)]; };
    const auto rate = [&](unit of) { return costs.partitions / cost(of).interval; };
    fmt::print("{}\n \"{}\": {{\"parts\": {}, \"fma\": {}, \"alu\": {}, \"sfu\": {}, \"lat\": {}}}",
               separator, id, costs.partitions, rate(unit::fma), rate(unit::alu),
               rate(unit::special), cost(unit::fma).latency);
    separator = ",";
  }
  fmt::print("}}}}\n");
}

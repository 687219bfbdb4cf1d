// Which device a program gets. Apart from the rest, so that tests can put their own in its place.
#include <cstdlib>

#include "common/runtime/state.hpp"

namespace stepwise::runtime {

result<std::unique_ptr<device>> make_process_device() {
  const char* const wanted = std::getenv("STEPWISE_GPU");
  const auto model = find_gpu(wanted && *wanted ? wanted : "h200");
  if (!model.ok()) {
    return {error::no_device, "STEPWISE_GPU: " + model.failure().message};
  }
  return make_emulated_device(*model);
}

}  // namespace stepwise::runtime

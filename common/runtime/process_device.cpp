// Creates the device of a program. This is a separate file, so that tests can link their own
// device, and graded submissions can link the one in served/.
#include "common/device/engine_settings.hpp"
#include "common/runtime/state.hpp"

namespace stepwise::runtime {

result<std::unique_ptr<device>> make_process_device() {
  const auto model = find_gpu(engine_settings::from_environment().gpu_or_default());
  if (!model.ok()) {
    return {error::no_device, "STEPWISE_GPU: " + model.failure().message};
  }
  if (const std::string missing = emulator_lacks(); !missing.empty()) {
    return {error::no_device,
            "the emulator was built on a CPU with " + missing +
                ", but this CPU lacks it: run ./lab setup to build it for this machine"};
  }
  return make_emulated_device(*model);
}

}  // namespace stepwise::runtime

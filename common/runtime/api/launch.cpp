// Finds the kernel, checks the launch, packs the arguments by their offsets, and starts it.
#include "common/runtime/api/launch.hpp"

#include <cstring>

#include "common/device/launch_check.hpp"
#include "common/device/names.hpp"
#include "common/runtime/api/capturing.hpp"
#include "common/runtime/failure_hint.hpp"

namespace stepwise::runtime {
namespace {

status launch(state& s, const launch_request& request) {
  status known = check_stream(s, request.stream);
  if (!known.ok()) return known;
  if (s.captures != 0) {
    if (const auto captured = capture_kernel(s, request)) return *captured;
  }
  const auto found = s.registered.use_kernel(*s.current, request.function);
  if (!found.ok()) return found.failure();
  const registered_kernel& kernel = **found;

  const launch_config config = config_of(request, kernel.attributes);
  status allowed = check_launch(s.current->description(), kernel.attributes, config);
  if (!allowed.ok()) return allowed;
  const auto parameters = pack_arguments(kernel.attributes, request.arguments);
  if (!parameters.ok()) return parameters.failure();
  return start_kernel(s, kernel, config, *parameters, request.stream);
}

}  // namespace

launch_config config_of(const launch_request& request, const kernel_attributes& kernel) {
  launch_config config;
  config.grid = {request.grid.x, request.grid.y, request.grid.z};
  config.block = {request.block.x, request.block.y, request.block.z};
  config.dynamic_shared_bytes = request.shared_bytes;
  config.cooperative = request.cooperative;
  config.may_begin_early = request.may_begin_early;
  config.cluster = request.cluster;
  config.allows_large_cluster = kernel.allows_large_cluster != 0;
  return config;
}

status start_kernel(state& s, const registered_kernel& kernel, const launch_config& config,
                    std::span<const std::byte> parameters, cudaStream_t stream) {
  if (s.delays_work) {
    // The delayed launch may begin while the program exits, when these tables may be destroyed.
    if (status sound = s.current->prepare_kernel(*kernel.handle); !sound.ok()) return sound;
    may_delay(s, stream);
  }
  if (must_wait(s, stream)) {
    note_launch();
    keep(s, stream,
         [&s, handle = *kernel.handle, config,
          kept = std::vector(parameters.begin(), parameters.end())] {
           return s.current->launch(handle, config, kept);
         });
    return {};
  }
  enter_stream(s, stream);
  if (s.recorder) s.recorder->before_launch(*s.current, use_of(s, stream));
  const status launched = s.current->launch(*kernel.handle, config, parameters);
  if (launched.ok()) {
    note_launch();
    s.note_left(use_of(s, stream));
  }
  if (launched.ok() && s.recorder) {
    asked more;
    more.kernel = kernel.attributes.name;
    more.grid = config.grid;
    more.block = config.block;
    more.dynamic_shared_bytes = config.dynamic_shared_bytes;
    s.recorder->after_launch(*s.current, more);
    note_asked(s, asked::kind::kernel, stream, std::move(more));
  }
  return launched;
}

result<std::vector<std::byte>> pack_arguments(const kernel_attributes& kernel,
                                              const void* const* arguments) {
  std::vector<std::byte> buffer;
  if (kernel.parameters.empty()) return buffer;
  if (!arguments) {
    return {error::invalid_value, readable_name(kernel.name) +
                                      ": the launch has no arguments, and the kernel " +
                                      std::to_string(kernel.parameters.size()) + " parameters"};
  }
  for (const kernel_parameter& p : kernel.parameters) {
    const std::size_t end = std::size_t{p.offset} + p.bytes;
    if (buffer.size() < end) buffer.resize(end);
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); i++) {
    const kernel_parameter& p = kernel.parameters[i];
    if (!arguments[i]) {
      return {error::invalid_value, readable_name(kernel.name) + ": argument " + std::to_string(i) +
                                        " is a null pointer"};
    }
    std::memcpy(buffer.data() + p.offset, arguments[i], p.bytes);
  }
  return buffer;
}

cudaError_t launch_kernel(const launch_request& request, std::source_location at) noexcept {
  return call(
      [&](state& s) {
        status outcome = launch(s, request);
        announce(outcome.message);
        return outcome;
      },
      at);
}

}  // namespace stepwise::runtime

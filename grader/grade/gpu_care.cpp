// Starts the probe in the full sandbox, and then with fewer layers.
#include "grader/grade/gpu_care.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/phases.hpp"

namespace stepwise {
namespace {

constexpr double patience_s = 30;  // a context of eight GPUs takes seconds

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

struct answer {
  bool is_well = false;
  std::uint64_t bytes = 0;
  std::string why_not;
};

answer probe(const device_choice& device, server_walls walls) {
  child_options start;
  start.command = {device.server, "probe"};
  start.environment = gpu_environment();
  start.own_environment = true;
  const auto result = run_child(in_walls(std::move(start), device, walls), patience_s);
  answer a;
  a.is_well = result.end.ok();
  a.bytes = std::strtoull(result.out.c_str(), nullptr, 10);
  a.why_not = result.end.how == child_end::cause::deadline
                  ? fmt::format("it does not answer within {:g} s", patience_s)
                  : first_line(result.err);
  if (a.why_not.empty()) a.why_not = "the GPU server failed";
  return a;
}

}  // namespace

gpu_care look_after_gpu(const device_choice& device) {
  const phase doing("the GPU is probed");
  std::string why_not;
  for (const server_walls walls :
       {server_walls::all, server_walls::system_calls, server_walls::none}) {
    if (device.guards == nullptr && walls != server_walls::none) continue;
    if (walls == server_walls::all && device.guards->bubblewrap.empty()) continue;
    const answer a = probe(device, walls);
    if (!a.is_well) {
      if (why_not.empty()) why_not = a.why_not;
      continue;
    }
    gpu_care care;
    care.walls = walls;
    care.overwritten_bytes = a.bytes;
    if (walls == server_walls::none) {
      care.missing = "system calls, namespaces";
    } else if (walls == server_walls::system_calls) {
      care.missing = "namespaces";
    }
    if (!care.missing.empty() && !why_not.empty())
      care.missing += " (with these layers the driver does not start: " + why_not + ")";
    return care;
  }
  throw failure(exit_code::environment,
                "the GPU is in quarantine: " + why_not +
                    "\nno file is graded on it until it answers a probe; check it with nvidia-smi");
}

}  // namespace stepwise

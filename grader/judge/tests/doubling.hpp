// A problem for the fake runner: out[i] = 2 in[i], for n ints.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "common/lab/problem.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/device_choice.hpp"

namespace stepwise::tests {

class doubling : public problem {
 public:
  problem_call make_call(const size& n, std::uint64_t seed) const override {
    problem_call call;
    call.label = "n = " + std::to_string(n.at(0)) + ", seed " + std::to_string(seed);
    const auto bytes = static_cast<std::uint64_t>(n[0]) * 4;
    call.buffers = {{"in", runner::buffer_role::input, std::vector<std::byte>(bytes), bytes},
                    {"out", runner::buffer_role::output, {}, bytes},
                    {"scratch", runner::buffer_role::scratch, {}, bytes}};
    for (std::size_t i = 0; i < bytes; ++i) {
      call.buffers[0].data[i] = static_cast<std::byte>((i * 31 + seed) % 127);
    }
    call.scalars = {n[0]};
    return call;
  }

  std::optional<std::string> check(
      const problem_call& call,
      std::span<const std::span<const std::byte>> outputs) const override {
    for (std::size_t i = 0; i < outputs[0].size() / 4; ++i) {
      std::uint32_t in = 0, out = 0;
      std::memcpy(&in, call.buffers[0].data.data() + 4 * i, 4);
      std::memcpy(&out, outputs[0].data() + 4 * i, 4);
      if (out != 2 * in) return "out[" + std::to_string(i) + "] is wrong (" + call.label + ")";
    }
    return std::nullopt;
  }

  problem_work work(const size& n) const override {
    return {8.0 * static_cast<double>(n.at(0)), static_cast<double>(n[0]), "additions"};
  }
};

inline lab doubling_lab() {
  lab l;
  l.name = "doubling";
  l.title = "Doubling";
  l.time_limit_s = 1;
  l.check = {{1}, {33}, {1000}};
  l.bench = {{1000}, {100000}};
  l.emulated = l.modelled = {{1000}};
  l.steps = {{"00_first", "", {}, "the first", "solutions/doubling/00_first.cu"},
             {"01_second", "00_first", 1.5, "the second", "solutions/doubling/01_second.cu"}};
  goal correct{"right", 40, goal::kind::correct, "", 0};
  goal fast{"fast", 60, goal::kind::speedup, "00_first", 1.5};
  l.goals = {correct, fast};
  return l;
}

// Sets FAKE and FAKE_MS for the fake runners that start during this object's lifetime.
class fake {
 public:
  explicit fake(const char* what, const char* ms = "1") {
    setenv("FAKE", what, 1);
    setenv("FAKE_MS", ms, 1);
  }
  ~fake() {
    unsetenv("FAKE");
    unsetenv("FAKE_MS");
  }
};

inline device_choice emulated_device() {
  device_choice device;
  device.name = "fake";
  device.runtime_folder = "/nowhere";
  return device;
}

// A device that claims to be a GPU, so that times count.
inline device_choice gpu_device() {
  device_choice device = emulated_device();
  device.gpu = true;
  return device;
}

inline std::filesystem::path fake_runner() { return std::getenv("FAKE_RUNNER"); }

}  // namespace stepwise::tests

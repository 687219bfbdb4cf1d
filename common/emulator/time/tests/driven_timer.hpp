// Launches of a kernel that never runs. Instead, the tests report to a timer what its blocks do.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/emulator/lower/lower.hpp"
#include "common/emulator/machine/modules.hpp"
#include "common/emulator/time/timer.hpp"

namespace stepwise::emulator {

inline const gpu& model() {
  static const gpu h200 = *find_gpu("h200");
  return h200;
}

inline constexpr unsigned warps = 8, resident = 2;
inline const auto processors = static_cast<std::uint64_t>(model().multiprocessors);
inline const std::uint64_t wave = processors * resident;

// A kernel of PTX that never runs.
struct kernel {
  std::shared_ptr<global_memory> memory = std::make_shared<global_memory>(std::uint64_t{1} << 30);
  std::unique_ptr<loaded_module> module;
  std::unique_ptr<program> code;
  launch_config config;
  kernel_attributes attributes;

  explicit kernel(const std::string& body) {
    const std::string text =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry kernel(.param .u64 out)\n{\n"
        ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<8>;\n" +
        body + "\nret;\n}\n";
    const auto bytes = std::as_bytes(std::span(text));
    auto loaded = load_parts(std::span(&bytes, 1), model(), *memory);
    REQUIRE_MESSAGE(loaded.ok(), loaded.failure().message);
    module = std::move(*loaded);
    auto lowered = lower(module->unit, *module->unit.find_kernel("kernel"), watched_by::profile);
    REQUIRE_MESSAGE(lowered.ok(), lowered.failure().message);
    code = std::move(*lowered);
  }
  timer::launch_shape shape(std::uint64_t blocks) const {
    timer::launch_shape s;
    s.launch.code = code.get();
    s.launch.config = &config;
    s.launch.attributes = &attributes;
    s.launch.warps = warps;
    s.launch.memory = memory.get();
    s.blocks = blocks;
    s.resident = resident;
    s.resident_full = s.resident_more_registers = 2 * resident;
    return s;
  }
};

// A warp's access by the kernel's first memory instruction: one whole line.
struct first_access {
  recorded_access access;
  bool is_store = false;
};

inline first_access first_access_of(const kernel& k) {
  const code_costs costs(*k.code, nullptr);
  const auto at =
      std::ranges::find_if(costs.at, [](const instruction_cost& c) { return c.is_memory; });
  REQUIRE(at != costs.at.end());
  recorded_access a;
  a.ordinal = static_cast<std::uint32_t>(at - costs.at.begin());
  a.sectors = 4;
  a.lines = 1;
  a.lanes = 32;
  return {a, at->kind == step_kind::store};
}

inline std::string many_sums(int count) {
  std::string text;
  for (int n = 0; n < count; ++n) text += "add.f32 %f1, %f1, %f2;\n";
  return text;
}
inline const std::string sums = many_sums(40);
// Puts `body` into a loop, because a launch without loops may be too small to be sampled.
inline std::string looped(const std::string& body) {
  return "again:\n" + body + "\nsetp.lt.f32 %p1, %f1, %f2;\n@%p1 bra again;\n";
}
inline const std::string looped_sums = looped(sums);

// The memory work of a launch, in addition to its instructions.
struct memory_work {
  std::vector<recorded_access> each = {};              // of each warp in each iteration
  std::vector<site_traffic> traffic = {};              // the caches' counts
  std::function<void(timer&)> report = [](timer&) {};  // called after the launch has begun
};

struct driven {
  std::vector<std::uint64_t> ran, recorded;
  std::uint64_t instructions = 0;
  launch_time time;
};

// Runs blocks of `iterations` iterations one after the other, as long as the timer asks for blocks.
inline driven drive(timer& t, const kernel& k, std::uint64_t blocks, unsigned iterations,
                    const memory_work& work = {}) {
  t.begin(k.shape(blocks));
  work.report(t);
  const auto length = static_cast<std::uint32_t>(t.code().at.size());
  driven d;
  for (std::uint64_t b = 0; b < blocks; ++b) {
    if (!t.wants(b)) continue;
    d.ran.push_back(b);
    t.begin_block(b);
    if (t.is_recording()) d.recorded.push_back(b);
    for (unsigned iteration = 0; iteration < iterations && t.slice() > 0; ++iteration) {
      for (std::uint32_t w = 0; w < warps; ++w) {
        for (const recorded_access& a : work.each) t.access(a, {});
        t.executed(w, 0, length);
        d.instructions += length;
      }
    }
    t.end_block(b);
    t.switch_to(blocks);  // no block
  }
  d.time = t.end(work.traffic);
  return d;
}

}  // namespace stepwise::emulator

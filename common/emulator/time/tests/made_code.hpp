// Code and traces made by hand, for tests of the schedule and the multiprocessor.
#pragma once

#include "common/emulator/time/code_costs.hpp"
#include "common/emulator/time/multiprocessor.hpp"

namespace stepwise::emulator {

inline const gpu_costs& h200() {
  static const gpu_costs costs = costs_of(*find_gpu("h200"));
  return costs;
}

// Appends instructions; registers are numbers.
struct made_code {
  code_costs code;

  std::uint32_t add(step_kind kind, unit on, std::vector<std::uint32_t> written,
                    std::vector<std::uint32_t> read) {
    instruction_cost c;
    c.kind = kind;
    c.on = on;
    c.is_memory = kind == step_kind::load || kind == step_kind::store;
    c.registers = static_cast<std::uint8_t>(written.size());
    c.first_written = static_cast<std::uint32_t>(code.names.size());
    c.written = static_cast<std::uint32_t>(written.size());
    code.names.insert(code.names.end(), written.begin(), written.end());
    c.first_read = static_cast<std::uint32_t>(code.names.size());
    c.reads = static_cast<std::uint32_t>(read.size());
    code.names.insert(code.names.end(), read.begin(), read.end());
    for (const std::uint32_t r : code.names)
      code.register_count = std::max(code.register_count, r + 1);
    code.at.push_back(c);
    code.copies.push_back(1);
    return static_cast<std::uint32_t>(code.at.size() - 1);
  }
  std::uint32_t fma(std::uint32_t to, std::uint32_t from) {
    return add(step_kind::compute, unit::fma, {to}, {from});
  }
  std::uint32_t load(std::uint32_t to) { return add(step_kind::load, unit::load_store, {to}, {}); }
};

// A trace of `blocks` blocks with `warps` warps each. Each warp runs the whole code `times` times.
// Every load and store takes `sectors` sectors in `lines` lines. With `in_l1`, these are always the
// same lines.
inline launch_trace made_trace(const made_code& m, unsigned blocks, unsigned warps, unsigned times,
                               std::uint16_t sectors = 4, std::uint8_t lines = 1,
                               bool in_l1 = false) {
  launch_trace t;
  const auto length = static_cast<std::uint32_t>(m.code.at.size());
  t.runs.push_back({0, length});
  for (unsigned b = 0; b < blocks; ++b) {
    block_trace one{b, std::vector<warp_trace>(warps), 0, 0};
    for (warp_trace& w : one.warps) {
      for (unsigned n = 0; n < times; ++n) {
        std::uint32_t accesses = 0;
        for (std::uint32_t i = 0; i < length; ++i) {
          if (!m.code.at[i].is_memory) continue;
          recorded_access a;
          a.ordinal = i;
          a.sectors = sectors;
          a.lines = lines;
          a.tag_passes = static_cast<std::uint8_t>((lines + 3) / 4);
          a.lanes = 32;
          if (in_l1) {
            a.known_lines = lines;
            a.first_line = static_cast<std::uint32_t>(w.lines.size());
            for (std::uint8_t l = 0; l < lines; ++l)
              w.lines.push_back(line_record(l, (1U << (sectors / lines)) - 1));
          }
          w.accesses.push_back(a);
          ++accesses;
        }
        w.pieces.push_back({0, accesses});
        one.instructions += length;
        one.recorded += length;
      }
    }
    t.blocks.push_back(std::move(one));
  }
  return t;
}

inline multiprocessor_work made_work(const made_code& m, const launch_trace& t, site_rates rates,
                                     unsigned resident = 1) {
  multiprocessor_work w;
  w.trace = &t;
  w.code = &m.code;
  w.sites = {rates};
  w.resident = resident;
  w.active = 132;
  w.l1_bytes = 200 * 1024;
  w.blocks = t.blocks.size();
  return w;
}

}  // namespace stepwise::emulator

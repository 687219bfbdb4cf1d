// Sums the counters of instructions and sites by source line.
#include <algorithm>
#include <map>

#include "common/emulator/profile/kernel_record.hpp"
#include "common/report/profile_fields.hpp"
#include "common/source_map/source_text.hpp"

namespace stepwise::emulator {
namespace {

void add_sectors(profile_counts& to, const sector_counts& global, const sector_counts& local,
                 access_kind kind) {
  (kind == access_kind::load    ? to.global_load
   : kind == access_kind::store ? to.global_store
                                : to.global_atomic) += global;
  (kind == access_kind::store ? to.local_store : to.local_load) += local;
}

void add_wavefronts(profile_counts& to, const wavefront_counts& shared, const site_plan& p) {
  (p.copies                       ? to.shared_copy
   : p.kind == access_kind::load  ? to.shared_load
   : p.kind == access_kind::store ? to.shared_store
                                  : to.shared_atomic) += shared;
}

// The counts that a warp adds to a tensor core or an asynchronous unit each time it executes an
// instruction. The cycles and wavefronts are an H200's.
async_counts counts_of_step(const instruction_place& p) {
  async_counts c;
  const tensor_work& w = p.tensor;
  switch (w.kind) {
    case tensor_work::form::none:
      break;
    case tensor_work::form::wgmma:
      c.tensor_instructions = 1;
      c.tensor_cycles = w.columns / 2;
      c.operand_wavefronts = w.columns / 16.0 + (w.a_in_registers ? 0 : 4);
      break;
    default:
      c.tensor_instructions = static_cast<std::uint64_t>(w.parts);
      c.tensor_cycles = c.tensor_instructions * (w.kind == tensor_work::form::whole  ? 6
                                                 : w.kind == tensor_work::form::half ? 4
                                                                                     : 16);
  }
  c.copies = p.kind == step_kind::bulk_copy || p.kind == step_kind::commit_bulk;
  c.cluster_barriers = p.kind == step_kind::arrive_cluster;
  return c;
}

async_counts times(async_counts c, std::uint64_t warps) {
  each_field(c, [&](const char*, auto of) { c.*of *= warps; });
  return c;
}

constexpr std::size_t most_waited_for = 3;

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// The cost of a line, used to put the most expensive inner line first.
std::uint64_t cost_of(const profile_counts& c) { return c.all_instructions().warps; }

}  // namespace

// The counts of one line, kept separately for each function inlined into it.
struct line_parts {
  profile_counts own;  // in the line itself
  std::vector<std::pair<std::uint32_t, profile_counts>> inner;

  profile_counts& of(std::uint32_t which) {
    if (which == instruction_place::none) return own;
    for (auto& [known, counts] : inner)
      if (known == which) return counts;
    return inner.emplace_back(which, profile_counts{}).second;
  }
};

static code_place place_in(source_text& text, const std::string& path, std::uint32_t line) {
  code_place at;
  at.file = file_name(path);
  at.line = static_cast<int>(line);
  at.text = text.line(path, line);
  return at;
}

kernel_profile profiler::finish(record& r) const {
  const code_view& view = *r.view;
  std::vector<line_parts> parts(view.lines.size() + 1);  // the last one: no line
  const auto part_at = [&](std::uint32_t ordinal) -> profile_counts& {
    const instruction_place& p = view.places[ordinal];
    return parts[p.line == instruction_place::none ? view.lines.size() : p.line].of(p.inner);
  };
  std::uint64_t warps = 0, lanes = 0;
  for (std::uint32_t n = 0; n < view.places.size(); ++n) {
    warps += r.warp_steps[n];
    lanes += r.lane_steps[n];
    if (warps == 0) continue;
    profile_counts& c = part_at(n);
    instruction_counts& i = c.instructions[static_cast<int>(view.places[n].on)];
    i.warps += warps;
    i.lanes += lanes;
    c.async += r.async[n];
    c.async += times(counts_of_step(view.places[n]), warps);
    if (view.places[n].branches) {
      c.branches += warps;
      c.divergent_branches += r.divergences[n];
    }
  }
  for (std::size_t n = 0; n < r.sites.size(); ++n) {
    const site_counts& s = r.sites[n];
    const site_plan& p = view.sites[n];
    profile_counts& c = part_at(p.ordinal);
    add_sectors(c, s.global, s.local, p.kind);
    add_wavefronts(c, s.shared, p);
    if (p.ranged) {
      c.bulk_shared_copy += s.shared;
      if (p.kind == access_kind::load) c.bulk_load += s.global;
      if (p.kind == access_kind::store) c.bulk_store += s.global;
    }
    c.constant_load += s.constant;
    c.shared_load += s.loop_loads;
  }

  std::vector<stall_cycles> stalled(parts.size());
  std::vector<std::map<std::size_t, double>> waited_for(parts.size());  // by line
  const auto line_of = [&](std::uint32_t ordinal) {
    const instruction_place& p = view.places[ordinal];
    return p.line == instruction_place::none ? view.lines.size() : std::size_t{p.line};
  };
  for (std::uint32_t n = 0; n < r.stalled.size(); ++n) stalled[line_of(n)] += r.stalled[n];
  for (const auto& [pair, cycles] : r.waited_for)
    waited_for[line_of(static_cast<std::uint32_t>(pair >> 32))]
              [line_of(static_cast<std::uint32_t>(pair))] += cycles;

  kernel_profile k = r.profile;
  source_text text;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    line_profile line;
    line.counts = parts[n].own;
    for (const auto& [which, counts] : parts[n].inner) line.counts += counts;
    if (cost_of(line.counts) == 0) continue;
    if (n < view.lines.size()) {
      line.at = place_in(text, view.lines[n].path, view.lines[n].line);
      line.path = view.lines[n].path;
      line.notes = view.lines[n].notes;
    }
    for (const auto& [which, counts] : parts[n].inner) {
      const code_view::inner_place& p = view.inner[which];
      line.inner.push_back({place_in(text, p.path, p.line), p.path, counts, {}, {}, {}, {}});
      line.inner.back().at.inner = p.function;
    }
    std::ranges::stable_sort(line.inner, std::ranges::greater{},
                             [](const line_profile& l) { return cost_of(l.counts); });
    line.stalled = stalled[n];
    for (const auto& [on, cycles] : waited_for[n])
      if (on < view.lines.size())
        line.waited_for.push_back(
            {place_in(text, view.lines[on].path, view.lines[on].line), cycles});
    std::ranges::stable_sort(line.waited_for, std::ranges::greater{}, &waited_line::cycles);
    if (line.waited_for.size() > most_waited_for) line.waited_for.resize(most_waited_for);
    k.total += line.counts;
    k.lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(k.lines, [](const line_profile& a, const line_profile& b) {
    return a.path != b.path ? a.path < b.path : a.at.line < b.at.line;
  });
  return k;
}

std::vector<kernel_profile> profiler::take() {
  std::vector<kernel_profile> all;
  for (const auto& r : records_) all.push_back(finish(*r));
  records_.clear();
  return all;
}

}  // namespace stepwise::emulator

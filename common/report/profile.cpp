// Adds counts, and names the pipes.
#include "common/report/profile.hpp"

#include "common/report/profile_fields.hpp"

namespace stepwise {

device_transfers& device_transfers::operator+=(const device_transfers& o) {
  return add_fields(*this, o);
}
sector_counts& sector_counts::operator+=(const sector_counts& o) { return add_fields(*this, o); }
wavefront_counts& wavefront_counts::operator+=(const wavefront_counts& o) {
  return add_fields(*this, o);
}

const char* name_of(pipe p) {
  constexpr const char* names[pipes] = {"fp32",       "fp64",    "half",   "integer",
                                        "conversion", "special", "tensor", "load_store",
                                        "control",    "barrier", "other"};
  return names[static_cast<int>(p)];
}

instruction_counts profile_counts::all_instructions() const {
  instruction_counts all;
  for (const instruction_counts& n : instructions) {
    all.warps += n.warps;
    all.lanes += n.lanes;
  }
  return all;
}

async_counts& async_counts::operator+=(const async_counts& o) { return add_fields(*this, o); }

profile_counts& profile_counts::operator+=(const profile_counts& o) {
  each_access([&](const char*, auto kind) { this->*kind += o.*kind; });
  for (int p = 0; p < pipes; ++p) {
    instructions[p].warps += o.instructions[p].warps;
    instructions[p].lanes += o.instructions[p].lanes;
  }
  async += o.async;
  branches += o.branches;
  divergent_branches += o.divergent_branches;
  return *this;
}

double kernel_profile::warp_efficiency() const {
  const instruction_counts all = total.all_instructions();
  return all.warps == 0 ? 1
                        : static_cast<double>(all.lanes) / (32.0 * static_cast<double>(all.warps));
}

double kernel_profile::warp_fill() const {
  const std::uint64_t threads = volume(block);
  return static_cast<double>(threads) / static_cast<double>((threads + 31) / 32 * 32);
}

bool kernel_profile::diverges_noticeably(const profile_counts& line) const {
  constexpr double idle_of_kernel = 0.05, idle_of_line = 0.2, of_branches = 0.1;
  if (line.divergent_branches == 0 || active_share() > 1 - idle_of_kernel) return false;
  // If lanes leave a loop one after the other, the warp diverges in only a few of its iterations.
  const instruction_counts n = line.all_instructions();
  const double lanes = static_cast<double>(n.lanes) / (32 * warp_fill());
  return static_cast<double>(line.divergent_branches) >
             of_branches * static_cast<double>(line.branches) ||
         lanes < (1 - idle_of_line) * static_cast<double>(n.warps);
}

}  // namespace stepwise

// The names of kinds, and the answers of a device that does not check.
#include "common/report/finding.hpp"

#include <array>

namespace stepwise {

const char* name_of(finding_kind kind) {
  static constexpr std::array<const char*, finding_kinds> names = {"out_of_bounds",
                                                                   "misaligned",
                                                                   "use_after_free",
                                                                   "double_free",
                                                                   "wrong_pointer",
                                                                   "too_little_shared",
                                                                   "unwritten_read",
                                                                   "unwritten_copy",
                                                                   "race",
                                                                   "barrier_divergence",
                                                                   "exited_at_barrier",
                                                                   "bad_mask",
                                                                   "inactive_source",
                                                                   "deadlock",
                                                                   "endless",
                                                                   "failed",
                                                                   "leak",
                                                                   "unchecked_error",
                                                                   "wrong_copy_kind",
                                                                   "not_followed"};
  return names[static_cast<std::size_t>(kind)];
}

device::~device() = default;

std::vector<finding> device::take_findings(bool) { return {}; }
std::optional<finding> device::host_access(device_address, bool) { return std::nullopt; }

}  // namespace stepwise

// The names of finding kinds.
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
                                                                   "unset_variable",
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
                                                                   "missing_fence",
                                                                   "not_awaited",
                                                                   "wrong_copy_kind",
                                                                   "unaligned_tile"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace stepwise

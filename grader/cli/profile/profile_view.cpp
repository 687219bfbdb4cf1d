// Analyses one kernel of a modelled call.
#include "grader/cli/profile/profile_view.hpp"

namespace stepwise::cli {

std::string profile_view::origin() const {
  return (counted_by.empty() ? "modelled" : "measured by " + counted_by) + ", " + m->gpu;
}

std::optional<double> profile_view::recorded_ms(const step* s) const {
  if (s == nullptr || recorded == nullptr) return {};
  return recorded->find(s->name, m->size);
}

profile_view view_of(const modelled_figures& m, const kernel_profile& k, const gpu& model) {
  profile_view v;
  v.m = &m;
  v.costliest = analyse(k, 1000 * m.time_ms, model.multiprocessors);
  v.found = causes_of(v.costliest);
  const auto room = study_occupancy(model, volume(k.block), static_cast<std::uint64_t>(k.registers),
                                    k.static_shared_bytes + k.dynamic_shared_bytes);
  if (room.ok()) v.room = *room;
  return v;
}

}  // namespace stepwise::cli

// The terms by finding kind, goal counter and profile count.
#include "grader/cli/text/term_line.hpp"

#include <algorithm>
#include <string_view>

namespace stepwise::cli {
namespace {

void add(std::vector<std::string>& terms, std::string_view term) {
  if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.emplace_back(term);
}

}  // namespace

const char* term_of(finding_kind kind) {
  switch (kind) {
    case finding_kind::out_of_bounds:
      return "out-of-bounds";
    case finding_kind::misaligned:
    case finding_kind::unaligned_tile:
      return "alignment";
    case finding_kind::use_after_free:
    case finding_kind::double_free:
      return "use-after-free";
    case finding_kind::wrong_pointer:
    case finding_kind::wrong_copy_kind:
      return "device";
    case finding_kind::too_little_shared:
      return "shared-memory";
    case finding_kind::unwritten_read:
    case finding_kind::unwritten_copy:
    case finding_kind::unset_variable:
      return "uninitialised-memory";
    case finding_kind::race:
    case finding_kind::missing_fence:
    case finding_kind::not_awaited:
      return "race";
    case finding_kind::barrier_divergence:
    case finding_kind::exited_at_barrier:
      return "barrier";
    case finding_kind::bad_mask:
    case finding_kind::inactive_source:
      return "shuffle";
    case finding_kind::deadlock:
    case finding_kind::endless:
      return "deadlock";
    case finding_kind::failed:
      return "kernel";
    case finding_kind::leak:
      return "memory-leak";
    case finding_kind::unchecked_error:
      return "asynchronous-launch";
  }
  return "kernel";
}

const char* term_of(const goal_counter& counter) {
  struct row {
    std::string_view part;  // part of the counter's name
    const char* term;
  };
  constexpr row rows[] = {{"ideal_sectors", "vector-load"},
                          {"sectors_per_request", "sector"},
                          {"efficiency_percent", "coalescing"},
                          {"global_bytes", "reuse"},
                          {"shared_wavefronts", "bank-conflict"},
                          {"wavefronts", "wavefront"},
                          {"requests_per_fma", "register-tile"},
                          {"launches", "launch"},
                          {"occupancy", "occupancy"},
                          {"local_bytes", "local-memory"},
                          {"spill", "spill"}};
  const std::string_view name = counter.name;
  if (name.starts_with("warp_execution")) return "divergence";
  for (const row& r : rows)
    if (name.find(r.part) != std::string_view::npos) return r.term;
  return "profiler";
}

std::vector<std::string> terms_of(const std::vector<located_finding>& findings) {
  std::vector<std::string> terms;
  for (const auto& found : findings) add(terms, term_of(found.what.kind));
  return terms;
}

std::vector<std::string> terms_of(const std::vector<kernel_profile>& kernels) {
  std::vector<std::string> terms;
  profile_counts sum;
  for (const auto& k : kernels) sum += k.total;
  const auto shared_beyond = [](const wavefront_counts& c) {
    return c.wavefronts > c.ideal_wavefronts;
  };
  if (shared_beyond(sum.shared_load) || shared_beyond(sum.shared_store))
    add(terms, "bank-conflict");
  if (std::any_of(kernels.begin(), kernels.end(), [](const auto& k) { return k.spill_bytes > 0; }))
    add(terms, "spill");
  if (std::any_of(kernels.begin(), kernels.end(),
                  [](const auto& k) { return k.diverges_noticeably(k.total); }))
    add(terms, "divergence");
  if (sum.global_load.requests + sum.global_store.requests > 0) add(terms, "sector");
  if (sum.shared_load.requests + sum.shared_store.requests > 0) add(terms, "wavefront");
  add(terms, "occupancy");
  return terms;
}

std::string explain_text(const std::vector<std::string>& terms) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, terms.size()); ++i)
    text += (i == 0 ? "./lab explain " : ", ") + terms[i];
  return text;
}

}  // namespace stepwise::cli

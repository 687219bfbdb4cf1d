// Figures of single kernels, and the model's errors compared with the hardware.
#include "grader/model/profile_comparison.hpp"

#include <algorithm>
#include <cmath>

#include "grader/measure/statistics.hpp"

namespace stepwise {
namespace {

double share_of(double a, double b) { return b > 0 ? a / b : 0; }

kernel_figure figure_at(int n) { return static_cast<kernel_figure>(n); }

}  // namespace

std::string_view name_of(kernel_figure f) {
  constexpr std::string_view names[kernel_figures] = {"us",          "instructions", "occupancy",
                                                      "l1_hit_rate", "l2_bytes",     "dram_bytes"};
  return names[static_cast<int>(f)];
}

limiter figures_of_kernel::limit() const {
  utilisation u;
  u.compute = compute;
  u.memory = memory;
  return limiter_of(u);
}

figures_of_kernel figures_of(const kernel_profile& k) {
  const level_traffic t = traffic_of(k);
  const level_bytes bytes = bytes_of(k);
  const utilisation u = utilisation_of(k.timing);
  figures_of_kernel f;
  f.mangled = k.mangled;
  f.of = {k.timing.us,
          k.timing.instructions,
          share_of(k.timing.active_warps, k.most_warps),
          share_of(t.load_hits, t.loads),
          bytes.l2,
          bytes.dram};
  f.compute = u.compute;
  f.memory = u.memory;
  return f;
}

json figures_json(const figures_of_kernel& k) {
  json document = {{"kernel", k.mangled}};
  for (int n = 0; n < kernel_figures; ++n)
    document[std::string(name_of(figure_at(n)))] = k[figure_at(n)];
  document["compute"] = k.compute;
  document["memory"] = k.memory;
  document["limiter"] = name_of(k.limit());
  return document;
}

figures_of_kernel figures_from(const json& document) {
  figures_of_kernel k;
  k.mangled = document.at("kernel").get<std::string>();
  for (int n = 0; n < kernel_figures; ++n)
    k.of[static_cast<std::size_t>(n)] =
        document.at(std::string(name_of(figure_at(n)))).get<double>();
  k.compute = document.at("compute").get<double>();
  k.memory = document.at("memory").get<double>();
  return k;
}

std::optional<double> compared_profile::error(kernel_figure f) const {
  if (f == kernel_figure::l1_hit_rate) return modelled[f] - hardware[f];
  if (hardware[f] <= 0) return {};
  return modelled[f] / hardware[f] - 1;
}

bool compared_profile::limits_agree() const {
  const limiter a = hardware.limit(), b = modelled.limit();
  if (a == b) return true;
  return a != limiter::latency && b != limiter::latency &&
         (a == limiter::both || b == limiter::both);
}

std::vector<figure_error> figure_errors(const std::vector<compared_profile>& all) {
  std::vector<figure_error> errors;
  for (int n = 0; n < kernel_figures; ++n) {
    std::vector<double> of_steps;
    for (const compared_profile& one : all)
      if (const auto e = one.error(figure_at(n))) of_steps.push_back(std::abs(*e));
    if (of_steps.empty()) continue;
    std::ranges::sort(of_steps);
    const std::size_t nine_in_ten = (9 * of_steps.size() + 9) / 10;
    errors.push_back({figure_at(n), median(of_steps), of_steps[nine_in_ten - 1]});
  }
  return errors;
}

json profiles_json(const std::string& lab_name, const std::string& gpu, const std::string& source,
                   const std::vector<compared_profile>& all) {
  json document = {{"lab", lab_name}, {"gpu", gpu}, {"source", source}};
  document["errors"] = json::array();
  for (const figure_error& e : figure_errors(all))
    document["errors"].push_back({{"figure", name_of(e.figure)},
                                  {"median_error", e.median},
                                  {"worst_tenth_error", e.worst_tenth}});
  document["steps"] = json::array();
  for (const compared_profile& one : all)
    document["steps"].push_back({{"step", one.step},
                                 {"size", one.size},
                                 {"hardware", figures_json(one.hardware)},
                                 {"modelled", figures_json(one.modelled)},
                                 {"limits_agree", one.limits_agree()}});
  return document;
}

}  // namespace stepwise

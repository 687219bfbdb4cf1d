// The table of counters, sums over launches and runs, the comparison, and the record's JSON.
#include "grader/validation/counters.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

constexpr double tolerance = 0.001;  // for agreement::thousandth

extent parse_three(const json& j) { return {j.at(0), j.at(1), j.at(2)}; }

bool same(const extent& a, const extent& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

// Adds one launch, of run number `run` of `runs`, to its kernel's sums.
struct launch_sums {
  counted_kernel kernel;                    // without counters
  std::vector<std::uint64_t> launches;      // per run
  std::vector<std::vector<double>> of_run;  // [run][counter]
  std::vector<bool> known;

  launch_sums(counted_kernel k, int runs)
      : kernel(std::move(k)),
        launches(static_cast<std::size_t>(runs)),
        of_run(static_cast<std::size_t>(runs), std::vector<double>(all_counters().size())),
        known(all_counters().size(), true) {}

  void add(const ncu_launch& launch, std::size_t run) {
    ++launches[run];
    for (std::size_t c = 0; c < all_counters().size(); ++c) {
      const counter& what = all_counters()[c];
      double sum = 0;
      for (const char* const metric : what.metrics) {
        const auto found = launch.metrics.find(metric);
        if (found == launch.metrics.end()) {
          known[c] = false;
        } else {
          sum += found->second;
        }
      }
      double& to = of_run[run][c];
      to = what.per_launch ? std::max(to, sum) : to + sum;
    }
  }

  counted_kernel counted() const {
    counted_kernel k = kernel;
    k.launches = launches[0];
    for (std::size_t c = 0; c < known.size(); ++c) {
      interval range{of_run[0][c], of_run[0][c]};
      for (const auto& run : of_run) {
        range = {std::min(range.low, run[c]), std::max(range.high, run[c])};
      }
      k.figures.push_back(known[c] ? std::optional(range) : std::nullopt);
    }
    return k;
  }
};

counted_kernel configuration_of(const ncu_launch& launch) {
  counted_kernel k;
  k.mangled = launch.mangled;
  k.grid = launch.grid;
  k.block = launch.block;
  const auto dynamic = launch.metrics.find("launch__shared_mem_per_block_dynamic");
  if (dynamic != launch.metrics.end()) {
    k.dynamic_shared_bytes = static_cast<std::uint64_t>(dynamic->second);
  }
  return k;
}

// Counts are integers, but a percentage may not be.
json figure_json(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? json(whole) : json(value);
}

bool is_local(const counter& c) { return std::string_view(c.key).starts_with("local_"); }

conclusion conclude(const compared_counter& c, std::uint64_t spill_bytes) {
  if (c.what->must == agreement::information) return conclusion::information;
  const double difference = std::abs(c.difference());
  if (difference == 0) return conclusion::equal;
  if (c.what->must == agreement::thousandth && difference <= tolerance * c.hardware.high) {
    return conclusion::close;
  }
  // The machine code keeps registers in local memory, which the PTX does not show.
  if (is_local(*c.what) && spill_bytes > 0 && c.emulated < c.hardware.low) {
    return conclusion::machine_only;
  }
  return conclusion::differs;
}

compared_kernel compare_kernels(const counted_kernel& hardware, const counted_kernel& emulated) {
  compared_kernel result{&hardware, &emulated, {}, hardware.launches == emulated.launches};
  for (std::size_t c = 0; c < all_counters().size(); ++c) {
    if (!hardware.figures[c] || !emulated.figures[c]) continue;
    compared_counter one{&all_counters()[c], *hardware.figures[c], emulated.figures[c]->low,
                         conclusion::equal};
    if (one.hardware.high == 0 && one.emulated == 0) continue;
    one.found = conclude(one, emulated.spill_bytes);
    result.holds &= one.found != conclusion::differs;
    result.counters.push_back(one);
  }
  return result;
}

}  // namespace

bool counted_kernel::same_configuration(const counted_kernel& o) const {
  return mangled == o.mangled && same(grid, o.grid) && same(block, o.block) &&
         dynamic_shared_bytes == o.dynamic_shared_bytes;
}

std::vector<counted_kernel> counted_by_emulator(const std::vector<kernel_profile>& profile) {
  std::vector<counted_kernel> all;
  for (const kernel_profile& p : profile) {
    counted_kernel k{p.mangled,  p.grid,        p.block, p.dynamic_shared_bytes,
                     p.launches, p.spill_bytes, {}};
    for (const counter& c : all_counters()) {
      const double value = c.emulated(p);
      k.figures.push_back(interval{value, value});
    }
    all.push_back(std::move(k));
  }
  return all;
}

std::vector<counted_kernel> counted_by_ncu(const std::vector<ncu_launch>& launches, int runs) {
  const auto wanted = static_cast<std::size_t>(runs);
  if (launches.size() % wanted != 0) {
    throw failure(exit_code::environment,
                  fmt::format("ncu saw {} launches, which cannot be divided into {} equal calls",
                              launches.size(), runs));
  }
  const std::size_t per_run = launches.size() / wanted;
  std::vector<launch_sums> sums;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const counted_kernel k = configuration_of(launches[i]);
    if (!k.same_configuration(configuration_of(launches[i % per_run]))) {
      throw failure(exit_code::environment,
                    "a repeated call launched different kernels than the first call: " + k.mangled);
    }
    auto at = std::find_if(sums.begin(), sums.end(),
                           [&](const launch_sums& s) { return s.kernel.same_configuration(k); });
    if (at == sums.end()) at = sums.insert(sums.end(), launch_sums(k, runs));
    at->add(launches[i], i / per_run);
  }
  std::vector<counted_kernel> all;
  for (const auto& s : sums) all.push_back(s.counted());
  return all;
}

std::string_view name_of(conclusion c) {
  constexpr std::array<std::string_view, 6> names = {
      "equal", "within 0.1 %", "DIFFERS", "only machine code", "information", "differs, known"};
  return names[static_cast<std::size_t>(c)];
}

double compared_counter::difference() const {
  if (emulated < hardware.low) return emulated - hardware.low;
  return emulated > hardware.high ? emulated - hardware.high : 0;
}

std::vector<compared_kernel> compare(const std::vector<counted_kernel>& hardware,
                                     const std::vector<counted_kernel>& emulated) {
  std::vector<compared_kernel> all;
  std::set<const counted_kernel*> matched;
  for (const auto& h : hardware) {
    const auto e = std::find_if(emulated.begin(), emulated.end(),
                                [&](const counted_kernel& k) { return k.same_configuration(h); });
    if (e == emulated.end()) {
      all.push_back({&h, nullptr, {}, false});
      continue;
    }
    matched.insert(&*e);
    all.push_back(compare_kernels(h, *e));
  }
  for (const auto& e : emulated) {
    if (!matched.contains(&e)) all.push_back({nullptr, &e, {}, false});
  }
  return all;
}

json record_json(const std::vector<counted_kernel>& hardware) {
  json kernels = json::array();
  for (const auto& k : hardware) {
    json counted = json::object();
    for (std::size_t c = 0; c < k.figures.size(); ++c) {
      if (!k.figures[c]) continue;
      const auto [low, high] = *k.figures[c];
      counted[all_counters()[c].key] =
          low == high ? figure_json(low) : json{figure_json(low), figure_json(high)};
    }
    kernels.push_back({{"kernel", k.mangled},
                       {"grid", {k.grid.x, k.grid.y, k.grid.z}},
                       {"block", {k.block.x, k.block.y, k.block.z}},
                       {"dynamic_shared_bytes", k.dynamic_shared_bytes},
                       {"launches", k.launches},
                       {"counted", counted}});
  }
  return kernels;
}

counted_kernel parse_kernel(const json& entry) {
  counted_kernel k{entry.at("kernel"),
                   parse_three(entry.at("grid")),
                   parse_three(entry.at("block")),
                   entry.at("dynamic_shared_bytes"),
                   entry.at("launches"),
                   0,
                   {}};
  const auto& counted = entry.at("counted");
  for (const counter& c : all_counters()) {
    if (!counted.contains(c.key)) {
      k.figures.push_back(std::nullopt);
      continue;
    }
    const auto& value = counted.at(c.key);
    k.figures.push_back(value.is_array() ? interval{value.at(0), value.at(1)}
                                         : interval{value, value});
  }
  return k;
}

}  // namespace stepwise

// The table of counters, the way in which each is computed, and the line that contributes most to a
// counter.
#include "grader/course/goal_counter.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "grader/course/lab.hpp"

namespace stepwise {
namespace {

constexpr double sector_bytes = 32, lanes_of_a_warp = 32;

double number(std::uint64_t value) { return static_cast<double>(value); }

wavefront_counts all_shared(const profile_counts& c) {
  wavefront_counts sum = c.shared_load;
  for (const auto* part : {&c.shared_store, &c.shared_atomic, &c.shared_copy}) sum += *part;
  return sum;
}

double most_of(const std::vector<kernel_profile>& call, std::uint64_t kernel_profile::*property) {
  std::uint64_t most = 0;
  for (const auto& k : call) most = std::max(most, k.*property);
  return number(most);
}

double instructions_of(const kernel_profile& k) { return number(k.total.all_instructions().warps); }

double global_sectors(const profile_counts& c) {
  return number(c.global_load.sectors + c.global_store.sectors + c.global_atomic.sectors);
}

// The kernels with at least a twentieth of the call's instructions or of its traffic. The other
// kernels, such as one that resets a counter, are small helpers. The traffic distinguishes the
// kernel that does the lab's work from one that only executes instructions.
std::vector<const kernel_profile*> working_kernels(const std::vector<kernel_profile>& call) {
  constexpr double least_share = 0.05;
  double instructions = 0, sectors = 0;
  for (const auto& k : call) {
    instructions += instructions_of(k);
    sectors += global_sectors(k.total);
  }
  std::vector<const kernel_profile*> working;
  for (const auto& k : call) {
    const double moved = global_sectors(k.total);
    if (instructions_of(k) >= least_share * instructions ||
        (moved > 0 && moved >= least_share * sectors))
      working.push_back(&k);
  }
  return working;
}

// The occupancy of the working kernel with the most empty warp slots.
double least_occupancy(const std::vector<kernel_profile>& call) {
  double least = 100;
  for (const kernel_profile* k : working_kernels(call))
    least = std::min(least, 100.0 * k->resident_warps / std::max(1, k->most_warps));
  return least;
}

// Multiply-adds as warp instructions. A problem counts each as two operations.
double multiply_adds(const problem_work& work) {
  return work.operation_unit == "flop" ? work.operations / 2 / lanes_of_a_warp : 0;
}

std::vector<goal_counter> of_global_memory() {
  return {
      {"global_load_sectors_per_request", "sectors per request of global loads",
       "there is no global load", [](const auto& c) { return number(c.global_load.sectors); },
       [](const auto& c) { return number(c.global_load.requests); }},
      {"global_load_ideal_sectors_per_request",
       "sectors of data per request of global loads (4 if each of 32 lanes reads one float)",
       "there is no global load",
       [](const auto& c) {
         return number(c.global_load.ideal_sectors + c.constant_load.ideal_sectors);
       },
       [](const auto& c) { return number(c.global_load.requests + c.constant_load.requests); }},
      {"global_store_sectors_per_request", "sectors per request of global stores",
       "there is no global store", [](const auto& c) { return number(c.global_store.sectors); },
       [](const auto& c) { return number(c.global_store.requests); }},
      {"global_load_efficiency_percent", "% efficiency of global loads (ideal over actual sectors)",
       "there is no global load",
       [](const auto& c) { return 100 * number(c.global_load.ideal_sectors); },
       [](const auto& c) { return number(c.global_load.sectors); }},
      {"global_store_efficiency_percent",
       "% efficiency of global stores (ideal over actual sectors)", "there is no global store",
       [](const auto& c) { return 100 * number(c.global_store.ideal_sectors); },
       [](const auto& c) { return number(c.global_store.sectors); }},
      {"global_bytes_over_minimum",
       "times the bytes that must move (whole 32-byte sectors, even if few of their bytes are "
       "used; before caches)",
       "no bytes of global memory are moved",
       [](const auto& c) { return sector_bytes * global_sectors(c); }, nullptr,
       [](const problem_work& work) { return work.bytes; }, nullptr,
       [](const device_transfers& t) { return number(t.bytes_moved()); }},
  };
}

std::vector<goal_counter> of_shared_memory() {
  return {
      {"shared_load_wavefronts_per_request", "wavefronts per request of shared loads",
       "there is no shared load", [](const auto& c) { return number(c.shared_load.wavefronts); },
       [](const auto& c) { return number(c.shared_load.requests); }},
      {"shared_store_wavefronts_per_request", "wavefronts per request of shared stores",
       "there is no shared store", [](const auto& c) { return number(c.shared_store.wavefronts); },
       [](const auto& c) { return number(c.shared_store.requests); }},
      {"shared_wavefronts_over_ideal", "times the wavefronts without bank conflicts",
       "there is no access to shared memory",
       [](const auto& c) { return number(all_shared(c).wavefronts); },
       [](const auto& c) { return number(all_shared(c).ideal_wavefronts); }},
      {"shared_load_requests_per_fma", "requests of shared loads per multiply-add",
       "there is no shared load, or no multiply-add",
       [](const auto& c) { return number(c.shared_load.requests + c.shared_atomic.requests); },
       nullptr, multiply_adds},
      {"shared_load_wavefronts_per_fma", "wavefronts of shared loads per multiply-add",
       "there is no shared load, or no multiply-add",
       [](const auto& c) { return number(c.shared_load.wavefronts + c.shared_atomic.wavefronts); },
       nullptr, multiply_adds},
  };
}

std::vector<goal_counter> other_counters() {
  return {
      {"load_requests_per_fma", "load requests to any memory per multiply-add",
       "there is no load, or no multiply-add",
       [](const auto& c) {
         return number(c.global_load.requests + c.shared_load.requests + c.local_load.requests +
                       c.constant_load.requests + c.global_atomic.requests +
                       c.shared_atomic.requests);
       },
       nullptr, multiply_adds},
      {"warp_execution_efficiency_percent", "% of the lanes are active in the average instruction",
       "no instruction was executed",
       [](const auto& c) { return 100 * number(c.all_instructions().lanes); },
       [](const auto& c) { return lanes_of_a_warp * number(c.all_instructions().warps); }, nullptr,
       nullptr, nullptr, true},
      {"kernel_launches", "kernel launches", "no kernel is launched", nullptr, nullptr, nullptr,
       [](const auto& call) {
         std::uint64_t sum = 0;
         for (const kernel_profile& k : call) sum += k.launches;
         return number(sum);
       }},
      {"occupancy_percent", "% of a multiprocessor's warp slots can be filled",
       "no kernel is launched", nullptr, nullptr, nullptr, least_occupancy},
      {"local_bytes_per_thread", "bytes of local memory per thread", "no kernel is launched",
       nullptr, nullptr, nullptr,
       [](const auto& call) { return most_of(call, &kernel_profile::local_bytes); }},
      {"spill_bytes_per_thread", "bytes of spilled registers per thread", "no kernel is launched",
       nullptr, nullptr, nullptr,
       [](const auto& call) { return most_of(call, &kernel_profile::spill_bytes); }},
  };
}

// A kernel that is launched in several configurations has its lines several times.
code_place costliest_line(const goal_counter& what, const std::vector<kernel_profile>& call,
                          bound side, double limit) {
  std::map<std::pair<std::string, int>, std::pair<double, const code_place*>> beyond;
  for (const auto& k : call) {
    for (const auto& l : k.lines) {
      if (l.at.line == 0) continue;
      const double count = what.count(l.counts);
      const double allowed = what.base == nullptr ? 0 : limit * what.base(l.counts);
      auto& entry = beyond[{l.at.file, l.at.line}];
      entry.first += side == bound::at_most ? count - allowed : allowed - count;
      entry.second = &l.at;
    }
  }
  const auto most = std::max_element(
      beyond.begin(), beyond.end(),
      [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  return most != beyond.end() && most->second.first > 0 ? *most->second.second : code_place{};
}

}  // namespace

const std::vector<goal_counter>& goal_counters() {
  static const std::vector<goal_counter> all = [] {
    std::vector<goal_counter> list;
    for (const auto& part : {of_global_memory(), of_shared_memory(), other_counters()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

const goal_counter* find_goal_counter(std::string_view name) {
  const auto& all = goal_counters();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const goal_counter& counter_named(const std::string& name, const std::string& sentence,
                                  exit_code code) {
  if (const goal_counter* found = find_goal_counter(name)) return *found;
  std::vector<std::string> names;
  std::string known;
  for (const auto& c : goal_counters()) {
    names.emplace_back(c.name);
    known += "\n  " + names.back();
  }
  const std::string near = nearest(name, names);
  throw failure(code, sentence + " \"" + name + "\"" +
                          (near.empty() ? "" : "; did you mean \"" + near + "\"?") +
                          "\nthe counters are" + known);
}

goal_figure figure_of(const goal_counter& what, const std::vector<kernel_profile>& call,
                      const device_transfers& transfers, const problem_work& work, bound side,
                      double limit, double most_active) {
  goal_figure result;
  if (what.by_kernel && call.size() > 1) {
    for (const kernel_profile* k : working_kernels(call)) {
      goal_figure one = figure_of(what, {*k}, transfers, work, side, limit, most_active);
      if (!result.value || (side == bound::at_most ? one.value > result.value
                                                   : one.value && one.value < result.value))
        result = std::move(one);
    }
    return result;
  }
  const double moved = what.of_transfers != nullptr ? what.of_transfers(transfers) : 0;
  if (call.empty() && moved == 0) return result;
  if (what.of_call != nullptr) {
    result.value = what.of_call(call);
    return result;
  }
  profile_counts total;
  for (const auto& k : call) total += k.total;
  double base = what.base != nullptr ? what.base(total) : what.needed(work);
  double count = what.count(total) + moved;
  // Lanes beyond those that count are omitted together with their warps, so idle lanes stay.
  const double lanes = number(total.all_instructions().lanes), counted = most_active * work.bytes;
  if (counted > 0 && lanes > counted) {
    result.too_active = lanes / work.bytes;
    count -= 100 * (lanes - counted);
    base -= lanes - counted;
  }
  if (base <= 0 || count <= 0) return result;
  result.value = count / base;
  result.of_transfers = moved / base;
  const bool met = side == bound::at_most ? *result.value <= limit : *result.value >= limit;
  if (met) return result;
  if (what.by_kernel && 100 * call[0].warp_fill() < limit) {
    result.threads_of_block = volume(call[0].block);
  } else {
    result.costliest = costliest_line(what, call, side, limit);
  }
  return result;
}

goal_figure figure_of(const goal& g, const std::vector<kernel_profile>& call,
                      const device_transfers& transfers, const problem_work& work) {
  goal_figure result = figure_of(*g.counter, call, transfers, work, g.side, g.limit, g.most_active);
  if (g.least_shared <= 0 || work.bytes <= 0) return result;
  constexpr double wavefront_bytes = 128;
  double ideal = 0;
  for (const auto& k : call) ideal += number(all_shared(k.total).ideal_wavefronts);
  if (const double share = ideal * wavefront_bytes / work.bytes; share < g.least_shared) {
    result.value.reset();
    result.too_little_shared = share;
  }
  return result;
}

std::string in_words(const goal_counter& what, double value) {
  // No exponent: "12290x".
  std::string amount = value < 1e4 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
  std::string words = what.figure;
  if (amount == "1") {
    for (const auto& [many, one] :
         {std::pair<std::string, std::string>{"kernel launches", "kernel launch"},
          {"sectors ", "sector "},
          {"wavefronts ", "wavefront "},
          {"requests ", "request "},
          {"bytes ", "byte "}}) {
      if (words.starts_with(many)) words.replace(0, many.size(), one);
    }
  }
  // As `run` prints it: "1.03x the bytes that must move".
  if (words.starts_with("times ")) return (amount == "1" ? "1.0" : amount) + "x" + words.substr(5);
  return amount + " " + words;
}

}  // namespace stepwise

// The emulator's counters against a GPU's: which of ncu's metrics each is, what must be equal, and
// the record of what a GPU counted.
//
// idea    Both sides become the same thing, a counted_kernel: one kernel in one configuration, and
//         a figure for each counter. What ncu counted is a range over its runs: where it is a
//         point, being inside means being equal.
// watch   Nothing is fitted. What only the machine code does (spills) is listed as such.
// Tested by tests/validation_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "common/report/profile.hpp"
#include "grader/measure/statistics.hpp"
#include "grader/validation/ncu.hpp"

namespace stepwise {

// What has to hold between the two.
enum class agreement {
  equal,        // inside the range of ncu's runs
  thousandth,   // within 0.1 % of that range: the hardware repeats an access now and then
  information,  // another thing (instructions), or a model's estimate (caches)
};

// One counter: its key in records, what it is called, how both sides know it.
struct counter {
  const char* key;
  const char* label;
  agreement must;
  bool per_launch;                   // a property of the kernel, not a sum over its launches
  std::vector<const char*> metrics;  // ncu's, added up
  double (*emulated)(const kernel_profile&);
};
const std::vector<counter>& all_counters();
std::vector<std::string> ncu_metrics();  // that all_counters() needs

struct counted_kernel {
  std::string mangled;
  extent grid, block;
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t launches = 0;
  std::uint64_t spill_bytes = 0;  // only the emulator knows: local memory that the PTX lacks
  std::vector<std::optional<interval>> figures;  // as all_counters(); none: not counted

  bool same_configuration(const counted_kernel& o) const;
};

// In the order of their first launch.
std::vector<counted_kernel> counted_by_emulator(const std::vector<kernel_profile>& profile);

// `launches` are those of `runs` equal calls, one after the other. failure(environment) if they
// cannot be: their number is no multiple, or a call launches other kernels than the first.
std::vector<counted_kernel> counted_by_ncu(const std::vector<ncu_launch>& launches, int runs);

enum class conclusion { equal, close, differs, machine_only, information, known };
std::string_view name_of(conclusion c);  // "equal", "within 0.1 %", ...

struct compared_counter {
  const counter* what = nullptr;
  interval hardware;
  double emulated = 0;
  conclusion found = conclusion::equal;

  double difference() const;  // from the nearer end of the range; 0 inside it
};

struct compared_kernel {
  const counted_kernel* hardware = nullptr;  // at least one of the two is there
  const counted_kernel* emulated = nullptr;
  std::vector<compared_counter> counters;  // of both; those that are 0 on both sides are left out
  bool holds = true;
};

// Kernels are matched by name and configuration. One that only one side has does not hold.
std::vector<compared_kernel> compare(const std::vector<counted_kernel>& hardware,
                                     const std::vector<counted_kernel>& emulated);

// A record keeps what ncu counted: a number, or [low, high] where its runs differ.
json record_json(const std::vector<counted_kernel>& hardware);
// json_error if it is not of that form. Counters that it lacks are not compared.
counted_kernel parse_kernel(const json& entry);

}  // namespace stepwise

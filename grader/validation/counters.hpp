// Compares the emulator's counters with a GPU's: the ncu metrics of each counter, the required
// agreement, and the record of a GPU's counters.
//
// idea    Both sides become a counted_kernel: one kernel in one configuration, and a value per
//         counter. ncu's value is a range over its runs. If the range is a single point, the
//         emulator's count must equal it.
// watch   Nothing is fitted. Effects that come from the machine code alone (spills) are listed as
//         such.
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

// The required agreement of both sides.
enum class agreement {
  equal,        // inside the range of ncu's runs
  thousandth,   // within 0.1 % of that range: the hardware sometimes repeats an access
  information,  // another quantity (instructions) or an estimate (caches)
};

// One counter: its key in records, its label, and its definition on both sides.
struct counter {
  const char* key;
  const char* label;
  agreement must;
  bool per_launch;                   // a property of the kernel, not a sum over its launches
  std::vector<const char*> metrics;  // ncu's, summed
  double (*emulated)(const kernel_profile&);
};
const std::vector<counter>& all_counters();
std::vector<std::string> ncu_metrics();  // the metrics that all_counters() needs

struct counted_kernel {
  std::string mangled;
  extent grid, block;
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t launches = 0;
  std::uint64_t spill_bytes = 0;  // known only to the emulator: local memory that the PTX lacks
  std::vector<std::optional<interval>> figures;  // as in all_counters(); empty: not counted

  bool same_configuration(const counted_kernel& o) const;
};

// The kernels in the order of their first launch.
std::vector<counted_kernel> counted_by_emulator(const std::vector<kernel_profile>& profile);

// `launches` come from `runs` equal calls, one after the other. Throws failure(environment) if this
// is impossible: their number is not a multiple of `runs`, or a call does not launch the kernels of
// the first.
std::vector<counted_kernel> counted_by_ncu(const std::vector<ncu_launch>& launches, int runs);

enum class conclusion { equal, close, differs, machine_only, information, known };
std::string_view name_of(conclusion c);  // "equal", "within 0.1 %", ...

struct compared_counter {
  const counter* what = nullptr;
  interval hardware;
  double emulated = 0;
  conclusion found = conclusion::equal;

  double difference() const;  // from the nearest end of the range; 0 inside it
};

struct compared_kernel {
  const counted_kernel* hardware = nullptr;  // at least one of the two is not null
  const counted_kernel* emulated = nullptr;
  std::vector<compared_counter> counters;  // of both; omitted if 0 on both sides
  bool holds = true;
};

// Kernels are matched by name and configuration. A kernel that only one side has does not hold.
std::vector<compared_kernel> compare(const std::vector<counted_kernel>& hardware,
                                     const std::vector<counted_kernel>& emulated);

// A record keeps ncu's counters: a number, or [low, high] if its runs differ.
json record_json(const std::vector<counted_kernel>& hardware);
// Throws json_error if `entry` is malformed. Counters that the entry lacks are not compared.
counted_kernel parse_kernel(const json& entry);

}  // namespace stepwise

// Holds the emulator's counters of a lab's steps against a GPU's: those that ncu reads now, or
// those of a record.
//
// idea    On the GPU one process per step makes all calls, each several times, because starting ncu
//         costs more than counting. On the emulator every size has a process of its own, whose
//         profile says how many launches a call has; so ncu's list of launches is cut into calls.
// Tested by tests/validation_test.cpp (cutting and comparing) and, as a whole, by the tests
// "counters of LAB".
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/judge/check.hpp"
#include "grader/validation/counters.hpp"

namespace stepwise {

struct validation_request {
  const lab& l;
  const problem& p;
  std::vector<std::string> steps;  // empty, with a record: all that it has
  std::vector<lab_size> sizes;     // the same
  int runs = 5;                    // of each call, under ncu
  const installation& where;
  activity now;
};

struct validated_size {
  lab_size size;
  std::string label;
  call_outcome found;  // of the calls themselves: counts of a wrong call are worth nothing
  std::vector<counted_kernel> hardware, emulated;  // `kernels` points into them
  std::vector<compared_kernel> kernels;

  bool holds() const;
};

struct validated_step {
  std::string name;
  std::vector<validated_size> sizes;
};

struct validation {
  std::string gpu;
  std::string source;  // "ncu 2025.3.1.0", or the record's file name
  std::vector<validated_step> steps;
  json record;  // of what the GPU counted, without date and command
};

// after_step is called with the record of what has been counted so far. failure(environment) says
// what is missing: ncu, the permission to read counters, a description of this GPU for the
// emulator.
validation validate_on_gpu(const validation_request& request, const device_choice& gpu,
                           const std::function<void(const json& record)>& after_step);

// failure(ours) if the record is not as expected.
validation validate_against_record(const validation_request& request,
                                   const std::filesystem::path& file);

// solutions/LAB/measured/*.counters.jsonl
std::vector<std::filesystem::path> counter_records(const std::filesystem::path& root,
                                                   const std::string& lab);

// Why steps of the one record cannot stand in the other: another GPU, driver, runtime, ncu, number
// of runs or list of metrics. "" if they can.
std::string why_apart(const json& one, const json& other);

// The newer record, with those steps of the lab that only the older one has, in the lab's order.
json joined_records(const json& older, json newer, const lab& l);

// The launches of `runs` calls in a row of each size; launches_of[i] is how many one call of size i
// makes. failure(ours) if there are more or fewer in all.
std::vector<std::vector<ncu_launch>> cut_into_sizes(const std::vector<ncu_launch>& launches,
                                                    const std::vector<std::uint64_t>& launches_of,
                                                    int runs);

}  // namespace stepwise

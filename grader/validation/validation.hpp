// Compares the emulator's counters for a lab's steps with a GPU's, from ncu or from a record.
//
// idea    On the GPU, one process per step makes all calls, each several times, because starting
//         ncu costs more than counting. On the emulator, every size has its own process, whose
//         profile has the number of launches per call. ncu's list of launches is split by these
//         numbers.
// Tested by tests/validation_test.cpp (splitting and comparing) and completely by the tests
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
  std::vector<std::string> steps;  // empty, with a record: all of its steps
  std::vector<lab_size> sizes;     // empty, with a record: all of its sizes
  int runs = 5;                    // of each call, under ncu
  const installation& where;
  activity now;
};

struct validated_size {
  lab_size size;
  std::string label;
  call_outcome found;  // the calls; counters of a wrong call mean nothing
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
  json record;  // of the GPU's counters, without date and command
};

// after_step is called with the record of everything counted up to now. Throws
// failure(environment), which names what is missing: ncu, the permission to read counters, or a
// description of this GPU for the emulator.
validation validate_on_gpu(const validation_request& request, const device_choice& gpu,
                           const std::function<void(const json& record)>& after_step);

// Throws failure(ours) if the record is malformed.
validation validate_against_record(const validation_request& request,
                                   const std::filesystem::path& file);

// solutions/LAB/measured/*.counters.jsonl
std::vector<std::filesystem::path> counter_records(const std::filesystem::path& root,
                                                   const std::string& lab);

// The reason that steps of one record cannot join the other: another GPU, driver, runtime, ncu,
// number of runs or list of metrics. "" if they can.
std::string why_apart(const json& one, const json& other);

// The newer record, plus the lab's steps that only the older record has, in the lab's order.
json joined_records(const json& older, json newer, const lab& l);

// Splits the launches of `runs` consecutive calls of each size. launches_of[i] is the number of
// launches in one call of size i. Throws failure(ours) if the total differs.
std::vector<std::vector<ncu_launch>> cut_into_sizes(const std::vector<ncu_launch>& launches,
                                                    const std::vector<std::uint64_t>& launches_of,
                                                    int runs);

}  // namespace stepwise

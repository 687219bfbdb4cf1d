// Tables of a lab's deeper.md and DESIGN.md that are made of records: sweeps, and what lectures
// publish beside what the course measured.
//
// idea    `lab dev sweep --record NAME` keeps a sweep under a name in
//         solutions/<lab>/measured/<gpu>.sweeps.jsonl, and `lab dev bench --readme` makes its table
//         between the markers "sweep NAME". As with record.hpp: figures are recorded, words are
//         not.
// Tested by tests/handout_tables_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/course/lab.hpp"
#include "grader/measure/sweep_summary.hpp"

namespace stepwise {

// One measured sweep as entries of a record. The first has its axes. Each of the others is a point
// that was timed: the values, the size, the time with its 95 % interval in ms, and of the kernel
// that executes most instructions blocks, registers, occupancy and spilled bytes; the counter's
// value, if one was asked for.
std::vector<json> sweep_entries(const std::string& name, const sweep_view& view,
                                const std::string& date, const std::string& command);

// Puts it into the lab's file of that GPU, in place of an older one of the same name; the file,
// relative to the root. failure(ours) if the file is there and is not a record of sweeps.
fs::path keep_sweep(const fs::path& root, const lab& l, const device_choice& device,
                    const std::vector<json>& sweep);

// The names that a page has markers for, "<!-- sweep NAME:begin -->", in their order.
std::vector<std::string> sweeps_in(std::string_view page);

// The table of one of them: the first axis downwards, the second across. Where nothing is recorded,
// a sentence that says so.
std::string sweep_markdown(const fs::path& root, const lab& l, const std::string& name);

// Every version that a lecture publishes beside the step that is like it, by the lab's records; ""
// if none does.
std::string lectures_markdown(const fs::path& root, const lab& l);

}  // namespace stepwise

// Tables in a lab's deeper.md and DESIGN.md and in labs/history.md that are generated from records:
// sweeps, and lectures' published figures next to the course's measurements.
//
// idea    `lab dev sweep --record NAME` keeps a sweep under a name in
//         solutions/<lab>/measured/<gpu>.sweeps.jsonl, and `lab dev bench --readme` writes its
//         table between the markers "sweep NAME". As in record.hpp, figures are recorded and words
//         are not.
// Tested by tests/handout_tables_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/formats/json.hpp"
#include "grader/course/lab.hpp"
#include "grader/measure/sweep_summary.hpp"

namespace stepwise {

// One measured sweep as record entries. The first entry has the axes. Each other entry is a timed
// point: its values, its size, its time with the 95 % interval in ms, and the blocks, registers,
// occupancy and spilled bytes of the kernel that executes most instructions. It also has the
// counter's value, if a counter was requested.
std::vector<json> sweep_entries(const std::string& name, const sweep_view& view,
                                const std::string& date, const std::string& command);

// Stores the sweep in the lab's file for this GPU, replacing an older sweep of the same name.
// Returns the file relative to the root. Throws failure(ours) if the file is not a record of
// sweeps.
fs::path keep_sweep(const fs::path& root, const lab& l, const device_choice& device,
                    const std::vector<json>& sweep);

// The names in a page's markers "<!-- sweep NAME:begin -->", in their order.
std::vector<std::string> sweeps_in(std::string_view page);

// A sweep's table with the first axis as rows and the second as columns. If nothing is recorded, a
// sentence that says so.
std::string sweep_markdown(const fs::path& root, const lab& l, const std::string& name);

// Every version that a lecture publishes, next to the corresponding step in the lab's records. ""
// if there is no such lecture.
std::string lectures_markdown(const fs::path& root, const lab& l);

}  // namespace stepwise

// Reads the emulator's findings from the file that the checked program wrote, and shows them.
//
// watch   A student's process writes that file, so its texts are escaped and malformed findings are
//         ignored.
// Tested by tests/findings_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/formats/json.hpp"
#include "common/report/finding_text.hpp"
#include "common/report/located_finding.hpp"
#include "grader/report/terminal.hpp"

namespace stepwise {

// Puts errors before warnings, and puts a failed launch first if only unwritten memory follows from
// it. All commands show this order, also after the findings of several runs were merged.
void order_by_cause(std::vector<located_finding>& all);
// Removes copies of unwritten memory to the host, which a wrong result already implies. The
// remaining findings decide the verdict.
std::vector<located_finding> without_copies(std::vector<located_finding> all);

// The file's findings, merged if they are equal, errors before warnings. Empty if the file is
// missing.
std::vector<located_finding> read_findings(const std::filesystem::path& file);

// One block per finding with an empty line after each, for a terminal. Files below `folder` are
// named relative to it. Positions in the lab's own runner are omitted.
std::string findings_text(const std::vector<located_finding>& all, const terminal_style& style,
                          const std::filesystem::path& folder);

// The tone for a piece of a finding's or a profile's text.
tone tone_of(text_role role);

// "3 findings: 1 race, ...", in the matching colour.
std::string findings_line(const std::vector<located_finding>& all, const terminal_style& style);

// The worst finding in a few sentences: "race at reduction.cu:31: two threads ...", the number of
// others, and advice. This is a warning if there is no error, or if the warning explains the
// errors. Empty if there are no findings.
std::string worst_finding(const std::vector<located_finding>& all,
                          const std::filesystem::path& folder);

// True if at least one finding is more than a warning.
bool has_errors(const std::vector<located_finding>& all);

// The keys `findings`, `errors`, `warnings` and `summary`. See JSON.md.
json findings_json(const std::vector<located_finding>& all);

}  // namespace stepwise

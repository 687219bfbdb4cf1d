// What the emulator's checks found, read from the file that the checked program wrote, and shown.
//
// watch   A student's process writes that file: texts in it are escaped, and what is no finding is
//         passed over.
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

// Those in the file, equal ones merged, errors before warnings; none if there is no such file.
std::vector<located_finding> read_findings(const std::filesystem::path& file);

// Takes out those that name what the checks do not follow: no mistakes of the program.
std::vector<located_finding> take_not_followed(std::vector<located_finding>& all);

// One block per finding with an empty line after each, for a terminal. Files below `folder` are
// named relative to it; the lab's own runner is not shown as a place.
std::string findings_text(const std::vector<located_finding>& all, const terminal_style& style,
                          const std::filesystem::path& folder);

// How a terminal shows such a piece of a finding's or a profile's text.
tone tone_of(text_role role);

// "3 findings: 1 race, ...", in the colour that they deserve.
std::string findings_line(const std::vector<located_finding>& all, const terminal_style& style);

// The worst one in a few sentences: "race at reduction.cu:31: two threads ...", how many more there
// are, and what helps. A warning if there is no error; empty if there is nothing.
std::string worst_finding(const std::vector<located_finding>& all,
                          const std::filesystem::path& folder);

// What the checks do not follow, in one sentence with its place: "k.cu:31: the checks do not ...".
std::string not_followed_text(const located_finding& found, const std::filesystem::path& folder);

// True if one of them is more than a warning.
bool has_errors(const std::vector<located_finding>& all);

// `findings`, `errors`, `warnings`, `summary` of the documents, see JSON.md.
json findings_json(const std::vector<located_finding>& all);
// The same with `not_followed`.
json findings_json(const std::vector<located_finding>& all,
                   const std::vector<located_finding>& not_followed);
json not_followed_json(const std::vector<located_finding>& all);

}  // namespace stepwise

// Verdicts as the formats that courses use; each is a function of the entries alone.
//
// source  JUnit: the schema of Ant's reports (windyroad's JUnit.xsd). Gradescope: its autograder
//         specification. Classroom 50: schema classroom50/result/v1. Moodle: the offline grading
//         worksheet of mod_assign.
// Tested by tests/publish_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/publish/entry.hpp"

namespace stepwise::publish {

// A line for each submission, a column for each goal that any of them has.
std::string csv(const std::vector<entry>& all);

// {"lab", "entries"}: what the journal holds, texts made harmless.
std::string as_json(const std::string& lab, const std::vector<json>& all);

// A suite for each submission, a case for each goal: a missed goal is a failure, INFRA and
// REFUSED are errors, a goal that was not graded here is skipped.
std::string junit(const std::string& lab, const std::vector<entry>& all);

// results.json. failure(environment) for an INFRA: Gradescope has no verdict without points, and a
// missing file is what it takes for "the autograder failed".
std::string gradescope(const entry& e);

// result.json. Who and where comes from the variables that Classroom 50 sets, through `variable`;
// failure(usage) names those that are missing, failure(environment) as above.
std::string classroom50(const entry& e, const std::function<std::string(const char*)>& variable);

// The worksheet to upload: ids are participants' numbers, as in the names of Moodle's folders.
// Without points, no grade: Moodle leaves the old one.
std::string moodle(const std::vector<entry>& all);

// What students and graders read: class, goals and points, in lines.
std::string feedback(const entry& e);

}  // namespace stepwise::publish

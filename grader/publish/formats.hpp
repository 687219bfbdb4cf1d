// Verdicts in the formats that courses use. Each is a pure function of the entries.
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

// A line per submission, and a column per goal that any submission has.
std::string csv(const std::vector<entry>& all);

// {"lab", "entries"}: the journal's entries, with harmless texts.
std::string as_json(const std::string& lab, const std::vector<json>& all);

// A suite per submission and a case per goal. A missed goal is a failure, INFRA and REFUSED are
// errors, and a goal that was not graded here is skipped.
std::string junit(const std::string& lab, const std::vector<entry>& all);

// results.json. Throws failure(environment) for INFRA, because Gradescope has no verdict without
// points, and reports a missing file as "the autograder failed".
std::string gradescope(const entry& e);

// result.json. `variable` reads the variables that Classroom 50 sets for person and place. Throws
// failure(usage), which names missing variables, and failure(environment) as above.
std::string classroom50(const entry& e, const std::function<std::string(const char*)>& variable);

// The worksheet to upload. Ids are participants' numbers, as in the names of Moodle's folders.
// Without points there is no grade, and Moodle keeps the old grade.
std::string moodle(const std::vector<entry>& all);

// The text for students and graders: class, goals and points, in lines.
std::string feedback(const entry& e);

}  // namespace stepwise::publish

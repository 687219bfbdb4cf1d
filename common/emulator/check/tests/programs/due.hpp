// The findings that a faulty program's comments announce, at the lines that cause them.
//
//   partial[i] += partial[i + 16];  // finding: race any any object=partial
//
// A comment names one party of a finding: its line and what it does. Words, in any order:
//   a kind (common/report/finding.hpp)   once per finding
//   a verb                               what the party's action must contain; "a|b": either,
//                                        "any": anything. Two verbs: both parties are here
//   allocated, freed, called             the host's line that allocated or freed the memory, or
//                                        made the call, or accessed the memory itself
//   unfinished                           the launch or copy that the host did not wait for
//   host                                 a party that is the host itself: a copy, a fill
//   object=NAME bytes=N offset=N         the memory concerned
//   count=N                              how often it happened
//   says=two_words                       what message or advice must contain
// A kind without a verb or place is a party that does anything. If a program has several findings,
// "finding 2:" numbers one of them, and "; 2:" continues the comment with another one. A comment on
// its own line describes the next line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/report/located_finding.hpp"

namespace stepwise::check_tests {

struct due_party {
  int line = 0;
  std::string verbs;
};

struct due_finding {
  std::string kind;
  std::vector<due_party> parties;
  int allocated = 0, freed = 0, called = 0, unfinished = 0;  // lines; 0: not given
  std::map<std::string, std::string> values;                 // object, bytes, offset, count, says
};

// Throws std::runtime_error if a comment is malformed.
std::vector<due_finding> due_findings(const std::string& source_text);

// Lists the differences between `found` and the expected findings; empty if there are none. `file`
// is the source's name. Values that a comment does not give may be anything.
std::vector<std::string> differences(const std::vector<due_finding>& due,
                                     const std::vector<located_finding>& found,
                                     const std::string& file);

}  // namespace stepwise::check_tests

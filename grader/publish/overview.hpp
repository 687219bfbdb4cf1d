// One page for instructors: the results of a course's submissions.
//
// idea    The page is a single file without scripts or external resources: tables, SVG figures, and
//         `details` that open. It contains names and the answers' key, so it is not for students.
// Tested by tests/overview_test.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/publish/entry.hpp"
#include "grader/publish/similarity.hpp"

namespace stepwise::publish {

// A question of the handout, the key's answer, and the students' answers.
struct question_answers {
  std::string id, text, key;
  struct given {
    std::string who, text;
  };
  std::vector<given> answers;
};

struct overview_parts {
  std::string lab, title, source;
  std::vector<entry> entries;
  std::size_t without_verdict = 0;  // submissions that are not in `entries`
  similarities alike;
  std::vector<question_answers> questions;
  std::map<std::string, std::string> hints;  // a goal's name -> the title of its hint
  std::vector<std::string> left_out;
  std::string salt;  // for pseudonyms
};

std::string overview(const overview_parts& p);

// "quiet heron 3" by id: unique, and the same for the same ids and salt.
std::map<std::string, std::string> pseudonyms(const std::vector<std::string>& ids,
                                              const std::string& salt);

}  // namespace stepwise::publish

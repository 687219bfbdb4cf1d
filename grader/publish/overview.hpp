// One page for instructors: what a course's submissions came to.
//
// idea    One file without scripts that loads nothing: tables, figures as SVG, and `details` that
//         open. It has names and the answers' key, so it is not for students.
// Tested by tests/overview_test.cpp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/publish/entry.hpp"
#include "grader/publish/similarity.hpp"

namespace stepwise::publish {

// A question of the handout, the key's answer, and those of the students.
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
  std::size_t without_verdict = 0;  // submissions beside `entries`
  similarities alike;
  std::vector<question_answers> questions;
  std::map<std::string, std::string> hints;  // goal's name -> title of its hint
  std::vector<std::string> left_out;
  std::string salt;  // of pseudonyms
};

std::string overview(const overview_parts& p);

// "quiet heron 3" by id: each its own, and the same for the same ids and salt.
std::map<std::string, std::string> pseudonyms(const std::vector<std::string>& ids,
                                              const std::string& salt);

}  // namespace stepwise::publish

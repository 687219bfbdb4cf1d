// One page for instructors: what a course's submissions came to.
//
// idea    A file of its own, with no script and nothing that is loaded: tables, figures as SVG, and
//         `details` that open. Names and the answers' key stand in it, so it is not for students.
// Tested by tests/overview_test.cpp; looked at in a browser by hand.
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
  similarities alike;
  std::vector<question_answers> questions;
  std::map<std::string, std::string> hints;  // goal's name -> title of its hint
  std::vector<std::string> left_out;
  std::string salt;  // of pseudonyms
};

std::string overview(const overview_parts& p);

// "quiet heron 3": the same for an id and a salt; no two of `ids` have the same.
std::map<std::string, std::string> pseudonyms(const std::vector<std::string>& ids,
                                              const std::string& salt);

// Headings "### ID ..." of a text, and what stands below each, to the next heading. Without lines
// that quote, if `own_words`.
std::map<std::string, std::string> sections_by_id(std::string_view text, bool own_words);

}  // namespace stepwise::publish

// The questions of a handout, and the file in which a student answers them.
//
// idea    Every item of a numbered list in labs/<lab>/README.md is a question: one that is added
//         there is asked here. labs/<lab>/answers.md starts as the template derived from it.
// watch   Whether an answer is right is for people to say; only whether there is one is counted.
// Tested by tests/answers_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct question {
  std::string section;             // "Before you measure: the bound"
  int number = 0;                  // as in the handout; a later section may begin again with 1
  std::vector<std::string> lines;  // its text

  std::string name() const;  // "Before you measure: the bound, 1"
};
std::vector<question> questions_of(std::string_view handout);

// The template: every question under a heading, with place for the answer.
std::string derive_answers(std::string_view handout, std::string_view lab);

struct answer_count {
  std::size_t answered = 0, questions = 0;
  std::vector<std::string> open;  // names of those without an answer
};
// A question of the handout is answered if there is text under its heading that is no quotation.
answer_count count_answers(std::string_view handout, std::string_view answers);

}  // namespace stepwise

// The questions of a handout, and the file in which a student answers them.
//
// idea    An item "* **R3** text" in labs/<lab>/README.md or deeper.md is a question; R3, its id,
//         is the lab's initial and a number. labs/<lab>/answers.md starts as the template derived
//         from both files, and solutions/<lab>/answers.md, the key, answers the questions by their
//         ids.
//         Numbers do not restart in each section, so an id stays when its question moves.
// watch   Only the existence of an answer is counted. Whether an answer is right is for people to
//         judge.
// Tested by tests/answers_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct question {
  std::string id;                  // "R3"; unique in the course
  std::string section;             // "Before you measure: the bound"
  std::vector<std::string> lines;  // its text
};
std::vector<question> questions_of(std::string_view handout);

// The template: every question under a heading, with space for the answer.
std::string derive_answers(std::string_view handout, std::string_view lab);

// The text from each heading "### R3" or "### R3 title" to the next heading, by id. `own_words`
// excludes quotations, with which a template repeats its questions.
std::map<std::string, std::string> answers_by_id(std::string_view text, bool own_words);

struct answer_count {
  std::size_t answered = 0, questions = 0;
  std::vector<std::string> open;  // ids of questions without an answer
};
// A question is answered if there is text other than quotations under its heading.
answer_count count_answers(std::string_view handout, std::string_view answers);

}  // namespace stepwise

// Tests the questions of a handout, and the check for which of them are answered.
#include "grader/course/answers.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

namespace {

const std::string handout = R"(# Adding

Text with 1. no item.

## Before you measure

* **A1** How long does it take
  at least?
* **A2** And at most?

```
* **A9** this is code
```

## Questions

- a bullet
* **a** bullet, and
* **A0** no id
* **A3** Why?

* **A10** What if
  n = 1?

Next: 3 things.
)";

std::string answered(std::string text, const std::string& behind, const std::string& with) {
  const auto at = text.find(behind);
  REQUIRE(at != std::string::npos);
  return text.insert(at + behind.size(), with);
}

}  // namespace

TEST_CASE("the items of a handout that begin with an id are its questions") {
  const auto all = questions_of(handout);
  REQUIRE(all.size() == 4);
  CHECK(all[0].section == "Before you measure");
  CHECK(all[0].lines == std::vector<std::string>{"How long does it take", "at least?"});
  CHECK(all[1].lines == std::vector<std::string>{"And at most?"});
  CHECK(all[2].id == "A3");
  CHECK(all[3].id == "A10");
  CHECK(all[3].lines == std::vector<std::string>{"What if", "n = 1?"});
}

TEST_CASE("the template has every question and no answer") {
  const std::string text = derive_answers(handout, "adding");
  CHECK(text.starts_with("# Adding: answers\n"));
  CHECK(text.find("## Before you measure\n\n### A1\n\n> How long does it take\n> at least?\n\n") !=
        std::string::npos);
  CHECK(text.find("`./lab grade adding`") != std::string::npos);
  const auto count = count_answers(handout, text);
  CHECK(count.answered == 0);
  CHECK(count.questions == 4);
  CHECK(count.open.size() == 4);
}

TEST_CASE("a question is answered if there is text below its id; text elsewhere does not count") {
  const std::string text = derive_answers(handout, "adding");
  const auto count = count_answers(handout, answered(text, "> Why?\n", "\nBecause of it.\n"));
  CHECK(count.answered == 1);
  CHECK(count.open == std::vector<std::string>{"A1", "A2", "A10"});
}

TEST_CASE("code is an answer and has no headings; quotations and blank lines are no answers") {
  const std::string text = derive_answers(handout, "adding");
  auto count = count_answers(
      handout, answered(text, "> at least?\n", "\n```\n### A10\n## Questions\n2 ms\n```\n"));
  CHECK(count.answered == 1);
  CHECK(count.open == std::vector<std::string>{"A2", "A3", "A10"});
  count =
      count_answers(handout, answered(text, "> And at most?\n", "\n> still a quotation\n \t\n"));
  CHECK(count.answered == 0);
}

TEST_CASE("text without a question does not count; the handout sets the number of questions") {
  CHECK(count_answers(handout, "").answered == 0);
  CHECK(count_answers(handout, "## Questions\ntext\n### A7\nmore\n").answered == 0);
  const auto count = count_answers(handout, "## Questions\n### A10\nyes\n### A10\nagain\n");
  CHECK(count.answered == 1);
  CHECK(count.questions == 4);
  CHECK(count_answers("# No questions\n", "## x\n### A1\ny\n").questions == 0);
}

TEST_CASE("answers are found by the ids of their headings, without the quotations of the handout") {
  const auto all = answers_by_id(
      "# Title\n\n### R1\n\n> (1 point) How?\n\nFast.\n```\n### R9 in code\n```\n\n## Next\nx\n"
      "### R2 The title (2 points)\n\nSlow.\n### Notes\ny\n",
      true);
  CHECK(all.at("R1") == "Fast.\n```\n### R9 in code\n```");
  CHECK(all.at("R2") == "Slow.");
  CHECK(all.size() == 2);
  CHECK(answers_by_id("### R1\n> q\na\n", false).at("R1") == "> q\na");
}

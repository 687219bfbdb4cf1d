// Tests that every goal of every lab names a topic of the lab's hints, and that the topic has a
// nudge, the idea, and nearly the code.
#include "grader/course/hints.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "grader/course/lab.hpp"
#include "grader/system/files.hpp"

namespace {

using namespace stepwise;

TEST_CASE("hints: every goal has at least three parts, each longer than a few words") {
  const fs::path root = std::getenv("STEPWISE_SOURCE");
  for (const lab& l : load_labs(std::getenv("STEPWISE_BUILD"))) {
    CAPTURE(l.name);
    const auto text = read_if_there(root / l.hints());
    REQUIRE(text);
    const auto topics = parse_hints(*text);
    std::set<std::string> titles;
    for (const auto& topic : topics) {
      CAPTURE(topic.title);
      CHECK(titles.insert(topic.title).second);
      for (const auto& part : topic.parts) {
        CAPTURE(part.title);
        std::size_t letters = 0;
        for (const auto& line : part.lines) {
          letters += line.size();
          CHECK(line.size() <= 112);
        }
        CHECK_MESSAGE(letters > 60, "a part of a hint must have more than 60 characters");
      }
    }
    for (const goal& g : l.goals) {
      CAPTURE(g.name);
      const int number = find_hint(topics, g.hint);
      REQUIRE_MESSAGE(number > 0, "its `hint` in lab.toml is not a topic of hints.md");
      CHECK(topics[static_cast<std::size_t>(number) - 1].parts.size() >= 3);
    }
  }
}

}  // namespace

// Reading the glossary, finding terms by name, near misses, and what is refused.
#include "grader/course/terms.hpp"

#include <doctest/doctest.h>

#include "grader/system/failure.hpp"

using namespace stepwise;

namespace {

const std::string glossary_text = R"(# Glossary

An introduction.

## Memory

### bank conflict

Lanes want different words
of the same bank.

A second paragraph.

```text
### no heading
    in a picture
```

Also called: conflict, banks that meet.
Taught in: [transpose](transpose/README.md#banks) `06_padded`,
[reduction](reduction/README.md).
See also: [grid](#grid), [a metric](../grader/GLOSSARY.md).

## Threads

### grid

All blocks.

Taught in: [launch](launch/README.md).
)";

std::string refusal_of(const std::string& text) {
  try {
    parse_terms(text, "g.md");
  } catch (const failure& error) {
    CHECK(error.code() == exit_code::ours);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a term has text, picture, places and relations") {
  const auto all = parse_terms(glossary_text, "g.md");
  REQUIRE(all.size() == 2);
  const term& t = all[0];
  CHECK(t.name == "bank conflict");
  CHECK(t.group == "Memory");
  CHECK(t.text == std::vector<std::string>{"Lanes want different words", "of the same bank.", "",
                                           "A second paragraph."});
  CHECK(t.picture == std::vector<std::string>{"### no heading", "    in a picture"});
  CHECK(t.aliases == std::vector<std::string>{"conflict", "banks that meet"});
  REQUIRE(t.taught.size() == 2);
  CHECK(t.taught[0].lab == "transpose");
  CHECK(t.taught[0].target == "transpose/README.md#banks");
  CHECK(t.taught[0].step == "06_padded");
  CHECK(t.taught[1].step.empty());
  CHECK(t.related == std::vector<std::string>{"grid", "a metric"});
  CHECK(all[1].group == "Threads");
}

TEST_CASE("case, plural, blanks and hyphens of a name do not matter; an alias is as good") {
  const auto all = parse_terms(glossary_text, "g.md");
  for (const char* name : {"bank conflict", "Bank-Conflicts", "BANK_CONFLICT", "bankconflict",
                           "conflicts", "banks-that-meet"}) {
    CAPTURE(name);
    REQUIRE(find_term(all, name) != nullptr);
    CHECK(find_term(all, name)->name == "bank conflict");
  }
  CHECK(find_term(all, "bank") == nullptr);
  CHECK(term_key("latencies") == term_key("latency"));
  CHECK(term_key("address") == "address");
  CHECK(typed_name("Little's law") == "littles-law");
  CHECK(typed_name("stalls: not selected") == "stalls-not-selected");
  CHECK(typed_name("__syncwarp") == "__syncwarp");
}

TEST_CASE("near misses: the nearest first, and names that contain what was given") {
  const std::vector<std::string> names = {"coarsening", "coalescing", "bank conflict",
                                          "warp",       "wave",       "warp slot"};
  CHECK(near_names("coalesing", names) == std::vector<std::string>{"coalescing"});
  CHECK(near_names("wrap", names).front() == "warp");
  CHECK(near_names("conflict", names) == std::vector<std::string>{"bank conflict"});
  CHECK(near_names("conflcit", names) == std::vector<std::string>{"bank conflict"});
  CHECK(near_names("qwertyuiop", names).empty());
}

TEST_CASE("a term without text or place, and a name for two terms, are refused with the line") {
  CHECK(refusal_of("## G\n### a\n\nTaught in: [l](l/README.md).\n") == "g.md:2: \"a\" has no text");
  CHECK(refusal_of("## G\n### a\ntext\n") == "g.md:2: \"a\" lacks a line \"Taught in: ...\"");
  const std::string place = "\n\nTaught in: [l](l/README.md).\n";
  CHECK(refusal_of("### warp" + place.substr(1) + "") == "g.md:1: \"warp\" has no text");
  CHECK(refusal_of("### tile\ntext" + place + "### Tiles\ntext" + place) ==
        "g.md:5: \"Tiles\" names \"tile\" as well as this term");
}

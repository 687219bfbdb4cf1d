// Reading the glossary, and finding terms by name or by a misspelling.
#include "grader/course/terms.hpp"

#include <doctest/doctest.h>

#include "grader/course/tests/some_course.hpp"

using namespace stepwise;

TEST_CASE("a term has text, places where it is taught, and related terms") {
  const course_folder folder;
  const auto all = load_terms(folder.build());
  REQUIRE(all.size() == 1);
  CHECK(all[0].name == "warp");
  CHECK(all[0].group == "Threads");
  CHECK(all[0].text == std::vector<std::string>{"32."});
  CHECK(all[0].aliases == std::vector<std::string>{"warps of threads"});
  REQUIRE(all[0].taught.size() == 1);
  CHECK(all[0].taught[0].target == "twice/README.md");
  CHECK(all[0].related == std::vector<std::string>{"lane"});
}

TEST_CASE("case, plural, spaces and hyphens of a name do not matter, and an alias is found too") {
  std::vector<term> all(2);
  all[0].name = "bank conflict";
  all[0].aliases = {"conflict", "banks that meet"};
  all[1].name = "grid";
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

TEST_CASE("near misses: the nearest name first, and names that contain the typed one") {
  const std::vector<std::string> names = {"coarsening", "coalescing", "bank conflict",
                                          "warp",       "wave",       "warp slot"};
  CHECK(near_names("coalesing", names) == std::vector<std::string>{"coalescing"});
  CHECK(near_names("wrap", names).front() == "warp");
  CHECK(near_names("conflict", names) == std::vector<std::string>{"bank conflict"});
  CHECK(near_names("conflcit", names) == std::vector<std::string>{"bank conflict"});
  CHECK(near_names("qwertyuiop", names).empty());
}

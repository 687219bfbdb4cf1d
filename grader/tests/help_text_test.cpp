#include "grader/report/help_text.hpp"

#include <doctest/doctest.h>

using namespace stepwise;

TEST_CASE("what fits stays as it is") {
  CHECK(fitted_help("Usage: ./lab\n\n  --json      one document\n", 30) ==
        "Usage: ./lab\n\n  --json      one document\n");
  CHECK(fitted_help("").empty());
}

TEST_CASE("the last column goes on under its own beginning") {
  CHECK(fitted_help("  --out TEXT  a file for the result of it all\n", 40) ==
        "  --out TEXT  a file for the result of\n"
        "              it all\n");
  CHECK(fitted_help("              a file for the result of it all\n", 40) ==
        "              a file for the result of\n"
        "              it all\n");
}

TEST_CASE("sentences go on under their first word, commands four columns in; words stay whole") {
  CHECK(fitted_help("  one two three four five six", 22) == "  one two three four\n  five six\n");
  CHECK(fitted_help("  ./lab sweep --counter shared_load_wavefronts\n", 30) ==
        "  ./lab sweep --counter\n      shared_load_wavefronts\n");
  CHECK(fitted_help("abcdefghijklmnopqrstuvwxyz abc", 24) == "abcdefghijklmnopqrstuvwxyz\nabc\n");
}

TEST_CASE("what follows a broken line of prose goes on behind it") {
  CHECK(fitted_help("one two three four five\nsix seven\n\n  eight\n", 20) ==
        "one two three four\nfive six seven\n\n  eight\n");
  CHECK(fitted_help("one two three four five\n  six\n", 20) == "one two three four\nfive\n  six\n");
}

TEST_CASE("where the last column leaves no room, it stands below") {
  CHECK(fitted_help("  ./lab limits --memory m.cu  your file and parts of it\n", 40) ==
        "  ./lab limits --memory m.cu\n      your file and parts of it\n");
}

// Tests the values typed after --over.
#include "grader/course/sweep_axis.hpp"

#include <doctest/doctest.h>

#include "grader/system/failure.hpp"

using namespace stepwise;

namespace {

std::string values_of(const std::string& text) {
  std::string all;
  for (const auto& value : parse_axis(text).values) all += (all.empty() ? "" : " ") + value;
  return all;
}

template <class Action>
std::string refusal(Action action, exit_code expected) {
  try {
    action();
  } catch (const failure& error) {
    CHECK(error.code() == expected);
    return error.what();
  }
  return {};
}

std::string axis_refusal(const std::string& text) {
  return refusal([&] { parse_axis(text); }, exit_code::usage);
}

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("values are lists, or ranges that double or add") {
  CHECK(parse_axis("threads=1").name == "threads");
  CHECK(values_of("threads=32..1024") == "32 64 128 256 512 1024");
  CHECK(values_of("threads=32..1000") == "32 64 128 256 512");
  CHECK(values_of("offset=0..32+8") == "0 8 16 24 32");
  CHECK(values_of("offset=-4..3+3") == "-4 -1 2");
  CHECK(values_of("items=1,2,8..32,5") == "1 2 8 16 32 5");
  CHECK(values_of("n=2^10..2^12") == "1024 2048 4096");
  CHECK(values_of("n=10^3") == "1000");
  CHECK(values_of("size=64x32..300x128") == "64x32 128x64 256x128");
  CHECK(values_of("size=2^5x7") == "32x7");
  CHECK(values_of("way=by_warp,ways::by_lane,true,-1") == "by_warp ways::by_lane true -1");
  CHECK(values_of("n=1..1") == "1");
  CHECK(values_of("n=4611686018427387904..9223372036854775807") == "4611686018427387904");
}

TEST_CASE("malformed values are refused, with an example of correct ones") {
  struct row {
    const char* text;
    const char* says;
  };
  for (const row& r : {
           row{"threads", "= is missing"},
           row{"=1", "is not a name"},
           row{"2x=1", "is not a name"},
           row{"a=", "a value is missing"},
           row{"a=1,,2", "a value is missing"},
           row{"a=1;2", "neither a number nor a word"},
           row{"a=4..1", "must go upwards"},
           row{"a=0..8", "does not grow by doubling"},
           row{"a=1..8+0", "at least 1"},
           row{"a=x..8", "not a range"},
           row{"a=1..2x2", "not a range"},
           row{"a=1,2,1..4", "twice"},
           row{"a=0..100000+1", "more than 200 values"},
           row{"a=2^70..2^71", "not a range"},
       }) {
    CAPTURE(r.text);
    CHECK(has(axis_refusal(r.text), r.says));
    CHECK(has(axis_refusal(r.text), "threads=32..1024"));
  }
}

TEST_CASE("several axes give all combinations, at most 200") {
  const auto all = combinations({parse_axis("a=1,2"), parse_axis("b=x,y,z")});
  REQUIRE(all.size() == 6);
  CHECK(all[1] == std::vector<std::string>{"1", "y"});
  CHECK(all[3] == std::vector<std::string>{"2", "x"});
  CHECK(combinations({parse_axis("a=1..20+1"), parse_axis("b=1..10+1")}).size() == 200);
  const auto too_many = refusal(
      [] {
        combinations({parse_axis("a=1..20+1"), parse_axis("b=1..11+1")});
      },
      exit_code::usage);
  CHECK(has(too_many, "20 x 11 are 220 configurations; at most 200"));
  CHECK(has(refusal(
                [] {
                  combinations({parse_axis("a=1"), parse_axis("a=2")});
                },
                exit_code::usage),
            "a occurs twice"));
}

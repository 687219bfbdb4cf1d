// Tests points in a text file.
#include "common/lab/points.hpp"

#include <doctest/doctest.h>

namespace points_test {

using namespace stepwise;

std::vector<point_3d> parsed(std::string_view text) { return parse_points(text, 1e18f); }

void refused(std::string_view text, const std::string& says) {
  CAPTURE(text);
  try {
    parsed(text);
    FAIL_CHECK("was read");
  } catch (const points_error& error) {
    CHECK(error.what() == says);
  }
}

TEST_CASE("a line is a point, with any separators between its numbers") {
  CHECK(parsed("1 2 3\n-4.5,+5e2;6\r\n\n  # a comment\n\t7\t8\t9 # another") ==
        std::vector<point_3d>{{1, 2, 3}, {-4.5f, 500, 6}, {7, 8, 9}});
  CHECK(parsed("0.1 16777217 -0\n") == std::vector<point_3d>{{0.1f, 16777216, 0}});
  CHECK(parsed("1e18 -1e18 1e-40") == std::vector<point_3d>{{1e18f, -1e18f, 1e-40f}});
}

TEST_CASE("a line that is not a point is refused with its number") {
  refused("1 2 3\n4 nan 6\n", "line 2: \"nan\" is not a finite number");
  refused("1 2 -NaN", "line 1: \"-NaN\" is not a finite number");
  refused("\n\ninf 2 3", "line 3: \"inf\" is not a finite number");
  refused("1 2 3\n1 2\n", "line 2: expected three numbers, found \"1 2\"");
  refused("1 2 3 4\n", "line 1: expected three numbers, found \"1 2 3 4\"");
  refused("x,y,z\n1,2,3\n", "line 1: \"x\" is not a number");
  refused("1 2 3m", "line 1: \"3m\" is not a number");
  refused("1 2 + 3", "line 1: expected three numbers, found \"1 2 + 3\"");
  refused("1 2 +", "line 1: \"+\" is not a number");
  refused("1 2 0x10", "line 1: \"0x10\" is not a number");
  refused("1e39 0 0", "line 1: \"1e39\" is outside the range of float");
  refused("0 2e18 0", "line 1: \"2e18\" is more than the contract allows, 1e+18");
  refused("", "it has no points");
  refused("# 1 2 3\n", "it has no points");
  refused("\x7f\x1b[31m 1 2", "line 1: \"??[31m\" is not a number");
  refused(std::string(60, '9'),
          "line 1: expected three numbers, found \"" + std::string(40, '9') + "...\"");
  refused(std::string("1 2 3\0", 6), "line 1: \"3?\" is not a number");
}

}  // namespace points_test

// A text file of the user's own points, and labs that accept such points.
//
// idea    Each line is a point: three coordinates separated by spaces, tabs, commas or semicolons.
//         A coordinate that is not a finite number is an error that names the line, because a
//         kernel that compares distances has no right answer for NaN.
// tested  common/lab/tests/points_test.cpp
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common/lab/problem.hpp"

namespace stepwise {

using point_3d = std::array<float, 3>;

// The reason why a text is not a list of points. what() does not name the file: "line 7: ..."
class points_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The points in the order of their lines. Ignores empty lines, and text after a '#'. Numbers have
// C++ syntax, are rounded to the nearest float, and must not exceed `largest` in magnitude.
// points_error for the first malformed line, or if there are no points.
std::vector<point_3d> parse_points(std::string_view text, float largest);

// A lab whose sizes begin with the number of points. work({n, 0}) throws std::invalid_argument for
// a number that the contract does not allow. The call has one output, an int per point.
class points_problem : public problem {
 public:
  // The largest magnitude of a coordinate that the contract allows.
  virtual float largest_coordinate() const = 0;

  // A call with these points. Messages use the label. Throws std::invalid_argument as work() does.
  virtual problem_call call_with(const std::vector<point_3d>& points,
                                 const std::string& label) const = 0;
};

}  // namespace stepwise

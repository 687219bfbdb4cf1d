// The user's own points, as a text file, and a lab that can be given them.
//
// idea    A line for a point: its three coordinates, divided by blanks, tabs, commas or semicolons.
//         What is no finite number is refused with its line: a kernel that compares distances has
//         no right answer for NaN.
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

// Why a text holds no points. what() has no subject: "line 7: ..."
class points_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The points in the order of their lines. Empty lines do not count, nor what follows a '#'. A
// number is written as in C++, and rounded to the nearest float; its magnitude is at most
// `largest`. points_error at the first line that is no point, and if there is none.
std::vector<point_3d> parse_points(std::string_view text, float largest);

// Its sizes begin with the number of points, and work({n, 0}) throws std::invalid_argument for a
// number that its contract does not allow. Its call has one output, an int for each point.
class points_problem : public problem {
 public:
  // The largest magnitude of a coordinate that the contract allows.
  virtual float largest_coordinate() const = 0;

  // A call with these points; messages name them by the label. std::invalid_argument as
  // work().
  virtual problem_call call_with(const std::vector<point_3d>& points,
                                 const std::string& label) const = 0;
};

}  // namespace stepwise

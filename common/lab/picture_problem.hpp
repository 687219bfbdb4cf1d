// A lab whose function makes a picture of a picture: it can be given the user's own.
//
// idea    `lab run --image` needs three things of a lab: a call that holds the picture, the stages
//         in which the reference gets there, and the call's output as a picture.
// tested  by the labs that are one: labs/blur/tests/problem_test.cpp, labs/tests/pictures_test.cpp
#pragma once

#include <string>
#include <vector>

#include "common/lab/picture.hpp"
#include "common/lab/problem.hpp"

namespace stepwise {

struct picture_stage {
  std::string name;  // one word, which also names its file: "grey"
  picture shown;
};

// Such a lab's sizes are width and height, and work({width, height}) throws std::invalid_argument
// for a picture that its contract does not allow. Its call has one output.
class picture_problem : public problem {
 public:
  // A call whose input is this picture of four channels; messages name it by the label.
  // std::invalid_argument as work().
  virtual problem_call call_with(picture rgba, const std::string& label) const = 0;

  // What the reference makes of a call's input, stage by stage. The output that is expected is the
  // last one's pixels, byte for byte.
  virtual std::vector<picture_stage> stages(const problem_call& call) const = 0;
};

}  // namespace stepwise

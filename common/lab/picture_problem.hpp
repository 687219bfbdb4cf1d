// A lab whose function turns a picture into a picture, so a user may supply a picture.
//
// idea    `lab run --image` needs three things from a lab: a call for the picture, the stages of
//         the reference, and the call's output as a picture.
// tested  by labs of this kind: labs/blur/tests/problem_test.cpp, labs/tests/pictures_test.cpp
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

// The sizes of such a lab are width and height. work({width, height}) throws std::invalid_argument
// for a picture that the contract does not allow. The call has one output.
class picture_problem : public problem {
 public:
  // A call whose input is this picture with four channels. Messages use the label. Throws
  // std::invalid_argument as work() does.
  virtual problem_call call_with(picture rgba, const std::string& label) const = 0;

  // The results of the reference for a call's input, stage by stage. The pixels of the last stage
  // are the expected output, byte for byte.
  virtual std::vector<picture_stage> stages(const problem_call& call) const = 0;
};

}  // namespace stepwise

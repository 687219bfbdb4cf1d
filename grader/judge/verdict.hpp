// How a submission, or one call of it, turned out.
#pragma once

#include <string>
#include <string_view>

namespace stepwise {

enum class verdict {
  pass,
  slow,          // right, but a counter or speed goal is missed
  wrong,         // a wrong result
  check,         // the checks found something: a race, out of bounds, a leak, ...
  compile,       // does not compile or link
  crash,         // a signal, an exception, a failed launch
  timeout,       // did not end within the limit
  memory,        // asked for more than there is
  output,        // printed too much
  protocol,      // the program ended or answered out of turn
  held,          // faster than the hardware allows: a person must look at it
  inconclusive,  // the interval of the measured speedup contains the goal
  infra,         // not the submission's fault
};

// "PASS", "SLOW", ...
std::string_view name_of(verdict v);

// Why a call or a submission did not pass, in words.
struct call_outcome {
  verdict what = verdict::pass;
  std::string message;
  bool limit = false;  // INFRA, in the words of the device: it cannot do what was asked
  bool ok() const { return what == verdict::pass; }
};

}  // namespace stepwise

// The outcome of a submission, or of one of its calls.
#pragma once

#include <string>
#include <string_view>

namespace stepwise {

enum class verdict {
  pass,
  slow,          // right, but misses a counter or speed goal
  wrong,         // a wrong result
  check,         // the checks found something: a race, out of bounds, a leak, ...
  compile,       // does not compile or link
  crash,         // a signal, an exception, a failed launch
  timeout,       // did not end within the limit
  memory,        // requested more memory than there is
  output,        // printed too much
  protocol,      // the program ended or answered out of turn
  held,          // needs review by a person, e.g. faster than the hardware
  inconclusive,  // the interval of the measured speedup contains the goal
  infra,         // not the submission's fault
};

// "PASS", "SLOW", ...
std::string_view name_of(verdict v);

// The reason that a call or a submission did not pass, in words.
struct call_outcome {
  verdict what = verdict::pass;
  std::string message;
  bool limit = false;  // CRASH, because the emulator cannot run what the file contains
  bool ok() const { return what == verdict::pass; }
  // Whether a call on another machine, or on a GPU, may still be right.
  bool is_open() const { return what == verdict::infra || limit; }
};

}  // namespace stepwise

// The error state of the runtime: what cudaGetLastError and cudaPeekAtLastError answer, and the
// sentence that explains it.
//
// idea    The last error belongs to a thread, and cudaGetLastError resets it whatever it was. What
//         stays after a kernel's fault is the fault itself, kept by `state`: every later call
//         fails with it again. So an H200 answered (tests/query).
// watch   Nothing here has a destructor: programs call the runtime from static destructors too.
// tests   tests/errors_test.cpp
#pragma once

#include <string_view>

#include "common/device/error.hpp"

namespace stepwise::runtime {

// Ends an API call: keeps a failure as this thread's last error, and returns its number. Success
// clears the sentence of last_message(), unless that is of an error that was never read.
int finish(const status& outcome);

int last_error();  // without resetting it
int take_error();  // and resets it to success
// The sentence of this thread's last failure; empty if there was none. Valid until the next call.
const char* last_message();

// While one lives, its thread asks the runtime on behalf of a function of the driver API, which
// keeps no last error: nothing is kept then, and what is recorded has that function's name.
class driver_call {
 public:
  explicit driver_call(const char* function);
  ~driver_call();
  driver_call(const driver_call&) = delete;

  // The function; null outside of such calls.
  static const char* function();
  // Why the runtime refused this thread's last such call; may be empty.
  static const char* reason();

 private:
  const char* before_;
};

// The runtime's own name and sentence for an error ("cudaErrorInvalidValue", "invalid argument").
const char* error_name(int code);
const char* error_text(int code);

// Writes the sentence to stderr, each line after "stepwise: ", once per sentence and process;
// nothing with STEPWISE_QUIET=1.
void announce(std::string_view sentence);
bool is_quiet();
// Whether anything was. For signals' handlers, too.
bool has_announced();
// Says why a call was refused for its arguments: a mistake of the program, which may not look.
void announce_mistake(std::string_view call, const status& outcome);

}  // namespace stepwise::runtime

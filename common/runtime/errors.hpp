// The error state of the runtime: the error that cudaGetLastError and cudaPeekAtLastError return,
// and the message that explains it.
//
// idea    Each thread has its own last error, and cudaGetLastError always resets it. `state` keeps
//         a kernel's fault separately, and every later call fails with that fault again. An H200
//         does the same (tests/query).
// watch   Nothing here has a destructor, because programs call the runtime from static destructors.
// tests   tests/errors_test.cpp
#pragma once

#include <string_view>

#include "common/device/error.hpp"

namespace stepwise::runtime {

// Ends an API call: keeps a failure as this thread's last error, and returns its number. Success
// clears last_message(), unless the message belongs to an error that was never read.
int finish(const status& outcome);

int last_error();  // without resetting it
int take_error();  // resets it to success
// The message of this thread's last failure; empty if there was none. Valid until the next call.
const char* last_message();

// While this object exists, this thread calls the runtime on behalf of a driver API function. The
// driver API has no last error, so no error is kept, and records use the name of the driver API
// function.
class driver_call {
 public:
  explicit driver_call(const char* function);
  ~driver_call();
  driver_call(const driver_call&) = delete;

  // The driver API function, or null outside of such calls.
  static const char* function();
  // The message of this thread's last failure in such a call; may be empty.
  static const char* reason();

 private:
  const char* before_;
};

// The runtime's name and text for an error ("cudaErrorInvalidValue", "invalid argument").
const char* error_name(int code);
const char* error_text(int code);

// Writes the message to stderr, once per message and process. Each line starts with "stepwise: ".
// Writes nothing if STEPWISE_QUIET=1.
void announce(std::string_view sentence);
bool is_quiet();
// Whether announce() has written anything. Signal handlers may call this.
bool has_announced();
// Announces an error caused by a call's arguments, because the program may ignore its result.
void announce_mistake(std::string_view call, const status& outcome);

}  // namespace stepwise::runtime

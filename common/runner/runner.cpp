// The program around a student's function, which makes the calls in a call file.
//
// idea    A runner is linked from this file, runner_main.cpp or program_main.cpp, the glue for the
//         lab's contract, the machine (a CUDA device, or the CPU), and one file with the function.
//         It knows neither the expected results nor the way in which it is judged. `lab` starts it,
//         and you can start it under gdb, ncu or compute-sanitizer.
// usage   RUNNER FILE [--control FD]      see common/lab/call_file.hpp
//         RUNNER --judged FD ARRAYS       see common/lab/judged_call.hpp
#include "common/runner/runner.hpp"

#include <signal.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>

#include "common/runner/call_maker.hpp"
#include "common/runner/contract.hpp"
#include "common/runner/judged_calls.hpp"
#include "common/runner/machine.hpp"
#include "common/runner/mapped_call_file.hpp"
#include "common/runner/whole_io.hpp"

namespace stepwise::runner {
namespace {

enum exit_code { every_call_made = 0, bad_usage_or_file = 2, no_device = 3 };

std::optional<int> parse_descriptor(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

void make_calls(mapped_call_file& file, call_maker& maker, std::optional<int> control) {
  if (!control) {
    for (std::uint32_t number = 0; number < file.call_count(); ++number) maker.make(file, number);
    return;
  }
  signal(SIGPIPE, SIG_IGN);  // if the requester is gone, write_all() fails
  for (std::uint32_t number; read_all(*control, &number, sizeof number);) {
    maker.make(file, number);
    if (!write_all(*control, &number, sizeof number)) return;
  }
}

}  // namespace

int run_runner(int argument_count, char** arguments) {
  if (argument_count == 4 && std::strcmp(arguments[1], "--judged") == 0) {
    const auto judge = parse_descriptor(arguments[2]), arrays = parse_descriptor(arguments[3]);
    if (judge && arrays) return make_judged_calls(lab_contract, *judge, *arrays);
  }
  std::optional<int> control;
  const bool controlled = argument_count == 4 && std::strcmp(arguments[2], "--control") == 0;
  if (controlled) control = parse_descriptor(arguments[3]);
  if ((argument_count != 2 && !controlled) || (controlled && !control)) {
    std::fprintf(stderr,
                 "usage: %s CALLS [--control FD]\nMakes the calls of %s() that the file CALLS asks "
                 "for; `./lab env` writes such a file.\n",
                 arguments[0], lab_contract.name);
    return bad_usage_or_file;
  }
  try {
    mapped_call_file file(arguments[1]);
    std::unique_ptr<machine> where;
    try {
      where = make_machine();
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "runner: cannot use a CUDA device: %s\n", failure.what());
      return no_device;
    }
    where->describe(file.header());
    call_maker maker(lab_contract, *where);
    make_calls(file, maker, control);
  } catch (const file_error& failure) {
    std::fprintf(stderr, "runner: %s\n", failure.what());
    return bad_usage_or_file;
  }
  return every_call_made;
}

}  // namespace stepwise::runner

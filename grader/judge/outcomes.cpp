// Sorts ends, errors and limits into verdicts, with the message for each.
#include "grader/judge/outcomes.hpp"

#include <fmt/core.h>
#include <signal.h>

#include "grader/report/text.hpp"

namespace stepwise {
namespace {

// cudaError_t; source: CUDA Toolkit 13.0, driver_types.h.
enum cuda_code {
  memory_allocation = 2,
  illegal_address = 700,
  launch_timeout = 702,
  misaligned_address = 716,
  invalid_address_space = 717,
  not_supported = 801,
};

constexpr int runner_bad_file = 2, runner_no_device = 3, cannot_load = 127;

bool mentions(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

std::string last_line(const std::string& text) {
  const auto lines = escaped_lines(text, 400, 400);
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!line->empty()) return *line;
  }
  return {};
}

// Our runtime's message about host code that dereferenced a device pointer, if there is one.
std::string said_of_host_access(const std::string& errors) {
  const std::string prefix = "stepwise: ";
  for (const auto& line : escaped_lines(errors, 400, 400)) {
    if (!line.starts_with(prefix)) continue;
    if (mentions(line, "the host reads ") || mentions(line, "the host writes ")) {
      return line.substr(prefix.size());
    }
  }
  return {};
}

}  // namespace

verdict class_of_error(int code) {
  switch (code) {
    case memory_allocation:
      return verdict::memory;
    case illegal_address:
    case misaligned_address:
    case invalid_address_space:
      return verdict::check;
    case launch_timeout:
      return verdict::timeout;
    case not_supported:
      return verdict::infra;
    default:
      return verdict::crash;
  }
}

call_outcome with_advice(call_outcome outcome) {
  if (outcome.what == verdict::infra) {
    outcome.what = verdict::crash;
    outcome.limit = true;
    outcome.message +=
        "; this is a limit of the emulator, not an error in your code: use a GPU, or write the "
        "code differently";
  }
  return outcome;
}

call_outcome outcome_of_end(const child_end& end, const std::string& errors,
                            std::uint64_t limit_bytes) {
  if (end.how == child_end::cause::signalled) {
    if (end.signal == SIGABRT && mentions(errors, "bad_alloc")) {
      return {verdict::memory,
              "the program requested more memory than its limit" + limit_text(limit_bytes)};
    }
    if (end.too_many_tasks)
      return {verdict::memory,
              "the program started more processes and threads than its limit allows"};
    const std::string access = end.signal == SIGSEGV ? said_of_host_access(errors) : "";
    std::string message =
        access.empty() ? "a signal ended the program in host code: " + signal_text(end.signal) +
                             (end.signal == SIGSEGV
                                  ? "; does a copy take a host pointer's address (&out), or does a "
                                    "function call itself endlessly? "
                                  : "; ") +
                             "`./lab env` shows how to run it under gdb"
                       : access;
    if (end.out_of_memory) {
      return {verdict::memory,
              "the program requested more memory than its limit" + limit_text(limit_bytes)};
    }
    if (end.signal == SIGKILL)
      message = "the program was killed; the machine may have run out of memory";
    return {end.signal == SIGKILL ? verdict::memory : verdict::crash, message};
  }
  const std::string said = last_line(errors);
  if (end.exit_code == cannot_load && mentions(errors, "libraries")) {
    return {verdict::infra, said};
  }
  if (end.exit_code == runner_no_device && mentions(errors, "runner: ")) {
    return {verdict::infra, said};
  }
  if (end.exit_code == runner_bad_file && mentions(errors, "runner: ")) {
    return {verdict::infra, said};
  }
  return {verdict::protocol, fmt::format("the program exited (exit code {}) before the call "
                                         "returned: does your code call exit(), or define a main() "
                                         "that this lab does not ask for?",
                                         end.exit_code)};
}

std::string limit_text(std::uint64_t bytes) {
  return bytes == 0 ? std::string{} : " (" + bytes_text(static_cast<double>(bytes)) + ")";
}

call_outcome timed_out(double time_limit_s) {
  return {verdict::timeout,
          fmt::format("the call did not return within {:g} s: does a loop never end, or does a "
                      "thread wait for an event that never happens?",
                      time_limit_s)};
}

call_outcome flooded(std::uint64_t output_limit_bytes) {
  return {verdict::output,
          fmt::format("the program printed more than {}: print less, or only from one thread",
                      bytes_text(static_cast<double>(output_limit_bytes)))};
}

std::string refusal_in(const std::string& errors, const std::string& message) {
  constexpr std::string_view prefix = "stepwise: ", refused = " was refused: ";
  std::string reason;
  for (const auto& line : escaped_lines(errors, 400, 400)) {
    const auto at = line.find(refused);
    if (!line.starts_with(prefix) || at == std::string::npos) continue;
    const std::string function = line.substr(prefix.size(), at - prefix.size());
    if (mentions(message, function)) reason = line.substr(at + refused.size());
  }
  return mentions(message, reason) ? "" : reason;
}

std::string said_by_program(const std::string& errors) {
  std::string text;
  for (std::size_t begin = 0; begin < errors.size();) {
    const auto end = std::min(errors.find('\n', begin), errors.size());
    const std::string_view line(errors.data() + begin, end - begin);
    if (!line.starts_with("stepwise: ") && !line.starts_with("runner: ")) {
      text += std::string(line) + "\n";
    }
    begin = end + 1;
  }
  return text;
}

}  // namespace stepwise

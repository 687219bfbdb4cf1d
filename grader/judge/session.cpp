// Starts the runner with its limits, sends numbers of calls, and sorts failures into verdicts.
#include "grader/judge/session.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

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

verdict class_of(int code) {
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

// What our runtime said of host code that followed a pointer of the device's; else empty.
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

session_options options_for(const device_choice& device, double time_limit_s,
                            std::size_t call_file_bytes) {
  session_options options;
  options.time_limit_s = time_limit_s;
  if (!device.gpu) options.data_limit_bytes = (std::uint64_t{4} << 30) + 4 * call_file_bytes;
  return options;
}

session::session(const std::filesystem::path& program, const device_choice& device,
                 const call_file& file, session_options options)
    : file_(file), options_(std::move(options)), program_(program) {
  if (access(program.c_str(), X_OK) != 0) {
    throw failure(exit_code::environment, "the program " + program.string() +
                                              " is not there; was everything built? (" +
                                              strerror(errno) + ")");
  }
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw failure(exit_code::environment, std::string("cannot make a socket: ") + strerror(errno));
  }
  control_ = ends[0];
  child_options start;
  start.command = {program_, "/proc/self/fd/3", "--control", "4"};
  start.environment = device.environment();
  start.environment.push_back(fmt::format("STEPWISE_TIME_LIMIT_S={:.3f}", options_.time_limit_s));
  if (options_.workers > 0) {
    start.environment.push_back(fmt::format("STEPWISE_WORKERS={}", options_.workers));
  }
  // Never what the caller's environment says of counters.
  if (options_.profile.empty()) {
    start.environment.insert(start.environment.end(), {"STEPWISE_COUNTERS", "STEPWISE_PROFILE"});
  } else {
    start.environment.push_back("STEPWISE_COUNTERS=1");
    start.environment.push_back("STEPWISE_PROFILE=" + options_.profile.string());
  }
  start.environment.push_back(options_.times.empty() ? "STEPWISE_TIMES"
                                                     : "STEPWISE_TIMES=" + options_.times);
  start.environment.push_back(options_.modelled_events ? "STEPWISE_EVENT_TIMES=modelled,quiet"
                                                       : "STEPWISE_EVENT_TIMES");
  // Never what the caller's environment says of checks, either.
  if (options_.findings.empty()) {
    start.environment.insert(start.environment.end(), {"STEPWISE_CHECK", "STEPWISE_FINDINGS"});
  } else {
    start.environment.push_back("STEPWISE_CHECK=1");
    start.environment.push_back("STEPWISE_FINDINGS=" + options_.findings.string());
  }
  start.pass = {file.descriptor(), ends[1]};
  start.data_limit_bytes = options_.data_limit_bytes;
  start.flood_bytes = options_.output_limit_bytes;
  start.tick = options_.tick;
  try {
    process_ = std::make_unique<child>(std::move(start));
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
}

session::~session() {
  if (control_ >= 0) close(control_);
}

void session::finish(double seconds) {
  if (control_ >= 0) close(control_);  // the runner reads the end of its calls
  control_ = -1;
  if (process_->is_over()) return;
  if (process_->wait(seconds) != child::event::ended) process_->end(child_end::cause::deadline);
}

bool session::send(std::uint32_t number) {
  return ::send(control_, &number, sizeof number, MSG_NOSIGNAL) == sizeof number;
}

call_outcome session::call(std::size_t number) {
  const auto request = static_cast<std::uint32_t>(number);
  // A runner that has ended already is classified by its end, not by the failed write.
  const bool sent = send(request);
  // The emulator stops a kernel itself at the limit and names its line: give it time to say so.
  const double limit = options_.time_limit_s + 3 + (first_ ? options_.start_limit_s : 0);
  first_ = false;
  const auto event = process_->wait(limit, sent ? control_ : -1);
  switch (event) {
    case child::event::deadline:
      return too_slow(child_end::cause::deadline);
    case child::event::flooded:
      return too_slow(child_end::cause::flooded);
    case child::event::ended:
      return classify_end(process_->end(child_end::cause::exited));
    case child::event::readable:
      break;
  }
  std::uint32_t answer = 0;
  const ssize_t n = recv(control_, &answer, sizeof answer, MSG_DONTWAIT);
  if (n <= 0) {
    // The program's end is closed: it is ending, or it tampers with descriptors.
    if (process_->wait(2) == child::event::ended) {
      return classify_end(process_->end(child_end::cause::exited));
    }
  }
  if (n != sizeof answer || answer != request) {
    process_->end(child_end::cause::signalled);
    return {verdict::protocol,
            "the program answered out of turn: something other than the runner wrote to its "
            "control descriptor"};
  }
  const auto record = file_.record(number);
  if (record.state == runner::call_state::done) return {};
  if (record.state == runner::call_state::failed) return classify_failed_call(record);
  return {verdict::protocol, "the program says that the call is over, but not how it ended"};
}

call_outcome session::classify_failed_call(const runner::call_record& record) const {
  std::string message = record.message;
  while (message.ends_with('\n')) message.pop_back();
  if (message.empty()) message = fmt::format("a CUDA call failed with error {}", record.cuda_error);
  verdict what = class_of(record.cuda_error);
  if (record.cuda_error == 0) {
    const auto count = std::min<std::uint32_t>(record.buffer_count, runner::max_buffers);
    const auto any = [&](auto broken) {
      return std::any_of(record.buffers, record.buffers + count, broken);
    };
    if (any([](const auto& b) { return b.modified != 0; })) what = verdict::wrong;
    if (any([](const auto& b) { return b.guard_broken != 0; })) what = verdict::check;
    if (mentions(message, "bad_alloc")) what = verdict::memory;
  }
  if (what == verdict::infra) {
    message +=
        "; this is a limit of the emulator, not your mistake: use a GPU, or write it otherwise";
  }
  return {what, message};
}

call_outcome session::classify_end(const child_end& end) const {
  const std::string errors = process_->errors().text();
  if (end.how == child_end::cause::signalled) {
    if (end.signal == SIGABRT && mentions(errors, "bad_alloc")) {
      return {verdict::memory,
              "the program asked for more memory than it may have" +
                  (options_.data_limit_bytes == 0
                       ? std::string{}
                       : " (" + bytes_text(static_cast<double>(options_.data_limit_bytes)) + ")")};
    }
    const std::string access = end.signal == SIGSEGV ? said_of_host_access(errors) : "";
    std::string message =
        access.empty() ? "a signal ended the program in host code: " + signal_text(end.signal) +
                             "; `lab env` shows how to run it under gdb"
                       : access;
    if (end.signal == SIGKILL) message = "the program was killed: was the machine out of memory?";
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
  return {verdict::protocol,
          fmt::format("the program ended by itself (exit code {}) before the call was over: does "
                      "your code call exit(), or define main()?",
                      end.exit_code)};
}

call_outcome session::too_slow(child_end::cause cause) {
  process_->end(cause);
  if (cause == child_end::cause::flooded) {
    return {verdict::output,
            fmt::format("the program printed more than {}: print less, or only from one thread",
                        bytes_text(static_cast<double>(options_.output_limit_bytes)))};
  }
  return {verdict::timeout,
          fmt::format("the call did not end within {:g} s: does a loop never end, or does a thread "
                      "wait for something that never comes?",
                      options_.time_limit_s)};
}

std::string session::printed() const {
  std::string text = process_->output().text();
  const std::string errors = process_->errors().text();
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

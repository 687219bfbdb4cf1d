// Starts the runner with its limits, sends call numbers, and sorts failures into verdicts.
#include "grader/judge/session.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "common/device/engine_settings.hpp"
#include "grader/judge/judged_session.hpp"
#include "grader/judge/outcomes.hpp"
#include "grader/judge/program_sessions.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

// Runs it in a sandbox that shows the files that the emulator and the texts of findings need.
child_options guarded(child_options start, const device_choice& device,
                      const session_options& options, std::size_t call_file_bytes) {
  std::vector<std::filesystem::path> shown = device.shown, outputs;
  start.environment.push_back("PATH=/usr/bin:/bin");
  const std::string gpu = engine_settings::from_environment().gpu;
  if (!gpu.empty()) shown.push_back(gpu);  // may be a file
  for (const auto& file : {options.profile, options.findings}) {
    if (!file.empty()) outputs.push_back(file);
  }
  auto view = for_program(start.command.at(0), device.runtime_folder, shown, outputs);
  view.memory_bytes += 4 * call_file_bytes;
  view.scratch_bytes += 2 * call_file_bytes;  // a program's files
  view.file_bytes = std::max<std::uint64_t>(view.file_bytes, 2 * call_file_bytes);
  return confined(std::move(start), view, *device.guards);
}

}  // namespace

session_options options_for(const device_choice& device, double time_limit_s,
                            std::size_t call_file_bytes) {
  session_options options;
  options.time_limit_s = time_limit_s;
  if (!device.gpu) options.data_limit_bytes = (std::uint64_t{4} << 30) + 4 * call_file_bytes;
  return options;
}

std::unique_ptr<call_session> start_session(const std::filesystem::path& program,
                                            const device_choice& device, const call_file& file,
                                            session_options options) {
  const auto start = [=, &file]() -> std::unique_ptr<call_session> {
    if (device.judged()) return std::make_unique<judged_session>(program, device, file, options);
    return std::make_unique<session>(program, device, file, options);
  };
  const bool is_program = file.call(0).memory == runner::memory_kind::files;
  if (!is_program || device.gpu) return start();
  return std::make_unique<program_sessions>(start, options.findings);
}

session::session(const std::filesystem::path& program, const device_choice& device,
                 const call_file& file, session_options options)
    : file_(file), options_(std::move(options)), program_(program) {
  if (access(program.c_str(), X_OK) != 0) {
    throw failure(exit_code::environment, "the program " + program.string() +
                                              " does not exist; build it first with ./lab setup (" +
                                              strerror(errno) + ")");
  }
  file.write_inputs();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw failure(exit_code::environment,
                  std::string("cannot create a socket: ") + strerror(errno));
  }
  control_ = ends[0];
  child_options start;
  start.command = {program_, "/proc/self/fd/3", "--control", "4"};
  start.environment = device.environment();
  // Never uses the caller's settings for counters, times and checks.
  auto settings = engine_settings::from_environment();
  settings.time_limit_s = options_.time_limit_s;
  settings.tensor_cores = options_.tensor_cores;
  if (options_.workers > 0) settings.workers = options_.workers;
  settings.counters = !options_.profile.empty();
  settings.profile = options_.profile;
  settings.times = options_.times;
  settings.event_times = options_.modelled_events ? "modelled,quiet" : "";
  settings.check = !options_.findings.empty();
  settings.sample = options_.sample;
  settings.findings = options_.findings;
  settings.record = options_.recording;
  settings.record_of = options_.recording.empty() ? "" : options_.recorded;
  std::ranges::move(settings.environment(), std::back_inserter(start.environment));
  start.pass = {file.descriptor(), ends[1]};
  start.data_limit_bytes = options_.data_limit_bytes;
  start.flood_bytes = options_.output_limit_bytes;
  start.tick = options_.tick;
  if (device.guards != nullptr && !device.gpu) {
    start = guarded(std::move(start), device, options_, file.bytes());
  } else if (file.call(0).memory == runner::memory_kind::files) {
    // A program that crashes leaves its files behind. A sandbox has its own /tmp.
    files_ = std::make_unique<temporary_folder>(std::filesystem::temp_directory_path());
    start.environment.push_back("TMPDIR=" + files_->path().string());
  }
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

call_outcome session::finish(double seconds) {
  if (control_ >= 0) close(control_);  // signals the end of calls to the runner
  control_ = -1;
  if (!process_->is_over() && process_->wait(seconds) != child::event::ended)
    process_->end(child_end::cause::deadline);
  return {};
}

bool session::send(std::uint32_t number) {
  return ::send(control_, &number, sizeof number, MSG_NOSIGNAL) == sizeof number;
}

call_outcome session::call(std::size_t number) {
  const auto request = static_cast<std::uint32_t>(number);
  // A runner that has ended already is classified by its end, not by the failed write.
  const bool sent = send(request);
  // The emulator stops a kernel at the limit and names its line. Give the emulator time to report
  // this.
  const double limit = options_.time_limit_s + 3 + (first_ ? options_.start_limit_s : 0);
  first_ = false;
  const auto event = process_->wait(limit, sent ? control_ : -1);
  switch (event) {
    case child::event::deadline:
      return too_slow(child_end::cause::deadline);
    case child::event::flooded:
      return too_slow(child_end::cause::flooded);
    case child::event::ended:
      return outcome_of_end(process_->end(child_end::cause::exited), process_->errors().text(),
                            options_.data_limit_bytes);
    case child::event::readable:
      break;
  }
  std::uint32_t answer = 0;
  const ssize_t n = recv(control_, &answer, sizeof answer, MSG_DONTWAIT);
  if (n <= 0) {
    // The program closed its end. It is ending, or it tampers with descriptors.
    if (process_->wait(2) == child::event::ended) {
      return outcome_of_end(process_->end(child_end::cause::exited), process_->errors().text(),
                            options_.data_limit_bytes);
    }
  }
  if (n != sizeof answer || answer != request) {
    process_->end(child_end::cause::signalled);
    return {verdict::protocol,
            "the program answered out of order: other code than the runner wrote to its control "
            "descriptor"};
  }
  const auto record = file_.record(number);
  if (record.state == runner::call_state::done) return {};
  if (record.state == runner::call_state::failed) return classify_failed_call(record);
  return {verdict::protocol, "the program reported the end of the call, but not its result"};
}

call_outcome session::classify_failed_call(const runner::call_record& record) const {
  std::string message = record.message;
  while (message.ends_with('\n')) message.pop_back();
  if (message.empty()) message = fmt::format("a CUDA call failed with error {}", record.cuda_error);
  verdict what = class_of_error(record.cuda_error);
  if (record.cuda_error == 0) {
    const auto count = std::min<std::uint32_t>(record.buffer_count, runner::max_buffers);
    const auto any = [&](auto broken) {
      return std::any_of(record.buffers, record.buffers + count, broken);
    };
    if (any([](const auto& b) { return b.modified != 0; })) what = verdict::wrong;
    if (any([](const auto& b) { return b.guard_broken != 0; })) what = verdict::check;
    if (message.find("bad_alloc") != std::string::npos) what = verdict::memory;
    const std::string reason = refusal_in(process_->errors().text(), message);
    if (!reason.empty()) message += ": " + reason;
  }
  return with_advice({what, message});
}

call_outcome session::too_slow(child_end::cause cause) {
  process_->end(cause);
  return cause == child_end::cause::flooded ? flooded(options_.output_limit_bytes)
                                            : timed_out(options_.time_limit_s);
}

std::string session::printed() const {
  return process_->output().text() + said_by_program(process_->errors().text());
}

}  // namespace stepwise

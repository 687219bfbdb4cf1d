// Starts both processes, fills a call's buffers, requests the call, and checks its results.
#include "grader/judge/judged_session.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "common/device/engine_settings.hpp"
#include "common/report/profile_json.hpp"
#include "grader/judge/judged_buffers.hpp"
#include "grader/judge/outcomes.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/phases.hpp"
#include "grader/system/signals.hpp"

namespace stepwise {
namespace {

using runner::buffer_role;
using runner::memory_kind;

constexpr std::uint64_t submission_data_bytes = std::uint64_t{4} << 30;
// Added to the sandbox's limit for memory that is reserved but never touched, such as stacks.
constexpr std::uint64_t reserved_bytes = std::uint64_t{128} << 20;
// For calls with host arrays: bytes of tables, constants and the like that a function uploads.
constexpr std::uint64_t most_made_bytes = 4096;
// The limit on the bytes that a call's launches, fills, copies and uploads bring in, plus a
// fraction of its output bytes. Within this limit, they cannot bring in a result that was computed
// elsewhere.
constexpr std::uint64_t most_command_bytes = 64 << 10, outputs_per_command_byte = 8;
constexpr double slice_s = 0.05;                       // between checks of the other process
constexpr double request_s = 60;                       // for the judge's own requests
constexpr std::size_t large_window_bytes = 128 << 20;  // for gigabytes, in two halves
constexpr std::size_t cached_window_bytes = 1 << 20;
constexpr int no_support = 801;  // cudaErrorNotSupported

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Files that the server may read: sources that findings quote, and a GPU's description.
std::vector<std::filesystem::path> sources(const device_choice& device) {
  auto all = device.shown;
  const std::string gpu = engine_settings::from_environment().gpu;
  if (!gpu.empty()) all.push_back(gpu);
  return all;
}

remote::channel_ends new_channel(std::size_t window) {
  auto made = remote::make_channel(window);
  if (!made)
    throw failure(exit_code::environment,
                  std::string("cannot create a channel: ") + strerror(errno));
  return std::move(*made);
}

// The window fits the largest buffer, so that a small call does not wait for memory that it does
// not need. An emulator's copies do not overlap with ours, so a window that stays in the caches is
// faster.
std::size_t window_for(const call_file& file, bool is_gpu) {
  if (!is_gpu) return cached_window_bytes;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < file.plan_count(); ++i)
    for (const auto& buffer : file.call(i).buffers) largest = std::max(largest, buffer.bytes);
  return largest > remote::window_bytes ? large_window_bytes : remote::window_bytes;
}

}  // namespace

judged_session::judged_session(const std::filesystem::path& program, const device_choice& device,
                               const call_file& file, session_options options)
    : file_(file),
      options_(std::move(options)),
      program_(program),
      is_gpu_(device.gpu),
      limits_(device.gpu ? memory_limits{} : device.memory) {
  for (const auto& needed : {program, device.server}) {
    if (access(needed.c_str(), X_OK) == 0) continue;
    throw failure(exit_code::environment, "the program " + needed.string() +
                                              " does not exist; build it first with ./lab setup (" +
                                              strerror(errno) + ")");
  }
  mine_ = new_channel(window_for(file, is_gpu_));
  auto theirs = new_channel(remote::window_bytes);
  make_arrays();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw failure(exit_code::environment,
                  std::string("cannot create a socket: ") + strerror(errno));
  control_ = remote::descriptor(ends[0]);
  const remote::descriptor other(ends[1]);
  start_server(device, mine_, theirs);
  start_submission(program, device, theirs, other.get());
}

// Connects at the first call, because a GPU's context takes time, and several contexts can be made
// at once.
bool judged_session::is_connected() {
  if (!device_ && mine_.first.get() >= 0) {
    const phase connecting("the device's server starts");
    std::string why;
    deadline_s_ = now_s() + request_s;
    device_ = remote::remote_device::connect(
        {std::move(mine_.first), std::move(mine_.window),
         [this](int socket, short events) { return handle_events(socket, events); }},
        why);
    if (device_) device_->set_copier(copy_by_all);
  }
  return device_ && device_->is_whole();
}

judged_session::~judged_session() {
  submission_.reset();
  server_.reset();
  for (const auto& part : {memory_.program, memory_.judge})
    if (!part.empty()) munmap(part.data(), part.size());
}

void judged_session::make_arrays() {
  std::uint64_t bytes = 64;
  for (std::size_t i = 0; i < file_.plan_count(); ++i) {
    if (file_.call(i).memory != memory_kind::device)
      bytes = std::max(bytes, array_bytes(file_.call(i)));
  }
  for (const auto& [file, part] :
       {std::pair{&arrays_, &memory_.program}, std::pair{&kept_arrays_, &memory_.judge}}) {
    *file = remote::descriptor(memfd_create("stepwise-arrays", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file->get() >= 0 && ftruncate(file->get(), static_cast<off_t>(bytes)) == 0 &&
        fcntl(file->get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
      *part = remote::mapped_for_good(file->get());
    if (part->empty())
      throw failure(exit_code::environment,
                    std::string("cannot create arrays: ") + strerror(errno));
  }
}

void judged_session::start_server(const device_choice& device, remote::channel_ends& mine,
                                  remote::channel_ends& theirs) {
  child_options start;
  start.command = {device.server, "3", "4", "5", "6", "7", device.gpu ? "gpu" : "emulated"};
  start.pass = {mine.second.get(), mine.window.get(), theirs.second.get(), theirs.window.get(),
                kept_arrays_.get()};
  const auto kernels = kernels_of(program_);
  if (access(kernels.c_str(), F_OK) == 0) start.command.push_back(kernels);
  engine_settings settings;
  settings.gpu = engine_settings::from_environment().gpu;
  settings.time_limit_s = options_.time_limit_s;
  settings.addresses = "apart";  // as with checks: addresses must not reveal that checks are on
  settings.workers = options_.workers;
  settings.counters = !options_.profile.empty();
  settings.times = options_.times;
  settings.check = !options_.findings.empty();
  settings.sample = options_.sample;
  settings.tensor_cores = options_.tensor_cores;
  std::vector<std::string> environment = settings.environment();
  if (device.gpu) std::ranges::move(gpu_environment(), std::back_inserter(environment));
  start.environment = empty_environment(std::move(environment));
  start.data_limit_bytes = options_.data_limit_bytes;
  start.flood_bytes = options_.output_limit_bytes;
  start.tick = options_.tick;
  if (device.gpu) {
    start = in_walls(std::move(start), device, device.walls, kernels);
  } else if (device.guards != nullptr) {
    auto view = for_server(device.server, sources(device));
    view.read.push_back(kernels);
    if (limits_.server_bytes > 0) view.memory_bytes = limits_.server_bytes;
    limits_.server_bytes = view.memory_bytes;
    start = confined(std::move(start), view, *device.guards);
  }
  server_ = std::make_unique<child>(std::move(start));
  mine.second.reset();
  theirs.second.reset();
}

void judged_session::start_submission(const std::filesystem::path& program,
                                      const device_choice& device, remote::channel_ends& theirs,
                                      int control) {
  child_options start;
  start.command = {program, "--judged", "3", "6"};
  start.pass = {control, theirs.first.get(), theirs.window.get(), arrays_.get()};
  // Its runtime reports streams and source positions of calls, and its own findings, to the server.
  start.environment = empty_environment({"LD_LIBRARY_PATH=" + device.client_runtime.string(),
                                         "STEPWISE_REMOTE_DEVICE=4,5", "STEPWISE_CHECK=1",
                                         "STEPWISE_FINDINGS=/dev/null"});
  // addr2line, which the runtime starts for lines of host code, may be installed elsewhere.
  const std::filesystem::path lines = on_path("addr2line");
  start.environment.push_back("PATH=" + (lines.empty() ? "" : lines.parent_path().string() + ":") +
                              "/usr/bin:/bin");
  if (limits_.program_bytes == 0) limits_.program_bytes = submission_data_bytes;
  start.data_limit_bytes = std::min(submission_data_bytes, limits_.program_bytes + reserved_bytes);
  start.flood_bytes = options_.output_limit_bytes;
  start.tick = options_.tick;
  if (device.guards != nullptr) {
    auto view = for_program(program, device.client_runtime, device.shown, {});
    view.proc = false;
    view.memory_bytes = limits_.program_bytes;
    view.scratch_bytes += 2 * memory_.program.size();  // a program's files
    view.file_bytes = std::max<std::uint64_t>(view.file_bytes, 2 * memory_.program.size());
    start = confined(std::move(start), view, *device.guards);
  }
  submission_ = std::make_unique<child>(std::move(start));
  theirs.first.reset();
  theirs.window.reset();
}

// Called while a request of the judge waits for its answer.
bool judged_session::handle_events(int socket, short events) {
  pollfd ready{socket, events, 0};
  while (true) {
    if (poll(&ready, 1, static_cast<int>(1000 * slice_s)) > 0) return true;
    throw_if_interrupted();
    if (now_s() > deadline_s_) return false;
    server_->kill_if_over_limit();
    if (server_->wait(0) != child::event::deadline) return false;
  }
}

call_outcome judged_session::server_gone() {
  const auto event = server_->wait(2);
  if (event == child::event::flooded) {
    server_->end(child_end::cause::flooded);
    return stop(flooded(options_.output_limit_bytes));
  }
  using cause = child_end::cause;  // a process that ran out of memory may still be ending
  const auto end = server_->end(event == child::event::deadline ? cause::deadline : cause::exited);
  if (end.how == cause::deadline && !end.out_of_memory)
    return stop(timed_out(options_.time_limit_s));
  const std::string said = server_->errors().text();
  if (end.how == cause::exited && end.exit_code == 3)
    return stop({verdict::infra, said.substr(0, said.find('\n'))});
  if (said.find("bad_alloc") != std::string::npos || end.signal == SIGKILL || end.out_of_memory)
    return stop({verdict::memory, "the device process requested more memory than its limit" +
                                      limit_text(end.out_of_memory ? limits_.server_bytes
                                                                   : options_.data_limit_bytes)});
  return stop({verdict::crash,
               end.how == child_end::cause::signalled
                   ? "the device process was ended during this call: " + signal_text(end.signal)
                   : fmt::format("the device process ended during this call (exit code {})",
                                 end.exit_code)});
}

call_outcome judged_session::stop(call_outcome why) {
  is_over_ = true;
  if (!submission_->is_over()) submission_->end(child_end::cause::signalled);
  return why;
}

// Only a program that is known to be good can show whether the machine prevented the start. `grade`
// runs such a program.
call_outcome judged_session::submission_ended() {
  auto outcome = outcome_of_end(submission_->end(child_end::cause::exited),
                                submission_->errors().text(), limits_.program_bytes);
  if (outcome.what == verdict::infra) outcome.message = could_not_start + outcome.message;
  return stop(std::move(outcome));
}

call_outcome judged_session::call(std::size_t number) {
  if (is_over_) return {verdict::protocol, "the session is over"};
  if (!is_connected()) return server_gone();
  const auto& how = file_.plan(number).how;
  const std::uint32_t total = how.warmups + how.repetitions;
  for (std::uint32_t i = 0; i < total; ++i) {
    const bool is_timed = i >= how.warmups;
    const auto outcome = one(number, is_timed ? i - how.warmups : 0, is_timed);
    if (!outcome.ok()) return outcome;
  }
  return {};
}

call_outcome judged_session::one(std::size_t number, std::uint32_t repetition, bool is_timed) {
  const problem_call& call = file_.call(number);
  const auto& how = file_.plan(number).how;
  deadline_s_ = now_s() + request_s;
  runner::judged_request request{};
  request.number = static_cast<std::uint32_t>(number);
  request.memory = call.memory;
  request.buffer_count = static_cast<std::uint32_t>(call.buffers.size());
  request.scalar_count = static_cast<std::uint32_t>(call.scalars.size());
  std::copy(call.scalars.begin(), call.scalars.end(), request.scalars);
  const bool on_host = call.memory != memory_kind::device;
  std::vector<placed_buffer> at;
  std::vector<placed_array> arrays;
  std::optional<phase> doing(std::in_place, "buffers filled");
  if (on_host) {
    arrays = place_arrays(memory_, call);
  } else {
    auto placed = place_buffers(*device_, call, is_gpu_, std::exchange(kept_[number], {}));
    if (!device_->is_whole()) return server_gone();
    if (!placed.ok())
      return stop({verdict::infra,
                   "not enough memory for the call's buffers: " + placed.failure().message});
    at = std::move(*placed);
  }
  for (std::size_t b = 0; b < call.buffers.size(); ++b) {
    const auto& buffer = call.buffers[b];
    request.buffers[b] = {on_host ? arrays[b].offset : at[b].address, buffer.bytes, buffer.role,
                          on_host ? arrays[b].poison : 0};
  }
  deadline_s_ = now_s() + request_s;
  if (!device_->begin({how.cold_l2 != 0, on_host && options_.modelled_events}).ok())
    return server_gone();
  runner::judged_answer answer{};
  doing.emplace("calls made");
  const double asked_s = now_s();
  auto outcome = ask_for(request, answer);
  // A kernel that never ends also blocks the server.
  deadline_s_ = now_s() + (outcome.what == verdict::timeout ? 1 : request_s);
  const auto did = device_->end();
  const double took_ms = 1e3 * (now_s() - asked_s);
  submission_->kill_if_over_limit(), server_->kill_if_over_limit();
  doing.emplace("outputs taken");
  if (did.ok() && !did->broken.empty())
    return stop({verdict::protocol,
                 "the program sent the device process a malformed CUDA runtime message (" +
                     did->broken + ")"});
  if (!did.ok() && outcome.what != verdict::timeout) return server_gone();
  if (!outcome.ok()) return stop(outcome);
  outcome = judge_answer(call, answer, *did);
  if (outcome.ok() && how.buffers != runner::buffers_are::reused) {
    if (on_host) {
      outcome = take_arrays(memory_, file_, number, arrays);
    } else {
      const auto taken = take_buffers(*device_, file_, number, at);
      if (!taken.ok()) return server_gone();
      outcome = *taken;
    }
  }
  if (!on_host && is_gpu_ && how.buffers == runner::buffers_are::left) {
    kept_[number] = at;
  } else if (!on_host) {
    give_back(*device_, call, at);
  }
  // Fetched immediately, because the server may be gone later.
  if (!keep_report(remote::report_kind::findings, options_.findings) || !device_->is_whole())
    return outcome.ok() ? server_gone() : outcome;
  if (!outcome.ok()) return outcome;
  if (!is_timed) return {};
  file_.set_time(number, repetition, did->modelled_ms > 0 ? did->modelled_ms : did->device_ms);
  // Copies of host arrays are part of the protocol, so their host time does not count.
  host_ms_ = on_host ? 0 : std::max(0.0, took_ms - did->before_ms - did->device_ms);
  return {};
}

std::vector<double> judged_session::empty_calls(std::size_t count) {
  std::vector<double> took;
  if (is_over_ || !is_connected()) return took;
  runner::judged_request request{};
  request.is_empty = 1;
  const problem_call& call = file_.call(0);
  request.buffer_count = static_cast<std::uint32_t>(call.buffers.size());
  request.scalar_count = static_cast<std::uint32_t>(call.scalars.size());
  while (took.size() < count) {
    deadline_s_ = now_s() + request_s;
    runner::judged_answer answer{};
    if (!device_->begin({.cold = true}).ok()) break;
    const double asked_s = now_s();
    const auto outcome = ask_for(request, answer);
    if (!device_->end().ok() || !outcome.ok() || answer.state != runner::call_state::done) break;
    took.push_back(1e3 * (now_s() - asked_s));
  }
  return took;
}

// Watches both processes, because the kernels' output comes from the server.
call_outcome judged_session::ask_for(const runner::judged_request& request,
                                     runner::judged_answer& answer) {
  // A process that has already ended is classified by its end, not by the failed write.
  (void)!send(control_.get(), &request, sizeof request, MSG_NOSIGNAL);
  // No GPU context is created here, so a start takes only a moment.
  const double start_s = std::min(options_.start_limit_s, is_gpu_ ? 60.0 : 10.0);
  const double limit = options_.time_limit_s + 3 + (first_ ? start_s : 0);
  first_ = false;
  const double until = now_s() + limit;
  std::size_t have = 0;
  while (have < sizeof answer) {
    const auto event = submission_->wait(slice_s, control_.get());
    const auto served = server_->wait(0);
    if (served == child::event::flooded || event == child::event::flooded) {
      if (served == child::event::flooded) server_->end(child_end::cause::flooded);
      return flooded(options_.output_limit_bytes);
    }
    if (served == child::event::ended) return server_gone();
    if (event == child::event::ended) return submission_ended();
    if (event == child::event::deadline) {
      if (now_s() > until) return timed_out(limit);
      server_->kill_if_over_limit();
      continue;
    }
    const ssize_t n = recv(control_.get(), reinterpret_cast<char*>(&answer) + have,
                           sizeof answer - have, MSG_DONTWAIT);
    if (n > 0) have += static_cast<std::size_t>(n);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
      // The program closed its end. It is ending, or it tampers with descriptors.
      if (submission_->wait(2) == child::event::ended) return submission_ended();
      return {verdict::protocol,
              "the program closed the descriptor through which it receives calls"};
    }
  }
  answer.message[sizeof answer.message - 1] = '\0';
  if (answer.number != request.number ||
      (answer.state != runner::call_state::done && answer.state != runner::call_state::failed))
    return {verdict::protocol,
            "the program answered out of order: other code than the runner wrote to its control "
            "descriptor"};
  return {};
}

// The device's report has priority. A failure that only the program reports counts, too.
call_outcome judged_session::judge_answer(const problem_call& call,
                                          const runner::judged_answer& answer,
                                          const remote::end_call::answer& did) const {
  std::string message = answer.message;
  while (message.ends_with('\n')) message.pop_back();
  if (did.failure != 0 || answer.state == runner::call_state::failed) {
    const int code = did.failure != 0 ? did.failure : answer.cuda_error;
    verdict what = class_of_error(code);
    if (code == 0 && answer.modified != 0) what = verdict::wrong;
    if (code == 0 && answer.guard_broken != 0) what = verdict::check;
    if (message.find("bad_alloc") != std::string::npos) what = verdict::memory;
    if (did.failure == 0 && code == no_support) what = verdict::crash;
    if (message.empty()) message = did.message;
    if (message.empty()) message = fmt::format("a CUDA call failed with error {}", code);
    const call_outcome outcome{what, message};
    return what == verdict::infra && !is_gpu_ ? with_advice(outcome) : outcome;
  }
  std::uint64_t outputs = 0;
  for (const auto& buffer : call.buffers)
    if (buffer.role == buffer_role::output) outputs += buffer.bytes;
  const bool on_host = call.memory != memory_kind::device;
  const auto allowed = options_.host_bytes + (on_host ? outputs : 0);
  if (did.bytes_to_host > allowed)
    return {verdict::check,
            fmt::format("computes on the host: the call copied {} from the device to the host, but "
                        "a graded call may copy {}",
                        bytes_text(static_cast<double>(did.bytes_to_host)),
                        allowed == 0 ? "nothing" : bytes_text(static_cast<double>(allowed)))};
  if (on_host && did.bytes_made > most_made_bytes)
    return {verdict::check,
            fmt::format(
                "computes on the host: {} copied to the device are not inputs of the call, but a "
                "graded call may copy only {} of other data; copy inputs straight from {}",
                bytes_text(static_cast<double>(did.bytes_made)),
                bytes_text(static_cast<double>(most_made_bytes)),
                call.memory == memory_kind::files ? "the bytes of their file" : "their arrays")};
  const std::uint64_t sent = did.bytes_made + did.bytes_in_commands;
  if (const std::uint64_t most = most_command_bytes + outputs / outputs_per_command_byte;
      sent > most)
    return {
        verdict::check,
        fmt::format("computes on the host: apart from its inputs, the call's launches, fills and "
                    "copies sent {} to the device, but a graded call may send {}",
                    bytes_text(static_cast<double>(sent)), bytes_text(static_cast<double>(most)))};
  return {};
}

// Returns false if the report did not arrive. Earlier reports remain.
bool judged_session::keep_report(remote::report_kind which, const std::filesystem::path& file) {
  if (file.empty()) return true;
  if (!device_ || !device_->is_whole()) return false;
  deadline_s_ = now_s() + request_s;
  const auto lines = device_->take(which);
  if (!lines.ok()) return false;
  std::string text;
  for (const auto& line : *lines) text += line + "\n";
  write_atomically(file, text);
  return true;
}

call_outcome judged_session::finish(double seconds) {
  const bool ends_in_order = !is_over_ && !submission_->is_over() && is_connected();
  is_over_ = true;
  deadline_s_ = now_s() + request_s;
  // While the program ends, it may need the device for cudaFree and for the origin of findings.
  if (ends_in_order && device_->end_program().ok() && device_->begin({}).ok()) {
    control_.reset();
    const double until = now_s() + seconds;
    auto event = child::event::deadline;
    while (event == child::event::deadline && now_s() < until) {
      event = submission_->wait(slice_s);
      if (server_->wait(0) != child::event::deadline) break;
    }
    if (event != child::event::ended) submission_->end(child_end::cause::deadline);
    deadline_s_ = now_s() + request_s;
    (void)device_->end();
    // Finds leaked memory, no matter how the program ended.
    (void)device_->take_findings(true);
  }
  const bool are_kept = keep_report(remote::report_kind::findings, options_.findings) &&
                        keep_report(remote::report_kind::profile, options_.profile);
  return ends_in_order && !are_kept ? server_gone() : call_outcome{};
}

std::string judged_session::printed() const {
  return submission_->output().text() + said_by_program(submission_->errors().text()) +
         server_->output().text();
}

}  // namespace stepwise

// Makes the calls in one session. If a later call is wrong, tests whether that call is right alone.
#include "grader/judge/check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/report/findings.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/signals.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise {

namespace {

// Whether a call's result is right if it is the program's first call.
bool is_right_alone(const problem& p, const std::filesystem::path& program,
                    const device_choice& device, session_options options, const call_file& file,
                    std::size_t number) {
  options.findings.clear();
  const auto runner = start_session(program, device, file, std::move(options));
  return runner->call(number).ok() && !check_outputs(p, file, number);
}

// Adds what further calls with other inputs show about a wrong result, and returns true if they
// show anything. A judged grade makes no further calls, because its messages should reveal as
// little as possible about a hidden input. The number of calls, their bytes, and the time are
// limited. The time counts after the first call, which includes the start of the program.
bool explain(std::string& message, const problem& p, const std::filesystem::path& program,
             const device_choice& device, session_options options, const problem_call& call,
             const problem::results& outputs) {
  constexpr int most_calls = 400;
  constexpr double most_s = 1;
  constexpr std::size_t most_bytes = std::size_t{1} << 26;
  std::vector<problem_call> calls = {call};
  const call_file file(calls, {planned_call{}});
  if (device.judged() || names_pattern(message) || file.bytes() > most_bytes) return false;
  options.findings.clear();
  options.time_limit_s = std::min(options.time_limit_s, most_s);
  const auto runner = start_session(program, device, file, options);
  std::chrono::steady_clock::time_point first_end;
  int made = 0;
  const auto again = [&](const problem_call& next) -> std::optional<problem::results> {
    if (made == most_calls || (made > 0 && seconds_since(first_end) > most_s)) return std::nullopt;
    throw_if_interrupted();
    for (std::size_t b = 0; b < next.buffers.size(); ++b)
      calls[0].buffers[b].data = next.buffers[b].data;
    file.rewrite_inputs();
    const bool is_done = runner->call(0).ok();
    if (made++ == 0) first_end = std::chrono::steady_clock::now();
    if (is_done) return file.outputs(0);
    made = most_calls;  // the session is over
    return std::nullopt;
  };
  const std::string why = p.explain(call, outputs, again);
  if (why.empty()) return false;
  // Removes ", in no known pattern" and whatever follows it.
  if (const auto unknown = message.find(no_known_pattern); unknown != std::string::npos)
    message.resize(message.find_last_of(",;", unknown));
  message += "; " + why;
  return true;
}

// Whether two threads store to one element of global memory because of a wrong index.
bool is_shared_element(const finding& f) {
  return f.kind == finding_kind::race && f.object.what == finding_object::kind::allocation &&
         (f.advice.starts_with(check_index_advice) || f.advice.starts_with(check_row_advice));
}

// Whether a line of a header, which the course provides, reads bytes that an earlier launch failed
// to write.
bool is_read_in_header(const finding& f) {
  return f.kind == finding_kind::unwritten_read && !f.parties.empty() &&
         f.object.what == finding_object::kind::allocation &&
         f.parties.front().at.file.ends_with(".hpp");
}

constexpr std::uint64_t small_bytes = std::uint64_t{1} << 20;  // all buffers of a call

// `findings`: the file to which the checks write; empty for a run without checks.
check_report run_calls(const lab& l, const problem& p, const std::filesystem::path& program,
                       const device_choice& device, const std::vector<lab_size>& sizes,
                       std::uint64_t seed, const activity& now, const fs::path& findings) {
  check_report report;
  report.total = sizes.size();
  report.seed = seed;
  std::vector<problem_call> calls;
  std::vector<planned_call> plans;
  for (const auto& size : sizes) {
    calls.push_back(call_of_size(p, size, seed));
    plans.push_back({.data = calls.size() - 1});
    throw_if_interrupted();
  }
  const call_file file(calls, plans);
  session_options options = options_for(device, l.time_limit_s, file.bytes());
  options.tick = now.tick;
  options.host_bytes = l.host_bytes;
  options.tensor_cores = l.tensor_cores;
  options.findings = findings;
  // The checks reserve shadow memory for every byte of the GPU's memory. This is only address
  // space, but it would count towards the limit.
  if (!findings.empty()) options.data_limit_bytes = 0;
  options.workers = 1;  // fixed order: an error shows every time or never
  const auto runner = start_session(program, device, file, options);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    now.doing(fmt::format("checking {} of {} sizes: {}", i + 1, plans.size(), calls[i].label));
    report.found = runner->call(i);
    if (report.found.ok()) {
      if (const auto wrong = check_outputs(p, file, i)) {
        report.found = {verdict::wrong, *wrong};
        const auto outputs = file.outputs(i);  // a further call overwrites them
        if (i > 0 && is_right_alone(p, program, device, options, file, i)) {
          report.found.message +=
              "; the same call is correct as the program's first call: does a static or __device__ "
              "variable keep data from the previous call?";
        }
        report.explained_by_calls =
            explain(report.found.message, p, program, device, options, calls[i], outputs);
      }
    }
    throw_if_interrupted();
    if (!report.found.ok()) {
      report.label = calls[i].label;
      report.size = sizes[i];
      break;
    }
    report.right.push_back(calls[i].label);
  }
  if (!findings.empty()) {
    now.doing("waiting for the remaining checks");
    const auto end = runner->finish(10);
    if (report.found.ok()) report.found = end;
    report.findings = read_findings(findings);
    // A call that an exception ended could not free anything, so its leaks are not reported.
    if (report.found.what == verdict::crash)
      std::erase_if(report.findings,
                    [](const auto& f) { return f.what.kind == finding_kind::leak; });
  }
  report.printed = runner->printed();
  return report;
}

}  // namespace

check_report check_program(const lab& l, const problem& p, const std::filesystem::path& program,
                           const device_choice& device, const std::vector<lab_size>& sizes,
                           std::uint64_t seed, const activity& now) {
  return run_calls(l, p, program, device, sizes, seed, now, {});
}

check_report check_thoroughly(const lab& l, const problem& p, const std::filesystem::path& program,
                              const device_choice& device, const std::vector<lab_size>& sizes,
                              std::uint64_t seed, const activity& now) {
  const temporary_folder folder(fs::temp_directory_path());
  return run_calls(l, p, program, device, sizes, seed, now, folder.path() / "findings");
}

std::vector<located_finding> deciding_findings(const check_report& report) {
  auto deciding = without_copies(report.findings);
  if (report.found.what != verdict::wrong || report.explained_by_calls ||
      !names_pattern(report.found.message))
    return deciding;
  auto others = deciding;
  std::erase_if(
      others, [](const auto& f) { return is_shared_element(f.what) || is_read_in_header(f.what); });
  return has_errors(others) ? deciding : others;
}

problem_call call_of_size(const problem& p, const lab_size& size, std::uint64_t seed) {
  try {
    return p.make_call(size, seed);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  } catch (const std::bad_alloc&) {
    throw failure(exit_code::environment, "size " + size_text(size) + " does not fit in memory");
  }
}

std::vector<lab_size> small_sizes(const lab& l, const problem& p) {
  std::vector<lab_size> small;
  for (const auto& size : l.check) {
    // The work counts each input and each output, so a call with more work need not be made.
    if (!small.empty() && p.work(size).bytes > small_bytes) continue;
    std::uint64_t bytes = 0;
    for (const auto& buffer : p.make_call(size, 1).buffers) bytes += buffer.bytes;
    if (bytes <= small_bytes || small.empty()) small.push_back(size);
  }
  return small;
}

const problem& problem_of(const lab& l, const installation& where) {
  try {
    return load_problem(where.build / "labs" / ("problem-" + l.name + ".so"));
  } catch (const std::runtime_error& error) {
    throw failure(exit_code::ours, "cannot load the problem of " + l.name + ": " + error.what());
  }
}

}  // namespace stepwise

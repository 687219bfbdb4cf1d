// Chooses the device for the checks, and decides which error is reported first.
#include "grader/grade/correctness.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "grader/grade/large_checks.hpp"
#include "grader/report/findings.hpp"
#include "grader/system/phases.hpp"

namespace stepwise {
namespace {

// Findings decide the verdict unless the call ended for a reason unrelated to memory and order. A
// wrong result with a race is reported as the race.
bool explains(verdict what) {
  return what == verdict::pass || what == verdict::wrong || what == verdict::check ||
         what == verdict::crash || what == verdict::timeout;
}

// The result is wrong, or right by luck, so the error that was found is reported first.
void blame(check_report& report, const fs::path& root) {
  const auto deciding = deciding_findings(report);
  if (!has_errors(deciding) || !explains(report.found.what)) return;
  const std::string result = report.found.what == verdict::wrong ? report.found.message : "";
  report.found = {verdict::check, worst_finding(deciding, root)};
  if (!result.empty()) report.found.message += "\n" + result;
}

// In a judged call, the device is in another process, and the checks do not see how the host uses
// pinned memory. A whole program is therefore also checked in one process, in the same sandbox.
// That process could hide findings, so its findings only take points away.
std::vector<located_finding> findings_in_one_process(const lab& l, const problem& p,
                                                     const fs::path& program, device_choice checker,
                                                     const std::vector<lab_size>& sizes,
                                                     std::uint64_t seed, const activity& now) {
  checker.server.clear();
  return check_thoroughly(l, p, program, checker, sizes, seed, now).findings;
}

}  // namespace

std::optional<device_choice> checking_device(const device_choice& device,
                                             const installation& where) {
  if (!device.gpu) return device;
  if (!fs::exists(where.emulated_runtime / "libcudart.so.13")) return std::nullopt;
  auto emulator = choose_device(device_request::emulated, where);
  emulator.guards = device.guards;
  emulator.shown = device.shown;
  return device.judged() ? judged_on(std::move(emulator), where) : emulator;
}

check_report grade_correctness(const lab& l, const problem& p, const fs::path& program,
                               const installation& where, const device_choice& device,
                               std::uint64_t seed, const activity& now, bool& checked,
                               const std::function<void()>& before_gpu) {
  const auto checker = checking_device(device, where);
  if (!checker) before_gpu();
  if (!checker) return check_program(l, p, program, device, l.check, seed, now);
  const auto small = small_sizes(l, p);
  std::optional<phase> doing(std::in_place, "checks on the emulator");
  auto report = check_thoroughly(l, p, program, *checker, small, seed, now);
  if (l.is_program() && checker->judged() && report.correct() && !has_errors(report.findings))
    report.findings = findings_in_one_process(l, p, program, *checker, small, seed, now);
  doing.emplace("correct results");
  report.total = l.check.size();
  // A limit of the emulator is not a limit of the GPU.
  const bool limited = device.gpu && report.found.is_open();
  checked = !limited;
  if (!report.correct() || !l.has(goal::kind::checks)) blame(report, where.root);
  if (!report.correct() && !limited) return report;
  if (report.correct() && !limited && !has_errors(report.findings)) {
    auto large = check_large(l, p, program, *checker, large_sizes(l, p), seed, now);
    if (!large.found.ok()) report.found = large.found;
    report.large = std::move(large.label);
    report.findings.insert(report.findings.begin(), std::make_move_iterator(large.findings.begin()),
                           std::make_move_iterator(large.findings.end()));
    if (!l.has(goal::kind::checks)) blame(report, where.root);
    if (!report.correct()) return report;
  }
  std::vector<lab_size> rest;
  for (const auto& size : l.check) {
    if (device.gpu || std::count(small.begin(), small.end(), size) == 0) rest.push_back(size);
  }
  if (rest.empty()) return report;
  auto findings = std::move(report.findings);
  const std::string large = report.large;
  const auto right_before = device.gpu ? std::vector<std::string>{} : std::move(report.right);
  if (device.gpu) before_gpu();
  report = check_program(l, p, program, device, rest, seed, now);
  report.findings = std::move(findings);
  report.large = large;
  report.total = l.check.size();
  report.right.insert(report.right.begin(), right_before.begin(), right_before.end());
  if (!report.correct()) blame(report, where.root);
  return report;
}

}  // namespace stepwise

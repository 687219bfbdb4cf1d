// Makes one sampled call per size, and then a whole call if the sample is suspicious.
#include "grader/grade/large_checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/report/findings.hpp"
#include "grader/system/files.hpp"
#include "grader/system/phases.hpp"

namespace stepwise {
namespace {

constexpr double seconds_for_a_sample = 60;
constexpr double seconds_for_all_blocks = 120;

// Errors in the order of threads, which a sample shows reliably. A wrong address or an unwritten
// value may follow from omitted blocks.
bool is_about_order(const located_finding& f) {
  switch (f.what.kind) {
    case finding_kind::race:
    case finding_kind::missing_fence:
    case finding_kind::not_awaited:
    case finding_kind::barrier_divergence:
    case finding_kind::exited_at_barrier:
    case finding_kind::bad_mask:
    case finding_kind::inactive_source:
      return true;
    default:
      return false;
  }
}

// The sampled calls of one session, up to the first with findings or another failure.
struct sampled_calls {
  std::size_t made = 0;  // at least one
  large_report last;     // of the last call
};

// Makes all calls in one session: a session per size would also start a sandbox per size.
sampled_calls check_samples(const lab& l, const problem& p, const fs::path& program,
                            const device_choice& emulator, std::span<const lab_size> sizes,
                            std::uint64_t seed, const activity& now) {
  const phase doing("checks of samples");
  std::vector<problem_call> calls;
  std::vector<planned_call> plans(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    calls.push_back(p.make_call(sizes[i], seed));
    plans[i].data = i;
    plans[i].how.buffers = runner::buffers_are::reused;  // no output is copied to the host
  }
  const call_file file(calls, plans);
  const temporary_folder folder(fs::temp_directory_path());
  session_options options = options_for(emulator, seconds_for_a_sample, file.bytes());
  options.tick = now.tick;
  options.host_bytes = l.host_bytes;
  options.findings = folder.path() / "findings";
  options.sample = static_cast<unsigned>(1 + seed % 65'535);
  options.data_limit_bytes = 0;  // as in check.cpp: checks reserve address space
  options.workers = 1;
  const auto runner = start_session(program, emulator, file, options);
  sampled_calls did;
  const auto read = [&] {
    did.last.findings = read_findings(options.findings);
    std::erase_if(did.last.findings, [](const located_finding& f) { return !is_about_order(f); });
  };
  while (did.made < calls.size() && did.last.found.ok() && did.last.findings.empty()) {
    did.last.label = calls[did.made].label;
    now.doing(fmt::format("{}: checks of a sample of {}", l.name, did.last.label));
    did.last.found = runner->call(did.made);
    for (problem_buffer& b : calls[did.made++].buffers) b.data = {};  // may be gigabytes
    read();
  }
  const auto end = runner->finish(10);
  if (did.last.found.ok()) did.last.found = end;
  read();
  return did;
}

}  // namespace

std::vector<lab_size> large_sizes(const lab& l, const problem& p) {
  const auto small = small_sizes(l, p);
  std::vector<lab_size> all;
  const auto add = [&](const lab_size& size) {
    if (std::count(small.begin(), small.end(), size) + std::count(all.begin(), all.end(), size) ==
        0)
      all.push_back(size);
  };
  for (const lab_size& size : l.drawn_large) add(size);
  for (const goal& g : l.goals)
    if (g.what == goal::kind::counter) add(g.size);
  if (!l.modelled.empty()) add(l.modelled.back());
  return all;
}

large_report check_large(const lab& l, const problem& p, const fs::path& program,
                         const device_choice& emulator, const std::vector<lab_size>& sizes,
                         std::uint64_t seed, const activity& now) {
  large_report report;
  for (std::span<const lab_size> rest = sizes; !rest.empty();) {
    auto [made, sample] = check_samples(l, p, program, emulator, rest, seed, now);
    const lab_size& size = rest[made - 1];
    rest = rest.subspan(made);
    if (sample.found.what == verdict::memory) return {sample.found, {}, {}};
    if (sample.found.ok() && sample.findings.empty()) continue;
    lab patient = l;
    patient.time_limit_s = std::max(l.time_limit_s, seconds_for_all_blocks);
    const phase doing("checks of all blocks");
    auto whole = check_thoroughly(patient, p, program, emulator, {size}, seed, now);
    report.label = sample.label;
    if (has_errors(whole.findings)) {
      report.findings = std::move(whole.findings);
      return report;
    }
    if (whole.found.what == verdict::memory) return {whole.found, {}, {}};
    // The whole call could not be checked, so the sample's findings stand.
    if (!whole.correct() && !sample.findings.empty()) {
      report.findings = std::move(sample.findings);
      return report;
    }
  }
  report.label.clear();
  return report;
}

}  // namespace stepwise

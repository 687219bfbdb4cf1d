// Makes one call with times on, and adds up its launches or reads the time between its events.
#include "grader/model/modelled.hpp"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/measure/figures.hpp"
#include "grader/measure/records/record_file.hpp"
#include "grader/report/profile.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {

std::string modelled_figures::why_no_time() const {
  if (timed()) return {};
  if (!found.ok()) return found.message;
  if (!doubt.empty()) return doubt;
  if (const kernel_profile* k = uncounted_kernel(kernels)) return uncounted_text(*k);
  return kernels.empty() ? "no kernel was launched" : "the model gives no time for it";
}

std::optional<double> modelled_figures::moved_over_needed() const {
  constexpr double sector_bytes = 32;
  double sectors = 0;  // of global memory, in all blocks
  for (const kernel_profile& k : kernels) {
    if (!k.timing.traffic) return {};
    const profile_counts& n = k.total;
    const auto global = static_cast<double>(n.global_load.sectors + n.global_store.sectors +
                                            n.global_atomic.sectors);
    const auto local = static_cast<double>(n.local_load.sectors + n.local_store.sectors);
    if (global > 0) sectors += k.timing.traffic->l1_sectors * global / (global + local);
  }
  if (work.bytes <= 0) return {};
  return (sector_bytes * sectors + static_cast<double>(transfers.bytes_moved())) / work.bytes;
}

void modelled_figures::drop_doubtful_time() {
  if (!timed() || peak_bytes_per_s <= 0) return;
  // A correct call moves at least what it needs, but a model of a large call runs only some blocks.
  constexpr double too_little = 0.5;
  const auto moved = moved_over_needed();
  const std::string idle = idle_blocks_text(kernels);
  if (moved && *moved < too_little)
    doubt = fmt::format(
        "the blocks that were run move {:.2g} of the bytes that a call needs, so they do not "
        "represent the others; {}",
        *moved,
        idle.empty() ? "do most blocks have nothing to do (the grid counts blocks, not threads), "
                       "or does one block do the work of many?"
                     : idle);
  else if (const double least_ms = 1e3 * work.bytes / peak_bytes_per_s; time_ms < least_ms)
    doubt = fmt::format(
        "a call would take {}, but the GPU's memory moves its bytes in {} at best, so the blocks "
        "that were run do not represent the others",
        time_text(time_ms), time_text(least_ms));
  if (!doubt.empty()) time_ms = 0;
}

std::string modelled_figures::rate() const { return rate_text(work, time_ms); }

std::optional<model_error> load_model_error(const fs::path& root, const lab& l,
                                            std::string_view device_name) {
  const fs::path file = root / record_file(l, device_name, "modelled");
  if (!fs::exists(file)) return {};
  return read_record(file, [](const json& record) {
    model_error error{0, record.at("median_error"), record.at("worst_tenth_error")};
    for (const json& entry : record.at("entries")) error.times += entry.contains("modelled_ms");
    return error;
  });
}

modelled_figures model_program(const lab& l, const problem& p, const std::filesystem::path& program,
                               const lab_size& size, std::uint64_t seed,
                               const device_choice& emulator, const activity& now,
                               double patience_s, what_ifs experiments, launches_are launches,
                               outputs_are outputs, std::uint64_t blocks_seed) {
  modelled_figures result;
  std::vector<problem_call> calls;
  try {
    calls.push_back(p.make_call(size, seed));
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
  result.size = size;
  result.label = calls[0].label;
  result.gpu = emulator.name;
  result.work = p.work(size);
  for (const auto& buffer : calls[0].buffers)
    if (buffer.role == runner::buffer_role::input)
      result.input_bytes += static_cast<double>(buffer.bytes);
  result.peak_bytes_per_s = emulator.peak_bytes_per_s;
  const temporary_folder folder(fs::temp_directory_path());
  planned_call once;
  // A sampled call has no valid output, so none is copied to the host.
  if (outputs == outputs_are::ignored) once.how.buffers = runner::buffers_are::reused;
  const call_file file(calls, {once});
  session_options options = options_for(emulator, patience_s, file.bytes());
  options.tick = now.tick;
  options.host_bytes = l.host_bytes;
  options.tensor_cores = l.tensor_cores;
  options.profile = folder.path() / "profile";
  options.times = launches == launches_are::whole ? "whole" : "sampled";
  if (blocks_seed != 0) options.times += fmt::format(",seed={}", blocks_seed);
  if (experiments == what_ifs::modelled) options.times += ",experiments";
  now.doing(fmt::format("{}: the time of {}", l.name, result.label));
  result.with_copies = calls[0].memory != runner::memory_kind::device;
  options.modelled_events = result.with_copies;
  const auto runner = start_session(program, emulator, file, options);
  result.found = runner->call(0);
  if (result.found.ok() && outputs == outputs_are::compared) {
    if (const auto wrong = check_outputs(p, file, 0)) result.found = {verdict::wrong, *wrong};
  }
  if (!result.found.ok()) return result;
  result.found = runner->finish(seconds_to_leave_a_profile(emulator));
  if (!result.found.ok()) return result;
  counted_work counted = read_profile(options.profile);
  result.kernels = std::move(counted.kernels);
  result.transfers = counted.transfers;
  result.time_ms = result.transfers.us / 1000;
  for (const kernel_profile& k : result.kernels) result.time_ms += k.timing.us / 1000;
  if (uncounted_kernel(result.kernels) != nullptr) return result.time_ms = 0, result;
  if (result.with_copies && result.time_ms > 0) {
    const auto between_events = file.times(0);
    result.time_ms = between_events.empty() ? 0 : between_events[0];
  }
  return result;
}

}  // namespace stepwise

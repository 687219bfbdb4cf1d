// Runs one call with the counters on, and reads the profile that the program writes.
#include "grader/measure/profiled.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/report/profile.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

// Counting takes longer than checking, and a figure's call is larger than a check's.
constexpr double profile_patience = 12;

}  // namespace

const kernel_profile* uncounted_kernel(const std::vector<kernel_profile>& kernels) {
  const auto found =
      std::ranges::find_if(kernels, [](const kernel_profile& k) { return !k.uncounted.empty(); });
  return found == kernels.end() ? nullptr : &*found;
}

std::string uncounted_text(const kernel_profile& k) {
  return fmt::format("the memory accesses of {} in {}() are neither counted nor timed", k.uncounted,
                     k.kernel);
}

std::string idle_blocks_text(const std::vector<kernel_profile>& kernels) {
  constexpr double many = 0.2;  // a grid that is rounded up in two dimensions has fewer
  for (const kernel_profile& k : kernels) {
    const auto all = static_cast<double>(k.launches * volume(k.grid));
    if (k.timing.idle_blocks < many * all) continue;
    return fmt::format(
        "about {:.0f} of the {:.0f} blocks of {} write nothing to memory. Is the grid larger than "
        "the work? If a thread handles several elements, fewer blocks are enough.",
        k.timing.idle_blocks, all, k.kernel);
  }
  return {};
}

std::string doubles_text(const std::vector<kernel_profile>& kernels) {
  constexpr double many = 0.05, nearly_all = 0.9, hardly_more = 1.1, lanes = 32, sector = 32;
  for (const kernel_profile& k : kernels) {
    const auto warps = [&](pipe p) {
      return static_cast<double>(k.total.instructions[static_cast<int>(p)].warps);
    };
    if (warps(pipe::fp64) > many * static_cast<double>(k.total.all_instructions().warps))
      return fmt::format(
          "{} computes in double. Is a variable a double, or a constant (1.0 instead of 1.0f)?",
          k.kernel);
    wavefront_counts shared = k.total.shared_load;
    shared += k.total.shared_store;
    const auto requests = static_cast<double>(shared.requests);
    const sector_counts& global = k.total.global_load;
    // Bytes per lane. A wavefront of shared memory moves 4 bytes per lane.
    const double in_shared = 4 * static_cast<double>(shared.ideal_wavefronts) / requests;
    const double in_global = sector * static_cast<double>(global.ideal_sectors) /
                             (lanes * static_cast<double>(global.requests));
    // The sums of tensor cores are floats, twice as wide as their operands, and are converted where
    // they are stored.
    const bool has_narrow_operands = k.total.async.tensor_instructions > 0;
    // Floats that are converted from bytes are not doubles: each has 4 bytes.
    const bool are_wide = in_shared > nearly_all * sizeof(double) &&
                          in_shared > 2 * nearly_all * in_global &&
                          in_shared < 2 * hardly_more * in_global;
    if (!has_narrow_operands && requests > 0 && global.requests > 0 && are_wide &&
        warps(pipe::conversion) > nearly_all * requests)
      return fmt::format(
          "the values that {} keeps in shared memory are converted, and twice as wide as those in "
          "global memory. Is the array a double?",
          k.kernel);
  }
  return {};
}

profiled_call profile_program(const lab& l, const problem& p, const std::filesystem::path& program,
                              const lab_size& size, std::uint64_t seed,
                              const device_choice& emulator, const activity& now,
                              outputs_are outputs) {
  profiled_call result;
  std::vector<problem_call> calls;
  try {
    calls.push_back(p.make_call(size, seed));
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
  result.label = calls[0].label;
  const temporary_folder folder(fs::temp_directory_path());
  const call_file file(calls, {planned_call{}});
  session_options options = options_for(emulator, profile_patience * l.time_limit_s, file.bytes());
  options.tick = now.tick;
  options.host_bytes = l.host_bytes;
  options.tensor_cores = l.tensor_cores;
  options.profile = folder.path() / "profile";
  now.doing(fmt::format("counting {}, line by line", result.label));
  const auto runner = start_session(program, emulator, file, options);
  result.found = runner->call(0);
  if (!result.found.ok()) return result;
  if (outputs == outputs_are::compared) {
    if (const auto wrong = check_outputs(p, file, 0)) {
      result.found = {verdict::wrong, *wrong};
      return result;
    }
  }
  result.found = runner->finish(seconds_to_leave_a_profile(emulator));
  if (!result.found.ok()) return result;
  counted_work counted = read_profile(options.profile);
  result.kernels = std::move(counted.kernels);
  result.transfers = counted.transfers;
  return result;
}

}  // namespace stepwise

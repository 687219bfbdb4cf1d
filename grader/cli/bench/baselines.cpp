// Finds the lab's baselines, and the reasons why a baseline cannot run here.
#include <fmt/core.h>

#include "grader/cli/bench/bench.hpp"
#include "grader/measure/record.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/loader.hpp"
#include "grader/system/program_file.hpp"

namespace stepwise::cli {
namespace {

// The library that a program needs but this machine lacks; "" if there is none. A folder built
// elsewhere may hold baselines whose libraries only that machine has.
std::string missing_library(const fs::path& program, const device_choice& device) {
  const auto file = read_program_file(program, 0);
  if (!file) return "";
  for (const auto& library : libraries_of(program, file->interpreter, device.environment())
                                 .value_or(std::vector<loaded_library>{}))
    if (library.file.empty()) return library.name;
  return "";
}

}  // namespace

std::vector<contender> usable_baselines(context& c, const lab& l, const device_choice& device) {
  std::vector<contender> found;
  for (const auto& p : l.baselines) {
    const fs::path program = c.where.solution(l.name, "baseline-" + p.name);
    std::string why;
    if (!p.on_cpu && !device.gpu) {
      why = "its comparison needs times, and so a GPU";
    } else if (!fs::exists(program)) {
      why = "it is not built; `ninja -C build baselines` builds it if its library is installed";
    } else if (const auto library = missing_library(program, device); !library.empty()) {
      why = library + " is not installed here";
    }
    if (why.empty()) {
      found.push_back({p.name, program, p.is_right, p.on_cpu});
    } else if (!c.as_json) {
      c.out.paragraph(p.name + " is left out: " + why, 2, {}, tone::dim);
    }
  }
  return found;
}

void keep_baselines(context& c, const lab& l, const fs::path& record,
                    const std::vector<contender>& baselines) {
  if (!fs::exists(c.where.root / record)) return;
  const auto lost = read_record(c.where.root / record, [&](const json& older) {
    return baselines_lost(older, l, baselines);
  });
  if (lost.empty()) return;
  throw failure(
      exit_code::usage,
      fmt::format(
          "{} contains {}, which this run would not measure\nadd --baselines to measure the "
          "baselines that `ninja -C build baselines` has built, or remove the file",
          record.string(), joined(lost, ", ")));
}

}  // namespace stepwise::cli

// Classifies axes, compiles each program once for its points, checks, counts and times.
#include "grader/measure/sweep.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <semaphore>

#include "grader/course/size.hpp"
#include "grader/course/source.hpp"
#include "grader/judge/compile.hpp"
#include "grader/measure/profiled.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/parallel.hpp"

namespace stepwise {
namespace {

// Memory of a job: nvcc with its child processes, or the emulator with a small call.
constexpr std::uint64_t bytes_of_a_job = std::uint64_t{1} << 30;
// Limits on programs that are alive together, and on programs that are checked together. Each
// program has a context of a few hundred megabytes on the GPU.
constexpr std::size_t most_at_once = 16;
constexpr std::ptrdiff_t checked_at_once = 4;
constexpr int fewest_registers = 16, most_registers = 255;

bool is_size_name(const std::string& name, const lab& l) {
  return name == "size" || (name == "n" && l.check.at(0).size() == 1);
}

std::string over_text(const std::string& name, const std::string& value) {
  return "--over " + name + "=" + value;
}

void check_registers(const sweep_axis& axis) {
  for (const auto& value : axis.values) {
    int number = 0;
    const char* const end = value.data() + value.size();
    const auto [after, error] = std::from_chars(value.data(), end, number);
    const bool in_range = error == std::errc{} && after == end && number >= fewest_registers &&
                          number <= most_registers;
    if (value != no_register_cap && !in_range) {
      throw failure(
          exit_code::usage,
          fmt::format("--over {}: {} is not a valid cap: use {} to {} registers per thread, or {}",
                      axis.name, value, fewest_registers, most_registers, no_register_cap));
    }
  }
}

// The values that determine a point's program: all of them except the size.
std::vector<std::string> program_values(const std::vector<swept_axis>& axes,
                                        const sweep_point& point) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].kind != axis_kind::size) values.push_back(point.values[i]);
  return values;
}

file_variant variant_of(const sweep_subject& subject, const std::vector<swept_axis>& axes,
                        const sweep_point& point) {
  file_variant variant;
  std::vector<std::pair<source_constant, std::string>> values;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& value = point.values[i];
    if (axes[i].kind == axis_kind::constant) {
      values.emplace_back(find_constant(subject.constants, axes[i].axis.name, subject.shown),
                          value);
    } else if (axes[i].kind == axis_kind::registers && value != no_register_cap) {
      variant.flags.push_back("-maxrregcount=" + value);
    }
  }
  variant.source = with_values(subject.source, std::move(values));
  return variant;
}

// One program and the points that use it.
class preparation {
 public:
  preparation(const sweep_run& run, const sweep_subject& subject,
              const std::vector<swept_axis>& axes, std::vector<sweep_point*> points,
              std::counting_semaphore<>& gpu)
      : run_(run), subject_(subject), axes_(axes), points_(std::move(points)), gpu_(gpu) {}

  void operator()() const {
    const auto made = compile_variant(run_.l, subject_.file,
                                      variant_of(subject_, axes_, *points_[0]), run_.where, quiet_);
    if (made.program.empty()) return fail({verdict::compile, joined(made.explanation, "\n")});
    for (auto* point : points_) point->program = made.program;
    const auto report = check(made.program);
    if (!report.correct()) return fail(with_size_named(report));
    if (run_.device.gpu) {
      count_on_emulator();
    } else {
      for (auto* point : points_) count(*point, size_to_count(*point));
    }
  }

 private:
  check_report check(const fs::path& program) const {
    if (!run_.device.gpu) {
      return check_program(run_.l, run_.p, program, run_.device, small_sizes(run_.l, run_.p),
                           run_.seed, {});
    }
    gpu_.acquire();
    const auto release = [](std::counting_semaphore<>* gpu) { gpu->release(); };
    const std::unique_ptr<std::counting_semaphore<>, decltype(release)> held(&gpu_, release);
    return check_program(run_.l, run_.p, program, run_.device, run_.l.check, run_.seed, {});
  }

  // The message of a wrong result already names its call, but that of a crash does not.
  static call_outcome with_size_named(const check_report& report) {
    auto found = report.found;
    if (found.message.find(report.label) == std::string::npos) {
      found.message += " (" + report.label + ")";
    }
    return found;
  }

  void fail(call_outcome found) const {
    const bool refused = is_refused_launch(found, subject_.source);
    if (refused) found.message = "this configuration cannot be launched: " + found.message;
    for (auto* point : points_) {
      point->found = found;
      point->refused = refused;
    }
  }

  void count(sweep_point& point, const lab_size& size) const {
    auto counted =
        profile_program(run_.l, run_.p, point.program, size, run_.seed, run_.emulator, {});
    point.found = counted.found;
    if (!run_.device.gpu && size == point.size) point.label = without_seed(counted.label);
    if (!counted.found.ok()) return;
    for (auto& kernel : counted.kernels) kernel.lines.clear();
    point.kernels = std::move(counted.kernels);
    point.transfers = counted.transfers;
    point.counted_size = size;
    point.counted_work = run_.p.work(size);
  }

  // The size that the time model samples is too large to count completely.
  lab_size size_to_count(const sweep_point& point) const {
    return point.size == run_.l.modelled.back() ? run_.l.emulated.back() : point.size;
  }

  // If times are measured, the emulator only adds counters. If the emulator cannot count, the
  // counters are missing. A size that would take too long on the emulator is replaced by the lab's
  // usual size.
  void count_on_emulator() const {
    const lab_size usual = run_.l.emulated.back();
    const double most = run_.p.work(usual).operations;
    std::map<lab_size, sweep_point> counted;
    for (auto* point : points_) {
      const lab_size& size = point->work.operations <= most ? point->size : usual;
      auto& there = counted[size];
      if (there.program.empty()) {
        there.program = point->program;
        count(there, size);
      }
      point->kernels = there.kernels;
      point->counted_size = there.counted_size;
      point->counted_work = there.counted_work;
    }
  }

  const sweep_run& run_;
  const sweep_subject& subject_;
  const std::vector<swept_axis>& axes_;
  std::vector<sweep_point*> points_;
  std::counting_semaphore<>& gpu_;
  compile_progress quiet_{[](const std::string&) {}, [] {}};
};

}  // namespace

std::string_view name_of(axis_kind k) {
  switch (k) {
    case axis_kind::constant:
      return "constant";
    case axis_kind::size:
      return "size";
    case axis_kind::registers:
      return "registers";
  }
  return {};
}

swept_axis classify(const sweep_axis& axis, const sweep_subject& subject, const lab& l,
                    const problem& p) {
  const bool is_size = is_size_name(axis.name, l), is_cap = axis.name == "registers";
  const auto same = std::find_if(subject.constants.begin(), subject.constants.end(),
                                 [&](const auto& c) { return c.name == axis.name; });
  const bool is_constant = same != subject.constants.end();
  if (is_constant && (is_size || is_cap)) {
    throw failure(exit_code::usage,
                  fmt::format("--over {0} is ambiguous: {1}, or the constant {0} in line {2} of "
                              "{3}. Rename the constant",
                              axis.name, is_size ? "the problem's size" : "the register cap",
                              same->line, subject.shown));
  }
  if (is_size) {
    for (const auto& value : axis.values) parse_size(l, p, value, over_text(axis.name, value));
    return {axis, axis_kind::size};
  }
  if (is_cap) {
    check_registers(axis);
    return {axis, axis_kind::registers};
  }
  try {
    find_constant(subject.constants, axis.name, subject.shown);
  } catch (const failure& error) {
    throw failure(error.code(), std::string(error.what()) +
                                    "\nin addition, `size` is the problem's size and `registers` "
                                    "the compiler's cap on registers per thread");
  }
  return {axis, axis_kind::constant};
}

const kernel_profile* sweep_point::main_kernel() const {
  const auto most =
      std::max_element(kernels.begin(), kernels.end(), [](const auto& a, const auto& b) {
        return a.total.all_instructions().warps < b.total.all_instructions().warps;
      });
  return most == kernels.end() ? nullptr : &*most;
}

std::optional<std::uint64_t> sweep_point::blocks() const {
  if (modelled_blocks > 0) return modelled_blocks;
  const kernel_profile* const main = main_kernel();
  if (main == nullptr || counted_size != size) return std::nullopt;
  return volume(main->grid);
}

bool is_refused_launch(const call_outcome& found, std::string_view source) {
  if (found.what != verdict::crash) return false;
  const auto says = [&](const char* name) { return found.message.find(name) != std::string::npos; };
  if (says("cudaErrorInvalidConfiguration") || says("cudaErrorLaunchOutOfResources")) return true;
  if (!says("cudaErrorInvalidValue")) return false;
  // Other calls also report this error. "step.cu:30: ..." identifies the call.
  const std::string_view message = found.message;
  const std::string_view before = message.substr(0, message.find(": "));
  const auto digits = before.find_last_not_of("0123456789") + 1;
  std::size_t number = 0;
  const bool is_place =
      digits > 0 && before.size() < message.size() && before[digits - 1] == ':' &&
      std::from_chars(before.data() + digits, before.data() + before.size(), number).ec ==
          std::errc{};
  if (!is_place) return true;
  const auto lines = split_lines(source);
  if (number < 1 || number > lines.size()) return false;
  const std::string line(lines[number - 1]);
  for (const char* call : {"cudaGetLastError", "cudaPeekAtLastError", "cudaLaunch"})
    if (line.find(call) != std::string::npos) return true;
  return false;
}

std::vector<sweep_point> plan_sweep(const lab& l, const problem& p,
                                    const std::vector<swept_axis>& axes, const lab_size& size) {
  std::vector<sweep_axis> plain;
  for (const auto& one : axes) plain.push_back(one.axis);
  std::vector<sweep_point> points;
  for (auto& values : combinations(plain)) {
    sweep_point point;
    point.size = size;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i].kind == axis_kind::size)
        point.size = parse_size(l, p, values[i], over_text(axes[i].axis.name, values[i]));
    point.work = p.work(point.size);
    point.values = std::move(values);
    points.push_back(std::move(point));
  }
  return points;
}

void prepare_points(const sweep_run& run, const sweep_subject& subject,
                    const std::vector<swept_axis>& axes, std::vector<sweep_point>& points,
                    const activity& now) {
  std::map<std::vector<std::string>, std::vector<sweep_point*>> programs;
  for (auto& point : points) programs[program_values(axes, point)].push_back(&point);
  std::counting_semaphore<> gpu(checked_at_once);
  std::vector<preparation> jobs;
  for (auto& [values, served] : programs)
    jobs.emplace_back(run, subject, axes, std::move(served), gpu);
  in_parallel(
      jobs.size(), workers_for(bytes_of_a_job), [&](std::size_t i) { jobs[i](); },
      [&](std::size_t done) {
        now.doing(fmt::format("compiling, checking and counting: {} of {} programs are ready", done,
                              jobs.size()));
      });
}

void time_points(const sweep_run& run, std::vector<sweep_point>& points, const activity& now) {
  std::map<fs::path, std::vector<sweep_point*>> programs;
  std::vector<lab_size> sizes;
  std::vector<contender> group;
  std::vector<fs::path> order;
  for (auto& point : points) {
    if (!point.found.ok()) continue;
    if (programs[point.program].empty()) order.push_back(point.program);
    programs[point.program].push_back(&point);
    if (std::find(sizes.begin(), sizes.end(), point.size) == sizes.end())
      sizes.push_back(point.size);
  }
  // A call's time is predicted from the previous size, so small sizes come first.
  std::sort(sizes.begin(), sizes.end());
  for (std::size_t first = 0; first < order.size(); first += most_at_once) {
    const std::size_t end = std::min(first + most_at_once, order.size());
    group.clear();
    for (std::size_t i = first; i < end; ++i) {
      group.push_back({fmt::format("configuration {} of {}", i + 1, order.size()), order[i], true});
    }
    const auto report =
        bench(run.l, run.p, group, {}, run.device, sizes, run.seed, now, {.warm = false});
    for (std::size_t i = first; i < end; ++i) {
      const auto& row = report.rows[i - first];
      for (auto* point : programs[order[i]]) {
        point->found = row.found;
        for (const auto& cell : row.cells)
          if (cell.size == point->size) {
            point->time = cell.cold;
            point->label = without_seed(cell.label);
          }
      }
    }
  }
}

std::string text_of(const std::vector<swept_axis>& axes, const std::vector<std::string>& values) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", axes[i].axis.name, values[i]);
  }
  return text;
}

}  // namespace stepwise

// The rates of GPUs and of a typical CPU, rooflines, the break-even point, and the verdict in
// words.
#include "grader/measure/worth.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "grader/report/text.hpp"

namespace stepwise {
namespace {

// An empty kernel between two events, measured on an H200 on 2026-11-20 (labs/launch/README.md).
constexpr double launch_ms = 0.0042;

// The number of operations F per call for which the GPU takes as long as the CPU:
//   max(F / cpu.flops, b / cpu.bytes) = way + max(F / gpu.flops, b / gpu.bytes)
// where b is the number of bytes of memory and `way` is a call's share of the transfer. The
// difference of the sides grows with F while the CPU computes and is slower.
std::optional<double> break_even_flops(double way_s, double memory_bytes,
                                       const processor_rates& gpu, const processor_rates& cpu) {
  const double gpu_memory_s = memory_bytes / gpu.bytes_per_s;
  if (memory_bytes / cpu.bytes_per_s >= way_s + gpu_memory_s) return 0;
  const double while_gpu_waits = cpu.flops_per_s * (way_s + gpu_memory_s);
  if (while_gpu_waits / gpu.flops_per_s <= gpu_memory_s) return while_gpu_waits;
  if (cpu.flops_per_s >= gpu.flops_per_s) return std::nullopt;
  return way_s / (1 / cpu.flops_per_s - 1 / gpu.flops_per_s);
}

std::string calls_text(double calls) {
  return calls == 1 ? "one call" : fmt::format("{:.0f} calls", calls);
}

// "takes 30.0x as long as the kernel", "takes less time than the kernel"
std::string transfer_text(const worth& w) {
  const double ratio = w.transfer_over_kernel();
  if (w.transfer_ms == 0) return "no data is transferred";
  if (ratio < 1) return "the transfer takes less time than one call of the kernel";
  return fmt::format("the transfer takes {} as long as one call of the kernel", ratio_text(ratio));
}

}  // namespace

int multiply_adds_per_clock(int compute_capability) {
  switch (compute_capability) {
    case 10:
    case 11:
    case 12:
    case 13:
      return 8;
    case 20:
      return 32;
    case 21:
      return 48;
    case 30:
    case 35:
    case 37:
      return 192;
    case 60:
    case 70:
    case 72:
    case 75:
    case 80:
      return 64;
    case 50:
    case 52:
    case 53:
    case 61:
    case 62:
    case 86:
    case 87:
    case 89:
    case 90:
    case 100:
    case 103:
    case 120:
    case 121:
      return 128;
    default:
      return 0;
  }
}

std::optional<processor_rates> theoretical_rates(const gpu& model) {
  const int per_clock = multiply_adds_per_clock(model.compute_capability());
  processor_rates rates{model.name, 2.0 * per_clock * model.multiprocessors * model.clock_khz * 1e3,
                        model.memory_bytes_per_s()};
  if (!(rates.flops_per_s > 0 && rates.bytes_per_s > 0)) return std::nullopt;
  return rates;
}

// source  Intel's specifications of the Xeon Platinum 8480+: 56 cores at 2.0 GHz (the base clock),
//         two 512-bit multiply-add units per core, i.e. 64 float operations per clock, and 8
//         channels of 8 bytes at 4800 MT/s.
processor_rates usual_cpu() {
  return {"Intel Xeon Platinum 8480+", 56 * 2.0e9 * 64, 8 * 8 * 4800e6};
}

roofline_time time_on(const processor_rates& processor, const offload& problem) {
  const double arithmetic_s = problem.flops / processor.flops_per_s;
  const double memory_s = problem.memory_bytes / processor.bytes_per_s;
  return {1e3 * std::max(arithmetic_s, memory_s), arithmetic_s > memory_s};
}

const char* name_of(time_source s) {
  switch (s) {
    case time_source::modelled:
      return "modelled";
    case time_source::recorded:
      return "recorded";
    default:
      return "theoretical";
  }
}

worth weigh(const offload& problem, const link_rate& link, const processor_rates& gpu,
            const processor_rates& cpu, const std::optional<known_time>& on_gpu,
            const std::optional<known_time>& on_cpu) {
  worth w;
  w.transfer_ms = 1e3 * problem.bytes / link.bytes_per_s;
  w.kernel = time_on(gpu, problem);
  w.cpu = time_on(cpu, problem);
  const auto replace = [](roofline_time& t, const std::optional<known_time>& known) {
    if (known) t.ms = known->ms, t.from = known->from;
  };
  replace(w.kernel, on_gpu);
  replace(w.cpu, on_cpu);
  w.speedup = problem.calls * w.cpu.ms / (w.transfer_ms + problem.calls * w.kernel.ms);
  const double saved_ms = w.cpu.ms - w.kernel.ms;
  if (saved_ms > 0) w.break_even_calls = std::max(1.0, std::ceil(w.transfer_ms / saved_ms));
  if (problem.bytes > 0) {
    const double way_s = w.transfer_ms / 1e3 / problem.calls;
    if (const auto flops = break_even_flops(way_s, problem.memory_bytes, gpu, cpu))
      w.break_even_flops_per_byte = *flops / problem.bytes;
  }
  return w;
}

std::string verdict_on(const worth& w, const offload& problem) {
  if (w.cpu.ms < launch_ms) {
    return fmt::format(
        "Not worth it: the CPU finishes in {}, before a kernel even starts; an empty kernel took "
        "{} on an H200.",
        time_text(w.cpu.ms), time_text(launch_ms));
  }
  if (!w.break_even_calls) {
    return fmt::format(
        "Not worth it: the kernel alone, {}, is not faster than the CPU, {}, however long the data "
        "stays on the GPU.",
        time_text(w.kernel.ms), time_text(w.cpu.ms));
  }
  const std::string with = fmt::format("{} the speed of the CPU for {}, with the transfer",
                                       ratio_text(w.speedup), calls_text(problem.calls));
  if (w.speedup < 1) {
    return fmt::format(
        "Not worth it in this form: {}; {}. It becomes worth it only if the data stays on the GPU "
        "for {} or more.",
        with, transfer_text(w), calls_text(*w.break_even_calls));
  }
  if (w.speedup < 2) {
    const bool any_theoretical =
        w.kernel.from == time_source::theoretical || w.cpu.from == time_source::theoretical;
    return fmt::format(
        "Hardly worth it: {}{}; {}.", with,
        any_theoretical ? ", at theoretical rates, which real runs do not reach" : "",
        transfer_text(w));
  }
  return fmt::format("Worth it: {}; {}.", with, transfer_text(w));
}

std::optional<double> parse_quantity(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.ends_with('B')) unit.remove_suffix(1);
  if (unit.empty()) return number;
  const auto power = std::string_view("KMGTP").find(unit[0] == 'k' ? 'K' : unit[0]);
  if (power == std::string_view::npos || (unit.size() > 1 && unit.substr(1) != "i"))
    return std::nullopt;
  const double value = number * std::pow(unit.size() > 1 ? 1024 : 1000, power + 1);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace stepwise

// Divides the work by the time and by the traffic.
#include "grader/model/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "grader/report/text.hpp"

namespace stepwise {
namespace {

constexpr double bytes_of_transaction = 32;

double per_second(double amount, double us) { return us > 0 ? amount / us * 1e6 : 0; }

void add_level(roofline& r, const char* level, double bytes, double done, double y,
               double peak_bytes, double bytes_of_x) {
  if (bytes <= 0 || done <= 0) return;
  r.points.push_back({level, done / (bytes / bytes_of_x), y});
  if (peak_bytes > 0)
    r.roofs.push_back(
        {fmt::format("{} {}", level, rate_text(peak_bytes / 1e9)), peak_bytes / bytes_of_x});
}

}  // namespace

double roofline::ceiling(std::size_t n, double x) const {
  const double under = roofs.at(n).slope * x;
  return peak > 0 ? std::min(peak, under) : under;
}

roofline operations_roofline(const std::vector<kernel_profile>& kernels, double operations,
                             const std::string& operation_unit, const machine_peaks& peaks) {
  double us = 0, l2 = 0, dram = 0;
  for (const kernel_profile& k : kernels) {
    const kernel_analysis a = analyse(k, k.timing.us, 1);
    us += k.timing.us;
    l2 += a.bytes.l2;
    dram += a.bytes.dram;
  }
  roofline r;
  r.title = "Roofline: " + operation_unit + " that the task needs";
  r.x_unit = operation_unit + " / byte";
  r.y_unit = operation_unit + " / s";
  // A multiply-add is two flops. A pipe achieves half as many flops with single operations.
  r.peak = operation_unit == "flop" ? peaks.flops : peaks.flops / 2;
  r.peak_name =
      operation_unit == "flop" ? "float multiply-adds" : "one operation per lane and clock";
  const double y = per_second(operations, us);
  add_level(r, "DRAM", dram, operations, y, peaks.dram_bytes, 1);
  add_level(r, "L2", l2, operations, y, peaks.l2_bytes, 1);
  return r;
}

roofline instruction_roofline(const kernel_analysis& a, const machine_peaks& peaks) {
  roofline r;
  r.title = "Instruction roofline of " + a.kernel->kernel;
  r.x_unit = "warp instructions / sector";
  r.y_unit = "warp instructions / s";
  r.peak = peaks.instructions;
  r.peak_name = "one instruction per scheduler and clock";
  const kernel_timing& t = a.kernel->timing;
  const double y = per_second(t.instructions, t.us);
  add_level(r, "DRAM", a.bytes.dram, t.instructions, y, peaks.dram_bytes, bytes_of_transaction);
  add_level(r, "L2", a.bytes.l2, t.instructions, y, peaks.l2_bytes, bytes_of_transaction);
  add_level(r, "L1/shared", a.bytes.global + a.bytes.shared, t.instructions, y, peaks.l1_pipe_bytes,
            bytes_of_transaction);
  return r;
}

}  // namespace stepwise

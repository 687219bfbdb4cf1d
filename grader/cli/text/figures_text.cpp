// Prints the time and rate of a call, or its counters line by line. The phrase shows two of the
// counters.
#include "grader/cli/text/figures_text.hpp"

#include <fmt/core.h>

#include "grader/course/goal_counter.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

void show_counters(context& c, const figures& f) {
  const auto& n = *f.counters;
  const double needed = f.work.bytes;
  const auto row = [&](const char* name, const std::string& value, const std::string& meaning) {
    c.say(fmt::format("    {:<20}{:>10}", name, value) +
          (meaning.empty() ? "" : "   " + c.out.paint(tone::dim, meaning)));
  };
  row("warp instructions", count_text(number(n.warp_instructions)),
      n.warp_instructions == 0
          ? ""
          : fmt::format("{:.1f} of 32 lanes active on average",
                        number(n.lane_instructions) / number(n.warp_instructions)));
  // The bytes that the lanes request. Memory moves whole sectors, which --counters and goals count.
  row("global, requested", bytes_text(f.global_bytes()),
      needed > 0 ? fmt::format("{} of the {} that a call needs",
                               ratio_text(f.global_bytes() / needed), bytes_text(needed))
                 : "");
  row("shared memory", bytes_text(number(n.shared_load_bytes + n.shared_store_bytes)), "");
  row("launches", count_text(number(n.launches)), "");
  row("barriers", count_text(number(n.barriers)), n.barriers == 0 ? "" : "warp arrivals");
  row("atomics", count_text(number(n.atomics)), "");
}

}  // namespace

void show_figures(context& c, const figures& f, const device_choice& device) {
  if (f.timed()) {
    c.say(fmt::format("  one call at {}: measured, {} calls, cold L2", f.label, f.samples));
    c.say(fmt::format("    time  {}   {}", c.out.paint(tone::strong, time_text(f.time_ms)),
                      c.out.paint(tone::dim, fmt::format("median; 95 % interval {} to {}",
                                                         time_text(f.time_range_ms.low),
                                                         time_text(f.time_range_ms.high)))));
    c.say(fmt::format("    rate  {}", c.out.paint(tone::strong, f.rate())));
  } else if (f.counters) {
    c.out.paragraph(
        fmt::format("one call at {}: counted on the emulator; this is work, not time", f.label), 2);
    show_counters(c, f);
  } else {
    c.say(fmt::format("  one call at {} is correct; no figures are available on {}", f.label,
                      device.text()));
  }
}

void show_waste(context& c, const modelled_figures& m) {
  constexpr double noticeable = 1.05;
  if (const auto moved = m.moved_over_needed()) {
    constexpr double too_little = 0.95;  // a model of some blocks errs by a few percent
    const bool misses_some = *moved < too_little;
    c.out.paragraph(in_words(*find_goal_counter("global_bytes_over_minimum"), *moved) +
                        (misses_some ? ". This is less than 1x: at this size, some inputs are not "
                                       "read or some outputs are not written, unless the blocks "
                                       "that the model ran are unlike the others"
                                     : ""),
                    10, "    moved", misses_some ? tone::note : tone::plain);
  }
  if (const std::string idle = idle_blocks_text(m.kernels); !idle.empty())
    c.out.paragraph(idle, 10, "    idle");
  const goal_counter& conflicts = *find_goal_counter("shared_wavefronts_over_ideal");
  const auto over = figure_of(conflicts, m.kernels, m.transfers, m.work, bound::at_most, 1).value;
  if (over && *over > noticeable) c.out.paragraph(in_words(conflicts, *over), 10, "    banks");
}

std::string figures_phrase(const figures& f) {
  if (f.timed()) {
    return fmt::format("{}, {}", time_text(f.time_ms), f.rate());
  }
  if (f.counters) {
    return fmt::format("{} warp instructions, {} requested from global memory",
                       count_text(number(f.counters->warp_instructions)),
                       bytes_text(f.global_bytes()));
  }
  return "no figures";
}

std::string modelled_phrase(const modelled_figures& m) {
  if (!m.timed()) return "no time: " + m.why_no_time();
  return fmt::format("{}, {} at {} (modelled, {})", time_text(m.time_ms), m.rate(),
                     without_seed(m.label), m.gpu);
}

std::string modelled_error_text(const context& c, const lab& l, const std::string& gpu_name) {
  if (!l.is_worked) return "modelled; a student copy has no measured times to compare with";
  const auto error = load_model_error(c.where.root, l, gpu_name);
  if (!error)
    return fmt::format(
        "modelled; the error of this lab's modelled times is not recorded for an {} (./lab dev "
        "validate {} --times measures it)",
        gpu_name, l.name);
  return fmt::format(
      "modelled: of the {} measured times of this lab's steps on an {}, half are within {:.0f} % "
      "of the model's, and nine in ten within {:.0f} % (./lab dev validate {} --times)",
      error->times, gpu_name, 100 * error->median, 100 * error->worst_tenth, l.name);
}

std::string modelled_error_text(const context& c, const lab& l, const modelled_figures& m) {
  return modelled_error_text(c, l, m.gpu) + (m.with_copies
                                                 ? "; the time is for the whole call, and its "
                                                   "copies to and from the host are estimated"
                                                 : "");
}

std::string copies_text(const modelled_figures& m) {
  if (m.with_copies)
    return " The rest of the time is its copies to and from the host, which are estimated.";
  if (m.transfers.us <= 0) return {};
  return fmt::format(" Copies and fills on the device take {} of it ({} moved).",
                     time_text(m.transfers.us / 1000),
                     bytes_text(static_cast<double>(m.transfers.bytes_moved())));
}

json modelled_json(const modelled_figures& m) {
  return {{"time_ms", m.timed() ? json(m.time_ms) : json(nullptr)},
          {"why_no_time", m.timed() ? json(nullptr) : json(m.why_no_time())},
          {"time_kind", m.timed() ? "modelled" : "none"},
          {"time_size", m.size},
          {"modelled_as", m.gpu}};
}

}  // namespace stepwise::cli

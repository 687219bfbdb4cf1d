// The sentences about times, counters, idle multiprocessors and lanes, and spills.
#include "grader/measure/sweep_summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "common/report/profile_text.hpp"
#include "grader/measure/figures.hpp"
#include "grader/report/text.hpp"

namespace stepwise {
namespace {

using chosen_points = std::vector<const sweep_point*>;

constexpr double warp = 32;
constexpr double nearly = 1.005;  // ratio of counts that are the same
constexpr double clearly = 1.1;   // ratio of times or counts that is worth a sentence

chosen_points that(const sweep_view& view, const std::function<bool(const sweep_point&)>& is) {
  chosen_points chosen;
  for (const auto& point : view.points)
    if (point.found.ok() && is(point)) chosen.push_back(&point);
  return chosen;
}

std::string name_of(const sweep_view& view, const sweep_point* point) {
  return text_of(view.axes, point->values);
}

// The point's values on the axes that affect a figure. An axis is omitted if points that differ
// only on this axis all have the same figure.
using figure_of_point = std::function<std::optional<double>(const sweep_point&)>;
std::string what_matters(const sweep_view& view, const sweep_point* point,
                         const figure_of_point& figure) {
  std::string text;
  for (std::size_t i = 0; i < view.axes.size(); ++i) {
    std::map<std::vector<std::string>, interval> by_the_others;
    for (const auto& other : view.points) {
      const auto value = other.found.ok() ? figure(other) : std::nullopt;
      if (!value) continue;
      auto key = other.values;
      key.erase(key.begin() + static_cast<std::ptrdiff_t>(i));
      auto& range = by_the_others.try_emplace(key, interval{*value, *value}).first->second;
      range = {std::min(range.low, *value), std::max(range.high, *value)};
    }
    const bool matters =
        std::any_of(by_the_others.begin(), by_the_others.end(),
                    [](const auto& one) { return one.second.high > nearly * one.second.low; });
    if (matters) {
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", view.axes[i].axis.name,
                          point->values[i]);
    }
  }
  return text;
}

bool has_several_sizes(const sweep_view& view) {
  return std::any_of(view.points.begin(), view.points.end(),
                     [&](const auto& point) { return point.size != view.points[0].size; });
}

// "in 3 of 24 configurations (threads = 32, items = 1 is the first)", or the only one.
std::string where_text(const sweep_view& view, const chosen_points& chosen) {
  const std::string first = name_of(view, chosen.front());
  if (chosen.size() > 1 && chosen.size() == view.points.size()) return "In all configurations";
  return chosen.size() == 1 ? "With " + first
                            : fmt::format("In {} of {} configurations ({} is the first)",
                                          chosen.size(), view.points.size(), first);
}

double instructions(const sweep_point& point) {
  double sum = 0;
  for (const auto& kernel : point.kernels)
    sum += static_cast<double>(kernel.total.all_instructions().warps);
  return sum;
}

double counted_instructions(const sweep_view& view, const sweep_point& point) {
  const double operations = point.counted_work.operations;
  return instructions(point) *
         (has_several_sizes(view) && operations > 0 ? 1000 / operations : 1.0);
}

std::string instructions_title(const sweep_view& view) {
  if (!has_several_sizes(view)) return "warp instructions";
  const auto& unit = view.points[0].counted_work.operation_unit;
  return fmt::format("warp instructions per 1000 {}", unit.empty() ? "operations" : unit);
}

chosen_points same_size_timed(const sweep_view& view, const lab_size& size) {
  return that(view, [&](const auto& point) { return point.timed() && point.size == size; });
}

const sweep_point* fastest(const chosen_points& points) {
  return *std::min_element(points.begin(), points.end(), [](const auto* a, const auto* b) {
    return a->time_ms() < b->time_ms();
  });
}

bool is_as_good(const sweep_view& view, const sweep_point& point, const sweep_point& best) {
  return point.range_ms().low <= view.alike() * best.range_ms().high;
}

std::string rate_of(const sweep_point* point) { return rate_text(point->work, point->time_ms()); }

// ---- times

std::string best_sentence(const sweep_view& view, const chosen_points& points,
                          const chosen_points& good) {
  const auto* const best = fastest(points);
  const std::string within = fmt::format("within {:.0f} % of", 100 * (view.alike() - 1)),
                    by_intervals = view.modelled() ? "" : ", according to their intervals";
  std::string shown = fmt::format("{}: {}", name_of(view, best), time_text(best->time_ms()));
  if (best->measured())
    shown += fmt::format(" ({} to {})", time_text(best->time.range_ms.low),
                         time_text(best->time.range_ms.high));
  shown += ", " + rate_of(best);
  std::string text;
  if (good.size() == 1) {
    text = fmt::format("The best is {}. No other configuration comes {} it.", shown, within);
  } else if (good.size() == points.size()) {
    text = fmt::format("All {} are {} the best{}; the best is {}.", points.size(), within,
                       by_intervals, shown);
  } else {
    text = fmt::format("{} of {} are {} the best{}; the best is {}.", good.size(), points.size(),
                       within, by_intervals, shown);
  }
  if (!view.modelled()) return text;
  return "By the model: " + text +
         (view.model_error ? " The model is not accurate enough to distinguish them."
                           : " The model's error is assumed to be that large.");
}

// A sentence about the occupancy above which times no longer improve. Empty if all points have the
// same occupancy.
std::string timed_occupancy(const sweep_view& view, const chosen_points& points,
                            const chosen_points& good) {
  const auto less = [](const auto* a, const auto* b) {
    return occupancy_percent(*a).value_or(0) < occupancy_percent(*b).value_or(0);
  };
  const auto [low, high] = std::minmax_element(points.begin(), points.end(), less);
  if (!occupancy_percent(**low) || !less(*low, *high)) return {};
  const auto* const least = *std::min_element(good.begin(), good.end(), less);
  const double enough = *occupancy_percent(*least);
  const auto* const best = fastest(points);
  const auto times_as_long = [&](const sweep_point* point) {
    return ratio_text(point->time_ms() / best->time_ms());
  };
  chosen_points below, above;
  for (const auto* point : points) (less(point, least) ? below : above).push_back(point);
  std::string text;
  if (below.empty()) {
    text = fmt::format(
        "Occupancy does not decide: even the lowest of the sweep, {:.0f} % with {}, is among the "
        "best.",
        enough, name_of(view, least));
  } else {
    const auto* const next = fastest(below);
    text = fmt::format(
        "Occupancy stops mattering at {:.0f} % ({}): below it, the best configuration takes {} as "
        "long ({}, {:.0f} %).",
        enough, name_of(view, least), times_as_long(next), name_of(view, next),
        *occupancy_percent(*next));
  }
  const auto* const slow = *std::max_element(
      above.begin(), above.end(), [](auto* a, auto* b) { return a->time_ms() < b->time_ms(); });
  if (slow->range_ms().low > std::max(clearly, view.alike()) * best->range_ms().high) {
    text += fmt::format(" Occupancy alone is not enough: {} has {:.0f} % and takes {} as long.",
                        name_of(view, slow), *occupancy_percent(*slow), times_as_long(slow));
  }
  return text;
}

// Each size with its best point. The rates show the effect of the size alone.
std::string sizes_sentence(const sweep_view& view) {
  std::vector<lab_size> sizes;
  for (const auto* point : that(view, [](const auto& p) { return p.timed(); }))
    if (std::find(sizes.begin(), sizes.end(), point->size) == sizes.end())
      sizes.push_back(point->size);
  std::sort(sizes.begin(), sizes.end());
  const auto cost = [](const sweep_point* point) {
    const auto& work = point->work;
    return point->time_ms() / work.amount();
  };
  chosen_points bests;
  for (const auto& size : sizes) bests.push_back(fastest(same_size_timed(view, size)));
  const auto* const best = *std::min_element(bests.begin(), bests.end(),
                                             [&](auto* a, auto* b) { return cost(a) < cost(b); });
  const auto* first = best;  // the smallest size whose rate is nearly the best
  for (const auto* point : bests) {
    if (cost(point) <= view.alike() * cost(best)) {
      first = point;
      break;
    }
  }
  const double percent = 100 * (view.alike() - 1);
  std::string text =
      fmt::format("{} highest rate is {} ({}); ", view.modelled() ? "By the model, the" : "The",
                  rate_of(best), name_of(view, best));
  text +=
      first == bests.front()
          ? fmt::format("the smallest size also comes within {:.0f} % of it.", percent)
          : fmt::format(
                "size {} is the smallest size within {:.0f} % of it, and the smallest size of all, "
                "{}, has {}.",
                size_text(first->size), percent, size_text(sizes.front()), rate_of(bests.front()));
  if (view.axes.size() == 1) return text;
  text += " The best configuration per size:";
  for (const auto* point : bests)
    text += (point == bests.front() ? " " : "; ") + name_of(view, point);
  return text + ".";
}

void add_timed(const sweep_view& view, std::vector<std::string>& sentences) {
  if (has_several_sizes(view)) {
    sentences.push_back(sizes_sentence(view));
    return;
  }
  const auto points = that(view, [](const auto& point) { return point.timed(); });
  const auto good = that(view, [&](const auto& point) { return is_among_the_best(view, point); });
  sentences.push_back(best_sentence(view, points, good));
  sentences.push_back(timed_occupancy(view, points, good));
}

// ---- counters

std::string counter_sentence(const sweep_view& view) {
  const auto points =
      that(view, [&](const auto& p) { return counted_figure(view, p).has_value(); });
  if (points.empty()) return {};
  const figure_of_point figure = [&](const sweep_point& point) -> std::optional<double> {
    const auto found = counted_figure(view, point);
    return found ? std::optional(found->value) : std::nullopt;
  };
  const auto [low, high] = std::minmax_element(
      points.begin(), points.end(), [&](auto* a, auto* b) { return *figure(*a) < *figure(*b); });
  const std::string what =
      view.counter != nullptr ? view.counter->figure : instructions_title(view);
  if (*figure(**high) <= nearly * *figure(**low)) {
    return fmt::format("Counted: {} {} in all configurations.", counted_figure(view, **low)->text,
                       what);
  }
  return fmt::format("Counted: {} {} with {}, and {} with {} ({}).",
                     counted_figure(view, **low)->text, what, what_matters(view, *low, figure),
                     counted_figure(view, **high)->text, what_matters(view, *high, figure),
                     ratio_text(*figure(**high) / *figure(**low)));
}

std::string counted_occupancy(const sweep_view& view) {
  const auto points = that(view, [](const auto& p) { return occupancy_percent(p).has_value(); });
  if (points.empty()) return {};
  const auto less = [](const auto* a, const auto* b) {
    return *occupancy_percent(*a) < *occupancy_percent(*b);
  };
  const auto* const low = *std::min_element(points.begin(), points.end(), less);
  const auto* const high = *std::max_element(points.begin(), points.end(), less);
  if (!less(low, high)) {
    return fmt::format("Theoretical occupancy is {:.0f} % in all configurations.",
                       *occupancy_percent(*high));
  }
  const auto full = std::count_if(points.begin(), points.end(),
                                  [&](const auto* point) { return !less(point, high); });
  std::set<std::string> least;
  for (const auto* point : points) {
    if (less(low, point)) continue;
    least.insert(what_matters(view, point, [](const auto& p) { return occupancy_percent(p); }));
  }
  const std::string where =
      what_matters(view, low, [](const auto& p) { return occupancy_percent(p); });
  return fmt::format(
      "Theoretical occupancy is {:.0f} % in {} of {} configurations; the lowest is {:.0f} % with "
      "{}{}, limited by {}.",
      *occupancy_percent(*high), full, points.size(), *occupancy_percent(*low), where,
      least.size() > 1 ? fmt::format(" and {} more", least.size() - 1) : "",
      limiter_of(low->main_kernel()->fits));
}

// ---- both

std::string idle_multiprocessors(const sweep_view& view) {
  const auto few = that(view, [&](const auto& point) {
    return point.blocks().value_or(UINT64_MAX) < static_cast<std::uint64_t>(view.multiprocessors);
  });
  if (few.empty()) return {};
  return fmt::format("{} the grid has fewer blocks than the {} has multiprocessors: {} for {}.",
                     where_text(view, few), view.gpu_name, *few.front()->blocks(),
                     view.multiprocessors);
}

std::string idle_lanes(const sweep_view& view) {
  const auto padded = that(view, [&](const auto& point) {
    return point.main_kernel() != nullptr && volume(point.main_kernel()->block) % 32 != 0;
  });
  if (padded.empty()) return {};
  const auto threads = static_cast<double>(volume(padded.front()->main_kernel()->block));
  return fmt::format(
      "{} the last warp of each block is not full: blocks of {:.0f} threads leave {:.0f} % of "
      "their lanes idle.",
      where_text(view, padded), threads, 100 - 100 * threads / (warp * std::ceil(threads / warp)));
}

// A point's register cap. Empty if it has none.
std::optional<int> cap_of(const sweep_view& view, const sweep_point& point) {
  for (std::size_t i = 0; i < view.axes.size(); ++i) {
    if (view.axes[i].kind != axis_kind::registers || point.values[i] == no_register_cap) continue;
    return std::stoi(point.values[i]);
  }
  return {};
}

std::string ignored_cap(const sweep_view& view) {
  const auto points = that(view, [&](const auto& point) {
    return point.main_kernel() != nullptr &&
           point.main_kernel()->registers > cap_of(view, point).value_or(INT_MAX);
  });
  if (points.empty()) return {};
  return fmt::format(
      "{} the register cap is ignored, and the kernel has {} registers: a __launch_bounds__ in the "
      "source takes precedence.",
      where_text(view, points), points.front()->main_kernel()->registers);
}

std::string spilled(const sweep_view& view) {
  const auto points = that(view, [&](const auto& point) {
    return point.main_kernel() != nullptr && point.main_kernel()->spill_bytes > 0;
  });
  if (points.empty()) return {};
  return fmt::format("{} the registers are not enough: {} per thread are spilled to local memory.",
                     where_text(view, points),
                     bytes_text(static_cast<double>(points.front()->main_kernel()->spill_bytes)));
}

}  // namespace

bool sweep_view::timed() const {
  return std::any_of(points.begin(), points.end(), [](const auto& point) { return point.timed(); });
}

bool sweep_view::modelled() const {
  return timed() && std::none_of(points.begin(), points.end(),
                                 [](const auto& point) { return point.measured(); });
}

double sweep_view::alike() const {
  if (!modelled()) return as_good;
  return std::max(as_good, 1 + model_error.value_or(unknown_model_error));
}

std::optional<double> occupancy_percent(const sweep_point& point) {
  const kernel_profile* const kernel = point.main_kernel();
  if (kernel == nullptr || kernel->fits.blocks == 0 || kernel->most_warps == 0) return {};
  return 100.0 * kernel->resident_warps / kernel->most_warps;
}

std::optional<chart_figure> counted_figure(const sweep_view& view, const sweep_point& point) {
  if (!point.found.ok() || point.kernels.empty()) return {};
  if (view.counter == nullptr) {
    const double count = counted_instructions(view, point);
    return chart_figure{count, count_text(count)};
  }
  const auto found = figure_of(*view.counter, point.kernels, point.transfers, point.counted_work,
                               bound::at_most, 0);
  if (!found.value) return {};
  return chart_figure{*found.value, fmt::format("{:.4g}", *found.value)};
}

std::optional<chart_figure> figure_of(const sweep_view& view, const sweep_point& point) {
  if (!point.found.ok()) return {};
  if (view.timed()) {
    if (!point.timed()) return {};
    return chart_figure{point.work.amount() / point.time_ms(), rate_of(&point)};
  }
  return counted_figure(view, point);
}

std::string figure_title(const sweep_view& view) {
  if (view.timed())
    return fmt::format("rate ({}, higher is better)", view.modelled() ? "modelled" : "measured");
  return fmt::format("{} (counted on the emulator: work, not time)",
                     view.counter != nullptr ? view.counter->figure : instructions_title(view));
}

bool is_among_the_best(const sweep_view& view, const sweep_point& point) {
  if (!point.found.ok() || !point.timed()) return false;
  return is_as_good(view, point, *fastest(same_size_timed(view, point.size)));
}

namespace {

bool have_same_counts(const kernel_profile& a, const kernel_profile& b) {
  const profile_counts &x = a.total, &y = b.total;
  return a.kernel == b.kernel && volume(a.grid) == volume(b.grid) &&
         volume(a.block) == volume(b.block) && a.registers == b.registers &&
         a.static_shared_bytes == b.static_shared_bytes &&
         a.dynamic_shared_bytes == b.dynamic_shared_bytes &&
         x.all_instructions().warps == y.all_instructions().warps &&
         x.all_instructions().lanes == y.all_instructions().lanes &&
         x.global_load == y.global_load && x.global_store == y.global_store &&
         x.shared_load == y.shared_load && x.shared_store == y.shared_store;
}

// A constant that changes nothing, probably because another kernel uses it.
std::string unused_constant(const sweep_view& view) {
  const auto right = that(view, [](const auto& point) { return !point.kernels.empty(); });
  for (std::size_t axis = 0; axis < view.axes.size(); ++axis) {
    if (view.axes[axis].kind != axis_kind::constant) continue;
    std::size_t same = 0, different = 0;
    for (const sweep_point* a : right) {
      for (const sweep_point* b : right) {
        auto values = b->values;
        values[axis] = a->values[axis];
        if (a == b || values != a->values || a->values == b->values) continue;
        const bool are_timed = a->timed() && b->timed();
        const bool is_same = std::ranges::equal(a->kernels, b->kernels, have_same_counts) &&
                             (!are_timed || a->time_ms() <= view.alike() * b->time_ms());
        ++(is_same ? same : different);
      }
    }
    if (same > 0 && different == 0)
      return fmt::format(
          "All values of {} give the same launches and counts: does the kernel that is launched "
          "use {}?",
          view.axes[axis].axis.name, view.axes[axis].axis.name);
  }
  return {};
}

}  // namespace

std::vector<std::string> sweep_sentences(const sweep_view& view) {
  std::vector<std::string> sentences;
  const bool any_right = !that(view, [](const auto&) { return true; }).empty();
  if (!any_right) return {};
  const bool timed = view.timed();
  if (timed) add_timed(view, sentences);
  if (!timed || view.modelled() || view.counter != nullptr)
    sentences.push_back(counter_sentence(view));
  if (!timed) sentences.push_back(counted_occupancy(view));
  for (const auto& text : {idle_multiprocessors(view), idle_lanes(view), ignored_cap(view),
                           spilled(view), unused_constant(view)})
    sentences.push_back(text);
  if (!timed) sentences.push_back("No configuration has a time, so the fastest is unknown.");
  std::erase(sentences, "");
  return sentences;
}

}  // namespace stepwise

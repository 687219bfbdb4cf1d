// Draws random sizes, and makes JSON and tables of the measurements at these sizes.
#include "grader/measure/ragged/ragged.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "grader/measure/record.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

constexpr const char* kind_of_ragged = "ragged";
constexpr std::size_t worst_shown = 5;
constexpr size_class classes[] = {size_class::odd, size_class::of_4, size_class::of_32};

bool is_of(size_class c, std::int64_t number) {
  switch (c) {
    case size_class::odd:
      return number % 2 == 1;
    case size_class::of_4:
      return number % 4 == 0 && number % 32 != 0;
    case size_class::of_32:
      return number % 32 == 0;
  }
  return false;
}

// In [0, 1). The same on every machine, which the standard distributions do not guarantee.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// The number of the class that is nearest to `number` and within the range.
std::int64_t nearest_of(size_class c, std::int64_t number, std::int64_t least, std::int64_t most) {
  for (std::int64_t d = 0; d <= 32; ++d)
    for (const std::int64_t candidate : {number - d, number + d})
      if (candidate >= least && candidate <= most && is_of(c, candidate)) return candidate;
  throw failure(exit_code::ours, fmt::format("between {} and {}, sizes.ragged of lab.toml, there "
                                             "is no number of the class `{}` near {}",
                                             least, most, name_of(c), number));
}

double rounded_digits(double value, int digits) {
  const double unit = std::pow(10, digits);
  return std::round(value * unit) / unit;
}

double ratio_of(const json& point) { return point.at("ratio").get<double>(); }

std::vector<json> points_of(const json& baseline, std::string_view of_class) {
  std::vector<json> points;
  for (const json& point : baseline.at("sizes"))
    if (of_class.empty() || point.at("class") == of_class) points.push_back(point);
  std::stable_sort(points.begin(), points.end(),
                   [](const json& a, const json& b) { return ratio_of(a) < ratio_of(b); });
  return points;
}

std::string ragged_table(const lab& /*l*/, const json& record) {
  std::string text =
      fmt::format("Relative speed of `{}` at {} random sizes on an {} {}\n",
                  record.at("step").get<std::string>(), record.at("count").get<std::uint64_t>(),
                  record.at("gpu").get<std::string>(), source_of(record));
  for (const json& baseline : baselines_of_ragged(record)) {
    text += fmt::format(
        "\n| against {} | sizes | median | worst | worst at |\n"
        "|---|---:|---:|---:|---|\n",
        baseline.at("name").get<std::string>());
    const auto row = [&](const std::string& shown, const std::string& of_class) {
      const auto found = summary_of(baseline, of_class);
      if (found.sizes == 0) return;
      text += fmt::format("| {} | {} | {:.3f} | {:.3f} | {} |\n", shown, found.sizes, found.median,
                          found.worst, found.worst_label);
    };
    row("all", "");
    for (const size_class c : classes) {
      const std::string name(name_of(c));
      row(c == size_class::odd ? name : "multiples " + name, name);
    }
    std::vector<std::string> worst;
    for (const json& point : worst_of(baseline, worst_shown))
      worst.push_back(
          fmt::format("{} ({:.3f})", point.at("label").get<std::string>(), ratio_of(point)));
    text += "\nWorst: " + stepwise::joined(worst, "; ") + ".\n";
  }
  return text;
}

}  // namespace

std::string_view name_of(size_class c) {
  switch (c) {
    case size_class::odd:
      return "odd";
    case size_class::of_4:
      return "of 4";
    case size_class::of_32:
      return "of 32";
  }
  return "";
}

std::optional<size_class> class_of(const lab& l, const lab_size& size) {
  const auto all = [&](auto&& holds) {
    for (std::size_t d = 0; d < size.size(); ++d)
      if (l.ragged[0][d] >= 1 && !holds(size[d])) return false;
    return true;
  };
  if (all([](std::int64_t n) { return n % 2 == 1; })) return size_class::odd;
  if (all([](std::int64_t n) { return n % 32 == 0; })) return size_class::of_32;
  if (all([](std::int64_t n) { return n % 4 == 0; })) return size_class::of_4;
  return std::nullopt;
}

std::vector<lab_size> draw_ragged(const lab& l, std::uint64_t count, std::uint64_t seed) {
  if (count < 1 || count > most_ragged)
    throw failure(exit_code::usage,
                  fmt::format("--ragged: expected a number of sizes from 1 to {}", most_ragged));
  if (l.ragged.empty())
    throw failure(
        exit_code::usage,
        "labs/" + l.name +
            "/lab.toml has no sizes.ragged; add the smallest and the largest size to draw");
  std::mt19937_64 random(seed);
  std::vector<lab_size> sizes;
  for (std::uint64_t i = 0; i < count; ++i) {
    lab_size& size = sizes.emplace_back();
    for (std::size_t d = 0; d < l.ragged[0].size(); ++d) {
      const std::int64_t least = l.ragged[0][d], most = l.ragged[1][d];
      const double drawn = uniform(random);
      if (least < 1) {
        size.push_back(least +
                       static_cast<std::int64_t>(drawn * static_cast<double>(most - least + 1)));
        continue;
      }
      const double low = std::log(static_cast<double>(least));
      const double high = std::log(static_cast<double>(most) + 1);
      const auto number = static_cast<std::int64_t>(std::exp(low + drawn * (high - low)));
      size.push_back(nearest_of(classes[i % 3], std::clamp(number, least, most), least, most));
    }
  }
  return sizes;
}

std::vector<std::vector<lab_size>> in_runs(std::vector<lab_size> sizes,
                                           const std::function<double(const lab_size&)>& bytes_of,
                                           double most_bytes, std::size_t most_sizes) {
  std::stable_sort(sizes.begin(), sizes.end(),
                   [&](const lab_size& a, const lab_size& b) { return bytes_of(a) < bytes_of(b); });
  std::vector<std::vector<lab_size>> runs;
  double bytes = 0;
  for (const auto& size : sizes) {
    if (runs.empty() || runs.back().size() == most_sizes || bytes + bytes_of(size) > most_bytes) {
      runs.emplace_back();
      bytes = 0;
    }
    runs.back().push_back(size);
    bytes += bytes_of(size);
  }
  return runs;
}

std::vector<ragged_baseline> ragged_points(const std::vector<bench_report>& reports) {
  std::vector<ragged_baseline> baselines;
  const auto add = [&](const std::string& name, ragged_point point) {
    auto at = std::find_if(baselines.begin(), baselines.end(),
                           [&](const ragged_baseline& p) { return p.name == name; });
    if (at == baselines.end()) at = baselines.insert(at, {name, {}});
    at->points.push_back(std::move(point));
  };
  for (const auto& report : reports) {
    if (report.rows.empty()) continue;
    const auto& mine = report.rows.front();
    for (std::size_t r = 1; r < report.rows.size(); ++r) {
      const auto& other = report.rows[r];
      const auto fought = std::find_if(report.fought.begin(), report.fought.end(),
                                       [&](const auto& f) { return f.first == other.name; });
      for (const auto& cell : other.cells) {
        const auto own = std::find_if(mine.cells.begin(), mine.cells.end(),
                                      [&](const bench_cell& b) { return b.label == cell.label; });
        if (own == mine.cells.end()) continue;
        ragged_point point = {cell.size,
                              without_seed(cell.label),
                              cell.work.amount(),
                              own->cold.median_ms,
                              cell.cold.median_ms / own->cold.median_ms,
                              {cell.cold.range_ms.low / own->cold.range_ms.high,
                               cell.cold.range_ms.high / own->cold.range_ms.low}};
        if (fought != report.fought.end())
          for (const auto& d : fought->second)
            if (d.label == cell.label) point.ratio = d.cold.ratio, point.range = d.cold.range;
        add(other.name, std::move(point));
      }
    }
  }
  return baselines;
}

json ragged_record(const lab& l, const device_choice& device, std::uint64_t seed,
                   std::uint64_t count, const std::vector<ragged_baseline>& baselines,
                   const std::string& date, const std::string& command) {
  json record = record_head(l, device, date, command);
  record["step"] = l.last_step().name;
  record["seed"] = seed;
  record["count"] = count;
  record["range"] = l.ragged;
  record["entries"] = json::array();
  for (const auto& baseline : baselines) {
    for (const auto& p : baseline.points) {
      const auto c = class_of(l, p.size);
      record["entries"].push_back({{"baseline", baseline.name},
                                   {"size", p.size},
                                   {"label", p.label},
                                   {"class", c ? json(name_of(*c)) : json(nullptr)},
                                   {"amount", p.amount},
                                   {"step_ms", rounded_digits(p.step_ms, 6)},
                                   {"ratio", rounded_digits(p.ratio, 4)},
                                   {"low", rounded_digits(p.range.low, 4)},
                                   {"high", rounded_digits(p.range.high, 4)}});
    }
  }
  return record;
}

json ragged_json(json record) {
  record["method"] =
      "sizes drawn from the seed, evenly by order of magnitude; device time between events, the L2 "
      "cache is overwritten before every call; ratio: median over alternating pairs, with its 95 % "
      "interval; for a baseline on the CPU, which is timed by the host's clock, ratio of the "
      "medians";
  record["baselines"] = baselines_of_ragged(record);
  record.erase("entries");
  return record;
}

json baselines_of_ragged(const json& record) {
  json baselines = json::array();
  for (json point : record.at("entries")) {
    const json name = point.at("baseline");
    point.erase("baseline");
    if (baselines.empty() || baselines.back().at("name") != name)
      baselines.push_back({{"name", name}, {"sizes", json::array()}});
    baselines.back()["sizes"].push_back(std::move(point));
  }
  return baselines;
}

ragged_summary summary_of(const json& baseline, std::string_view of_class) {
  const auto points = points_of(baseline, of_class);
  if (points.empty()) return {};
  std::vector<double> ratios;
  for (const json& point : points) ratios.push_back(ratio_of(point));
  return {points.size(), median(ratios), ratios.front(), points.front().at("label")};
}

std::vector<json> worst_of(const json& baseline, std::size_t count) {
  auto points = points_of(baseline, "");
  points.resize(std::min(points.size(), count));
  return points;
}

std::string ragged_markdown(const fs::path& root, const lab& l) {
  std::string text = of_records(root, l, kind_of_ragged, ragged_table);
  // labs/figures/source/draw generates it from the record.
  if (!text.empty() && fs::exists(root / "labs/figures" / ("ragged-" + l.name + ".svg")))
    text +=
        "\n![Speed relative to each baseline against size, for each random "
        "size](../../labs/figures/ragged-" +
        l.name + ".svg)\n";
  return text.empty() ? "No GPU has been measured yet: `./lab dev bench " + l.name +
                            " --ragged 60 --record` records one.\n"
                      : text;
}

}  // namespace stepwise

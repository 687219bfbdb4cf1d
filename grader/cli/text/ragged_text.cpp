// Reads medians and worst sizes from a record of random sizes.
#include "grader/cli/text/ragged_text.hpp"

#include <fmt/core.h>

#include "grader/measure/ragged/ragged.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {

std::vector<std::string> ragged_lines(const json& record, const terminal_style& style) {
  constexpr std::size_t shown = 10;
  std::vector<std::string> text;
  for (const json& baseline : baselines_of_ragged(record)) {
    const auto all = summary_of(baseline);
    text.push_back(fmt::format(
        "{} against {}: relative speed at {} sizes (seed {}): median {:.3f}, worst {:.3f}",
        record.at("step").get<std::string>(), baseline.at("name").get<std::string>(), all.sizes,
        record.at("seed").get<std::uint64_t>(), all.median, all.worst));
    std::vector<std::vector<cell>> lines;
    for (const json& point : worst_of(baseline, shown))
      lines.push_back({{point.at("label").get<std::string>()},
                       {point.at("class").is_null() ? "" : point.at("class").get<std::string>()},
                       {time_text(point.at("step_ms").get<double>())},
                       {fmt::format("{:.3f}", point.at("ratio").get<double>()), tone::strong},
                       {fmt::format("{:.3f} to {:.3f}", point.at("low").get<double>(),
                                    point.at("high").get<double>()),
                        tone::dim}});
    for (auto& line : table_lines(
             {{"worst sizes"}, {"class"}, {"time", true}, {"ratio", true}, {"95 % interval", true}},
             lines, style))
      text.push_back(std::move(line));
    text.emplace_back();
  }
  return text;
}

}  // namespace stepwise::cli

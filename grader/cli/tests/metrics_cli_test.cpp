// Tests Tests lab profile --metrics: the figures that you name. Every profiler's name in the
// glossary is known.
#include <doctest/doctest.h>

#include <algorithm>

#include "grader/cli/tests/cloned_course.hpp"
#include "grader/cli/text/glossary.hpp"
#include "grader/model/metrics.hpp"
#include "grader/report/text.hpp"

using namespace stepwise;

namespace {

const std::vector<std::string> transpose_03 = {"profile", "transpose", "03", "--size", "1024x1024"};

child_result with_metrics(const cloned_course& c, const std::vector<std::string>& more) {
  auto words = transpose_03;
  words.insert(words.end(), more.begin(), more.end());
  auto command = c.command(words);
  command.environment.back() = "COLUMNS=80";
  return run_child(command, 120);
}

// The items in a cell of the glossary that are plain names.
std::vector<std::string> names_in(std::string_view cell) {
  std::vector<std::string> names;
  while (!cell.empty()) {
    const auto end = std::min(cell.find(", "), cell.size());
    std::string name(cell.substr(0, end));
    if (const auto comment = name.find(" ("); comment != name.npos) name.resize(comment);
    if (name.starts_with("1 - ")) name.erase(0, 4);
    if (!name.empty() && name.find_first_of(" (/") == name.npos && !name.starts_with("..."))
      names.push_back(name);
    cell.remove_prefix(std::min(end + 2, cell.size()));
  }
  return names;
}

}  // namespace

TEST_CASE("metrics: every profiler's name in the glossary is known, or there is a reason why not") {
  int names = 0;
  for (const cli::glossary_entry& e : cli::glossary())
    for (const std::string& cell : {e.older, e.ncu})
      for (const std::string& name : names_in(cell)) {
        CAPTURE(name);
        ++names;
        CHECK((find_metric(name) != nullptr || !why_no_metric(name).empty()));
      }
  CHECK(names > 40);
}

TEST_CASE("profile --metrics: only the named metrics, as text, CSV and JSON") {
  const cloned_course c;
  const std::string list =
      "ipc,gst_efficiency, sm__warps_active.avg.pct_of_peak_sustained_active,bank_conflicts";
  const auto shown = with_metrics(c, {"--metrics", list});
  CHECK(shown.end.exit_code == 0);
  CHECK(has(shown.out, "gst_efficiency"));
  CHECK(has(shown.out, "12.5 %"));
  CHECK(has(shown.out, "modelled, NVIDIA H200"));
  CHECK(!has(shown.out, "What limits"));
  const auto csv = with_metrics(c, {"--metrics", list, "--csv"});
  CHECK(csv.out.starts_with(
      "kernel,grid,block,launches,ipc,gst_efficiency (%),"
      "sm__warps_active.avg.pct_of_peak_sustained_active (%),bank_conflicts\n"));
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 2);
  CHECK(has(csv.out, ",12.5,"));
  const json document = document_of(with_metrics(c, {"--metrics", list, "--json"}));
  check_documented(document, "profile");
  CHECK(document["time_kind"] == "modelled");
  const json& values = document["metrics"][0]["values"];
  REQUIRE(values.size() == 4);
  CHECK(values[1]["metric"] == "gst_efficiency");
  CHECK(values[1]["value"] == 12.5);
  CHECK(values[1]["unit"] == "%");
  CHECK(values[2]["metric"] == "sm__warps_active.avg.pct_of_peak_sustained_active");
}

TEST_CASE("profile --metrics: unknown names are refused before anything runs") {
  const cloned_course c;
  const auto refused = [&](const char* list, const char* what) {
    check_refused(with_metrics(c, {"--metrics", list}), 2, what);
  };
  refused("ipc,gld_eficiency", "did you mean \"gld_efficiency\"?");
  refused("frobnication_by_warp", "there is no metric");
  refused("inst_replay_overhead", "since Maxwell");
}

TEST_CASE("profile --metrics list: all metrics, without a lab") {
  const cloned_course c;
  auto command = c.command({"profile", "--metrics", "list"});
  command.environment.back() = "COLUMNS=80";
  const auto shown = run_child(command, 120);
  CHECK(shown.end.exit_code == 0);
  for (const metric& m : all_metrics()) CHECK(has(shown.out, m.name));
  std::size_t at = 0;
  for (std::size_t end; (end = shown.out.find('\n', at)) != std::string::npos; at = end + 1)
    CHECK(display_width(shown.out.substr(at, end - at)) <= 80);
  const json document = document_of(c.lab({"profile", "--metrics", "list", "--json"}));
  check_documented(document, "profile");
  CHECK(document["metrics"].size() == all_metrics().size());
}

// Replaces the tables between the marks of each page.

#include "grader/cli/bench/bench.hpp"
#include "grader/measure/handout_tables.hpp"
#include "grader/measure/limits_record.hpp"
#include "grader/measure/ragged/ragged.hpp"
#include "grader/measure/record.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {

int refresh_readmes(context& c) {
  const file_lock lock(c.where.build / "locks" / "readme");
  const auto labs = load_labs(c.where.build);
  std::vector<std::string> changed;
  // A table with the mark in the comment lines around it.
  using marked = std::pair<std::string, std::string>;
  const auto refresh = [&](const fs::path& file, const std::vector<marked>& tables) {
    const std::string before = read_file(c.where.root / file, static_cast<int>(exit_code::ours));
    std::string after = before;
    try {
      for (const auto& [mark, table] : tables)
        if (!table.empty()) after = with_results(after, table, mark);
    } catch (const failure& marks) {
      throw failure(marks.code(), file.string() + ": " + marks.what());
    }
    if (after == before) return;
    write_atomically(c.where.root / file, after);
    changed.push_back(file);
  };
  refresh("README.md", {{"results", winners_markdown(c.where.root, labs)}});
  refresh("solutions/README.md", {{"results", results_markdown(c.where.root, labs)}});
  std::vector<marked> published;
  for (const auto& l : labs) {
    std::vector<marked> tables = {{"results", handout_markdown(c.where.root, l)},
                                  {"limits", limits_markdown(c.where.root, l)}};
    published.emplace_back("lectures " + l.name, lectures_markdown(c.where.root, l));
    const auto add_sweeps = [&](const fs::path& file, std::vector<marked>& to) {
      for (const auto& name : sweeps_in(read_if_there(c.where.root / file).value_or("")))
        to.emplace_back("sweep " + name, sweep_markdown(c.where.root, l, name));
    };
    add_sweeps(l.deeper(), tables);
    refresh(l.deeper(), tables);
    std::vector<marked> results = {{"energy", energy_markdown(c.where.root, l)}};
    if (!l.ragged.empty()) results.emplace_back("ragged", ragged_markdown(c.where.root, l));
    refresh(l.results(), results);
    std::vector<marked> sweeps;
    add_sweeps(l.design(), sweeps);
    if (!sweeps.empty()) refresh(l.design(), sweeps);
  }
  refresh("labs/history.md", published);
  if (c.as_json) c.print({{"changed", changed}});
  for (const auto& file : changed) c.say(file + ": updated with the recorded results");
  if (changed.empty()) c.say("the tables are up to date");
  return 0;
}

}  // namespace stepwise::cli

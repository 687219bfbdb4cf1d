// lab report: exports the verdicts of a results folder in the formats that courses use.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "grader/batch/names.hpp"
#include "grader/batch/versions.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/publish/explain.hpp"
#include "grader/publish/formats.hpp"
#include "grader/publish/gather.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise::cli {
namespace {

struct report_options {
  std::string results, format = "", out, id, explain, key;
  bool again = false;
};

const std::vector<std::string> formats = {"csv",         "json",   "junit", "gradescope",
                                          "classroom50", "moodle", "html"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

json entry_for(const batch::results& r, const std::string& id) {
  json entry = r.entry(id);
  if (!entry.is_null()) return entry;
  for (const auto& s : r.submissions())
    if (s.id == id)
      refuse(id + " has no verdict yet; run ./lab grade-all --out " + r.folder().string());
  std::vector<std::string> known;
  for (const auto& s : r.submissions()) known.push_back(s.id);
  const std::string meant = nearest(id, known);
  refuse("there is no submission from " + id +
         (meant.empty() ? "" : "; did you mean " + meant + "?"));
}

void deliver(context& c, const report_options& o, const std::string& text) {
  c.busy.clear();
  if (o.out.empty()) {
    std::string_view rest = text;
    while (rest.ends_with('\n')) rest.remove_suffix(1);
    c.out.line(rest);
    return;
  }
  write_atomically(fs::absolute(o.out), text);
  if (c.as_json) {
    c.print({{"format", o.format}, {"files", json::array({o.out})}});
  } else {
    c.say("written: " + o.out);
  }
}

// Writes one file per submission if the format describes a single submission.
int deliver_each(context& c, const report_options& o, const std::vector<publish::entry>& all) {
  const auto render = [&](const publish::entry& e) {
    return o.format == "gradescope" ? publish::gradescope(e) : publish::classroom50(e, variable);
  };
  if (all.size() == 1) {
    deliver(c, o, render(all[0]));
    return 0;
  }
  if (o.out.empty())
    refuse("--format " + o.format +
           " writes one submission: choose it with --id, or write all into a folder with --out");
  json files = json::array();
  std::size_t without = 0;
  for (const auto& e : all) {
    if (!e.points) {
      ++without;
      continue;
    }
    const fs::path file = fs::absolute(o.out) / (batch::file_name_for(e.id) + ".json");
    write_atomically(file, render(e));
    files.push_back(file.string());
  }
  if (c.as_json) {
    c.print({{"format", o.format}, {"files", files}});
  } else {
    c.say(fmt::format("written: {} files in {}", files.size(), o.out));
    if (without > 0) c.say(fmt::format("{} have no verdict yet and were not written", without));
  }
  return without > 0 ? static_cast<int>(exit_code::environment) : 0;
}

bool has_own_key(const publish::entry& e) {
  const auto key = e.document.find("key");
  return key != e.document.end() && key->is_object() && !key->value("public", true);
}

std::string grading_command(const batch::results& r, const publish::entry& e, const context& c,
                            const report_options& o) {
  std::string text = "./lab grade " + r.info().lab + " --file " +
                     c.where.shown(r.content_of(e.submission, r.info().lab + ".cu"));
  // Your own key and the file determine the seed and the sizes. Without a key, the seed determines
  // the sizes.
  if (has_own_key(e)) {
    text += " --key " + (o.key.empty() ? std::string("KEY") : o.key);
  } else if (e.seed) {
    text += " --seed " + *e.seed;
  }
  return text;
}

std::vector<std::string> differing_parts(context& c, const publish::entry& e, const lab& l) {
  std::vector<std::string> parts;
  if (!e.key.is_object()) return parts;
  const auto device = judged_on(c.device(), c.where);
  const json now =
      batch::json_of(batch::current_versions(c.where, l, device, e.key.value("key", "")));
  for (const char* part : {"lab", "grader", "toolkit", "device"}) {
    const std::string then = e.key.value(part, ""), today = now.value(part, "");
    if (then != today) parts.push_back(fmt::format("{}: now {}", part, today));
  }
  return parts;
}

// Grades the submission once more, and reports any difference.
int grade_again(context& c, const batch::results& r, const publish::entry& e,
                const report_options& o) {
  child_options child;
  child.command = {fs::read_symlink("/proc/self/exe").string(),
                   "grade",
                   r.info().lab,
                   "--file",
                   fs::absolute(r.content_of(e.submission, r.info().lab + ".cu")).string(),
                   "--json",
                   "--device",
                   c.device().gpu ? "gpu" : "emulated"};
  if (!o.key.empty()) child.command.insert(child.command.end(), {"--key", o.key});
  if (!has_own_key(e) && e.seed) child.command.insert(child.command.end(), {"--seed", *e.seed});
  child.keep_bytes = 32 << 20;
  child.tick = [&] { c.busy.tick(); };
  c.busy.doing("grading it again");
  const auto result = run_child(std::move(child), 400);
  const json document = parse_json_or_null(result.out);
  if (!document.is_object() || !document.contains("class")) {
    throw failure(exit_code::environment,
                  "it could not be graded again: " +
                      document.value("error", "the grader returned no verdict"));
  }
  const publish::entry now = publish::read_entry(json({{"id", e.id},
                                                       {"class", document.at("class")},
                                                       {"points", document.at("points")},
                                                       {"max_points", document.at("max_points")},
                                                       {"grade", document}}));
  std::size_t other = now.verdict != e.verdict || now.points != e.points ? 1 : 0;
  c.say(fmt::format("\n  now          {}, {}", now.verdict, publish::points_text(now)));
  for (std::size_t i = 0; i < now.goals.size() && i < e.goals.size(); ++i) {
    if (now.goals[i].passed == e.goals[i].passed && now.seed == e.seed) continue;
    ++other;
    c.say("  differs      " + now.goals[i].name);
  }
  if (other == 0) c.say("               unchanged");
  return other == 0 ? 0 : 1;
}

int explain(context& c, const batch::results& r, const lab& l, const report_options& o) {
  const json raw = entry_for(r, o.explain);
  const publish::entry e = publish::read_entry(raw);
  if (c.as_json) {
    c.print(parse_json(publish::as_json(r.info().lab, {raw})));
    return 0;
  }
  const bool graded = !e.submission.empty() && e.document.is_object();
  const std::string file =
      e.submission.empty() ? "" : c.where.shown(r.content_of(e.submission, r.info().lab + ".cu"));
  std::string text = publish::explanation(e, file, graded ? grading_command(r, e, c, o) : "",
                                          differing_parts(c, e, l));
  text.pop_back();
  c.say(text);
  if (!o.again) return 0;
  if (!graded) refuse(o.explain + " contains nothing to grade");
  return grade_again(c, r, e, o);
}

int report(context& c, const report_options& o) {
  const batch::results r(o.results);
  const lab l = load_lab(c.where.build, r.info().lab);
  if (!o.explain.empty()) return explain(c, r, l, o);
  if (std::count(formats.begin(), formats.end(), o.format) == 0) {
    refuse((o.format.empty() ? "--format is missing" : "--format " + o.format) +
           ": expected csv, json, junit, gradescope, classroom50, moodle or html");
  }
  if (o.format == "html") {
    if (!o.id.empty()) refuse("--format html shows all submissions; use --explain for one verdict");
    c.busy.doing("comparing submissions");
    deliver(c, o, publish::overview(publish::gather(r, l, c.where.root)));
    return 0;
  }
  const std::vector<json> raw = o.id.empty() ? r.entries() : std::vector<json>{entry_for(r, o.id)};
  const auto entries = publish::read_entries(raw);
  if (entries.empty())
    refuse(o.results + " contains no verdict yet; run ./lab grade-all --out " + o.results);
  if (o.format == "gradescope" || o.format == "classroom50") return deliver_each(c, o, entries);
  if (o.format == "csv") deliver(c, o, publish::csv(entries));
  if (o.format == "json") deliver(c, o, publish::as_json(l.name, raw));
  if (o.format == "junit") deliver(c, o, publish::junit(l.name, entries));
  if (o.format == "moodle") deliver(c, o, publish::moodle(entries));
  return 0;
}

const verb report_verb(
    {verb_place::group::teaching, 30}, "report",
    "show the results of grade-all as tables, pages and files",
    "  ./lab report results --format html --out overview.html    everything, on one page\n"
    "  ./lab report results --format csv                         one line per submission\n"
    "  ./lab report results --format gradescope --id ID          results.json of one submission\n"
    "  ./lab report results --explain ID                         one verdict: inputs, times, "
    "versions\n"
    "  ./lab report results --explain ID --again                 also grade it again",
    [](arguments& takes, report_options& o) {
      takes.add("RESULTS", o.results, "the folder that grade-all wrote").required();
      takes.add("--format", o.format, "csv, json, junit, gradescope, classroom50, moodle or html");
      takes.add("--out", o.out,
                "the output file (for gradescope and classroom50 with all ids: a folder)");
      takes.add("--id", o.id, "only the submission with this id");
      takes.add("--explain", o.explain, "an id: show everything that led to its verdict");
      takes.add("--key", o.key, "the instructor's key file, for --explain");
      takes.flag("--again", o.again, "with --explain: grade it again and compare");
    },
    report);

}  // namespace
}  // namespace stepwise::cli

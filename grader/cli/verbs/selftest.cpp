// lab selftest: right programs, wrong ones and attacks, graded on this machine before real ones
// are.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/grade/attack.hpp"
#include "grader/grade/leftovers.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise::cli {
namespace {

constexpr double most_seconds = 400;  // of one file
// One of each way to cheat, break out or break down that needs no minute: what `--quick` takes.
const std::vector<std::string> quick_ones = {
    "forging/41_exits",          "forging/43_every_descriptor", "forging/51_stops_the_grader",
    "forging/52_grader_memory",  "escape/62_line_of_passwd",    "escape/63_includes_a_solution",
    "escape/66_reads_solutions", "resources/71_daemon",         "resources/75_fills_the_disk",
    "results/29_constant",       "timing/07_host_sum",          "honest/92_cooperative"};

struct selftest_options {
  std::string attacks;
  std::vector<std::string> only;
  bool quick = false;
};

struct outcome {
  attack due;
  graded_attack got;
  attack_result result = attack_result::failed;
  double seconds = 0, peak_bytes = 0;
};

// What every lab has of its own: its last step, which is right, and its wrong solutions.
std::vector<attack> of_the_course(const context& c) {
  std::vector<attack> all;
  for (const lab& l : load_labs(c.where.root)) {
    attack good;
    good.lab = l.name;
    good.honest = true;
    good.name = "known-good/" + l.name;
    good.file = c.where.root / l.steps.front().file;
    // Steps with parts of their own cannot be handed in as one file.
    for (const step& s : l.steps) {
      const std::string text = read_if_there(c.where.root / s.file).value_or("");
      if (text.find("#include \"solutions/") == std::string::npos)
        good.file = c.where.root / s.file;
    }
    good.classes = {"PASS", "SLOW"};
    good.points = 50;
    good.what = good.file.stem();
    all.push_back(good);
    const fs::path tests = c.where.root / "labs" / l.name / "tests";
    std::istringstream lines(read_if_there(tests / "mutants.txt").value_or(""));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      attack wrong;
      wrong.lab = l.name;
      std::string expected;
      if (!(words >> wrong.name >> expected) || wrong.name.starts_with('#')) continue;
      wrong.file = tests / "mutants" / (wrong.name + ".cu");
      const std::string text = read_if_there(wrong.file).value_or("");
      if (text.find("#include \"solutions/") != std::string::npos) continue;
      wrong.what = "a wrong solution";
      wrong.name = "known-wrong/" + l.name + "-" + wrong.name;
      // Graded with the checks, a wrong result may be reported as the mistake that caused it.
      wrong.classes = {expected, "CHECK"};
      all.push_back(wrong);
    }
  }
  return all;
}

// Text that only a broken sandbox brings out.
std::string quoted_secret(const std::string& text) {
  if (text.find("stepwise-attack: ") != std::string::npos) return "it reached what it must not";
  const auto passwd = read_if_there("/etc/passwd").value_or("");
  const std::string first = passwd.substr(0, passwd.find('\n'));
  if (first.size() > 8 && text.find(first) != std::string::npos) return "it quotes /etc/passwd";
  return {};
}

// Grades one file as its own process, as an instructor would.
outcome try_one(context& c, const attack& due) {
  outcome o;
  o.due = due;
  const temporary_folder folder(fs::temp_directory_path());
  leftovers watch({folder.path(), c.where.root});
  child_options options;
  options.command = {"/proc/self/exe",  "grade",    due.lab,    "--file",
                     due.file.string(), "--device", "emulated", "--json"};
  options.command[0] = fs::read_symlink("/proc/self/exe").string();
  options.environment = {"TMPDIR=" + folder.path().string()};
  options.keep_bytes = 8 << 20;
  options.tick = [&] { c.busy.tick(); };
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_child(std::move(options), most_seconds);
  o.seconds = seconds_since(start);
  o.peak_bytes = static_cast<double>(result.end.peak_bytes);
  o.got.left = watch.find();
  const json document = json::parse_or_null(result.out);
  if (!document.is_object() || !document.contains("class")) {
    o.got.got = "none";
    o.got.broken = result.end.how == child_end::cause::deadline
                       ? fmt::format("grading did not end within {:g} s", most_seconds)
                       : "grading ended without a document: " +
                             result.err.substr(0, std::min<std::size_t>(200, result.err.size()));
  } else {
    o.got.got = document.at("class").get<std::string>();
    o.got.points = document.at("points").is_number() ? document.at("points").get<double>() : 0;
    o.got.judged = document.at("trust") == "judged";
    o.got.broken = quoted_secret(result.out + result.err);
  }
  o.result = result_of(due, o.got);
  return o;
}

const char* word_of(attack_result r) {
  return r == attack_result::held ? "ok" : r == attack_result::open ? "open" : "FAILED";
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

json outcome_json(const outcome& o) {
  return {{"name", o.due.name},          {"lab", o.due.lab},
          {"honest", o.due.honest},      {"what", o.due.what},
          {"expected", o.due.classes},   {o.due.honest ? "at_least" : "at_most", o.due.points},
          {"class", o.got.got},          {"points", o.got.points},
          {"result", word_of(o.result)}, {"left", o.got.left},
          {"message", o.got.broken},     {"seconds", o.seconds},
          {"peak_bytes", o.peak_bytes}};
}

void show(context& c, const std::vector<outcome>& all) {
  std::vector<std::vector<cell>> rows;
  for (const auto& o : all) {
    const tone t = o.result == attack_result::held   ? tone::good
                   : o.result == attack_result::open ? tone::note
                                                     : tone::bad;
    rows.push_back(
        {{word_of(o.result), t},
         {o.due.name},
         {joined(o.due.classes, "|")},
         {o.got.got},
         {fmt::format("{:g}", o.got.points)},
         {fmt::format("{} {:g}", o.due.honest ? "of at least" : "of at most", o.due.points)},
         {fmt::format("{:.1f}", o.seconds)},
         {o.got.left.empty() ? "-" : std::to_string(o.got.left.size())}});
  }
  const std::vector<column> columns = {{""},        {"file"},         {"expected", false, true},
                                       {"class"},   {"points", true}, {"due"},
                                       {"s", true}, {"left", true}};
  for (const auto& line : table_lines(columns, rows, c.out.style())) c.say(line);
  c.say();
  for (const auto& o : all) {
    if (o.result != attack_result::failed) continue;
    const std::string why = !o.got.broken.empty() ? o.got.broken
                            : !o.got.left.empty() ? "left behind: " + joined(o.got.left, ", ")
                                                  : "another class, or other points, than expected";
    c.out.paragraph(o.due.name + ": " + escaped_lines(why, 1, 400).at(0), 2);
  }
}

std::vector<attack> chosen(const context& c, const selftest_options& o) {
  const fs::path own = c.where.root / "grader" / "tests" / "attacks";
  std::vector<std::string> others;
  std::vector<attack> all = find_attacks(own, others);
  const auto is_wanted = [&](const attack& a, const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const auto& name) { return a.name.find(name) != std::string::npos; });
  };
  if (o.quick) std::erase_if(all, [&](const attack& a) { return !is_wanted(a, quick_ones); });
  auto course = of_the_course(c);
  if (o.quick)
    std::erase_if(course, [](const attack& a) { return a.name != "known-good/reduction"; });
  all.insert(all.begin(), course.begin(), course.end());
  if (!o.attacks.empty()) {
    if (!fs::is_directory(o.attacks))
      refuse("--attacks " + o.attacks + ": there is no such folder");
    const auto more = find_attacks(fs::absolute(o.attacks), others);
    all.insert(all.end(), more.begin(), more.end());
  }
  if (!others.empty()) {
    refuse(others.front() +
           ".cu says in its first line neither \"// attack LAB: CLASS, at most N points\" nor "
           "\"// honest LAB: CLASS, at least N points\"");
  }
  if (!o.only.empty()) std::erase_if(all, [&](const attack& a) { return !is_wanted(a, o.only); });
  if (all.empty()) refuse("no file of that name is known");
  return all;
}

// Those that would reach this machine where nothing keeps them apart: nobody lets them loose.
std::size_t leave_out_dangerous(std::vector<attack>& files) {
  return std::erase_if(files, [](const attack& a) {
    return !a.honest && !a.name.starts_with("known-wrong/") && !a.name.starts_with("results/");
  });
}

int selftest(context& c, const selftest_options& o) {
  auto files = chosen(c, o);
  const protections& guards = find_protections();
  const std::size_t left_out = guards.bubblewrap.empty() ? leave_out_dangerous(files) : 0;
  c.say(fmt::format("{} files on {}", files.size(), guards.text()));
  c.say();
  std::vector<outcome> all;
  for (std::size_t i = 0; i < files.size(); ++i) {
    c.busy.doing(fmt::format("{} of {}: {}", i + 1, files.size(), files[i].name));
    all.push_back(try_one(c, files[i]));
  }
  // After all of that, a right one is still right.
  if (const auto good =
          std::find_if(files.begin(), files.end(), [](const auto& a) { return a.honest; });
      good != files.end() && files.size() > 1) {
    attack again = *good;
    again.name += " (again)";
    all.push_back(try_one(c, again));
  }
  const auto count = [&](attack_result r) {
    return std::count_if(all.begin(), all.end(), [&](const outcome& x) { return x.result == r; });
  };
  const auto failed = count(attack_result::failed), open = count(attack_result::open);
  if (c.as_json) {
    json document = {{"sandbox", json::array()},
                     {"files", json::array()},
                     {"held", count(attack_result::held)},
                     {"open", open},
                     {"failed", failed},
                     {"left_out", left_out}};
    for (const auto& layer : guards.layers) {
      document["sandbox"].push_back(
          {{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
    }
    for (const auto& one : all) document["files"].push_back(outcome_json(one));
    c.print(document);
  } else {
    show(c, all);
    c.say(fmt::format("{} as expected, {} open, {} failed", count(attack_result::held), open,
                      failed));
    if (left_out > 0) {
      c.out.paragraph(fmt::format("{} attacks were left out: without namespaces they would reach "
                                  "this machine; {}",
                                  left_out, guards.layers.front().detail),
                      2);
    }
    if (open > 0) {
      c.out.paragraph("open: earns more than it should, as is known; the file says why", 2, {},
                      tone::dim);
    }
  }
  return failed > 0 || left_out > 0 ? static_cast<int>(exit_code::environment) : 0;
}

const verb selftest_verb(
    {verb_place::group::machine, 45}, "selftest",
    "grades right programs, wrong ones and attacks: can this machine be trusted?",
    "  ./lab selftest                     all of them; half an hour on two cores\n"
    "  ./lab selftest --quick             one of each kind\n"
    "  ./lab selftest forging/            those whose names hold that\n"
    "  ./lab selftest --attacks FOLDER    with attacks of your own",
    [](arguments& takes, selftest_options& o) {
      takes.add("NAME", o.only, "a part of the files' names; default: all");
      takes.add("--attacks", o.attacks, "a folder with more files of that form");
      takes.flag("--quick", o.quick, "a selection that takes a minute");
    },
    selftest);

}  // namespace
}  // namespace stepwise::cli

// lab dev selftest: grades correct programs, wrong programs and attacks on this machine before real
// submissions are graded.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/grade/attack.hpp"
#include "grader/grade/leftovers.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise::cli {
namespace {

constexpr double most_seconds = 400;  // per file
// One example of each way to cheat, escape or crash that takes under a minute. For `--quick`.
const std::vector<std::string> quick_ones = {
    "forging/41_exits",         "forging/43_every_descriptor",   "forging/51_stops_the_grader",
    "forging/52_grader_memory", "findings/75_busy_when_asked",   "escape/74_writes_proc",
    "escape/62_line_of_passwd", "escape/63_includes_a_solution", "escape/66_reads_solutions",
    "resources/71_daemon",      "resources/75_fills_the_disk",   "results/29_constant",
    "timing/07_host_sum",       "timing/13_first_call",          "honest/92_cooperative"};

struct selftest_options {
  std::string attacks;
  std::vector<std::string> only;
  bool quick = false, course = false;
};

struct outcome {
  attack due;
  graded_attack got;
  std::optional<graded_attack> practice;  // for the course's files: must agree
  bool ok = false;
  double seconds = 0, peak_bytes = 0;
};

// Adds a lab's wrong solutions that can be handed in as one file.
void add_mutants(const context& c, const lab& l, std::vector<attack>& all) {
  const fs::path files = c.where.build / "labs/tests" / (l.name + "-mutants.files");
  for (const mutant& m : l.mutants) {
    attack wrong;
    wrong.lab = l.name;
    wrong.file = files / (m.name + ".cu");
    const std::string text = read_if_there(wrong.file).value_or("");
    if (text.find("#include \"solutions/") != std::string::npos) continue;
    wrong.what = "a wrong solution";
    wrong.name = "known-wrong/" + l.name + "-" + m.name;
    // With the checks on, a wrong result may be reported as the error that caused it.
    wrong.classes = {m.verdict, "CHECK"};
    all.push_back(wrong);
  }
}

// All of the course's files: every step, every skeleton, every wrong solution.
std::vector<attack> all_of_the_course(const context& c) {
  std::vector<attack> all;
  for (const lab& l : load_labs(c.where.build)) {
    for (const step& s : l.steps) {
      attack right;
      right.lab = l.name;
      right.honest = true;
      right.name = "steps/" + l.name + "-" + s.name;
      right.step = right.what = s.name;
      right.classes = {"PASS", "SLOW"};
      right.points = 30;  // correct, at least
      all.push_back(right);
    }
    attack skeleton;
    skeleton.lab = l.name;
    skeleton.name = "skeletons/" + l.name;
    skeleton.file = c.where.root / l.file;
    skeleton.what = "what a student is given";
    skeleton.classes = {"WRONG", "CHECK", "CRASH"};
    all.push_back(skeleton);
    add_mutants(c, l, all);
  }
  return all;
}

// Each lab's last step that can be handed in as one file, and its wrong solutions.
std::vector<attack> of_the_course(const context& c) {
  std::vector<attack> all;
  for (const lab& l : load_labs(c.where.build)) {
    attack good;
    good.lab = l.name;
    good.honest = true;
    good.name = "known-good/" + l.name;
    good.file = c.where.root / l.steps.front().file;
    // Steps that include parts of the course cannot be handed in as one file.
    for (const step& s : l.steps) {
      if (!l.may_help(s.name)) continue;
      const std::string text = read_if_there(c.where.root / s.file).value_or("");
      if (text.find("#include \"solutions/") == std::string::npos)
        good.file = c.where.root / s.file;
    }
    good.classes = {"PASS", "SLOW"};
    good.points = 50;
    good.what = good.file.stem();
    all.push_back(good);
    add_mutants(c, l, all);
  }
  return all;
}

// Reports text that can only come from a broken sandbox.
std::string quoted_secret(const std::string& text) {
  if (text.find("stepwise-attack: ") != std::string::npos) return "the attack succeeded";
  const auto passwd = read_if_there("/etc/passwd").value_or("");
  const std::string first = passwd.substr(0, passwd.find('\n'));
  if (first.size() > 8 && text.find(first) != std::string::npos) return "it quotes /etc/passwd";
  return {};
}

// The command that runs `lab grade` for a file or step, with more arguments.
std::vector<std::string> grade_command(const context& c, const attack& due,
                                       std::vector<std::string> more) {
  std::vector<std::string> command = {fs::read_symlink("/proc/self/exe").string(), "grade",
                                      due.lab};
  if (due.step.empty()) {
    command.insert(command.end(), {"--file", due.file.string()});
  } else {
    command.insert(command.end(), {"--step", due.step});
  }
  command.insert(command.end(),
                 {"--device", c.request == device_request::gpu ? "gpu" : "emulated", "--json"});
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

// Grades the same file on trust, with the same inputs.
graded_attack in_practice(context& c, const attack& due, const json& judged) {
  child_options options;
  options.command = grade_command(
      c, due, {"--practice", "--seed", std::to_string(judged.at("seed").get<std::uint64_t>())});
  options.keep_bytes = 8 << 20;
  options.tick = [&] { c.busy.tick(); };
  const json document = parse_json_or_null(run_child(std::move(options), most_seconds).out);
  graded_attack got;
  got.got = "none";
  if (!document.is_object() || !document.contains("class")) return got;
  got.got = document.at("class").get<std::string>();
  got.points = document.at("points").is_number() ? document.at("points").get<double>() : 0;
  return got;
}

// Grades one file in a separate process, as an instructor would.
outcome try_one(context& c, attack due) {
  outcome o;
  o.due = due;
  const temporary_folder folder(fs::temp_directory_path());
  // A copy is graded, because results for the lab's own file count as the student's progress.
  if (due.name.starts_with("skeletons/")) {
    due.file = folder.path() / due.file.filename();
    fs::copy_file(o.due.file, due.file);
  }
  leftovers watch({folder.path(), c.where.root});
  child_options options;
  options.command = grade_command(c, due, {});
  options.environment = {"TMPDIR=" + folder.path().string()};
  options.keep_bytes = 8 << 20;
  options.tick = [&] { c.busy.tick(); };
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_child(std::move(options), most_seconds);
  o.seconds = seconds_since(start);
  o.peak_bytes = static_cast<double>(result.end.peak_bytes);
  o.got.left = watch.find();
  const json document = parse_json_or_null(result.out);
  if (!document.is_object() || !document.contains("class")) {
    o.got.got = "none";
    o.got.broken = result.end.how == child_end::cause::deadline
                       ? fmt::format("grading did not finish within {:g} s", most_seconds)
                       : "grading finished without a document: " +
                             result.err.substr(0, std::min<std::size_t>(200, result.err.size()));
  } else {
    o.got.got = document.at("class").get<std::string>();
    o.got.points = document.at("points").is_number() ? document.at("points").get<double>() : 0;
    o.got.broken = document.at("trust") == "judged" ? quoted_secret(result.out + result.err)
                                                    : "its grade was not judged";
    if (!due.step.empty() || due.name.starts_with("skeletons/"))
      o.practice = in_practice(c, due, document);
  }
  o.ok = is_as_due(due, o.got);
  if (o.practice && (o.practice->got != o.got.got || o.practice->points != o.got.points)) {
    o.ok = false;
    o.got.broken = fmt::format("in practice mode it is {} with {:g} points", o.practice->got,
                               o.practice->points);
  }
  return o;
}

const char* word_of(const outcome& o) { return o.ok ? "ok" : "FAILED"; }

json outcome_json(const outcome& o) {
  return {{"name", o.due.name},
          {"lab", o.due.lab},
          {"honest", o.due.honest},
          {"what", o.due.what},
          {"expected", o.due.classes},
          {o.due.honest ? "at_least" : "at_most", o.due.points},
          {"class", o.got.got},
          {"points", o.got.points},
          {"result", word_of(o)},
          {"left", o.got.left},
          {"practice", o.practice ? json{{"class", o.practice->got}, {"points", o.practice->points}}
                                  : json(nullptr)},
          {"message", o.got.broken},
          {"seconds", o.seconds},
          {"peak_bytes", o.peak_bytes}};
}

void show(context& c, const std::vector<outcome>& all) {
  if (!std::all_of(all.begin(), all.end(), [](const outcome& o) { return o.ok; })) c.say();
  std::vector<std::vector<cell>> rows;
  for (const auto& o : all) {
    rows.push_back(
        {{word_of(o), o.ok ? tone::good : tone::bad},
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
  c.table(columns, rows);
  c.say();
}

// Shown immediately, because a full run may take half an hour.
void show_failure(context& c, const outcome& o) {
  const std::string why = !o.got.broken.empty() ? o.got.broken
                          : !o.got.left.empty()
                              ? "files or processes left over: " + joined(o.got.left, ", ")
                              : fmt::format("{} with {:g} points, which is not the expected result",
                                            o.got.got, o.got.points);
  c.out.paragraph(o.due.name + ": " + escaped_lines(why, 1, 400).at(0), 2);
}

bool is_wanted(const attack& a, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& name) { return a.name.find(name) != std::string::npos; });
}

std::vector<attack> chosen(const context& c, const selftest_options& o) {
  if (o.course) {
    auto all = all_of_the_course(c);
    if (!o.only.empty()) std::erase_if(all, [&](const auto& a) { return !is_wanted(a, o.only); });
    if (all.empty()) refuse("no test file has that name; leave out NAME to run all");
    return all;
  }
  const fs::path own = c.where.root / "grader" / "tests" / "attacks";
  std::vector<std::string> others;
  std::vector<attack> all = find_attacks(own, others);
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
           ".cu: the first line must be \"// attack LAB: CLASS, at most N points\" or \"// honest "
           "LAB: CLASS, at least N points\"");
  }
  if (!o.only.empty()) std::erase_if(all, [&](const attack& a) { return !is_wanted(a, o.only); });
  if (all.empty()) refuse("no test file has that name; leave out NAME to run all");
  return all;
}

// Removes the files that would harm this machine without a sandbox.
std::size_t leave_out_dangerous(std::vector<attack>& files) {
  return std::erase_if(files, [](const attack& a) {
    return !a.honest && !a.name.starts_with("known-wrong/") && !a.name.starts_with("results/") &&
           !a.name.starts_with("skeletons/");
  });
}

int selftest(context& c, const selftest_options& o) {
  need_solutions(c.where.root, "dev selftest");
  auto files = chosen(c, o);
  const protections& guards = find_protections();
  const std::size_t left_out = guards.bubblewrap.empty() ? leave_out_dangerous(files) : 0;
  c.say(fmt::format("{} files on {}", files.size(), guards.text()));
  c.say();
  std::vector<outcome> all;
  // After all attacks, a correct program must still be graded as correct.
  if (const auto good =
          std::find_if(files.begin(), files.end(), [](const auto& a) { return a.honest; });
      good != files.end() && files.size() > 1 && !o.course) {
    files.push_back(*good);
    files.back().name += " (again)";
  }
  try {
    for (std::size_t i = 0; i < files.size(); ++i) {
      c.busy.doing(fmt::format("{} of {}: {}", i + 1, files.size(), files[i].name));
      all.push_back(try_one(c, files[i]));
      if (!all.back().ok && !c.as_json) show_failure(c, all.back());
    }
  } catch (const interrupted&) {
    if (!c.as_json) show(c, all);
    throw;
  }
  const auto held = std::count_if(all.begin(), all.end(), [](const outcome& x) { return x.ok; });
  const auto failed = std::ssize(all) - held;
  if (c.as_json) {
    json document = {{"sandbox", json::array()},
                     {"files", json::array()},
                     {"held", held},
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
    c.say(fmt::format("{} passed, {} failed", held, failed));
    if (left_out > 0) {
      c.out.paragraph(fmt::format("{} attacks were left out, because without namespaces they would "
                                  "affect this machine; {}",
                                  left_out, guards.layers.front().detail),
                      2);
    }
  }
  return failed > 0 || left_out > 0 ? static_cast<int>(exit_code::environment) : 0;
}

const verb selftest_verb(
    {verb_place::group::dev, 30}, "selftest",
    "grade correct programs, wrong programs and attacks, to test this machine",
    "  ./lab dev selftest                     everything; half an hour on two cores\n"
    "  ./lab dev selftest --quick             one of each kind\n"
    "  ./lab dev selftest forging/            only names that contain this\n"
    "  ./lab dev selftest --attacks FOLDER    also your own attacks\n"
    "  ./lab dev selftest --device gpu        on this machine's GPU instead of the emulator\n"
    "  ./lab dev selftest --course blur       every step, skeleton and wrong solution, instead of "
    "attacks",
    [](arguments& takes, selftest_options& o) {
      takes.add("NAME", o.only, "part of a file's name (all)");
      takes.add("--attacks", o.attacks, "a folder with more test files in this format");
      takes.flag("--quick", o.quick, "run a selection that takes a minute");
      takes.flag("--course", o.course,
                 "test all files of the course; steps and skeletons in practice mode");
    },
    selftest);

}  // namespace
}  // namespace stepwise::cli

// lab release: makes a copy of the course for students, without the answers, or an autograder for
// Gradescope, which is such a copy of one lab with two scripts.
//
// idea    The copy is a new repository, so no history holds the omitted files. A later release adds
//         one commit with the labs that have opened since then. Speed goals compare with worked
//         steps. The copy has only the times of these steps, which are modelled here.
#include <fmt/core.h>

#include "grader/cli/context.hpp"
#include "grader/cli/python/python_module.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/course/source.hpp"
#include "grader/grade/grade.hpp"
#include "grader/model/kept_times.hpp"
#include "grader/model/modelled.hpp"
#include "grader/release/copy.hpp"
#include "grader/release/programs.hpp"
#include "grader/release/repository.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise::cli {
namespace {

struct release_options {
  std::string folder, labs, date, gradescope, key;
  bool plain = false;  // a folder without a repository
  bool with_programs = false;
};

double modelled_ms(context& c, const lab& l, const std::string& step_name,
                   const device_choice& emulator, kept_times& kept) {
  const fs::path program = c.where.solution(l.name, step_name);
  if (!fs::exists(program))
    throw failure(exit_code::environment,
                  program.string() +
                      " is not built, but the release needs its time\n`./lab setup` builds it");
  const auto& size = l.modelled.back();
  if (const auto ms = kept.find(program, size, seed_of_modelled_calls)) return *ms;
  const auto call = model_program(l, problem_of(l, c.where), program, size, seed_of_modelled_calls,
                                  emulator, c.now());
  if (!call.timed())
    throw failure(exit_code::ours, step_name + " of " + l.name + ": " + call.why_no_time());
  kept.keep(program, size, seed_of_modelled_calls, call.time_ms);
  return call.time_ms;
}

// The times of the steps that goals name.
given_times times_of(context& c, const lab& l) {
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  kept_times kept(c.where, emulator);
  given_times times{emulator.name, l.modelled.back(), seed_of_modelled_calls, {}};
  for (const goal& g : l.goals)
    if (g.is_speed() && g.modelled > 0 && !times.ms.contains(g.over))
      times.ms[g.over] = modelled_ms(c, l, g.over, emulator, kept);
  return times;
}

std::string commit_message(const std::vector<released_lab>& open) {
  std::string text = "Labs:";
  for (const auto& l : open) text += " " + l.name;
  return text;
}

// Puts the tree into DIR, or commits it there.
json place_copy(const fs::path& tree, const fs::path& to, const std::vector<released_lab>& open,
                const release_options& o) {
  std::error_code ignored;
  if (!o.plain) {
    switch (commit_tree(tree, to, commit_message(open))) {
      case committed::first:
        return "first";
      case committed::another:
        return "another";
      case committed::nothing_new:
        return "none";
    }
  }
  if (fs::exists(to, ignored) && !fs::is_empty(to, ignored))
    refuse(to.string() + " exists and is not empty");
  make_folder(to);
  fs::copy(tree, to, fs::copy_options::recursive);
  return nullptr;
}

std::size_t count_files(const fs::path& tree) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(tree)) count += entry.is_regular_file();
  return count;
}

// Reads the committed course with the reader that is committed with it.
void read_course(const context& c, const fs::path& tree, const fs::path& build) {
  make_folder(build);
  child_options reader;
  reader.command = {find_python(c, "release"), "-B", tree / "labs" / "course", tree, "--json",
                    build / "course.json"};
  const child_result read = run_child(reader, 60);
  if (!read.end.ok()) throw failure(exit_code::ours, std::string(trimmed(read.err)));
}

std::map<std::string, given_times> times_of_all(context& c, const std::vector<lab>& labs,
                                                const std::vector<released_lab>& open) {
  std::map<std::string, given_times> times;
  for (const lab& l : labs)
    for (const auto& one : open)
      if (one.name == l.name) times[l.name] = times_of(c, l);
  return times;
}

// The submission's program could read the image's files if its sandbox failed, so the image has no
// worked step.
int release_for_gradescope(context& c, const release_options& o) {
  if (!o.labs.empty() || !o.date.empty() || o.plain)
    refuse("--gradescope is for one lab: leave out --labs, --date and --folder");
  if (o.with_programs) refuse("--with-programs is for student copies, not for --gradescope");
  const fs::path to = fs::absolute(o.folder).lexically_normal();
  if (to.extension() != ".zip")
    refuse("an autograder is a zip file; name it, for example, " + to.string() + ".zip");
  if (fs::exists(fs::symlink_status(to))) refuse(to.string() + " already exists");
  const temporary_folder work(fs::temp_directory_path());
  const fs::path tree = work.path() / "course", build = work.path() / "build",
                 package = work.path() / "package";
  make_folder(tree);
  make_folder(package / "stepwise");
  export_head(c.where.own_root, tree);
  read_course(c, tree, build);
  const lab here = load_lab(build, o.gradescope);
  release_plan plan;
  plan.labs.emplace_back();
  plan.labs.back().name = here.name;
  make_student_tree(tree, package / "stepwise", load_labs(build), plan, utc_now().substr(0, 10),
                    {{here.name, times_of(c, here)}});
  fs::remove_all(package / "stepwise" / ".github");
  for (const char* script : {"setup.sh", "run_autograder"})
    fs::copy_file(tree / "grader" / "release" / "gradescope" / script, package / script);
  write_atomically(package / "lab", here.name + "\n");
  if (!o.key.empty())
    write_atomically(package / "key", read_file(o.key, static_cast<int>(exit_code::usage)));
  const std::size_t files = count_files(package);
  zip_folder(package, to);
  c.busy.clear();
  if (c.as_json) {
    c.print({{"archive", to.string()},
             {"bytes", fs::file_size(to)},
             {"lab", here.name},
             {"files", files},
             {"private_key", !o.key.empty()}});
    return 0;
  }
  c.say(fmt::format("{} ({}): an autograder for {}, {} files",
                    c.out.paint(tone::place, c.where.shown(to)),
                    bytes_text(static_cast<double>(fs::file_size(to))), here.name, files));
  if (o.key.empty())
    c.out.paragraph(
        "every grade draws a new seed and hidden sizes; --key FILE lets you decide them", 2, "",
        tone::note);
  return 0;
}

int release(context& c, const release_options& o) {
  need_solutions(c.where.root, "release");
  if (!o.gradescope.empty()) return release_for_gradescope(c, o);
  if (!o.key.empty()) refuse("--key works only with --gradescope: a student copy has no key");
  const std::string day = o.date.empty() ? utc_now().substr(0, 10) : o.date;
  if (!is_day(day)) refuse("--date: expected a day like 2026-10-15");
  if (o.with_programs) need_portable(c.where.build);
  const temporary_folder work(fs::temp_directory_path());
  const fs::path tree = work.path() / "course", build = work.path() / "build",
                 copy = work.path() / "copy";
  make_folder(tree);
  make_folder(copy);
  export_head(c.where.own_root, tree);
  read_course(c, tree, build);
  const auto labs = load_labs(build);
  const release_plan plan =
      o.labs.empty()
          ? plan_of_all(labs)
          : parse_plan(read_file(o.labs, static_cast<int>(exit_code::usage)), o.labs, labs);
  const auto open = plan.open_on(day);
  if (open.empty()) refuse("no lab is open on " + day + ": there is nothing to release yet");
  make_student_tree(tree, copy, labs, plan, day, times_of_all(c, labs, open));
  if (o.with_programs) {
    place_programs(c.where.build, copy, open);
    read_course(c, copy, copy / "build");
  }
  const std::size_t files = count_files(copy);
  const fs::path to = fs::absolute(o.folder).lexically_normal();
  const json commit = place_copy(copy, to, open, o);
  const auto changed = changed_files(c.where.own_root);
  c.busy.clear();
  json document = {{"copy", to.string()},     {"date", day},    {"labs", json::array()},
                   {"coming", json::array()}, {"files", files}, {"commit", commit},
                   {"not_committed", changed}};
  std::string names, coming;
  for (const auto& l : plan.labs) {
    if (l.is_open_on(day)) {
      document["labs"].push_back(l.name);
      names += (names.empty() ? "" : ", ") + l.name;
    } else {
      document["coming"].push_back({{"name", l.name}, {"opens", l.opens}});
      coming += (coming.empty() ? "" : ", ") + l.name + " (" + l.opens + ")";
    }
  }
  if (c.as_json) {
    c.print(document);
    return 0;
  }
  const std::string how = commit == json(nullptr)   ? "a folder"
                          : commit == json("none")  ? "nothing has changed since its last commit"
                          : commit == json("first") ? "a repository with one commit"
                                                    : "one more commit";
  c.say(fmt::format("{}: {} files, {}", c.out.paint(tone::place, to.string()), files, how));
  c.out.paragraph(names, 10, c.out.paint(tone::dim, "open"));
  if (!coming.empty()) c.out.paragraph(coming, 10, c.out.paint(tone::dim, "later"));
  if (!changed.empty())
    c.out.paragraph(
        fmt::format("{} has uncommitted changes{}: the copy contains only committed files",
                    changed[0],
                    changed.size() > 1 ? fmt::format(", and {} more", changed.size() - 1) : ""),
        10, c.out.paint(tone::note, "note"));
  return 0;
}

const verb release_verb(
    {verb_place::group::teaching, 10}, "release",
    "make a copy of the course for students, without the answers",
    "  ./lab release ../course-2026                       a repository: all labs, one commit\n"
    "  ./lab release ../course-2026 --labs autumn.toml    the labs that are open today; run it "
    "again later to add a commit\n"
    "  ./lab release ../copy --folder                     no repository\n"
    "  ./lab release ../course-2026 --with-programs       with compiled course programs\n"
    "  ./lab release grade.zip --gradescope reduction     an autograder for Gradescope\n\n"
    "autumn.toml:  [labs.first]\n"
    "              [labs.reduction]\n"
    "              opens = \"2026-10-15\"\n"
    "              due = \"2026-10-29\"\n"
    "              hint_parts = 3 # includes \"nearly the code\"",
    [](arguments& takes, release_options& o) {
      takes
          .add("DIR", o.folder,
               "the folder for the copy; a repository from an earlier release gets a commit")
          .required();
      takes.add("--labs", o.labs, "a file that lists the labs and when they open (all labs, now)");
      takes.add("--date", o.date, "release the labs that are open on this day (today, UTC)");
      takes.flag("--folder", o.plain, "write a folder instead of a repository");
      takes.flag(
          "--with-programs", o.with_programs,
          "include the programs of this build, so that the copy compiles only students' files");
      takes.add("--gradescope", o.gradescope,
                "a lab: write its autograder; DIR is then the zip file");
      takes.add("--key", o.key,
                "--gradescope: a key file, which decides the seeds and hidden sizes");
    },
    release);

}  // namespace
}  // namespace stepwise::cli

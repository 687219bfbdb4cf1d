// lab pack: puts a student's work into one archive: the .cu, the answers, and the grade that they
// get on this machine.
//
// idea    tar and gzip, which every Debian has, make the archive. Names are sorted, owner and mode
//         are fixed, and times are the files' own times, so the same work makes the same archive.
// watch   At the deadline, anything must be packable. A file that does not compile, is wrong, or
//         cannot be graded here is packed with a warning.
#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "grader/cli/context.hpp"
#include "grader/cli/grade/graded_file.hpp"
#include "grader/cli/own_progress.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/answers.hpp"
#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise::cli {
namespace {

struct pack_options {
  std::string lab, file, output;  // empty: the user's own file; ./LAB-USER.tar.gz
};

constexpr std::uint64_t seed = 7;  // the same every time, so that the grade repeats
constexpr double seconds_for_tar = 60;

struct packed_file {
  std::string name;
  std::string content;
  fs::file_time_type written;
};

// The user's name in characters that every file system and shell accepts. Empty if unknown.
std::string user_name() {
  const passwd* const entry = getpwuid(geteuid());
  const char* const variable = std::getenv("USER");
  std::string name = entry != nullptr ? entry->pw_name : variable != nullptr ? variable : "";
  std::erase_if(name, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return !letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.';
  });
  return name;
}

fs::path archive_for(const lab& l, const pack_options& o) {
  if (!o.output.empty()) return fs::absolute(o.output);
  const std::string user = user_name();
  return fs::absolute(l.name + (user.empty() ? "" : "-" + user) + ".tar.gz");
}

// Whether the file is an archive of this lab that `lab pack` made. Such a file may be replaced.
bool is_own_archive(const lab& l, const fs::path& archive) {
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(archive, ignored))) return false;
  child_options tar;
  tar.command = {"tar", "--list", "--gzip", "--force-local", "--file=" + archive.string()};
  tar.environment = {"TAR_OPTIONS", "GZIP", "LC_ALL=C"};
  const auto result = run_child(tar, seconds_for_tar);
  if (!result.end.ok()) return false;
  const auto names = split_lines(result.out);
  return std::ranges::count(names, l.name + "/grade.json") == 1 &&
         std::ranges::all_of(
             names, [&](const std::string& name) { return name.starts_with(l.name + "/"); });
}

void refuse_other_files(const context& c, const lab& l, const fs::path& archive) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(archive, ignored)) || is_own_archive(l, archive)) return;
  refuse(c.where.shown(archive) + " exists and is not an archive of this lab\n" +
         "Remove it, or choose another name: ./lab pack " + l.name + " --output FILE");
}

fs::path source_of(const context& c, const lab& l, const pack_options& o) {
  return o.file.empty() ? c.where.root / l.file : fs::absolute(o.file);
}

// The .cu and, if there are any, the answers next to it, under their names in the lab's folder.
// Throws failure(usage) if there is nothing to hand in.
std::vector<packed_file> read_work(const context& c, const lab& l, const fs::path& source) {
  std::vector<packed_file> files;
  const auto read = [&](const fs::path& at, const fs::path& as) {
    if (auto text = read_if_there(at)) {
      files.push_back({as.filename(), *std::move(text), fs::last_write_time(at)});
      return true;
    }
    return false;
  };
  const std::string shown = c.where.shown(source);
  if (!read(source, l.file)) {
    throw failure(exit_code::usage, shown + " does not exist, so there is nothing to hand in\n" +
                                        "`./lab start " + l.name + "` creates a new skeleton");
  }
  const std::string step = skeleton_of(c, l, files[0].content);
  const bool has_answers = read(source.parent_path() / l.answers().filename(), l.answers());
  const auto handout = whole_handout(c.where.root, l);
  const bool answered =
      has_answers && handout && count_answers(*handout, files[1].content).answered > 0;
  if (!step.empty() && !answered) {
    throw failure(exit_code::usage,
                  shown + " is the untouched skeleton of " + step +
                      ", and you answered no question, so there is nothing to hand in\n" +
                      "`./lab hint " + l.name + "` helps you to begin");
  }
  return files;
}

// The document of grade --json, or the document of the failure if nothing can be graded.
json grade_of(context& c, const lab& l, const pack_options& o) {
  grade_options options;
  options.practice = true;  // only an indication: the instructor grades again
  options.lab = l.name;
  options.file = o.file;
  options.seed = seed;
  try {
    return graded_json(c, grade_file(c, l, options), l);
  } catch (const interrupted&) {
    throw;
  } catch (const failure& error) {
    return {{"error", error.what()}, {"exit_code", static_cast<int>(error.code())}};
  }
}

std::string archived(const lab& l, const std::vector<packed_file>& files) {
  const temporary_folder work(fs::temp_directory_path());
  child_options tar;
  const fs::path to = work.path() / "archive";
  tar.command = {"tar",
                 "--create",
                 "--file=" + to.string(),
                 "--force-local",
                 "--use-compress-program=gzip -n",
                 "--format=ustar",
                 "--owner=0",
                 "--group=0",
                 "--numeric-owner",
                 "--mode=0644",
                 "--directory=" + work.path().string()};
  tar.environment = {"TAR_OPTIONS", "GZIP", "LC_ALL=C"};
  for (const auto& file : files) {
    const fs::path at = work.path() / l.name / file.name;
    write_atomically(at, file.content);
    fs::last_write_time(at, file.written);
    tar.command.push_back(l.name + "/" + file.name);
  }
  const auto result = run_child(tar, seconds_for_tar);
  const auto content = read_if_there(to);
  if (!result.end.ok() || !content) {
    const auto lines = escaped_lines(result.err, 5, 300);
    std::string said;
    for (const auto& line : lines) said += "\n" + line;
    throw failure(exit_code::environment,
                  "tar cannot create the archive in " + work.path().parent_path().string() +
                      "; check that the disk has free space and that tar and gzip are installed" +
                      said);
  }
  return *content;
}

void remember_packed(const context& c, const lab& l, const std::vector<packed_file>& files,
                     const json& grade) {
  const auto source = std::ranges::find(files, l.file.filename().string(), &packed_file::name);
  lab_progress seen{hash_of_text(source->content), "pack", "", utc_now(), {}, 0, 0, {}, {}};
  seen.packed = seen.text;
  seen.verdict = grade.value("class", "INFRA");
  if (grade.contains("goals") && grade.at("points").is_number()) {
    seen.text_of_goals = seen.text;
    seen.points = grade.at("points").get<double>();
    for (const json& goal : grade.at("goals"))
      if (goal.at("passed") == true) seen.met.push_back(goal.at("name").get<std::string>());
  }
  remember(c.where.root, c.where.build, l.name, std::move(seen));
}

void show(context& c, const fs::path& archive, std::size_t bytes, const json& grade, const lab& l) {
  c.out.paragraph(
      fmt::format("packed {} ({}): {}/{}.cu, answers.md, grade.json", c.where.shown(archive),
                  bytes_text(static_cast<double>(bytes)), l.name, l.name),
      2, "");
  const auto warn = [&](const std::string& text) { c.out.paragraph(text, 2, "", tone::note); };
  if (grade.contains("error")) {
    warn("It was packed without points, because it could not be graded here: " +
         grade["error"].get<std::string>());
    return;
  }
  const std::string what = grade["class"];
  if (grade["answers"].is_null()) {
    warn("It contains no answers.md.");
  } else {
    const json& beyond = grade["answers"]["deeper"];
    c.say(fmt::format("  {} of {} questions answered, and {} of {} in {}",
                      grade["answers"]["answered"].get<int>(),
                      grade["answers"]["questions"].get<int>(), beyond["answered"].get<int>(),
                      beyond["questions"].get<int>(), l.deeper().string()));
  }
  if (what == "COMPILE") {
    warn("It was packed although it does not compile. In this state it earns no points: " +
         escaped_lines(grade["message"].get<std::string>(), 1, 300).at(0));
  } else if (grade["points"].is_null()) {
    warn("It was packed without points, because it could not be graded here: " +
         escaped_lines(grade["message"].get<std::string>(), 1, 300).at(0));
  } else {
    c.say(fmt::format(
        "  {}, {}", what,
        points_text(grade["points"].get<double>(), grade["max_points"].get<double>(), l.points())));
  }
}

int pack(context& c, const pack_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  const fs::path archive = archive_for(l, o);
  refuse_other_files(c, l, archive);
  const fs::path source = source_of(c, l, o);
  auto files = read_work(c, l, source);
  const json grade = grade_of(c, l, o);
  const auto now = read_if_there(source);
  if (!now || *now != files[0].content) {
    throw failure(
        exit_code::usage,
        c.where.shown(source) +
            " was changed while it was graded, so nothing was packed\nrun the command again");
  }
  const auto newest =
      std::max_element(files.begin(), files.end(),
                       [](const auto& a, const auto& b) { return a.written < b.written; });
  files.push_back({"grade.json", json_text(grade, 2) + "\n", newest->written});
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const std::string content = archived(l, files);
  refuse_other_files(c, l, archive);
  write_atomically(archive, content);
  if (o.file.empty()) remember_packed(c, l, files, grade);
  if (c.as_json) {
    json document = {{"lab", l.name},
                     {"archive", archive.string()},
                     {"bytes", content.size()},
                     {"files", json::array()},
                     {"grade", grade}};
    for (const auto& file : files) document["files"].push_back(l.name + "/" + file.name);
    c.print(document);
  } else {
    show(c, archive, content.size(), grade, l);
    if (o.file.empty()) show_next(c, l);
  }
  return 0;
}

const verb pack_verb(
    {verb_place::group::write, 60}, "pack", "create the archive that you hand in",
    "  ./lab pack reduction                       reduction-USER.tar.gz, in this folder\n"
    "  ./lab pack reduction --output mine.tar.gz  another name\n"
    "  ./lab pack reduction --file try.cu         another file, and the answers.md next to it\n"
    "  tar -tvzf mine.tar.gz                      list its contents\n\n"
    "A file that does not compile or cannot be graded here is packed with a warning.\n"
    "An earlier archive of the lab with the same name is replaced.",
    [](arguments& takes, pack_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add("--output", o.output, "the archive's name (reduction-USER.tar.gz)");
    },
    pack);

}  // namespace
}  // namespace stepwise::cli

// Selects the files of a student copy, and derives its README and the files that replace solutions.
#include "grader/release/copy.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "grader/course/answers.hpp"
#include "grader/course/source.hpp"
#include "grader/release/texts.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

constexpr int ours = static_cast<int>(exit_code::ours);

void write_file(const fs::path& file, std::string_view text) {
  make_folder(file.parent_path());
  write_atomically(file, text);
}

bool has_lab(const std::vector<released_lab>& labs, const std::string& name) {
  return std::any_of(labs.begin(), labs.end(),
                     [&](const released_lab& one) { return one.name == name; });
}

// Throws failure(ours) if there is none.
const lab& lab_of(const std::vector<lab>& labs, const released_lab& entry) {
  const auto found =
      std::find_if(labs.begin(), labs.end(), [&](const lab& l) { return l.name == entry.name; });
  if (found == labs.end())
    throw failure(exit_code::ours, "the committed course has no lab " + entry.name);
  return *found;
}

// A pattern per open lab, or the single pattern. Empty for a lab that is not open.
std::vector<std::string> for_labs(const std::string& pattern, const std::vector<released_lab>& open,
                                  const std::set<std::string>& all) {
  std::vector<std::string> patterns;
  const auto at = pattern.find("LAB/");
  if (at == std::string::npos) {
    const auto name =
        pattern.starts_with("labs/") ? pattern.substr(5, pattern.find('/', 5) - 5) : std::string{};
    if (!all.contains(name) || has_lab(open, name)) patterns.push_back(pattern);
    return patterns;
  }
  for (const auto& l : open) patterns.push_back(std::string(pattern).replace(at, 3, l.name));
  return patterns;
}

std::vector<fs::path> files_of(const fs::path& tree) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(tree))
    if (entry.is_regular_file()) files.push_back(entry.path().lexically_relative(tree));
  std::sort(files.begin(), files.end());
  return files;
}

// The experiment's position in a student copy.
fs::path given_experiment(const lab& l, const experiment& e) {
  return l.given() / "experiments" / (e.name + ".cu");
}

std::set<std::string> skeletons_of(const lab& l, const released_lab& entry) {
  std::set<std::string> names(entry.skeletons.begin(), entry.skeletons.end());
  names.insert(l.skeleton);
  return names;
}

void copy_given(const fs::path& tree, const fs::path& to, const lab& l, const released_lab& entry,
                given_times times) {
  const fs::path given = to / l.given();
  write_file(given / "steps.txt", student_steps(l.steps));
  for (const std::string& name : skeletons_of(l, entry)) {
    const auto skeleton = skeleton_text(tree, l, find_step(l, name));
    if (!skeleton) throw failure(exit_code::ours, "there is no step " + name + " of " + l.name);
    write_file(given / (name + ".cu"), *skeleton);
    times.skeletons[name] = content_hash().add(*skeleton).hex();
    if (name == l.skeleton) write_file(to / l.file, *skeleton);
  }
  write_file(given / "times.json", text_of(times));
  for (const experiment& e : l.sweeps.experiments) {
    if (!e.is_given) continue;
    write_file(to / given_experiment(l, e), read_file(tree / l.experiment_file(e.name), ours));
  }
}

// The table of labs in the copy's README.md.
std::string labs_table(const std::vector<lab>& labs, const release_plan& plan,
                       const std::string& day) {
  std::string table = "| lab | | open | due |\n|---|---|---|---|\n";
  for (const released_lab& entry : plan.labs) {
    const bool is_open = entry.is_open_on(day);
    const std::string name =
        is_open ? fmt::format("[{0}](labs/{0}/README.md)", entry.name) : entry.name;
    table += fmt::format("| {} | {} | {} | {} |\n", name, lab_of(labs, entry).title,
                         is_open ? "yes" : "from " + entry.opens, entry.due);
  }
  return table;
}

std::string with_field(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  if (at == std::string::npos)
    throw failure(exit_code::ours, "a text of the copy does not contain " + what);
  return text.replace(at, what.size(), by);
}

// `<lab>` in the README's commands becomes the first open lab. Explanations stay in their column.
std::string with_lab(std::string text, const std::string& lab) {
  static const std::string field = "<lab>";
  for (auto at = text.find(field); at != std::string::npos;
       at = text.find(field, at + lab.size())) {
    text.replace(at, field.size(), lab);
    const auto end = text.find_first_of(" \n", at);
    const auto gap = text.find_first_not_of(' ', end) - end;
    if (gap < 2) continue;
    const auto wanted = gap + field.size();
    text.replace(end, gap, std::string(wanted > lab.size() + 2 ? wanted - lab.size() : 2, ' '));
  }
  return text;
}

// For `lab list` in the copy: every lab of the plan, including labs that are not open.
std::string calendar_text(const release_plan& plan) {
  std::string text = "# When the labs of this course open and are due.\n";
  for (const released_lab& l : plan.labs) {
    text += "\n[labs." + l.name + "]\n";
    if (!l.opens.empty()) text += "opens = \"" + l.opens + "\"\n";
    if (!l.due.empty()) text += "due = \"" + l.due + "\"\n";
  }
  return text;
}

}  // namespace

std::vector<fs::path> student_files(const fs::path& tree, const std::string& list,
                                    const std::vector<lab>& labs,
                                    const std::vector<released_lab>& open) {
  const auto files = files_of(tree);
  std::set<std::string> all;
  for (const lab& l : labs) all.insert(l.name);
  std::set<fs::path> chosen;
  for (const std::string& line : split_lines(list)) {
    std::string pattern(trimmed(line));
    if (pattern.empty() || pattern[0] == '#') continue;
    const bool takes_out = pattern.starts_with("- ");
    if (takes_out) pattern = trimmed(std::string_view(pattern).substr(2));
    for (const std::string& one : for_labs(pattern, open, all)) {
      bool matches = false;
      for (const fs::path& file : files) {
        if (fnmatch(one.c_str(), file.c_str(), 0) != 0) continue;
        matches = true;
        if (takes_out)
          chosen.erase(file);
        else
          chosen.insert(file);
      }
      if (!matches) throw failure(exit_code::ours, "student.txt: no file matches " + one);
    }
  }
  return {chosen.begin(), chosen.end()};
}

void make_student_tree(const fs::path& tree, const fs::path& to, const std::vector<lab>& labs,
                       const release_plan& plan, const std::string& day,
                       const std::map<std::string, given_times>& times) {
  const auto open = plan.open_on(day);
  const fs::path own = fs::path("grader") / "release";
  const auto files = student_files(tree, read_file(tree / own / "student.txt", ours), labs, open);
  std::set<fs::path> taken(files.begin(), files.end());
  std::vector<std::pair<std::string, std::string>> moved;  // programs that students receive
  for (const lab& l : labs) {
    if (!has_lab(open, l.name)) continue;
    for (const experiment& e : l.sweeps.experiments) {
      if (!e.is_given) continue;
      const fs::path now = given_experiment(l, e);
      moved.emplace_back(l.experiment_file(e.name), now);
      taken.insert(now);
    }
  }
  taken.insert("README.md");
  for (const released_lab& entry : open)
    for (const std::string& name : skeletons_of(lab_of(labs, entry), entry))
      taken.insert(lab_of(labs, entry).given() / (name + ".cu"));
  const copy_files in_copy(std::move(taken));
  for (const fs::path& file : files) {
    if (file.native().starts_with((own / "student").native())) continue;
    make_folder((to / file).parent_path());
    if (file.extension() == ".md") {
      std::string text = read_file(tree / file, ours);
      for (const auto& [was, now] : moved) replace_all(text, was, now);
      write_file(to / file, student_markdown(text, file, in_copy));
    } else {
      fs::copy_file(tree / file, to / file);
    }
  }
  // The copy's own files, which are at the same position below student/.
  for (const fs::path& file : files_of(tree / own / "student")) {
    make_folder((to / file).parent_path());
    fs::copy_file(tree / own / "student" / file, to / file);
  }
  for (const released_lab& entry : open) {
    const lab& l = lab_of(labs, entry);
    copy_given(tree, to, l, entry, times.at(l.name));
    write_file(to / l.answers(), derive_answers(*whole_handout(to, l), l.name));
    write_file(to / l.hints(), shorter_hints(read_file(to / l.hints(), ours), entry.hint_parts));
  }
  write_file(to / "labs" / "calendar.toml", calendar_text(plan));
  std::string readme = read_file(to / "README.md", ours);
  readme = with_field(readme, "<!-- course -->", plan.course.empty() ? "Stepwise" : plan.course);
  readme = with_field(readme, "<!-- labs -->\n", labs_table(labs, plan, day));
  if (!open.empty()) readme = with_lab(std::move(readme), open.front().name);
  write_file(to / "README.md", readme);
}

}  // namespace stepwise

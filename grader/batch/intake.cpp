// Sorts members by owner, opens their archives, and chooses the file to grade.
#include "grader/batch/intake.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "grader/batch/claims.hpp"
#include "grader/batch/look_alike.hpp"
#include "grader/batch/member.hpp"
#include "grader/batch/metadata.hpp"
#include "grader/batch/names.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::batch {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t most_of_a_file = mebibyte, most_of_an_archive = 64 * mebibyte,
                        most_of_a_timestamp = 200;
constexpr std::size_t most_left_out = 100, most_alike = 4;

// Files that systems and editors add to people's files.
bool is_junk(std::string_view path) {
  const std::string base = base_name(path);
  return base.starts_with("._") || base == ".DS_Store" || base == "Thumbs.db" ||
         base == "desktop.ini" || path.find("__MACOSX/") != std::string_view::npos ||
         path.starts_with(".git/") || path.find("/.git/") != std::string_view::npos;
}

// A file that may be the one to grade.
struct candidate {
  std::string name, content;
  std::string path;       // in the archive or folder that was submitted
  std::string timestamp;  // path of the platform's note of its time; empty: none
};

// The files of one person.
struct heap {
  struct part {
    member what;
    std::string file, time, timestamp;
  };
  std::string name;
  std::optional<bool> late;
  std::vector<part> parts;
};

struct refusal {
  std::string why;
};

class reading {
 public:
  reading(results& into, const intake_options& options, const intake_tools& tools)
      : into_(into), options_(options), tools_(tools), space_(into.folder()) {}

  intake run() {
    members found = open_source();
    sort(found);
    if (heaps_.empty()) {
      throw failure(exit_code::usage,
                    options_.source.string() +
                        ": it contains no file whose name identifies its owner\n" +
                        "describe the file names with --names, for example \"{id}/{file}\"");
    }
    intake done;
    std::map<std::string, std::vector<std::string>> looks;
    for (const auto& [id, h] : heaps_) looks[look_of(id)].push_back(id);
    for (auto& [id, h] : heaps_) {
      tools_.doing("reading the files of " + shown(id));
      tools_.tick();
      submission s = read(id, h);
      // Both ids keep their submissions, because only a person can know which name is the real one.
      std::size_t named = 0;
      for (const auto& other : looks[look_of(id)])
        if (other != id && named++ < most_alike)
          s.notes.push_back("resembles " + shown(other) + ", another id");
      ++done.submissions;
      if (!s.refused.empty()) ++done.refused;
      into_.write(s);
    }
    done.info = into_.info();
    done.info.source = options_.source.string();
    done.info.names = pattern_text_;
    done.info.due = options_.due;
    done.info.left_out = left_out_;
    into_.write(done.info);
    return done;
  }

 private:
  members open_source() {
    std::error_code error;
    if (fs::is_directory(options_.source, error)) return read_folder(options_.source);
    if (!fs::is_regular_file(options_.source, error)) {
      throw failure(exit_code::usage,
                    options_.source.string() + ": there is no such folder, zip or tar");
    }
    tools_.doing("unpacking " + options_.source.filename().string());
    members found =
        unpack(options_.source, {std::uint64_t{4} << 30, most_of_an_archive, 100'000, {}});
    if (!found.broken.empty()) {
      throw failure(exit_code::usage,
                    options_.source.string() + " cannot be read: " + shown(found.broken));
    }
    // Windows writes backslashes. In a folder on this machine, a backslash is part of a name.
    for (auto& m : found.all) std::replace(m.path.begin(), m.path.end(), '\\', '/');
    return found;
  }

  members unpack(const fs::path& archive, const archive_limits& limits) {
    // The reader runs in another folder, in a sandbox, so its paths are absolute and contain
    // neither links nor "..".
    const fs::path to = fs::canonical(space_.path()) / std::to_string(++unpacked_);
    make_folder(to);
    return read_archive(fs::canonical(archive), to, limits, tools_.script, tools_.guards,
                        tools_.tick);
  }

  void leave_out(const std::string& path, const std::string& why) {
    if (left_out_.size() < most_left_out) left_out_.push_back(shown(path) + ": " + why);
  }

  void sort(members& found) {
    std::vector<member> mine;
    for (auto& m : found.all) {
      if (is_junk(m.path)) continue;
      if (!is_tame(m.path)) {
        leave_out(m.path, "its name " + why_wild(m.path));
      } else {
        mine.push_back(std::move(m));
      }
    }
    if (!found.broken.empty()) leave_out(options_.source.string(), found.broken);
    if (!options_.one.empty()) {
      for (auto& m : mine) heaps_[options_.one].parts.push_back({m, m.path, "", ""});
      return;
    }
    if (!options_.times.empty()) {
      times_by_id_ = time_table(read_file(options_.times, static_cast<int>(exit_code::usage)),
                                options_.times.string());
    }
    std::stable_sort(mine.begin(), mine.end(),
                     [](const member& a, const member& b) { return a.path < b.path; });
    const name_pattern pattern = pattern_of(mine);
    pattern_text_ = pattern.text();
    const std::size_t above = pattern.text() == "plain" ? length_of_wrapper(paths_of(mine)) : 0;
    const claims whose(mine, pattern, above);
    // Reports that students must not be able to displace from the list come first.
    const auto reports = whose.reports();
    left_out_.insert(left_out_.begin(), reports.begin(), reports.end());
    left_out_.insert(left_out_.end(), whose.left_out().begin(), whose.left_out().end());
    if (left_out_.size() > most_left_out) left_out_.resize(most_left_out);
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const auto& claim = whose.all()[i];
      if (!claim) continue;
      if (claim->submitted) times_by_id_.try_emplace(claim->id, *claim->submitted);
      heap& h = heaps_[claim->id];
      h.name = claim->name;
      if (claim->late) h.late = h.late.value_or(false) || *claim->late;
      h.parts.push_back({std::move(mine[i]), claim->file, claim->time, claim->timestamp});
    }
  }

  static std::vector<std::string> paths_of(const std::vector<member>& all) {
    std::vector<std::string> paths;
    for (const auto& m : all) paths.push_back(m.path);
    return paths;
  }

  // If the source itself is nbgrader's folder "submitted", its name belongs to the layout.
  name_pattern pattern_of(std::vector<member>& all) const {
    const std::string& asked = options_.names;
    const fs::path source = (fs::absolute(options_.source) / "").lexically_normal().parent_path();
    if (source.filename() == "submitted" && (asked.empty() || asked == "nbgrader")) {
      std::vector<std::string> paths;
      for (const auto& m : all) paths.push_back("submitted/" + m.path);
      if (pattern_for(paths).text() == "nbgrader") {
        for (std::size_t i = 0; i < all.size(); ++i) all[i].path = std::move(paths[i]);
        return name_pattern("nbgrader");
      }
    }
    return asked.empty() ? pattern_for(paths_of(all)) : name_pattern(asked);
  }

  // The length of the name of the folder that contains everything, with its slash. 0 if there is no
  // such folder, or if it is one person's work.
  std::size_t length_of_wrapper(const std::vector<std::string>& paths) const {
    if (paths.empty() || paths[0].find('/') == std::string::npos) return 0;
    const std::string first = paths[0].substr(0, paths[0].find('/') + 1);
    std::size_t deep = 0, files = 0;
    std::set<std::string> entries;
    for (const auto& path : paths) {
      if (!path.starts_with(first)) return 0;
      const std::string rest = path.substr(first.size());
      if (lower_case(rest) == into_.info().lab + ".cu" || lower_case(rest) == "answers.md")
        return 0;
      if (rest.find('/') != std::string::npos) ++deep;
      entries.insert(rest.substr(0, rest.find('/')));
      if (rest.ends_with(".cu") || is_archive(rest)) ++files;
    }
    const bool holds_people = deep == paths.size() || files > 1;
    // A single folder in a folder is one person's work that contains a folder.
    return holds_people && entries.size() > 1 ? first.size() : 0;
  }

  submission read(const std::string& id, heap& h) {
    submission s;
    s.id = id;
    s.name = h.name;
    s.late = h.late;
    const std::string& lab = into_.info().lab;
    try {
      take_latest(h, s);
      std::vector<candidate> sources, answers;
      const auto noted = noted_times(h);
      for (const auto& [path, time] : noted) s.time = std::max(s.time, time);
      for (const auto& part : h.parts) {
        const std::size_t before = sources.size();
        collect(part, sources, answers, s);
        for (std::size_t i = before; i < sources.size(); ++i) sources[i].timestamp = part.timestamp;
      }
      const candidate& chosen = choose(sources, s);
      // Other assignments of this person have different times.
      if (const auto own = noted.find(chosen.timestamp); own != noted.end()) s.time = own->second;
      s.file = chosen.name;
      s.sha256 = into_.keep(chosen.content, lab + ".cu");
      if (!answers.empty()) {
        const candidate& last = answers.back();
        if (answers.size() > 1) s.notes.push_back("several answers.md files; used: " + last.name);
        s.answers_sha256 = into_.keep(last.content, "answers.md");
      }
    } catch (const refusal& why) {
      s.refused = why.why;
    }
    set_time(id, s);
    return s;
  }

  // The last of several attempts counts.
  static void take_latest(heap& h, submission& s) {
    std::string last;
    for (const auto& part : h.parts) last = std::max(last, part.time);
    const auto earlier =
        std::erase_if(h.parts, [&](const auto& part) { return part.time != last; });
    if (earlier > 0)
      s.notes.push_back("files of earlier attempts that were left out: " + std::to_string(earlier));
    if (!last.empty()) s.time = time_of(last);
  }

  // The platform's notes of times, by the path of the note.
  static std::map<std::string, std::optional<std::int64_t>> noted_times(const heap& h) {
    std::map<std::string, std::optional<std::int64_t>> times;
    for (const auto& part : h.parts) {
      if (part.what.path != part.timestamp || part.what.content.empty()) continue;
      if (const auto text = read_bounded(part.what.content, most_of_a_timestamp, false))
        times[part.timestamp] = time_of(text->substr(0, text->find_last_not_of(" \r\n") + 1));
    }
    return times;
  }

  void set_time(const std::string& id, submission& s) const {
    if (const auto known = times_by_id_.find(id); known != times_by_id_.end())
      s.time = known->second;
    if (!options_.one.empty() && options_.submitted) s.time = options_.submitted;
    if (s.time && options_.due) {
      s.late_s = std::max<std::int64_t>(0, *s.time - *options_.due);
      s.late = *s.late_s > 0;
    }
  }

  void collect(const heap::part& part, std::vector<candidate>& sources,
               std::vector<candidate>& answers, submission& s) {
    const member& m = part.what;
    const std::string name = shown(base_name(part.file));
    if (m.what == member::kind::link) throw refusal{name + " is a link"};
    if (m.what == member::kind::device) throw refusal{name + " is not a regular file"};
    if (is_archive(part.file)) return open(part, sources, answers, s);
    take(m, part.file, sources, answers, s);
  }

  // Classifies a file by its name: a source, answers, or irrelevant here.
  void take(const member& m, const std::string& file, std::vector<candidate>& sources,
            std::vector<candidate>& answers, submission& s) const {
    const std::string base = lower_case(base_name(file));
    const bool is_source = base.ends_with(".cu");
    const bool is_answers = base.ends_with(".md") && base.find("answers") != std::string::npos;
    if (!is_source && !is_answers) return;
    const std::string name = shown(base_name(file));
    if (m.content.empty() || m.bytes > most_of_a_file) {
      if (is_source) throw refusal{name + " has more than 1 MB"};
      s.notes.push_back(name + " has more than 1 MB and was ignored");
      return;
    }
    auto content = read_bounded(m.content, most_of_a_file, false);
    if (!content) throw refusal{name + " cannot be read"};
    (is_source ? sources : answers).push_back({name, *std::move(content), shown(file), ""});
  }

  void open(const heap::part& part, std::vector<candidate>& sources,
            std::vector<candidate>& answers, submission& s) {
    const std::string name = shown(base_name(part.file));
    if (part.what.content.empty() || part.what.bytes > most_of_an_archive)
      throw refusal{name + " has more than 64 MB"};
    const auto found =
        unpack(part.what.content, {most_of_an_archive, most_of_a_file, 2000, {".cu", ".md"}});
    for (const auto& m : found.all) {
      if (!is_tame(m.path))
        throw refusal{name + " contains a file whose name " + why_wild(m.path) + ": " +
                      shown(m.path)};
      if (is_junk(m.path)) continue;
      if (m.what == member::kind::link) throw refusal{name + " contains a link: " + shown(m.path)};
      if (m.what == member::kind::device)
        throw refusal{name + " contains an entry that is not a file: " + shown(m.path)};
      if (is_archive(m.path))
        s.notes.push_back(name + " contains another archive, " + shown(m.path));
      take(m, m.path, sources, answers, s);
    }
    if (!found.broken.empty()) throw refusal{name + ": " + shown(found.broken)};
  }

  // Platforms and browsers rename reduction.cu to "reduction-2.cu" or "reduction (1).cu".
  static int copy_number(std::string_view file, const std::string& lab) {
    const std::string stem = lower_case(file.substr(0, file.size() - 3));
    if (!stem.starts_with(lab)) return -1;
    std::string digits;
    for (const char c : stem.substr(lab.size())) {
      if (c >= '0' && c <= '9') {
        digits += c;
      } else if (c != '-' && c != '_' && c != ' ' && c != '(' && c != ')') {
        return -1;
      }
    }
    return digits.empty() ? 0 : digits.size() > 4 ? -1 : std::stoi(digits);
  }

  const candidate& choose(std::vector<candidate>& sources, submission& s) const {
    const std::string& lab = into_.info().lab;
    if (sources.empty()) throw refusal{"the submission contains no .cu file"};
    if (sources.size() == 1) return sources[0];
    const candidate* best = nullptr;
    int highest = -1;
    bool twice = false;
    for (const auto& one : sources) {
      const int number = copy_number(one.name, lab);
      if (number < 0 || number < highest) continue;
      if (number > highest) {
        best = &one;
        twice = false;
      } else if (best->content != one.content) {
        twice = true;
      }
      highest = number;
    }
    std::string names;
    for (const auto& one : sources) {
      const bool is_unique = std::ranges::count(sources, one.name, &candidate::name) == 1;
      names += (names.empty() ? "" : ", ") + (is_unique ? one.name : one.path);
    }
    if (best == nullptr || twice) {
      throw refusal{"several .cu files, and it is unclear which of them is " + lab +
                    ".cu: " + shown(names)};
    }
    s.notes.push_back("several .cu files; used: " + best->name + ", of " + shown(names));
    return *best;
  }

  results& into_;
  const intake_options& options_;
  const intake_tools& tools_;
  temporary_folder space_;
  int unpacked_ = 0;
  std::string pattern_text_;
  std::map<std::string, heap> heaps_;
  std::map<std::string, submission_facts> gradescope_;
  std::map<std::string, std::int64_t> times_by_id_;
  std::vector<std::string> left_out_;
};

}  // namespace

intake read_submissions(results& into, const intake_options& options, const intake_tools& tools) {
  return reading(into, options, tools).run();
}

}  // namespace stepwise::batch

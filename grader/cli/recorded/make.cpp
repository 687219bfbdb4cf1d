// One call in a process with the recorder on; one file for each recording that the course lists.
#include "grader/cli/recorded/make.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "grader/cli/recorded/choice.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/model/kept_times.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

// From the course's root, wherever the program was built.
std::string path_in_course(const context& c, const fs::path& path) {
  for (auto from = path.begin(); from != path.end(); ++from) {
    fs::path rest;
    for (auto part = from; part != path.end(); ++part) rest /= *part;
    if (!rest.is_absolute() && fs::exists(c.where.root / rest)) return rest.string();
  }
  return path.string();
}

// A line of recorded.txt: the step, and the words of STEPWISE_RECORD_OF.
std::vector<std::pair<std::string, std::string>> list_of(const fs::path& root,
                                                         const std::string& lab_name) {
  std::vector<std::pair<std::string, std::string>> list;
  std::istringstream lines(
      read_if_there(root / "solutions" / lab_name / "recorded.txt").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto space = line.find(' ');
    list.emplace_back(line.substr(0, space),
                      space == std::string::npos ? "" : line.substr(space + 1));
  }
  return list;
}

// A recording shows lines of the step's file and of the parts that it includes.
void add_sources(content_hash& hash, const context& c, const lab& l, const std::string& step) {
  std::vector<fs::path> files = {c.where.root / find_step(l, step).file};
  std::error_code none;
  for (const auto& part : fs::directory_iterator(files[0].parent_path() / "parts", none))
    files.push_back(part.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) hash.add(read_if_there(file).value_or(""));
}

}  // namespace

std::optional<warp_recording> record_call(context& c, const lab& l, const subject& s,
                                          const recorded_call& call, const std::string& step) {
  const problem& p = problem_of(l, c.where);
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  const lab_size size = figure_size(l, emulator, parse_size(l, p, call.size));
  std::vector<problem_call> calls = {p.make_call(size, call.seed)};
  const temporary_folder folder(fs::temp_directory_path());
  const call_file file(calls, {planned_call{}});
  session_options options = options_for(emulator, 12 * l.time_limit_s, file.bytes());
  options.recording = folder.path() / "recording";
  options.recorded = call.words;
  const auto runner = start_session(s.program, emulator, file, options);
  const call_outcome found = runner->call(0);
  runner->finish(30);
  if (!fs::exists(options.recording)) {
    if (!found.ok()) throw failure(exit_code::student, found.message);
    return {};
  }
  warp_recording r = read_recording(options.recording);
  for (auto& f : r.files) f.path = path_in_course(c, f.path);
  r.origin["lab"] = l.name;
  r.origin[step.empty() ? "file" : "step"] = step.empty() ? s.shown : step;
  r.origin["size"] = calls[0].label;
  return r;
}

std::vector<std::string> listed_recordings(const fs::path& root, const std::string& lab_name) {
  std::vector<std::string> steps;
  for (const auto& [step, words] : list_of(root, lab_name)) steps.push_back(step);
  return steps;
}

bool is_listed_recording(const fs::path& root, const std::string& lab_name,
                         const std::string& step) {
  const auto steps = listed_recordings(root, lab_name);
  return std::find(steps.begin(), steps.end(), step) != steps.end();
}

fs::path course_recording(context& c, const lab& l, const std::string& step) {
  const auto list = list_of(c.where.root, l.name);
  const auto listed =
      std::find_if(list.begin(), list.end(), [&](const auto& line) { return line.first == step; });
  if (listed == list.end())
    refuse(
        fmt::format("{} is not recorded. Record it first: ./lab record {} {} --out a.json, then "
                    "./lab play a.json",
                    step, l.name, step));
  const subject s = prepare(c, l, "", step);
  if (s.program.empty())
    throw failure(exit_code::ours, step + " does not compile: " + s.compile_errors.at(0));

  content_hash hash;
  hash.add(hash_of_emulator(c.where, choose_device(device_request::emulated, c.where)))
      .add(read_if_there(s.program).value_or(""))
      .add(listed->second);
  add_sources(hash, c, l, step);
  const fs::path folder = c.where.build / "recorded";
  const std::string name = l.name + "-" + step + "-";
  const fs::path file = folder / (name + hash.hex() + ".json");
  if (fs::exists(file)) return file;

  auto r = record_call(c, l, s, {.size = {}, .words = listed->second}, step);
  if (!r) throw failure(exit_code::ours, step + " has fewer launches than recorded.txt says");
  r->origin["command"] = "./lab play " + l.name + " " + step;
  fs::create_directories(folder);
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(name)) fs::remove(entry.path());
  write_atomically(file, recording_text(*r));
  return file;
}

}  // namespace stepwise::cli

// Makes one call in a process with the recorder on. Writes one file per listed recording.
#include "grader/cli/recorded/make.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "grader/cli/recorded/choice.hpp"
#include "grader/course/given.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/model/kept_times.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

// The path relative to the course's root, wherever the program was built.
std::string path_in_course(const context& c, const fs::path& path) {
  for (auto from = path.begin(); from != path.end(); ++from) {
    fs::path rest;
    for (auto part = from; part != path.end(); ++part) rest /= *part;
    if (!rest.is_absolute() && fs::exists(c.where.root / rest)) return rest.string();
  }
  return path.string();
}

// A recording shows lines of the step's file and of the parts that it includes.
void add_sources(content_hash& hash, const context& c, const step& s) {
  std::vector<fs::path> files = {c.where.root / s.file};
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

fs::path course_recording(context& c, const lab& l, const step& s) {
  worked_step(l, s.name);
  if (!s.recording)
    refuse(fmt::format(
        "{} is not recorded. Record it first: ./lab dev record {} {} --out a.json, then "
        "./lab play a.json",
        s.name, l.name, s.name));
  const subject made = prepare(c, l, "", s.name);
  if (made.program.empty())
    throw failure(exit_code::ours, s.name + " does not compile: " + made.compile_errors.at(0));

  content_hash hash;
  hash.add(hash_of_emulator(c.where, choose_device(device_request::emulated, c.where)))
      .add(read_if_there(made.program).value_or(""))
      .add(*s.recording);
  add_sources(hash, c, s);
  const fs::path folder = c.where.build / "recorded";
  const std::string name = l.name + "-" + s.name + "-";
  const fs::path file = folder / (name + hash.hex() + ".json");
  if (fs::exists(file)) return file;

  auto r = record_call(c, l, made, {.size = {}, .words = *s.recording}, s.name);
  if (!r) throw failure(exit_code::ours, s.name + " has fewer launches than recorded.txt lists");
  r->origin["command"] = "./lab play " + l.name + " " + s.name;
  fs::create_directories(folder);
  // Another process may have made the same file and be reading it now, so only older files are
  // removed.
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path() != file && entry.path().filename().string().starts_with(name))
      fs::remove(entry.path());
  write_atomically(file, recording_text(*r));
  return file;
}

}  // namespace stepwise::cli

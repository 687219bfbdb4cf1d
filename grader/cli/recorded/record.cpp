// lab record: what chosen warps of a call do, instruction by instruction, as a file to play.
#include <fmt/core.h>

#include "common/report/recording.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/recorded/choice.hpp"
#include "grader/cli/verb.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/judge/session.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct record_options : recorded_choice {
  std::string lab, step, file, size, out;
  std::uint64_t seed = 7;
  bool record = false;
};

// From the course's root, wherever the program was built.
std::string path_in_course(const context& c, const fs::path& path) {
  for (auto from = path.begin(); from != path.end(); ++from) {
    fs::path rest;
    for (auto part = from; part != path.end(); ++part) rest /= *part;
    if (!rest.is_absolute() && fs::exists(c.where.root / rest)) return rest.string();
  }
  return path.string();
}

// Makes one call with the recorder on, and gives the recording what it is of.
warp_recording record_call(context& c, const lab& l, const subject& s, const record_options& o,
                           const std::string& step) {
  const problem& p = problem_of(l);
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  const lab_size size = figure_size(l, emulator, parse_size(l, p, o.size));
  std::vector<problem_call> calls = {p.make_call(size, o.seed)};
  const temporary_folder folder(fs::temp_directory_path());
  const call_file file(calls, {planned_call{}});
  session_options options = options_for(emulator, 12 * l.time_limit_s, file.bytes());
  options.recording = folder.path() / "recording";
  options.recorded = words_of(o);
  const auto runner = start_session(s.program, emulator, file, options);
  const call_outcome found = runner->call(0);
  runner->finish(30);
  if (!fs::exists(options.recording)) {
    if (!found.ok()) throw failure(exit_code::student, found.message);
    refuse(fmt::format("the call has fewer than {} launches: --launch takes an earlier one",
                       o.launch));
  }
  warp_recording r = read_recording(options.recording);
  for (auto& f : r.files) f.path = path_in_course(c, f.path);
  r.origin["lab"] = l.name;
  r.origin[step.empty() ? "file" : "step"] = step.empty() ? s.shown : step;
  r.origin["size"] = calls[0].label;
  return r;
}

int record(context& c, const record_options& o) {
  const lab l = load_lab(c.where.root, o.lab);
  if (!o.step.empty() && !o.file.empty()) refuse("a step or --file, not both");
  const std::string step = o.step.empty() ? "" : find_step(l, o.step).name;
  if (o.record && step.empty()) refuse("--record keeps what a step does: which one?");
  if (o.record == !o.out.empty()) refuse("where to? --out FILE (or --record, for the course)");
  const fs::path out = o.record ? c.where.root / recorded_warp(l.name, step) : fs::absolute(o.out);
  if (o.record) fs::create_directories(out.parent_path());
  require_writable(out);
  const subject s = prepare(c, l, o.file, o.step);
  if (s.program.empty())
    return report_compile_errors(c, s, {{"lab", l.name}, {"subject", s.shown}});
  warp_recording r = record_call(c, l, s, o, step);
  require_steps(r, o);
  if (o.record) r.origin["command"] = command_text(c);
  const std::string text = recording_text(r);
  write_atomically(out, text);
  json document = {{"lab", l.name},        {"subject", s.shown},      {"file", out.string()},
                   {"bytes", text.size()}, {"steps", r.steps.size()}, {"executed", r.executed}};
  if (c.as_json) return c.print(document), 0;
  c.say(fmt::format("{}, {}: {}", c.out.paint(tone::strong, s.shown),
                    r.origin["size"].get<std::string>(), kept_text(r)));
  c.say(fmt::format("  {} ({} KB)", c.where.shown(out), (text.size() + 1023) / 1024));
  c.say("  " + c.out.paint(tone::dim, "look at it  ") + "./lab play " + c.where.shown(out));
  return 0;
}

const verb record_verb(
    {verb_place::group::solutions, 60}, "record",
    "record a warp, instruction by instruction, to play it: LAB [STEP] --out FILE",
    "  ./lab record reduction 01 --out a.json         block 0, warp 0 of a step\n"
    "  ./lab record reduction --file try.cu --out a.json  of your own file\n"
    "  ./lab record transpose 04 --size 64x64 --warps 0,1 --steps 200 --out a.json\n"
    "  ./lab play a.json                              looks at it",
    [](arguments& takes, record_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("STEP", o.step, "a solution step; without one, your own file");
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add("--size", o.size, "of the call, like 1023 or 512x256");
      takes.add("--seed", o.seed, "of the random inputs (7)");
      takes.add("--out", o.out, "the file to write");
      takes.flag("--record", o.record, "keep it in solutions/LAB/recorded/, for the site");
      take_choice(takes, o);
    },
    record);

}  // namespace
}  // namespace stepwise::cli

// lab try: all that the course can say of a file, which runs in the judge's sandbox: does it
// compile, is it right, what do the checks find, what does each line cost, how long does it take.
//
// idea    What `check` and `profile` say of the user's own files, of a file that anybody may have
//         written: for the playground of `lab site --serve`, which passes on what was typed.
// Tested by cli/tests/check_cli_test.cpp, and by slides/site/tests/.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "grader/cli/context.hpp"
#include "grader/cli/profile/profile_view.hpp"
#include "grader/cli/text/analysis_text.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/judge/compile.hpp"
#include "grader/measure/figures.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/profile.hpp"
#include "grader/sandbox/trust.hpp"
#include "grader/system/files.hpp"
#include "grader/system/stopwatch.hpp"

namespace stepwise::cli {
namespace {

struct try_options {
  std::string lab, file;
  bool i_trust_these_files = false;
};

constexpr double longest_call_s = 5;             // somebody waits
constexpr std::size_t most_source = 1 << 20;     // as the judge takes
constexpr std::size_t most_printed = 16 * 1024;  // of what the program printed
constexpr std::uint64_t seed_of_tries = 7;

json layers_json(const protections& guards) {
  json layers = json::array();
  for (const auto& layer : guards.layers)
    layers.push_back({{"name", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  return layers;
}

// What stands on standard input, as a file of the lab's usual name.
fs::path typed_file(const lab& l, const fs::path& folder) {
  std::string text(most_source + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = read(STDIN_FILENO, text.data() + size, text.size() - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > most_source) refuse("what was typed is longer than 1 MiB");
  text.resize(size);
  const fs::path file = folder / l.file.filename();
  write_atomically(file, text);
  return file;
}

// The lines of the file that the compiler refused, at most a few.
json errors_json(const std::string& log, const std::string& shown) {
  constexpr std::size_t most = 20;
  json errors = json::array();
  for (const diagnostic& d : parse_diagnostics(log)) {
    if (errors.size() == most) break;
    const bool here = d.file == shown;
    errors.push_back({{"line", here ? d.line : 0}, {"message", d.message}});
  }
  return errors;
}

// A program for one answer only: it shall not push out what the user works on.
struct passing_program {
  fs::path entry;  // of the cache; empty: it stays
  ~passing_program() {
    std::error_code ignored;
    if (!entry.empty()) fs::remove_all(entry, ignored);
  }
};

// After these ends a second, larger call would only take as long again.
bool worth_a_time(verdict what) {
  return what == verdict::pass || what == verdict::wrong || what == verdict::check;
}

struct tried {
  subject what;
  check_report checked;
  modelled_figures m;
  bool modelled = false;
};

void show(context& c, const tried& t, const gpu& model) {
  std::string text = findings_text(t.checked.findings, c.out.style(), c.where.root);
  if (!text.empty()) text.pop_back();  // `say` ends the last line
  if (!text.empty()) c.say(text);
  c.say("  " + findings_line(t.checked.findings, c.out.style()));
  if (t.checked.correct()) {
    c.say(fmt::format("  {}  {}", c.out.paint(tone::good, "correct"), right_text(c, t.checked)));
  } else {
    show_finding(c, t.checked);
  }
  if (!t.modelled) return;
  c.say();
  c.out.paragraph(modelled_phrase(t.m), 2, "  ");
  if (!t.m.timed() || t.m.kernels.empty()) return;
  c.say();
  const profile_view v = view_of(t.m, *ranked(t.m.kernels).front(), model);
  for (const auto& line : limit_lines(v, c.out.style())) c.say(line);
}

int try_file(context& c, const try_options& o) {
  const protections& guards = find_protections();
  if (o.lab.empty()) {
    c.say("a file would be kept apart by: " + guards.text());
    if (c.as_json)
      c.print({{"sandbox", layers_json(guards)}, {"sandbox_complete", guards.complete()}});
    return 0;
  }
  if (c.request == device_request::gpu)
    refuse("what is tried runs on the emulator; on a GPU, ./lab run does it");
  lab l = load_lab(c.where.root, o.lab);
  const problem& p = problem_of(l);
  require_protection(guards, o.i_trust_these_files);
  l.time_limit_s = std::min(l.time_limit_s, longest_call_s);
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path source = o.file.empty()  ? c.where.root / l.file
                          : o.file == "-" ? typed_file(l, folder.path())
                                          : fs::absolute(o.file);
  const gpu model = stand_for(c, "");
  const fs::path parts = c.where.root / "solutions" / l.name / "parts";
  tried t;
  json seconds = {{"compile", nullptr}, {"check", nullptr}, {"model", nullptr}};
  auto began = std::chrono::steady_clock::now();
  const auto passed = [&](const char* what) {
    seconds[what] = seconds_since(began);
    began = std::chrono::steady_clock::now();
  };
  const auto now = c.now();
  compile_guards alone{&guards};
  alone.extra = {parts};
  const compiled made = compile_submission(l, source, c.where, {now.doing, now.tick}, alone);
  passed("compile");
  t.what.shown = c.where.shown(source);
  json document = {{"lab", l.name},
                   {"subject", t.what.shown},
                   {"sandbox", layers_json(guards)},
                   {"compile_errors", errors_json(made.log, t.what.shown)},
                   {"seconds", seconds}};
  c.say(
      fmt::format("{} in the sandbox: {}", c.out.paint(tone::strong, t.what.shown), guards.text()));
  c.say();
  if (!made.explanation.empty()) {
    t.what.compile_errors = made.explanation;
    document.update(findings_json({}));
    return report_compile_errors(c, t.what, std::move(document));
  }
  const passing_program passing{o.file == "-" ? made.program.parent_path() : fs::path{}};
  device_choice device = judged_on(choose_device(device_request::emulated, c.where), c.where);
  device.name = model.name;
  device.guards = &guards;
  device.shown = {source, c.where.root / "common" / "lab",
                  c.where.root / "labs" / l.name / l.contract, parts};
  t.checked = check_thoroughly(l, p, made.program, device, small_sizes(l, p), seed_of_tries, now);
  passed("check");
  if (worth_a_time(t.checked.found.what)) {
    t.m = model_program(l, p, made.program, modelled_size(l, model), seed_of_tries, device, now,
                        longest_call_s, what_ifs::modelled);
    t.m.gpu = model.name;
    t.modelled = true;
    passed("model");
  }
  const bool fine = t.checked.correct() && t.checked.findings.empty();
  const int code = t.checked.found.what == verdict::infra
                       ? cli::exit_code_of(verdict::infra)
                       : static_cast<int>(fine ? exit_code::fine : exit_code::student);
  if (!c.as_json) {
    show(c, t, model);
    show_printed(c, t.checked.printed);
    return code;
  }
  document["seconds"] = seconds;
  document["device"] = device_json(device);
  document.update(check_json(t.checked));
  document.update(findings_json(t.checked.findings));
  document["printed"] = t.checked.printed.substr(0, most_printed);
  if (t.modelled) {
    document.update(modelled_json(t.m));
    document["rate"] = t.m.timed() ? json(t.m.rate()) : json(nullptr);
    document["kernels"] = profile_document(t.m.kernels);
    if (t.m.timed() && !t.m.kernels.empty())
      document["analysis"] = analysis_json(
          analyse(*ranked(t.m.kernels).front(), 1000 * t.m.time_ms, model.multiprocessors));
  }
  c.print(document);
  return code;
}

const verb try_verb(
    {verb_place::group::study, 45}, "try",
    "a file that you do not know: checks, costs and time, in the sandbox",
    "  ./lab try reduction --file theirs.cu   compiled and run where it reaches nothing of yours\n"
    "  ./lab try reduction --file -           what stands on standard input\n"
    "  ./lab try                              what would keep a file apart on this machine",
    [](arguments& takes, try_options& o) {
      takes.add("LAB", o.lab, "the lab's name");
      takes.add("--file", o.file, "a .cu file other than your own; -: standard input");
      takes.flag("--i-trust-these-files", o.i_trust_these_files,
                 "also where a layer of the sandbox is missing");
    },
    try_file);

}  // namespace
}  // namespace stepwise::cli

// Finds a command's lab, file and size, and reports the results that commands share, also as JSON.
#include "grader/cli/context.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <ctime>

#include "common/device/code_of.hpp"
#include "common/device/engine_settings.hpp"
#include "grader/course/given.hpp"
#include "grader/course/size.hpp"
#include "grader/course/source.hpp"
#include "grader/judge/compile.hpp"
#include "grader/report/findings.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {

activity context::now() {
  return {[this](const std::string& what) { busy.doing(what); }, [this] { busy.tick(); }};
}

void context::say(std::string_view text) {
  if (as_json) return;
  busy.clear();
  out.line(text);
}

void context::table(const std::vector<column>& columns,
                    const std::vector<std::vector<cell>>& rows) {
  for (const auto& line : table_lines(columns, rows, out.style())) say(line);
}

void context::print(const json& document) {
  busy.clear();
  // Student text may hold any bytes. Invalid UTF-8 is replaced rather than refused.
  out.line(json_text(document, 2));
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

std::string command_text(const context& c) {
  std::string text = "./lab";
  for (const auto& argument : c.arguments) text += " " + argument;
  return text;
}

std::function<void()> waiting_for_gpu(context& c) {
  return [&c] { c.busy.doing("waiting for another lab that measures on the GPU"); };
}

void need_gpu_to_record(const device_choice& device) {
  if (device.gpu) return;
  throw failure(exit_code::environment,
                "--record needs a GPU, but none is available\nmodelled times are not "
                "measurements, so they are not recorded");
}

void say_recorded(context& c, const fs::path& file, const std::string& tables) {
  c.say("recorded in " + c.out.paint(tone::place, file.string()) +
        "; `./lab dev bench --readme` updates " + tables);
}

std::string skeleton_of(const context& c, const lab& l, const std::string& text) {
  for (const auto& s : l.steps) {
    if (skeleton_text(c.where.root, l, s) == text) return s.name;
  }
  return {};
}

// Programs that run as built are for a GPU that can run all steps, so they need no test.
void need_capability(const context& c, const lab& l, const std::string& step_name) {
  if (c.where.is_as_built || l.runs_on(c.where.code(), step_name)) return;
  const bool is_hopper = c.where.code() >= l.least_capability;
  const int needed = is_hopper ? 90 : l.least_capability;
  refuse(fmt::format("{} needs a GPU of compute capability {}.{}{}, such as --gpu h200",
                     step_name.empty() ? "the " + l.name + " lab" : step_name, needed / 10,
                     needed % 10, is_hopper ? "" : " or later"));
}

subject prepare(context& c, const lab& l, const std::string& file, const std::string& step_name,
                compile_guards guards) {
  if (!file.empty() && !step_name.empty()) {
    throw failure(exit_code::usage, "--file and --step exclude each other: use only one of them");
  }
  need_capability(c, l, step_name);
  if (!step_name.empty()) {
    const step& s = worked_step(l, step_name);
    return prepare_ours(c, l, s.name, s.file, c.where.solution(l.name, s.name));
  }
  const fs::path source = file.empty() ? c.where.root / l.file : fs::absolute(file);
  if (file.empty() && !fs::exists(source)) {
    throw failure(exit_code::usage, l.file.string() + " does not exist\n`./lab start " + l.name +
                                        "` creates a new skeleton");
  }
  const auto now = c.now();
  // The user's own skeleton may include the lab's parts. Any other file is compiled without them.
  if (file.empty()) guards.extra = {c.where.root / "solutions" / l.name / "parts"};
  auto result = compile_submission(l, source, c.where, {now.doing, now.tick}, guards);
  return {c.where.shown(source), result.explanation.empty() ? result.program : fs::path{},
          result.explanation,    result.out_of_memory,
          result.seconds,        guards.hides_name ? result.known_as : fs::path{},
          result.warnings};
}

subject prepare_ours(context& c, const lab& l, const std::string& shown, const fs::path& file,
                     const fs::path& program) {
  if (c.where.is_as_built) return {shown, program, {}};
  const auto now = c.now();
  auto made = compile_step(l, c.where.root / file, c.where, {now.doing, now.tick});
  subject s = {shown, made.explanation.empty() ? made.program : fs::path{}, made.explanation};
  s.warnings = made.warnings;
  return s;
}

std::optional<lab_size> parse_size(const lab& l, const problem& p, const std::string& text) {
  if (text.empty()) return {};
  return stepwise::parse_size(l, p, text, "--size " + text);
}

int report_compile_errors(context& c, const subject& s, json document) {
  if (!c.as_json)
    c.out.paragraph(s.compile_errors.at(0), 11, "  " + c.out.paint(tone::bad, "COMPILE"),
                    tone::strong);
  c.say();
  for (std::size_t i = 1; i < s.compile_errors.size(); ++i) c.say("    " + s.compile_errors[i]);
  document.update({{"correct", false},
                   {"class", name_of(verdict::compile)},
                   {"message", joined(s.compile_errors, "\n")}});
  if (c.as_json) c.print(document);
  return exit_code_of(verdict::compile);
}

void show_printed(context& c, const std::string& printed) {
  if (c.as_json || printed.find_first_not_of(" \n\r\t") == std::string::npos) return;
  c.say();
  c.say("  " + c.out.paint(tone::dim, "output of the program"));
  const auto width = static_cast<std::size_t>(c.out.style().width) - 4;
  for (const auto& line : escaped_lines(printed, 12, width)) c.say(fmt::format("    {}", line));
}

void show_findings(context& c, const check_report& report) {
  std::string text = findings_text(report.findings, c.out.style(), c.where.root);
  if (!text.empty()) text.pop_back();  // `say` ends the last line
  if (!text.empty()) c.say(text);
  // "no findings" would be misleading above a crash, which ended the call before everything was
  // checked.
  if (report.findings.empty() && report.found.what == verdict::wrong)
    c.say("  no race and no wrong address: look for the cause in the wrong result");
  else if (!report.findings.empty() || report.correct())
    c.say("  " + findings_line(report.findings, c.out.style()));
}

void show_subject(context& c, const std::string& subject, const std::string& rest) {
  const auto width = static_cast<std::size_t>(c.out.style().width);
  const bool fits = display_width(subject) + 1 + display_width(rest) <= width;
  c.say(c.out.paint(tone::strong, subject) + (fits ? " " : "\n  ") + rest);
}

void show_finding(context& c, const check_report& report) {
  if (c.as_json) return;
  const std::size_t indent = 11;
  const std::string mark = "  " + c.out.paint(tone::bad, name_of(report.found.what));
  auto lines = escaped_lines(report.found.message, 8, 1000);
  // The message of a wrong result already names the call.
  const bool named =
      report.label.empty() || report.found.message.find(report.label) != std::string::npos;
  if (!named) lines.insert(lines.begin(), report.label);
  c.busy.clear();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    c.out.paragraph(lines[i], indent, i == 0 ? mark : "",
                    i == 0 && !named ? tone::strong : tone::plain);
  }
  if (!report.right.empty()) {
    c.out.paragraph(fmt::format("correct before that: {}", right_text(c, report)), indent, {},
                    tone::dim);
  }
  show_printed(c, report.printed);
}

bool show_todos(context& c, const lab& l, const std::string& shown) {
  const auto text = read_bounded(c.where.root / shown, std::size_t{1} << 20);
  if (c.as_json || !text) return false;
  const auto todos = find_todos(*text);
  if (todos.empty()) return false;
  for (const fs::path& edited : edited_skeletons(c.where.root, l)) {
    c.say();
    c.out.paragraph(
        fmt::format("You have edited {}, but your file is {}.", edited.string(), l.file.string()),
        11, "  " + c.out.paint(tone::note, "warning"));
  }
  c.say();
  c.out.paragraph("still to write:", 11, "  " + c.out.paint(tone::note, "TODO"));
  for (const auto& todo : todos) {
    const std::string label = fmt::format("           line {}: ", todo.line);
    c.out.paragraph(escaped_lines(todo.text, 1, 300).at(0), label.size(), label, tone::note);
  }
  return true;
}

std::vector<std::string> warning_lines(const std::vector<compiler_warning>& warnings) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(warnings.size(), most_warnings_shown); ++i) {
    const compiler_warning& w = warnings[i];
    lines.push_back(w.line == 0 ? w.message : fmt::format("line {}: {}", w.line, w.message));
    lines.push_back(w.line == 0 ? "" : fmt::format("{} | {}", w.line, w.text));
  }
  if (const std::size_t shown = most_warnings_shown; warnings.size() > shown)
    lines.push_back(fmt::format("and {} more warning{} of the compiler", warnings.size() - shown,
                                warnings.size() == shown + 1 ? "" : "s"));
  return lines;
}

json warnings_json(const std::vector<compiler_warning>& warnings) {
  json all = json::array();
  for (const auto& w : warnings)
    all.push_back({{"line", w.line}, {"message", w.message}, {"text", w.text}});
  return all;
}

void show_warnings(context& c, const std::vector<compiler_warning>& warnings) {
  if (c.as_json || warnings.empty()) return;
  const std::string mark = "  " + c.out.paint(tone::note, "warning");
  const auto lines = warning_lines(warnings);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const bool is_source = i % 2 == 1;
    const bool is_count = !is_source && i == 2 * most_warnings_shown;
    c.out.paragraph(lines[i], 11, is_source || is_count ? "" : mark,
                    is_source ? tone::dim : tone::plain);
  }
  c.say();
}

void warn_of_refusals(context& c, const lab& l, const problem& p, const std::string& shown,
                      json& document) {
  const auto text = read_bounded(c.where.root / shown, std::size_t{1} << 20);
  const bool may_copy = l.host_bytes > 0 || p.make_call(small_sizes(l, p).front(), 1).memory !=
                                                runner::memory_kind::device;
  const auto names = text ? refused_when_graded(*text, may_copy) : std::vector<std::string>{};
  document["grade_refuses"] = names;
  if (c.as_json || names.empty()) return;
  c.out.paragraph(fmt::format("`./lab grade` refuses {}: rewrite this before you hand it in",
                              fmt::join(names, ", ")),
                  11, "  " + c.out.paint(tone::note, "warning"));
  c.say();
}

std::string right_text(const context& c, const check_report& report) {
  const std::size_t n = report.right.size();
  std::string text = fmt::format("{} of {} size{}", n, report.total, report.total == 1 ? "" : "s");
  if (n > 0) text += ", " + without_seed(report.right.front());
  if (n > 1)
    text += fmt::format(" {} {}", c.out.style().ellipsis(), without_seed(report.right.back()));
  return text;
}

gpu stand_for(context& c, const std::string& id) {
  const std::string chosen =
      !id.empty() ? id : engine_settings::from_environment().gpu_or_default();
  const gpu model = gpu_named(chosen);
  const bool is_file = chosen.ends_with(".toml");
  setenv("STEPWISE_GPU", (is_file ? fs::absolute(chosen).string() : chosen).c_str(), 1);
  c.where = code_for(c.where, code_capability(model));
  return model;
}

std::optional<gpu> wanted_gpu(context& c, const std::string& id) {
  if (!id.empty() && c.request == device_request::gpu)
    refuse("--gpu emulates a GPU, and --device gpu runs on a real one: use only one of them");
  if (!id.empty()) c.request = device_request::emulated;
  if (c.device().gpu) return {};
  return stand_for(c, id);
}

std::string machine_code_of(const gpu& model) {
  return fmt::format("sm_{}", code_capability(model));
}

std::string old_gpu_note(const gpu& model, const lab& l) {
  if (code_capability(model) == model.compute_capability()) return {};
  std::string text = "register counts are for " + machine_code_of(model) +
                     ", the oldest GPU that the compiler supports";
  if (modelled_size(l, model) != l.modelled.back())
    text += fmt::format("; at most {} blocks per grid dimension, so a smaller call is modelled",
                        model.max_grid[0]);
  return text;
}

void show_old_gpu_note(context& c, const gpu& model, const lab& l) {
  const std::string text = old_gpu_note(model, l);
  if (!c.as_json && !text.empty()) c.out.paragraph(text, 0, "", tone::dim);
}

void excuse_small_gpu(const gpu& model, call_outcome& found) {
  const auto says = [&](const char* what) { return found.message.find(what) != std::string::npos; };
  const bool too_large = says("cudaErrorInvalidValue") || says("cudaErrorInvalidConfiguration") ||
                         says("cudaErrorLaunchOutOfResources") || says("of static shared memory");
  if (found.what != verdict::crash || !too_large) return;
  found.what = verdict::infra;
  found.message = "exceeds the limits of an " + model.name + ": " + found.message;
}

gpu gpu_named(const std::string& id) {
  const auto model = find_gpu(id);
  if (!model.ok()) refuse("--gpu " + id + ": " + model.failure().message);
  return *model;
}

json device_json(const device_choice& device) {
  json j = {{"name", device.name}, {"kind", device.kind()}};
  if (device.gpu) {
    j["driver"] = device.state.driver_version;
    j["runtime"] = device.state.runtime_version;
  }
  return j;
}

json check_json(const check_report& report) {
  json j = {{"correct", report.correct()},     {"class", name_of(report.found.what)},
            {"message", report.found.message}, {"sizes_right", report.right.size()},
            {"sizes", report.total},           {"seed", report.seed}};
  j["failed_size"] = report.size ? json(*report.size) : json(nullptr);
  return j;
}

json figures_json(const figures& f) {
  json j;
  j["size"] = f.size;
  j["time_ms"] = f.timed() ? json(f.time_ms) : json(nullptr);
  j["time_kind"] = f.timed() ? "measured" : "none";
  j["time_low_ms"] = f.timed() ? json(f.time_range_ms.low) : json(nullptr);
  j["time_high_ms"] = f.timed() ? json(f.time_range_ms.high) : json(nullptr);
  j["gb_per_s"] = f.timed() ? json(f.gb_per_s()) : json(nullptr);
  j["counters"] = nullptr;
  if (f.counters) {
    const auto& n = *f.counters;
    j["counters"] = {{"launches", n.launches},
                     {"warp_instructions", n.warp_instructions},
                     {"lane_instructions", n.lane_instructions},
                     {"global_load_bytes", n.global_load_bytes},
                     {"global_store_bytes", n.global_store_bytes},
                     {"shared_load_bytes", n.shared_load_bytes},
                     {"shared_store_bytes", n.shared_store_bytes},
                     {"atomics", n.atomics},
                     {"barriers", n.barriers}};
  }
  return j;
}

int exit_code_of(verdict v) {
  switch (v) {
    case verdict::pass:
      return static_cast<int>(exit_code::fine);
    case verdict::inconclusive:
    case verdict::infra:
      return static_cast<int>(exit_code::environment);
    default:
      return static_cast<int>(exit_code::student);
  }
}

}  // namespace stepwise::cli

// Models each version on the lecture's GPU, and shows both figures with their ratio.
#include "grader/cli/validate/lectures.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/course/constants.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/sweep_axis.hpp"
#include "grader/judge/compile.hpp"
#include "grader/measure/records/record_file.hpp"
#include "grader/model/modelled.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

constexpr double seconds_for_a_version = 60;

struct modelled_version {
  const published_figure* what = nullptr;
  double modelled = 0;  // in the lecture's unit; 0 if the model has no figure
  std::string why_none;
};

struct modelled_lecture {
  const lecture* of = nullptr;
  gpu model;
  std::vector<modelled_version> figures;

  bool is_time() const { return of->unit == "ms"; }
  // The speedup over the first version.
  std::optional<double> published_gain(const modelled_version& f) const {
    return gain(of->figures.front().value, f.what->value);
  }
  std::optional<double> modelled_gain(const modelled_version& f) const {
    const modelled_version& first = figures.front();
    if (first.what != &of->figures.front()) return {};
    return gain(first.modelled, f.modelled);
  }
  // Modelled over published. Empty for a time whose call size is not stated.
  std::optional<double> ratio(const modelled_version& f) const {
    if (f.modelled <= 0 || (is_time() && !of->size_stated)) return {};
    return f.modelled / f.what->value;
  }

 private:
  std::optional<double> gain(double first, double other) const {
    if (first <= 0 || other <= 0) return {};
    return is_time() ? first / other : other / first;
  }
};

// Compiles the step with the lecture's constants.
compiled program_of_version(context& c, const lab& l, const published_figure& f) {
  if (f.with.empty()) {
    subject s = prepare(c, l, "", f.step);
    compiled made;
    made.program = s.program;
    made.explanation = s.compile_errors;
    return made;
  }
  const fs::path file = c.where.root / find_step(l, f.step).file;
  const std::string source = read_file(file, static_cast<int>(exit_code::ours));
  const auto constants = constants_of(source);
  std::vector<std::pair<source_constant, std::string>> values;
  std::vector<std::string> flags;
  for (const auto& text : f.with) {
    const sweep_axis axis = parse_axis(text);
    if (axis.name == "registers") {
      flags.push_back("-maxrregcount=" + axis.values.at(0));
      continue;
    }
    values.emplace_back(find_constant(constants, axis.name, c.where.shown(file)),
                        axis.values.at(0));
  }
  const auto now = c.now();
  return compile_variant(l, file, {with_values(source, std::move(values)), flags}, c.where,
                         {now.doing, now.tick});
}

double in_unit(const std::string& unit, const problem_work& work, double time_ms) {
  if (unit == "ms") return time_ms;
  return (unit == "GB/s" ? work.bytes : work.operations) / time_ms / 1e6;
}

modelled_version model_version(context& c, const lab& l, const problem& p, const lecture& of,
                               const published_figure& f, const device_choice& emulator) {
  modelled_version result;
  result.what = &f;
  const compiled made = program_of_version(c, l, f);
  if (made.program.empty()) {
    result.why_none = "it does not compile: " + made.explanation.at(0);
    return result;
  }
  const modelled_figures m =
      model_program(l, p, made.program, of.size, 7, emulator, c.now(), seconds_for_a_version);
  double time_ms = f.kernel.empty() ? m.time_ms : 0;
  for (const auto& k : m.kernels)
    if (!f.kernel.empty() && k.kernel == f.kernel) time_ms += k.timing.us / 1000;
  if (!m.timed() || time_ms <= 0) {
    result.why_none = m.timed() ? "the model gives no time for it" : m.why_no_time();
    return result;
  }
  result.modelled = in_unit(of.unit, m.work, time_ms);
  return result;
}

std::string version_figure(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

template <class Value>
std::string gain_or_nothing(const std::optional<Value>& value) {
  return value ? fmt::format("{:.2f}", *value) : std::string();
}

void show(context& c, const modelled_lecture& one) {
  c.out.paragraph(one.model.name + ": " + one.of->source, 0, "", tone::strong);
  c.out.paragraph(fmt::format("one call of size {}{}, modelled from published figures of the GPU; "
                              "register counts for {}; in {}",
                              size_text(one.of->size),
                              one.of->size_stated ? "" : " (our choice: the source gives no size)",
                              machine_code_of(one.model), one.of->unit),
                  0, "", tone::dim);
  std::vector<std::vector<cell>> rows;
  for (const auto& f : one.figures) {
    const auto gain = [](const std::optional<double>& g) { return g ? ratio_text(*g) : ""; };
    rows.push_back({{f.what->version},
                    {f.what->step, tone::dim},
                    {version_figure(f.what->value)},
                    {f.modelled > 0 ? version_figure(f.modelled) : "none"},
                    {gain_or_nothing(one.ratio(f)), tone::strong},
                    {gain(one.published_gain(f)), tone::dim},
                    {gain(one.modelled_gain(f)), tone::dim}});
  }
  c.table({{"version", false, true},
           {"our step"},
           {"published", true},
           {"modelled", true},
           {"ratio", true},
           {"gain", true},
           {"modelled", true}},
          rows);
  for (const auto& f : one.figures)
    if (!f.why_none.empty()) c.out.paragraph("no time for " + f.what->step + ": " + f.why_none, 2);
  c.say();
}

template <class Value>
json gain_or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

json lecture_json(const modelled_lecture& one) {
  json j = {{"gpu", one.model.name},
            {"source", one.of->source},
            {"unit", one.of->unit},
            {"size", one.of->size},
            {"size_stated", one.of->size_stated},
            {"machine_code", machine_code_of(one.model)},
            {"figures", json::array()}};
  for (const auto& f : one.figures) {
    j["figures"].push_back(
        {{"version", f.what->version},
         {"step", f.what->step},
         {"with", f.what->with},
         {"kernel", f.what->kernel.empty() ? json(nullptr) : json(f.what->kernel)},
         {"published", f.what->value},
         {"modelled", f.modelled > 0 ? json(f.modelled) : json(nullptr)},
         {"ratio", gain_or_null(one.ratio(f))},
         {"published_gain", gain_or_null(one.published_gain(f))},
         {"modelled_gain", gain_or_null(one.modelled_gain(f))},
         {"message", f.why_none}});
  }
  return j;
}

bool is_wanted(const lab& l, const published_figure& f, const std::vector<std::string>& steps) {
  return steps.empty() || std::any_of(steps.begin(), steps.end(), [&](const auto& name) {
           return find_step(l, name).name == f.step;
         });
}

}  // namespace

int validate_lectures(context& c, const lab& l, const std::vector<std::string>& steps,
                      bool record) {
  const problem& p = problem_of(l, c.where);
  if (c.request == device_request::gpu)
    refuse("--lectures uses the time model, not a GPU: leave out --device gpu");
  if (record && !steps.empty())
    refuse("--lectures --record saves the whole table: leave out the steps");
  std::vector<lecture> all = l.lectures;
  std::erase_if(all, [](const lecture& of) { return of.gpu == unnamed_gpu; });
  if (all.empty())
    refuse("no lecture publishes figures for " + l.name + " on a named GPU: see solutions/" +
           l.name + "/lectures.toml");
  json document = {{"lab", l.name}, {"lectures", json::array()}};
  bool any = false;
  for (const auto& of : all) {
    modelled_lecture one{&of, stand_for(c, of.gpu), {}};
    const device_choice emulator = choose_device(device_request::emulated, c.where);
    for (const auto& f : of.figures)
      if (is_wanted(l, f, steps)) one.figures.push_back(model_version(c, l, p, of, f, emulator));
    if (one.figures.empty()) continue;
    any = true;
    document["lectures"].push_back(lecture_json(one));
    c.busy.clear();
    if (!c.as_json) show(c, one);
  }
  if (!any)
    refuse("no lecture publishes a figure for these steps; ./lab dev validate " + l.name +
           " --lectures shows all published figures");
  if (!c.as_json)
    c.out.paragraph(
        "Ratio: modelled over published. Gains: speed relative to the first version. No parameter "
        "of the model was fitted to these figures. Caches, coalescing and banks follow the rules "
        "of each GPU; the code comes from today's compiler, for the oldest GPU that it supports.",
        0, "", tone::dim);
  if (record) {
    write_record(c.where.root / "solutions" / l.name / "lectures.jsonl",
                 {{"lab", l.name},
                  {"date", utc_now()},
                  {"command", command_text(c)},
                  {"entries", document["lectures"]}});
  }
  if (c.as_json) c.print(document);
  return 0;
}

}  // namespace stepwise::cli

// lab dev validate: compares the emulator's counters with a GPU's, as read by Nsight Compute.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>

#include "common/device/names.hpp"
#include "common/report/finding_text.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/validate/lectures.hpp"
#include "grader/cli/validate/profiles.hpp"
#include "grader/cli/validate/sampling.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/given.hpp"
#include "grader/measure/record.hpp"
#include "grader/model/accuracy.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/recorded_times.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/validation/known_differences.hpp"
#include "grader/validation/validation.hpp"

namespace stepwise::cli {
namespace {

struct validate_options {
  std::string lab;
  std::vector<std::string> steps, sizes;
  int runs = 5;  // per call under ncu
  bool record = false, recorded = false, all = false, times = false, lectures = false;
  bool sampling = false, profiles = false;
};

std::string figure_text(double value) {
  const auto whole = static_cast<std::uint64_t>(value);
  return static_cast<double>(whole) == value ? grouped(whole) : fmt::format("{:.2f}", value);
}

std::string difference_text(const compared_counter& c) {
  const double difference = c.difference();
  if (difference == 0) return "0";
  const std::string sign = difference < 0 ? "-" : "+";
  const double base = difference < 0 ? c.hardware.low : c.hardware.high;
  const std::string share =
      base == 0 ? "" : fmt::format(" ({:.3g} %)", 100 * std::abs(difference) / base);
  return sign + figure_text(std::abs(difference)) + share;
}

tone tone_of(conclusion c) {
  if (c == conclusion::differs) return tone::bad;
  if (c == conclusion::known) return tone::note;
  return c == conclusion::information ? tone::dim : tone::good;
}

std::string extent_text(const extent& e) {
  if (e.y == 1 && e.z == 1) return std::to_string(e.x);
  return e.z == 1 ? fmt::format("{}x{}", e.x, e.y) : fmt::format("{}x{}x{}", e.x, e.y, e.z);
}

void show_kernel(context& c, const compared_kernel& k) {
  const counted_kernel& any = k.hardware ? *k.hardware : *k.emulated;
  c.say(fmt::format("  {}  grid {}, block {}, launches: {}",
                    c.out.paint(tone::strong, readable_name(any.mangled)), extent_text(any.grid),
                    extent_text(any.block), any.launches));
  if (k.hardware == nullptr || k.emulated == nullptr) {
    c.say("  " +
          c.out.paint(tone::bad, k.hardware ? "the emulator did not run it" : "not on the GPU"));
    return;
  }
  if (k.hardware->launches != k.emulated->launches) {
    c.say("  " + c.out.paint(tone::bad,
                             fmt::format("launches on the emulator: {}", k.emulated->launches)));
  }
  std::vector<std::vector<cell>> rows;
  for (const auto& one : k.counters) {
    std::string hardware = figure_text(one.hardware.low);
    if (one.hardware.high != one.hardware.low) hardware += " to " + figure_text(one.hardware.high);
    rows.push_back({{one.what->label},
                    {hardware},
                    {figure_text(one.emulated)},
                    {difference_text(one)},
                    {std::string(name_of(one.found)), tone_of(one.found)}});
  }
  c.table({{"counter"}, {"ncu", true}, {"emulator", true}, {"difference", true}, {"verdict"}},
          rows);
}

// Shows in full the kernel with the most blocks, and every disagreement.
void show_size(context& c, const std::string& step, const validated_size& size, bool all) {
  c.say(c.out.paint(tone::strong, step + ", " + size.label));
  if (!size.found.ok()) {
    c.say("  " + c.out.paint(tone::bad, std::string(name_of(size.found.what))) + "  " +
          size.found.message);
    c.say();
    return;
  }
  const auto blocks = [](const compared_kernel& k) {
    const extent& grid = k.hardware ? k.hardware->grid : k.emulated->grid;
    return static_cast<double>(grid.x) * grid.y * grid.z;
  };
  const auto largest =
      std::max_element(size.kernels.begin(), size.kernels.end(),
                       [&](const auto& a, const auto& b) { return blocks(a) < blocks(b); });
  std::size_t hidden = 0;
  for (auto k = size.kernels.begin(); k != size.kernels.end(); ++k) {
    if (all || !k->holds || k == largest) {
      show_kernel(c, *k);
    } else {
      ++hidden;
    }
  }
  if (hidden > 0) {
    c.say(c.out.paint(tone::dim, fmt::format("  {} more configurations agree as well (--all "
                                             "shows them)",
                                             hidden)));
  }
  c.say();
}

json kernel_json(const compared_kernel& k) {
  const counted_kernel& any = k.hardware ? *k.hardware : *k.emulated;
  json counters = json::array();
  for (const auto& one : k.counters) {
    counters.push_back({{"counter", one.what->key},
                        {"ncu", {one.hardware.low, one.hardware.high}},
                        {"emulator", one.emulated},
                        {"difference", one.difference()},
                        {"verdict", name_of(one.found)}});
  }
  return {{"kernel", any.mangled},
          {"grid", {any.grid.x, any.grid.y, any.grid.z}},
          {"block", {any.block.x, any.block.y, any.block.z}},
          {"dynamic_shared_bytes", any.dynamic_shared_bytes},
          {"launches", any.launches},
          {"holds", k.holds},
          {"counters", counters}};
}

json step_json(const validated_step& step) {
  json sizes = json::array();
  for (const auto& size : step.sizes) {
    json kernels = json::array();
    for (const auto& k : size.kernels) kernels.push_back(kernel_json(k));
    sizes.push_back({{"size", size.size},
                     {"label", size.label},
                     {"class", name_of(size.found.what)},
                     {"message", size.found.message},
                     {"holds", size.holds()},
                     {"kernels", kernels}});
  }
  return {{"name", step.name}, {"sizes", sizes}};
}

// Shows the whole validation. Returns the exit code.
int report(context& c, const lab& l, validation& v, bool all) {
  const auto known = load_known_differences(c.where.root, l);
  const excused found = excuse(v, known);
  std::size_t kernels = 0, wrong = 0;
  for (const auto& step : v.steps) {
    for (const auto& size : step.sizes) {
      show_size(c, step.name, size, all);
      kernels += size.kernels.size();
      wrong += static_cast<std::size_t>(
          std::count_if(size.kernels.begin(), size.kernels.end(),
                        [](const compared_kernel& k) { return !k.holds; }));
      wrong += size.found.ok() ? 0 : 1;
    }
  }
  for (const auto* d : found.used) {
    c.say(c.out.paint(tone::note, "known to differ: " + joined(d->steps, ", ") + ", " +
                                      joined(d->counters, ", ")));
    c.say("  " + d->why);
  }
  for (const auto* d : found.unused) {
    ++wrong;
    c.say(c.out.paint(tone::bad, "no longer different; remove from differs.toml: " +
                                     joined(d->steps, ", ") + ", " + joined(d->counters, ", ")));
  }
  const char* const but = found.used.empty() ? "" : ", apart from known differences";
  c.say(wrong == 0 ? c.out.paint(tone::good, fmt::format("{} kernels and configurations agree "
                                                         "with the {}{}",
                                                         kernels, v.gpu, but))
                   : c.out.paint(tone::bad, fmt::format("{} of {} kernels and configurations do "
                                                        "not agree with the {}",
                                                        wrong, kernels, v.gpu)));
  if (c.as_json) {
    json steps = json::array();
    for (const auto& step : v.steps) steps.push_back(step_json(step));
    c.print({{"lab", l.name},
             {"gpu", v.gpu},
             {"source", v.source},
             {"holds", wrong == 0},
             {"steps", steps}});
  }
  return wrong == 0 ? 0 : static_cast<int>(exit_code::student);
}

validation_request request_of(context& c, const lab& l, const problem& p,
                              const validate_options& o) {
  validation_request request{l, p, {}, {}, o.runs, c.where, c.now()};
  for (const auto& name : o.steps) request.steps.push_back(find_step(l, name).name);
  for (const auto& text : o.sizes) request.sizes.push_back(*parse_size(l, p, text));
  std::sort(request.sizes.begin(), request.sizes.end());
  return request;
}

int validate_recorded(context& c, const lab& l, const validation_request& request, bool all) {
  const auto files = counter_records(c.where.root, l.name);
  if (files.empty()) {
    throw failure(exit_code::usage,
                  "nothing is recorded for " + l.name +
                      "\nto record it on a machine with a GPU and ncu: ./lab dev validate " +
                      l.name + " --record");
  }
  int worst = 0;
  std::set<std::string> compared;
  for (const auto& file : files) {
    validation v = validate_against_record(request, file);
    for (const validated_step& s : v.steps) compared.insert(s.name);
    // A record may contain steps other than the requested ones.
    if (!v.steps.empty()) worst = std::max(worst, report(c, l, v, all));
  }
  if (compared.empty())
    throw failure(exit_code::usage, "nothing is recorded for these steps of " + l.name);
  for (const auto& s : l.steps) {
    const bool asked = request.steps.empty() || std::ranges::count(request.steps, s.name) > 0;
    if (asked && !compared.contains(s.name))
      c.say(c.out.paint(tone::note, s.name + ": not compared, because it is not recorded"));
  }
  return worst;
}

// Saves the GPU's counters after each step, so that an interrupted run keeps its results.
class recorder {
 public:
  recorder(context& c, const lab& l, const device_choice& gpu, const validate_options& o)
      : c_(c),
        l_(l),
        wanted_(o.record),
        all_steps_(o.steps.empty()),
        file_(record_file(l, gpu.name, "counters")) {
    if (!wanted_ || !fs::exists(c.where.root / file_)) return;
    older_ = read_record(c.where.root / file_, [](const json& record) { return record; });
  }

  // Called after each step. The record has all steps counted up to now.
  void step(const json& record) {
    if (!wanted_) return;
    const std::string apart = older_.is_null() ? "" : why_apart(older_, record);
    if (apart.empty()) return write(record);
    if (!all_steps_)
      throw failure(exit_code::usage, "other steps in " + file_.string() +
                                          " were counted with a different setup: " + apart +
                                          "\n--record without steps counts all of them again");
  }

  // Called after the last step. Also writes a record that could not be joined to the older record.
  void end(const json& record) {
    if (!wanted_) return;
    if (all_steps_) older_ = nullptr;
    write(record);
    c_.say("recorded in " + c_.out.paint(tone::place, file_.string()));
  }

 private:
  void write(const json& record) {
    auto joined = older_.is_null() ? record : joined_records(older_, record, l_);
    joined["date"] = utc_now();
    joined["command"] = command_text(c_);
    write_record(c_.where.root / file_, joined);
  }

  context& c_;
  const lab& l_;
  const bool wanted_, all_steps_;
  const fs::path file_;
  json older_;  // null if there is none or it is obsolete
};

// --- the time model ------------------------------------------------------------------------------

struct untimed_step {
  std::string step;
  lab_size size;
  std::string why;
};

std::vector<modelled_time> model_all(context& c, const lab& l, const problem& p,
                                     const validate_options& o, const recorded_times& recorded,
                                     const device_choice& emulator,
                                     std::vector<untimed_step>& untimed) {
  std::vector<std::string> steps;
  for (const auto& name : o.steps) steps.push_back(find_step(l, name).name);
  if (steps.empty())
    for (const auto& s : l.steps) steps.push_back(s.name);
  std::vector<lab_size> sizes;
  for (const auto& text : o.sizes) sizes.push_back(*parse_size(l, p, text));
  if (sizes.empty()) sizes = recorded.sizes;
  std::vector<modelled_time> times;
  for (const auto& size : sizes) {
    for (const auto& name : steps) {
      const auto measured = recorded.find(name, size);
      if (!measured) continue;
      const modelled_figures call =
          model_program(l, p, c.where.solution(l.name, name), size, 7, emulator, c.now());
      if (!call.found.ok()) {
        untimed.push_back({name, size, call.found.message});
        continue;
      }
      times.push_back({name, size, *measured, call.time_ms});
    }
  }
  if (times.empty())
    throw failure(exit_code::usage,
                  "no such times are recorded; ./lab dev bench --record measures them");
  return times;
}

void show_times(context& c, const std::vector<modelled_time>& times, const times_summary& s,
                const std::vector<untimed_step>& untimed) {
  std::vector<std::vector<cell>> rows;
  for (const modelled_time& t : times)
    rows.push_back({{t.step},
                    {size_text(t.size)},
                    {time_text(t.measured_ms)},
                    {time_text(t.modelled_ms)},
                    {fmt::format("{:.2f}", t.ratio()), t.error() > 0.5 ? tone::bad : tone::good}});
  c.table({{"step"}, {"size", true}, {"measured", true}, {"modelled", true}, {"ratio", true}},
          rows);
  c.say();
  c.say(fmt::format("error: median {:.1f} %, 90th percentile {:.1f} %; rank correlation {:.3f}",
                    100 * s.median_error, 100 * s.worst_tenth_error, s.rank_correlation));
  for (const untimed_step& u : untimed)
    c.out.paragraph(fmt::format("no time: {} at {}: {}", u.step, size_text(u.size), u.why), 2, "",
                    tone::bad);
  for (const auto& pair : s.pairs) {
    if (pair.is_wrong())
      c.say(c.out.paint(
          tone::bad,
          fmt::format("wrong: {} against {} at {}: relative speed {:.2f}, modelled {:.2f}",
                      pair.step, pair.over, size_text(pair.size), pair.measured, pair.modelled)));
  }
}

// Compares the time model with the record, for all steps and recorded sizes or those requested.
int validate_times(context& c, const lab& l, const problem& p, const validate_options& o) {
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  const recorded_times recorded = load_recorded_times(c.where.root, l, emulator.name);
  std::vector<untimed_step> untimed;
  const auto times = model_all(c, l, p, o, recorded, emulator, untimed);
  const times_summary s = summarise(l, times);
  json document = accuracy_json(l, recorded.gpu, times, s);
  document["untimed"] = json::array();
  for (const untimed_step& u : untimed)
    document["untimed"].push_back({{"step", u.step}, {"size", u.size}, {"message", u.why}});
  if (o.record) {
    document["date"] = utc_now();
    document["command"] = command_text(c);
    write_record(c.where.root / record_file(l, emulator.name, "modelled"),
                 accuracy_record(document));
  }
  if (c.as_json) {
    c.print(document);
  } else {
    show_times(c, times, s, untimed);
  }
  return 0;
}

int validate(context& c, const validate_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  need_solutions(l, "dev validate");
  const problem& p = problem_of(l, c.where);
  if (o.lectures) {
    if (o.times || o.sampling || o.recorded || !o.sizes.empty())
      refuse(
          "--lectures is a separate table: leave out --times, --sampling, --recorded and --size");
    return validate_lectures(c, l, o.steps, o.record);
  }
  if (o.sampling) {
    if (o.times || o.recorded || o.record)
      refuse("--sampling is a separate table: leave out --times, --recorded and --record");
    return validate_sampling(c, l, o.steps, request_of(c, l, p, o).sizes);
  }
  if (o.times) return validate_times(c, l, p, o);
  if (o.record && o.recorded)
    throw failure(exit_code::usage,
                  "--record and --recorded exclude each other: use only one of them");
  if (o.profiles)
    return validate_profiles(c, l, {o.steps, request_of(c, l, p, o).sizes, o.record, o.recorded});
  if (o.runs < 1 || o.runs > 100) throw failure(exit_code::usage, "--runs: expected 1 to 100");
  validation_request request = request_of(c, l, p, o);
  if (o.recorded) return validate_recorded(c, l, request, o.all);
  const device_choice gpu = choose_device(device_request::gpu, c.where);
  if (request.steps.empty()) {
    for (const auto& s : l.steps) request.steps.push_back(s.name);
  }
  if (request.sizes.empty()) request.sizes = {l.check[l.check.size() / 2], l.check.back()};
  const file_lock lock(gpu_lock_file(gpu.state), waiting_for_gpu(c));
  recorder keep(c, l, gpu, o);
  validation v = validate_on_gpu(request, gpu, [&](const auto& record) { keep.step(record); });
  const int code = report(c, l, v, o.all);
  keep.end(v.record);
  return code;
}

const verb validate_verb(
    {verb_place::group::dev, 20}, "validate",
    "compare the emulator's counters with a GPU's counters from ncu",
    "  ./lab dev validate reduction                 all steps, on a machine with a GPU and ncu\n"
    "  ./lab dev validate reduction 03 07 --size 1048576 --size 1000\n"
    "  ./lab dev validate reduction --record        also record the GPU's counts, step by step\n"
    "  ./lab dev validate reduction 03 --record     record this step only; keeps the records of "
    "the others\n"
    "  ./lab dev validate reduction --recorded      compare the emulator with that record: no GPU "
    "needed\n"
    "  ./lab dev validate reduction --times         compare the time model with the recorded "
    "times\n"
    "  ./lab dev validate reduction --sampling      compare a sample of blocks with all blocks\n"
    "  ./lab dev validate reduction --profiles      compare the model's profiles with ncu's; with "
    "--recorded: with recorded profiles\n"
    "  ./lab dev validate reduction --lectures      compare the model with published figures",
    [](arguments& takes, validate_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("STEP", o.steps, "these steps only");
      takes.add("--size", o.sizes, "sizes other than two of the lab's check sizes")
          .split_at_commas();
      takes.add("--runs", o.runs, "calls per size under ncu (5)");
      takes.flag("--record", o.record, "write solutions/LAB/measured/GPU.counters.jsonl");
      takes.flag("--recorded", o.recorded, "compare with the records instead of a GPU");
      takes.flag("--times", o.times, "compare the time model with the recorded times");
      takes.flag("--sampling", o.sampling, "compare modelled times of sampled and whole launches");
      takes.flag("--profiles", o.profiles,
                 "compare modelled instructions, traffic, occupancy and limiter with ncu's");
      takes.flag("--lectures", o.lectures,
                 "compare the time model with figures published in lectures, on their GPUs");
      takes.flag("--all", o.all, "show every kernel in full, including those that agree");
    },
    validate);

}  // namespace
}  // namespace stepwise::cli

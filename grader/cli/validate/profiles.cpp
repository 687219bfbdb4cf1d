// Profiles each step under ncu, or reads a recorded profile, and compares it with the model's.
#include "grader/cli/validate/profiles.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/profile/hardware.hpp"
#include "grader/judge/compile.hpp"
#include "grader/measure/record.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/profile_comparison.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"
#include "grader/validation/hardware_profile.hpp"

namespace stepwise::cli {
namespace {

constexpr std::uint64_t call_seed = 7;
constexpr double seconds_for_a_profile = 60;
constexpr double worth_a_look = 0.25;

// ncu's figures for one call, from the kernel that took the most time.
struct counted_step {
  std::string step;
  lab_size size;
  figures_of_kernel figures;
};

struct counted_steps {
  std::string gpu, source;
  std::vector<counted_step> steps;
};

struct missing_step {
  std::string step, why;
};

// --- on a GPU ------------------------------------------------------------------------------------

std::optional<counted_step> count(context& c, const lab& l, const step& s, const lab_size& size,
                                  const device_choice& device, const gpu& model,
                                  std::string& source, std::vector<missing_step>& missing) {
  const subject of = prepare(c, l, "", s.name);
  if (of.program.empty()) {
    missing.push_back({s.name, of.compile_errors.at(0)});
    return {};
  }
  const measured_call call = call_under_ncu(c, problem_of(l, c.where), of.program, size, call_seed,
                                            device, model, ncu_lines::left_out);
  source = call.counted_by;
  if (!call.m.found.ok() || call.m.kernels.empty()) {
    missing.push_back({s.name, call.m.found.ok() ? "no kernel" : call.m.found.message});
    return {};
  }
  const kernel_profile& costliest = *ranked(call.m.kernels).front();
  counted_step counted{s.name, size, figures_of(costliest)};
  const busy_shares light = speed_of_light(call.launches, costliest);
  counted.figures.compute = light.compute;
  counted.figures.memory = light.memory;
  return counted;
}

json record_of(context& c, const lab& l, const counted_steps& all, const device_choice& device) {
  json record = {
      {"lab", l.name},           {"gpu", all.gpu},    {"driver", device.state.driver_version},
      {"ncu", all.source},       {"date", utc_now()}, {"command", command_text(c)},
      {"entries", json::array()}};
  for (const counted_step& s : all.steps) {
    json entry = {{"step", s.step}, {"size", s.size}};
    entry.update(figures_json(s.figures));
    entry.erase("limiter");  // follows from the other figures
    record["entries"].push_back(std::move(entry));
  }
  return record;
}

// --- recorded figures ----------------------------------------------------------------------------

counted_steps recorded_steps(const fs::path& root, const fs::path& file) {
  if (!fs::exists(root / file))
    throw failure(exit_code::usage, "nothing is recorded: there is no file " + file.string() +
                                        "\nto record it on a machine with that GPU and ncu: ./lab "
                                        "dev validate LAB --profiles --record");
  return read_record(root / file, [&](const json& record) {
    counted_steps all{record.at("gpu").get<std::string>(), file.filename().string(), {}};
    for (const json& entry : record.at("entries"))
      all.steps.push_back({entry.at("step").get<std::string>(), entry.at("size").get<lab_size>(),
                           figures_from(entry)});
    return all;
  });
}

// --- comparison with the model -------------------------------------------------------------------

std::optional<compared_profile> compare(context& c, const lab& l, const counted_step& counted,
                                        const device_choice& emulator,
                                        std::vector<missing_step>& missing) {
  const subject of = prepare(c, l, "", counted.step);
  if (of.program.empty()) {
    missing.push_back({counted.step, of.compile_errors.at(0)});
    return {};
  }
  const modelled_figures m = model_program(l, problem_of(l, c.where), of.program, counted.size,
                                           call_seed, emulator, c.now(), seconds_for_a_profile);
  const auto kernels = ranked(m.kernels);
  const auto same = std::ranges::find_if(
      kernels, [&](const kernel_profile* k) { return k->mangled == counted.figures.mangled; });
  if (!m.timed() || same == kernels.end()) {
    missing.push_back({counted.step, m.timed() ? "the model ran other kernels" : m.why_no_time()});
    return {};
  }
  return compared_profile{counted.step, counted.size, counted.figures, figures_of(**same)};
}

std::string figure_text(kernel_figure f, double value) {
  if (f == kernel_figure::time) return time_text(value / 1000);
  if (f == kernel_figure::occupancy || f == kernel_figure::l1_hit_rate)
    return fmt::format("{:.1f} %", 100 * value);
  return fmt::format("{:.4g}", value);
}

cell error_cell(const compared_profile& one, kernel_figure f) {
  const auto error = one.error(f);
  if (!error) return {""};
  return {fmt::format("{:+.1f}", 100 * *error),
          std::abs(*error) > worth_a_look ? tone::note : tone::plain};
}

void show(context& c, const lab& l, const counted_steps& counted,
          const std::vector<compared_profile>& all) {
  c.busy.clear();
  c.out.paragraph(l.title + ": the model's profile next to the counts of " + counted.source + ", " +
                      counted.gpu,
                  0, "", tone::strong);
  c.say("the longest-running kernel; error of the model in % (l1: points)");
  c.say();
  std::vector<column> columns = {{"step"},         {"time", true}, {"off", true}, {"instr.", true},
                                 {"occup.", true}, {"l1", true},   {"l2", true},  {"dram", true},
                                 {"ncu"},          {"model"}};
  std::vector<std::vector<cell>> rows;
  for (const compared_profile& one : all) {
    rows.push_back(
        {{one.step}, {figure_text(kernel_figure::time, one.hardware[kernel_figure::time])}});
    for (int n = 0; n < kernel_figures; ++n)
      rows.back().push_back(error_cell(one, static_cast<kernel_figure>(n)));
    rows.back().push_back({name_of(one.hardware.limit())});
    rows.back().push_back(
        {name_of(one.modelled.limit()), one.limits_agree() ? tone::good : tone::bad});
  }
  c.table(columns, rows);
  c.say();
  for (const figure_error& e : figure_errors(all))
    c.say(fmt::format("{:13} median {:.1f} %, 90th percentile {:.1f} %", name_of(e.figure),
                      100 * e.median, 100 * e.worst_tenth));
  const auto agreed = std::ranges::count_if(all, &compared_profile::limits_agree);
  c.say(fmt::format("limiter: the same for {} of {}", agreed, all.size()));
  for (const compared_profile& one : all)
    if (!one.limits_agree())
      c.out.paragraph(fmt::format("{}: compute {:.0f} %, memory {:.0f} % by ncu; {:.0f} % and "
                                  "{:.0f} % modelled",
                                  one.step, 100 * one.hardware.compute, 100 * one.hardware.memory,
                                  100 * one.modelled.compute, 100 * one.modelled.memory),
                      2, "", tone::note);
}

}  // namespace

int validate_profiles(context& c, const lab& l, const profiles_request& request) {
  std::vector<const step*> steps;
  for (const auto& name : request.steps) steps.push_back(&find_step(l, name));
  if (steps.empty())
    for (const step& s : l.steps) steps.push_back(&s);
  const device_choice own = c.device();
  gpu model = stand_for(c, id_of_own_gpu(own));
  fs::path file = record_file(l, model.name, "profiles");
  if (request.recorded && !fs::exists(c.where.root / file)) {
    model = stand_for(c, "");
    file = record_file(l, model.name, "profiles");
  }
  device_choice emulator = choose_device(device_request::emulated, c.where);
  emulator.name = model.name;
  counted_steps counted{model.name, "", {}};
  std::vector<missing_step> missing;
  if (request.recorded) {
    counted = recorded_steps(c.where.root, file);
    std::erase_if(counted.steps, [&](const counted_step& s) {
      return std::ranges::none_of(steps, [&](const step* one) { return one->name == s.step; }) ||
             (!request.sizes.empty() &&
              std::ranges::find(request.sizes, s.size) == request.sizes.end());
    });
  } else {
    const std::vector<lab_size> usual = {modelled_size(l, model)};
    for (const lab_size& size : request.sizes.empty() ? usual : request.sizes)
      for (const step* s : steps)
        if (auto one = count(c, l, *s, size, own, model, counted.source, missing))
          counted.steps.push_back(std::move(*one));
    if (request.record && !counted.steps.empty())
      write_record(c.where.root / file, record_of(c, l, counted, own));
  }
  std::vector<compared_profile> all;
  for (const counted_step& s : counted.steps)
    if (auto one = compare(c, l, s, emulator, missing)) all.push_back(std::move(*one));
  if (c.as_json) {
    json document = profiles_json(l.name, counted.gpu, counted.source, all);
    document["missing"] = json::array();
    for (const missing_step& m : missing)
      document["missing"].push_back({{"step", m.step}, {"message", m.why}});
    c.print(document);
  } else {
    show(c, l, counted, all);
    for (const missing_step& m : missing)
      c.out.paragraph("not compared: " + m.step + ": " + m.why, 2, "", tone::bad);
    if (request.record) c.say("recorded in " + c.out.paint(tone::place, file.string()));
  }
  return missing.empty() ? 0 : static_cast<int>(exit_code::ours);
}

}  // namespace stepwise::cli

// Makes each call twice, with sampled and with whole launches, and shows the differences.
#include "grader/cli/validate/sampling.hpp"

#include <fmt/core.h>

#include "grader/model/sampling.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

constexpr double seconds_for_a_whole_call = 600;  // every block runs
constexpr double clearly_off = 0.1;

std::string precise_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

cell error_cell(const std::optional<double>& error) {
  if (!error) return {""};
  return {fmt::format("{:+.1f} %", 100 * *error),
          std::abs(*error) > clearly_off ? tone::note : tone::plain};
}

void show_calls(context& c, const std::vector<sampled_call>& calls) {
  std::vector<column> columns = {{"step"}, {"size", true}, {"ran", true}, {"whole", true}};
  for (int n = 0; n < call_figures; ++n)
    columns.push_back({std::string(name_of(static_cast<call_figure>(n))), true});
  std::vector<std::vector<cell>> rows;
  for (const sampled_call& call : calls) {
    rows.push_back({{call.step},
                    {size_text(call.size)},
                    {fmt::format("{:.0f} %", 100 * call.sampled.counted)},
                    {time_text(call.whole[call_figure::time])}});
    for (int n = 0; n < call_figures; ++n)
      rows.back().push_back(error_cell(call.error(static_cast<call_figure>(n))));
  }
  c.table(columns, rows);
  c.say();
  for (const sampling_error& e : sampling_errors(calls))
    c.say(fmt::format("{:12}  median {}, worst {} ({} at {})", name_of(e.figure),
                      precise_percent(e.median), precise_percent(e.worst), e.at->step,
                      size_text(e.at->size)));
}

}  // namespace

int validate_sampling(context& c, const lab& l, const std::vector<std::string>& steps,
                      const std::vector<lab_size>& sizes) {
  if (c.request == device_request::gpu)
    refuse("--sampling uses the time model, not a GPU: leave out --device gpu");
  const problem& p = problem_of(l, c.where);
  const gpu model = stand_for(c, "");
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  std::vector<const step*> chosen;
  for (const auto& name : steps) chosen.push_back(&find_step(l, name));
  if (steps.empty())
    for (const step& s : l.steps) chosen.push_back(&s);
  std::vector<sampled_call> calls;
  std::vector<std::pair<std::string, std::string>> untimed;
  const std::vector<lab_size> usual = {l.emulated.back()};
  for (const lab_size& size : sizes.empty() ? usual : sizes) {
    for (const step* s : chosen) {
      const subject of = prepare(c, l, "", s->name);
      if (of.program.empty()) {
        untimed.emplace_back(s->name, of.compile_errors.at(0));
        continue;
      }
      const auto call = [&](launches_are launches) {
        return model_program(l, p, of.program, size, 7, emulator, c.now(), seconds_for_a_whole_call,
                             what_ifs::left_out, launches);
      };
      const modelled_figures sampled = call(launches_are::sampled);
      const modelled_figures whole = call(launches_are::whole);
      if (sampled.timed() && whole.timed()) {
        calls.push_back({s->name, size, figures_of(sampled), figures_of(whole)});
      } else {
        untimed.emplace_back(s->name, (sampled.timed() ? whole : sampled).why_no_time());
      }
    }
  }
  if (c.as_json) {
    json document = sampling_json(l.name, model.name, calls);
    document["untimed"] = json::array();
    for (const auto& [name, why] : untimed)
      document["untimed"].push_back({{"step", name}, {"message", why}});
    c.print(document);
  } else {
    c.busy.clear();
    c.say(c.out.paint(tone::strong, l.title) +
          ": sampled launches compared with whole launches, modelled, " + model.name);
    c.say();
    show_calls(c, calls);
    for (const auto& [name, why] : untimed)
      c.out.paragraph("no time: " + name + ": " + why, 2, "", tone::bad);
  }
  return untimed.empty() ? 0 : static_cast<int>(exit_code::ours);
}

}  // namespace stepwise::cli

// The most expensive kernel and the advice for profile --json, with the keys of grader/JSON.md. The
// same figures of every kernel as CSV.
#include <fmt/format.h>

#include "grader/cli/text/advice_words.hpp"
#include "grader/cli/text/analysis_text.hpp"

namespace stepwise::cli {
namespace {

std::string key_of(const char* name) {
  std::string key = name;
  for (char& c : key)
    if (c == ' ' || c == '/') c = '_';
  return key;
}

json place_json(const code_place& at) {
  return {{"file", at.file}, {"line", at.line}, {"text", at.text}};
}

json with_place(const code_place& at, const json& rest) {
  json j = place_json(at);
  j.update(rest);
  return j;
}

json stalls_json(const std::vector<stall_share>& stalled) {
  json j = json::object();
  for (const stall_share& s : stalled) j[key_of(stepwise::name_of(s.why))] = s.share;
  return j;
}

json time_json(const profile_view& v, const step* s, const std::vector<kernel_profile>& call) {
  if (s == nullptr) return nullptr;
  const auto recorded = v.recorded_ms(s);
  const double us = time_us(call);
  return {{"step", s->name},
          {"idea", s->idea},
          {"time_ms", us > 0 ? json(us / 1000) : json(nullptr)},
          {"time_kind", us > 0 ? "modelled" : "none"},
          {"recorded_ms", recorded ? json(*recorded) : json(nullptr)}};
}

}  // namespace

json analysis_json(const kernel_analysis& a) {
  json j = {{"kernel", a.kernel->kernel},
            {"grid", {a.kernel->grid.x, a.kernel->grid.y, a.kernel->grid.z}},
            {"block", {a.kernel->block.x, a.kernel->block.y, a.kernel->block.z}},
            {"share", a.share},
            {"limiter", name_of(a.limit)},
            {"says", limit_sentence(a)},
            {"compute", a.busy.compute},
            {"compute_part", stepwise::name_of(a.busy.compute_part)},
            {"memory", a.busy.memory},
            {"memory_part", stepwise::name_of(a.busy.memory_part)},
            {"level_bytes",
             {{"global", a.bytes.global},
              {"shared", a.bytes.shared},
              {"l2", a.bytes.l2},
              {"dram", a.bytes.dram}}},
            {"lanes", a.lanes},
            {"active", a.active},
            {"divergent", a.divergent},
            {"theoretical_occupancy", a.theoretical_occupancy},
            {"achieved_occupancy", a.achieved_occupancy},
            {"blocks_per_place", a.blocks_per_place},
            {"stalled", stalls_json(a.stalled)}};
  j["accesses"] = json::array();
  for (const costly_line& l : a.accesses)
    j["accesses"].push_back(with_place(
        l.at, {{"access", key_of(name_of(l.cost.what))},
               {"requests", l.cost.requests},
               {"per_request", l.cost.per_request()},
               {"ideal_per_request", l.cost.ideal_per_request()},
               {"wasteful", a.is_wasteful(l)},
               {"waste", a.is_wasteful(l) ? json(key_of(name_of(l.cost.why()))) : json(nullptr)},
               {"share", l.share}}));
  j["mix"] = json::object();
  for (const pipe_share& s : a.mix) j["mix"][stepwise::name_of(s.of)] = s.share;
  j["stalled_lines"] = json::array();
  for (const stalled_line& l : a.lines)
    j["stalled_lines"].push_back(
        with_place(l.at, {{"share", l.share},
                          {"stalled", stalls_json(l.why)},
                          {"waits_for", l.whose ? place_json(*l.whose) : json(nullptr)}}));
  j["experiments"] = json::array();
  for (const experiment_gain& g : a.gains)
    j["experiments"].push_back({{"experiment", key_of(stepwise::name_of(g.what))},
                                {"time_ms", g.us / 1000},
                                {"gain", g.gain}});
  return j;
}

json launched_json(const profile_view& v) {
  json launched = json::array();
  for (const launched_kernel& k : by_kernel(v.m->kernels))
    launched.push_back({{"kernel", k.kernel},
                        {"launches", k.launches},
                        {"configurations", k.configurations.size()},
                        {"time_ms", k.us / 1000},
                        {"average_ms", k.average_us() / 1000},
                        {"share", k.us / (1000 * v.m->time_ms)}});
  return launched;
}

json advice_json(const profile_view& v) {
  json j = {{"causes", json::array()}, {"next", nullptr}, {"fixed_by", nullptr}};
  for (const found_cause& f : v.found)
    j["causes"].push_back({{"cause", key_of(stepwise::name_of(f.what))},
                           {"words", cause_words(f.what)},
                           {"gain", f.gain > 1 ? json(f.gain) : json(nullptr)}});
  if (!v.next) return j;
  j["next"] = time_json(v, v.next->next, v.next->next_call);
  if (v.next->fixing == nullptr) return j;
  const cause c = v.next->fixed;
  j["fixed_by"] = time_json(v, v.next->fixing, v.next->fixing_call);
  j["fixed_by"].update({{"cause", key_of(stepwise::name_of(c))},
                        {"unit", unit_of(c)},
                        {"before", figure_of(c, v.m->kernels)},
                        {"after", figure_of(c, v.next->fixing_call)}});
  return j;
}

std::vector<std::string> profile_csv(const profile_view& v, int multiprocessors) {
  std::string names = "kernel,grid,block,launches,time_us,share,limiter,compute,memory";
  for (int n = 0; n < busy_parts; ++n)
    names += fmt::format(",busy_{}", stepwise::name_of(static_cast<part>(n)));
  names +=
      ",machine_instructions,l1_bytes,shared_bytes,l2_bytes,dram_bytes,lanes,"
      "theoretical_occupancy,achieved_occupancy";
  for (int n = 0; n < stalls; ++n)
    names += ",stalled_" + key_of(stepwise::name_of(static_cast<stall>(n)));
  std::vector<std::string> lines = {names};
  for (const kernel_profile* k : ranked(v.m->kernels)) {
    const kernel_analysis a = analyse(*k, 1000 * v.m->time_ms, multiprocessors);
    std::string name;
    for (const char c : k->kernel) name += c == '"' ? "\"\"" : std::string(1, c);
    std::string line =
        fmt::format("\"{}\",{}x{}x{},{}x{}x{},{},{:.3f},{:.4f},{},{:.4f},{:.4f}", name, k->grid.x,
                    k->grid.y, k->grid.z, k->block.x, k->block.y, k->block.z, k->launches,
                    k->timing.us, a.share, name_of(a.limit), a.busy.compute, a.busy.memory);
    for (const double share : k->timing.busy) line += fmt::format(",{:.4f}", share);
    line += fmt::format(",{:.0f},{:.0f},{:.0f},{:.0f},{:.0f},{:.2f},{:.4f},{:.4f}",
                        k->timing.instructions, a.bytes.global, a.bytes.shared, a.bytes.l2,
                        a.bytes.dram, a.lanes, a.theoretical_occupancy, a.achieved_occupancy);
    for (int n = 0; n < stalls; ++n)
      line += fmt::format(",{:.4f}", a.stall_of(static_cast<stall>(n)));
    lines.push_back(line);
  }
  return lines;
}

}  // namespace stepwise::cli

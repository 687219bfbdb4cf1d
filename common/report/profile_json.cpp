// Writes and reads profiles from one list of fields per structure.
#include "common/report/profile_json.hpp"

#include <algorithm>

#include "common/formats/json.hpp"
#include "common/report/extent_json.hpp"
#include "common/report/profile_fields.hpp"

namespace stepwise {
namespace {

// Lists of the fields of each structure, used to write and to read. Each function calls visit(name,
// field).
template <class Kernel, class Visit>
void each_kernel_field(Kernel& k, Visit visit) {
  visit("kernel", k.kernel);
  visit("mangled", k.mangled);
  visit("launches", k.launches);
  visit("static_shared_bytes", k.static_shared_bytes);
  visit("dynamic_shared_bytes", k.dynamic_shared_bytes);
  visit("registers", k.registers);
  visit("local_bytes", k.local_bytes);
  visit("spill_bytes", k.spill_bytes);
  visit("resident_blocks", k.fits.blocks);
  visit("limited_by_warps", k.fits.by_warps);
  visit("limited_by_registers", k.fits.by_registers);
  visit("limited_by_shared", k.fits.by_shared);
  visit("limited_by_blocks", k.fits.by_blocks);
  visit("resident_warps", k.resident_warps);
  visit("most_warps", k.most_warps);
  visit("knows_machine_code", k.knows_machine_code);
  visit("l1_bytes", k.l1_bytes);
  visit("l2_bytes", k.l2_bytes);
  visit("cache_share", k.cache_share);
  visit("uncounted", k.uncounted);
}

// A name as a key, for example "memory_dependency".
template <class Enum>
std::string key_of(Enum e) {
  std::string key = name_of(e);
  std::ranges::replace(key, ' ', '_');
  return key;
}
template <class Enum>
json by_name(const double* values, int count) {
  json j = json::object();
  for (int n = 0; n < count; ++n) j[key_of(static_cast<Enum>(n))] = values[n];
  return j;
}
template <class Enum>
void by_name_from(const json& j, double* values, int count) {
  for (int n = 0; n < count; ++n) values[n] = j.value(key_of(static_cast<Enum>(n)), 0.0);
}

template <class Timing, class Visit>
void each_timing_field(Timing& t, Visit visit) {
  visit("us", t.us);
  visit("machine_instructions", t.instructions);
  visit("active_warps", t.active_warps);
  visit("counted", t.counted);
  visit("likeness", t.likeness);
  visit("idle_blocks", t.idle_blocks);
  visit("longest_block_us", t.longest_block_us);
}

json timing_json(const kernel_timing& t) {
  json j = json::object();
  each_timing_field(t, [&](const char* name, double v) { j[name] = v; });
  j["busy"] = by_name<part>(t.busy, busy_parts);
  if (t.traffic)
    each_field(*t.traffic,
               [&](const char* name, auto field) { j["traffic"][name] = (*t.traffic).*field; });
  if (!t.experiments_us.empty())
    j["experiments_us"] = by_name<what_if>(t.experiments_us.data(), experiments);
  return j;
}

kernel_timing timing_from(const json& j) {
  kernel_timing t;
  each_timing_field(t, [&](const char* name, double& v) { j.at(name).get_to(v); });
  by_name_from<part>(j.at("busy"), t.busy, busy_parts);
  if (const auto found = j.find("traffic"); found != j.end()) {
    level_traffic& all = t.traffic.emplace();
    each_field(all, [&](const char* name, auto field) { found->at(name).get_to(all.*field); });
  }
  if (j.contains("experiments_us")) {
    t.experiments_us.resize(experiments);
    by_name_from<what_if>(j.at("experiments_us"), t.experiments_us.data(), experiments);
  }
  return t;
}

json place_json(const code_place& at) {
  return {{"file", at.file}, {"line", at.line}, {"text", at.text}};
}

void stalls_to(json& j, const line_profile& l) {
  if (l.stalled.all() == 0 && l.stalled.issued == 0) return;
  j["stalled"] = by_name<stall>(l.stalled.of, stalls);
  j["issued"] = l.stalled.issued;
  for (const waited_line& w : l.waited_for) {
    json one = place_json(w.at);
    one["cycles"] = w.cycles;
    j["waited_for"].push_back(std::move(one));
  }
}

void stalls_from(const json& j, line_profile& l) {
  if (!j.contains("stalled")) return;
  by_name_from<stall>(j.at("stalled"), l.stalled.of, stalls);
  j.at("issued").get_to(l.stalled.issued);
  if (!j.contains("waited_for")) return;
  for (const json& one : j.at("waited_for")) {
    waited_line& w = l.waited_for.emplace_back();
    one.at("file").get_to(w.at.file);
    one.at("line").get_to(w.at.line);
    one.at("text").get_to(w.at.text);
    one.at("cycles").get_to(w.cycles);
  }
}

json counts_json(const profile_counts& c) {
  json j = json::object();
  // Kinds of accesses without requests are omitted.
  each_access([&](const char* name, auto kind) {
    const auto& counts = c.*kind;
    if (counts.requests == 0) return;
    json& to = j[name];
    each_field(counts, [&](const char* field, auto of) { to[field] = counts.*of; });
  });
  if (c.async != async_counts{})
    each_field(c.async, [&](const char* name, auto of) { j["async"][name] = c.async.*of; });
  json pipes_json = json::object();
  for (int p = 0; p < pipes; ++p)
    if (const instruction_counts& n = c.instructions[p]; n.warps != 0)
      pipes_json[name_of(static_cast<pipe>(p))] = {n.warps, n.lanes};
  j["instructions"] = pipes_json;
  j["branches"] = c.branches;
  j["divergent_branches"] = c.divergent_branches;
  return j;
}

profile_counts counts_from(const json& j) {
  profile_counts c;
  each_access([&](const char* name, auto kind) {
    if (!j.contains(name)) return;
    auto& counts = c.*kind;
    each_field(counts, [&](const char* field, auto of) { j[name].at(field).get_to(counts.*of); });
  });
  if (const auto found = j.find("async"); found != j.end())
    each_field(c.async, [&](const char* name, auto of) { found->at(name).get_to(c.async.*of); });
  const json& pipes_json = j.at("instructions");
  for (int p = 0; p < pipes; ++p) {
    const auto found = pipes_json.find(name_of(static_cast<pipe>(p)));
    if (found != pipes_json.end())
      c.instructions[p] = {found->at(0).get<std::uint64_t>(), found->at(1).get<std::uint64_t>()};
  }
  j.at("branches").get_to(c.branches);
  j.at("divergent_branches").get_to(c.divergent_branches);
  return c;
}

json line_json(const line_profile& l) {
  json j = place_json(l.at);
  j["path"] = l.path;
  if (!l.at.inner.empty()) j["function"] = l.at.inner;
  j["counts"] = counts_json(l.counts);
  if (!l.notes.empty()) j["notes"] = l.notes;
  for (const line_profile& inner : l.inner) j["inner"].push_back(line_json(inner));
  stalls_to(j, l);
  return j;
}

line_profile line_from(const json& j) {
  line_profile l;
  j.at("file").get_to(l.at.file);
  j.at("line").get_to(l.at.line);
  j.at("text").get_to(l.at.text);
  j.at("path").get_to(l.path);
  l.at.inner = j.value("function", "");
  l.counts = counts_from(j.at("counts"));
  if (j.contains("notes")) j.at("notes").get_to(l.notes);
  if (j.contains("inner"))
    for (const json& inner : j.at("inner")) l.inner.push_back(line_from(inner));
  stalls_from(j, l);
  return l;
}

}  // namespace

std::string profile_json(const std::vector<kernel_profile>& kernels, const std::string& failed,
                         const device_transfers& transfers) {
  json all = json::array();
  for (const kernel_profile& k : kernels) {
    json j = json::object();
    each_kernel_field(k, [&](const char* name, const auto& v) { j[name] = v; });
    j["grid"] = extent_json(k.grid);
    j["block"] = extent_json(k.block);
    j["warp_efficiency"] = k.warp_efficiency();
    if (k.timing.us > 0) j["timing"] = timing_json(k.timing);
    j["total"] = counts_json(k.total);
    j["lines"] = json::array();
    for (const line_profile& l : k.lines) j["lines"].push_back(line_json(l));
    all.push_back(std::move(j));
  }
  // json_text() tolerates invalid UTF-8, which a source file may contain.
  json document = {{"kernels", all}};
  if (!failed.empty()) document["failed"] = failed;
  if (transfers != device_transfers{})
    each_field(transfers, [&](const char* name, auto field) {
      document["transfers"][name] = transfers.*field;
    });
  return json_text(document);
}

device_transfers transfers_in_profile(std::string_view text) {
  const json document = parse_json_or_null(text);
  const auto found = document.find("transfers");
  device_transfers t;
  if (found == document.end()) return t;
  try {
    each_field(t, [&](const char* name, auto field) { found->at(name).get_to(t.*field); });
  } catch (const json_error&) {
    return {};
  }
  return t;
}

std::string failure_in_profile(std::string_view text) {
  const json document = parse_json_or_null(text);
  const auto found = document.find("failed");
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::vector<kernel_profile>> parse_profile(std::string_view text) {
  const json document = parse_json_or_null(text);
  if (!document.contains("kernels")) return std::nullopt;
  std::vector<kernel_profile> all;
  try {
    for (const json& j : document.at("kernels")) {
      kernel_profile& k = all.emplace_back();
      each_kernel_field(k, [&](const char* name, auto& v) { j.at(name).get_to(v); });
      k.grid = extent_from(j.at("grid"));
      k.block = extent_from(j.at("block"));
      if (j.contains("timing")) k.timing = timing_from(j.at("timing"));
      k.total = counts_from(j.at("total"));
      for (const json& l : j.at("lines")) k.lines.push_back(line_from(l));
    }
  } catch (const json_error&) {
    return std::nullopt;
  }
  return all;
}

}  // namespace stepwise

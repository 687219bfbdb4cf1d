// Writes and reads requests from one list of fields.
#include "common/report/timeline.hpp"

#include "common/formats/json.hpp"
#include "common/report/extent_json.hpp"

namespace stepwise {
namespace {

constexpr const char* names[] = {"call",           "kernel",      "copy_to_device", "copy_to_host",
                                 "copy_on_device", "fill",        "record",         "wait_event",
                                 "host_event",     "host_stream", "host_all",       "allocate",
                                 "release"};

template <class Asked, class Visit>
void each_number(Asked& a, Visit visit) {
  visit("call", a.call);
  visit("stream", a.stream);
  visit("event", a.event);
  visit("bytes", a.bytes);
  visit("dynamic_shared_bytes", a.dynamic_shared_bytes);
}

asked asked_from(const json& j) {
  asked a;
  const auto name = j.at("what").get<std::string>();
  std::size_t n = 0;
  while (n < std::size(names) && name != names[n]) ++n;
  if (n == std::size(names)) throw malformed_json("what: " + name);
  a.what = static_cast<asked::kind>(n);
  each_number(a, [&](const char* key, std::uint64_t& v) {
    if (j.contains(key)) j.at(key).get_to(v);
  });
  a.name = j.value("name", "");
  a.kernel = j.value("kernel", "");
  a.non_blocking = j.value("non_blocking", false);
  a.pageable = j.value("pageable", false);
  a.us = j.value("us", 0.0);
  a.fills = j.value("fills", 1.0);
  if (j.contains("grid")) {
    a.grid = extent_from(j.at("grid"));
    a.block = extent_from(j.at("block"));
  }
  return a;
}

}  // namespace

const char* name_of(asked::kind k) { return names[static_cast<int>(k)]; }

std::string asked_json(const asked_list& list) {
  json all = json::array();
  for (const asked& a : list.all) {
    json j = {{"what", name_of(a.what)}, {"name", a.name}};
    each_number(a, [&](const char* key, std::uint64_t v) {
      if (v != 0) j[key] = v;
    });
    if (a.non_blocking) j["non_blocking"] = true;
    if (a.pageable) j["pageable"] = true;
    if (a.what == asked::kind::kernel) {
      j["kernel"] = a.kernel;
      j["us"] = a.us;
      j["fills"] = a.fills;
      j["grid"] = extent_json(a.grid);
      j["block"] = extent_json(a.block);
    }
    all.push_back(std::move(j));
  }
  return json_text(json{{"asked", std::move(all)}, {"dropped", list.dropped}});
}

std::optional<asked_list> parse_asked(std::string_view text) {
  const json document = parse_json_or_null(text);
  if (!document.contains("asked")) return std::nullopt;
  asked_list list;
  try {
    for (const json& j : document["asked"]) list.all.push_back(asked_from(j));
    document.at("dropped").get_to(list.dropped);
  } catch (const json_error&) {
    return std::nullopt;
  }
  return list;
}

}  // namespace stepwise

// Writes recordings, with rows as rules if possible, and reads recordings.
#include "common/report/recording.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "common/report/extent_json.hpp"

namespace stepwise {
namespace {

constexpr const char* format_name = "stepwise warp";
constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::int64_t largest_number = std::int64_t{1} << 53;  // exact in JavaScript

std::string base64(const std::vector<std::uint8_t>& bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t v = 0;
    for (std::size_t k = 0; k < 3; ++k) v = v << 8 | (k < n ? bytes[at + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= n ? digits[v >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::vector<std::uint8_t> from_base64(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  std::uint32_t v = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const char* const at = std::strchr(digits, c);
    if (at == nullptr || c == 0) throw malformed_json("a row that is not base64");
    v = v << 6 | static_cast<std::uint32_t>(at - digits);
    if ((bits += 6) >= 8) bytes.push_back(static_cast<std::uint8_t>(v >> (bits -= 8)));
  }
  return bytes;
}

std::int64_t as_signed(std::uint64_t v, unsigned bytes) {
  const unsigned shift = 64 - 8 * bytes;
  return static_cast<std::int64_t>(v << shift) >> shift;
}

// The rule a + b l, or a + b (l % p) + c (l / p), if it holds for all l in `lanes`; otherwise none.
std::optional<json> rule_of(const lane_row& row, std::uint32_t lanes) {
  const auto value = [&](int l) {
    return as_signed(row.of[static_cast<std::size_t>(l)], row.bytes);
  };
  if (lanes == 0) return json(0);
  const int first = std::countr_zero(lanes);
  const auto holds = [&](std::int64_t a, std::int64_t b, int p, std::int64_t c) {
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const int l = std::countr_zero(m);
      if (value(l) != a + b * (l % p) + c * (l / p)) return false;
    }
    return true;
  };
  for (std::uint32_t m = lanes; m != 0; m &= m - 1)
    if (std::abs(value(std::countr_zero(m))) >= largest_number / 64) return std::nullopt;
  const std::uint32_t others = lanes & (lanes - 1);
  const int second = others != 0 ? std::countr_zero(others) : first;
  const std::int64_t rise = value(second) - value(first);
  const std::int64_t b =
      second == first || rise % (second - first) != 0 ? 0 : rise / (second - first);
  const std::int64_t a = value(first) - b * first;
  if (holds(a, b, 32, 0)) return b == 0 ? json(a) : json::array({a, b});
  if (lanes != ~0u) return std::nullopt;
  for (const int p : {1, 2, 4, 8, 16}) {
    const std::int64_t across = p == 1 ? 0 : value(1) - value(0), down = value(p) - value(0);
    if (holds(value(0), across, p, down)) return json::array({value(0), across, p, down});
  }
  return std::nullopt;
}

json row_json(const lane_row& row, std::uint32_t lanes) {
  if (row.bytes == 0) return row.of[0] & lanes;
  json written;
  if (const auto rule = rule_of(row, lanes)) {
    written = *rule;
  } else {
    std::vector<std::uint8_t> bytes;
    for (int l = 0; l < 32; ++l)
      for (unsigned k = 0; k < row.bytes; ++k)
        bytes.push_back(
            lanes >> l & 1 ? static_cast<std::uint8_t>(row.of[static_cast<std::size_t>(l)] >> 8 * k)
                           : 0);
    written = base64(bytes);
  }
  if (row.area < 0) return written;
  json placed = json::object();
  placed["in"] = row.area;
  placed["row"] = written;
  return placed;
}

lane_row row_from(const json& j, std::uint8_t bytes, std::size_t areas) {
  lane_row row;
  row.bytes = bytes;
  const json* what = &j;
  if (j.is_object()) {
    row.area = j.at("in").get<std::int32_t>();
    if (row.area < 0 || static_cast<std::size_t>(row.area) >= areas)
      throw malformed_json("a row in an allocation that is not listed");
    what = &j.at("row");
  }
  if (bytes == 0) {
    row.of[0] = what->get<std::uint32_t>();
  } else if (what->is_string()) {
    const auto raw = from_base64(what->get<std::string>());
    if (raw.size() != 32u * bytes) throw malformed_json("a row of the wrong length");
    for (std::size_t l = 0; l < 32; ++l) std::memcpy(&row.of[l], raw.data() + l * bytes, bytes);
  } else {
    std::int64_t a = 0, b = 0, c = 0, p = 32;
    if (what->is_array()) {
      if (what->size() != 2 && what->size() != 4) throw malformed_json("a row by an unknown rule");
      a = (*what)[0].get<std::int64_t>();
      b = (*what)[1].get<std::int64_t>();
      if (what->size() == 4) {
        p = (*what)[2].get<std::int64_t>();
        c = (*what)[3].get<std::int64_t>();
      }
    } else {
      a = what->get<std::int64_t>();
    }
    if (p < 1 || p > 32) throw malformed_json("a row by an unknown rule");
    for (std::int64_t l = 0; l < 32; ++l) {
      const auto v = static_cast<std::uint64_t>(a) +
                     static_cast<std::uint64_t>(b) * static_cast<std::uint64_t>(l % p) +
                     static_cast<std::uint64_t>(c) * static_cast<std::uint64_t>(l / p);
      row.of[static_cast<std::size_t>(l)] =
          bytes == 8 ? v : v & ((std::uint64_t{1} << 8 * bytes) - 1);
    }
  }
  return row;
}

// The distinct rows of a file.
class row_table {
 public:
  std::uint64_t add(const lane_row& row, std::uint32_t lanes) {
    const json j = row_json(row, lanes);
    const auto [at, is_new] = numbers_.try_emplace(json_text(j), rows_.size());
    if (is_new) rows_.push_back(j);
    return at->second;
  }
  const std::vector<json>& rows() const { return rows_; }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<json> rows_;
};

json areas_json(const std::vector<warp_recording::area>& areas) {
  json all = json::array();
  for (const auto& a : areas) {
    json one = json::object();
    one["name"] = a.name;
    one["offset"] = a.offset;
    one["bytes"] = a.bytes;
    all.push_back(one);
  }
  return all;
}

json instruction_json(const warp_recording::instruction& i) {
  json one = json::object();
  one["ptx"] = i.ptx;
  one["kind"] = i.kind;
  one["ptx_line"] = i.ptx_line;
  if (i.file >= 0) one["file"] = i.file;
  if (i.file >= 0) one["line"] = i.line;
  if (!i.inner.empty()) one["inner"] = i.inner;
  if (!i.note.empty()) one["note"] = i.note;
  if (i.writes.empty()) return one;
  json writes = json::array();
  for (const auto& w : i.writes) writes.push_back(json::array({w.name, w.type}));
  one["writes"] = writes;
  return one;
}

json access_json(const warp_recording::access& a, std::uint32_t active, row_table& rows) {
  json one = json::object();
  one["kind"] = a.kind;
  one["space"] = a.space;
  one["bytes"] = a.bytes;
  if (a.lanes != active) one["lanes"] = a.lanes;
  one["at"] = rows.add(a.at, a.lanes);
  if (!a.counted) {
    one["counted"] = false;
  } else {
    one["n"] = a.taken;
    if (a.ideal != a.taken) one["ideal"] = a.ideal;
  }
  if (a.stored.empty()) return one;
  json stored = json::array();
  for (const lane_row& row : a.stored) stored.push_back(rows.add(row, a.lanes));
  one["stored"] = stored;
  return one;
}

json barrier_json(const warp_recording::barrier_use& b, std::uint32_t active) {
  json one = json::object();
  one["use"] = b.use;
  one["at"] = b.at;
  if (b.lanes != active) one["lanes"] = b.lanes;
  one["parity"] = b.parity;
  one["arrivals"] = b.arrivals;
  if (b.bytes != 0) one["bytes"] = b.bytes;
  return one;
}

json step_json(const warp_recording& r, const warp_recording::step& s, row_table& rows) {
  json one = json::object();
  one["i"] = s.instruction;
  if (r.warps.size() != 1) one["w"] = s.warp;
  if (s.mask != ~0u) one["m"] = s.mask;
  if (s.active != s.mask) one["a"] = s.active;
  if (!s.values.empty()) {
    json values = json::array();
    for (const lane_row& row : s.values) values.push_back(rows.add(row, s.active));
    one["v"] = values;
  }
  if (!s.accesses.empty()) {
    json all = json::array();
    for (const auto& a : s.accesses) all.push_back(access_json(a, s.active, rows));
    one["x"] = all;
  }
  if (!s.barriers.empty()) {
    json all = json::array();
    for (const auto& b : s.barriers) all.push_back(barrier_json(b, s.active));
    one["b"] = all;
  }
  if (!s.fills.empty()) {
    json all = json::array();
    for (const auto& f : s.fills) {
      json fill = json::array({f.warp, f.first, f.count});
      if (f.stride != 1) fill.push_back(f.stride);
      all.push_back(fill);
    }
    one["f"] = all;
  }
  return one;
}

template <class List>
void append_lines(std::string& text, const char* name, const List& list) {
  text += fmt::format(",\n\"{}\":[", name);
  const char* between = "\n";
  for (const json& element : list) {
    text += between + json_text(element);
    between = ",\n";
  }
  text += "]";
}

std::string number_text(double v) { return fmt::format("{:.6g}", v); }

template <class T>
T checked(const json& j, T below, const char* what) {
  const T v = j.get<T>();
  if (v >= below) throw malformed_json(std::string("a step with no such ") + what);
  return v;
}

std::vector<warp_recording::area> areas_from(const json& all) {
  std::vector<warp_recording::area> areas;
  for (const json& a : all)
    areas.push_back({a.at("name").get<std::string>(), a.at("offset").get<std::uint64_t>(),
                     a.at("bytes").get<std::uint64_t>()});
  return areas;
}

std::uint8_t bytes_of_type(const std::string& type) {
  if (type == "pred") return 0;
  const std::string_view end = std::string_view(type).substr(1);
  const std::uint8_t bytes = end == "64" ? 8 : end == "16" ? 2 : end == "32" ? 4 : 255;
  if (bytes == 255) throw malformed_json("a register of an unknown type");
  return bytes;
}

warp_recording::access access_from(const json& j, const warp_recording& r, std::uint32_t active,
                                   const json& rows) {
  warp_recording::access a;
  const auto row = [&](const json& n, std::uint8_t bytes) {
    return row_from(rows[checked<std::size_t>(n, rows.size(), "row")], bytes, r.areas.size());
  };
  a.kind = j.at("kind").get<std::string>();
  a.space = j.at("space").get<std::string>();
  a.bytes = j.at("bytes").get<unsigned>();
  if (a.bytes == 0 || a.bytes > 16)
    throw malformed_json("an access with an invalid number of bytes");
  a.lanes = j.value("lanes", active);
  a.at = row(j.at("at"), 8);
  a.counted = j.value("counted", true);
  if (a.counted) a.taken = j.at("n").get<unsigned>();
  a.ideal = j.value("ideal", a.taken);
  if (j.contains("stored"))
    for (const json& n : j.at("stored")) a.stored.push_back(row(n, 4));
  return a;
}

warp_recording::barrier_use barrier_from(const json& j, std::uint32_t active) {
  warp_recording::barrier_use b;
  b.use = j.at("use").get<std::string>();
  b.at = j.at("at").get<std::uint64_t>();
  b.lanes = j.value("lanes", active);
  b.parity = checked<unsigned>(j.at("parity"), 2, "parity");
  b.arrivals = j.at("arrivals").get<unsigned>();
  b.bytes = j.value("bytes", 0);
  return b;
}

}  // namespace

std::string recording_text(const warp_recording& r) {
  json head = json::object();
  head["format"] = format_name;
  head["version"] = warp_recording::version;
  for (const auto& [key, value] : r.origin.items()) head[key] = value;
  head["gpu"] = r.gpu;
  head["kernel"] = r.kernel;
  head["grid"] = extent_json(r.grid);
  head["block"] = extent_json(r.block);
  head["launch"] = r.launch;
  head["block_index"] = r.block_index;
  head["warps"] = r.warps;
  head["warps_of_block"] = r.warps_of_block;
  head["executed"] = r.executed;
  head["shared_bytes"] = r.shared_bytes;
  head["areas"] = areas_json(r.areas);
  head["variables"] = areas_json(r.variables);
  if (!r.failure.empty()) head["failure"] = r.failure;
  row_table rows;
  std::vector<json> files, instructions, steps;
  for (const auto& f : r.files) {
    json lines = json::object();
    for (const auto& [number, text] : f.lines) lines[std::to_string(number)] = text;
    json one = json::object();
    one["path"] = f.path;
    one["lines"] = lines;
    files.push_back(one);
  }
  for (const auto& i : r.instructions) instructions.push_back(instruction_json(i));
  for (const auto& s : r.steps) steps.push_back(step_json(r, s, rows));
  std::string text = json_text(head);
  text.pop_back();
  append_lines(text, "files", files);
  append_lines(text, "instructions", instructions);
  append_lines(text, "rows", rows.rows());
  append_lines(text, "steps", steps);
  return text + "}\n";
}

warp_recording parse_recording(std::string_view text) {
  if (text.empty()) throw malformed_json("is empty");
  if (text.size() > warp_recording::most_bytes)
    throw malformed_json("is too large for a recorded warp");
  const json j = parse_json(text);
  if (!j.is_object() || j.value("format", "") != format_name)
    throw malformed_json("is not a recorded warp");
  if (const int v = j.at("version").get<int>(); v != warp_recording::version)
    throw malformed_json(fmt::format("has version {}, but this course reads version {}", v,
                                     warp_recording::version));
  warp_recording r;
  for (const char* key : {"lab", "step", "size", "seed", "file", "program"})
    if (j.contains(key)) r.origin[key] = j[key];
  r.gpu = j.at("gpu").get<std::string>();
  r.kernel = j.at("kernel").get<std::string>();
  r.failure = j.value("failure", "");
  r.grid = extent_from(j.at("grid"));
  r.block = extent_from(j.at("block"));
  r.launch = j.at("launch").get<std::uint64_t>();
  r.block_index = j.at("block_index").get<std::uint64_t>();
  r.warps = j.at("warps").get<std::vector<std::uint32_t>>();
  if (r.warps.empty()) throw malformed_json("has no warp");
  r.warps_of_block = j.at("warps_of_block").get<std::uint32_t>();
  r.executed = j.at("executed").get<std::uint64_t>();
  r.shared_bytes = j.at("shared_bytes").get<std::uint64_t>();
  r.areas = areas_from(j.at("areas"));
  r.variables = areas_from(j.at("variables"));
  for (const json& f : j.at("files")) {
    warp_recording::source_file file{f.at("path").get<std::string>(), {}};
    for (const auto& [number, line] : f.at("lines").items())
      file.lines[static_cast<std::uint32_t>(std::strtoul(number.c_str(), nullptr, 10))] =
          line.get<std::string>();
    r.files.push_back(std::move(file));
  }
  for (const json& i : j.at("instructions")) {
    warp_recording::instruction one{i.at("ptx").get<std::string>(),
                                    i.at("kind").get<std::string>(),
                                    i.at("ptx_line").get<std::uint32_t>(),
                                    -1,
                                    0,
                                    i.value("inner", ""),
                                    {},
                                    i.value("note", "")};
    if (i.contains("file")) {
      one.file =
          static_cast<std::int32_t>(checked<std::size_t>(i.at("file"), r.files.size(), "file"));
      one.line = i.at("line").get<std::uint32_t>();
    }
    if (i.contains("writes"))
      for (const json& w : i.at("writes")) {
        one.writes.push_back({w.at(0).get<std::string>(), w.at(1).get<std::string>()});
        bytes_of_type(one.writes.back().type);
      }
    r.instructions.push_back(std::move(one));
  }
  const json& rows = j.at("rows");
  const json& steps = j.at("steps");
  if (steps.size() > warp_recording::most_steps) throw malformed_json("has too many steps");
  for (const json& s : steps) {
    warp_recording::step one;
    one.instruction = static_cast<std::uint32_t>(
        checked<std::size_t>(s.at("i"), r.instructions.size(), "instruction"));
    one.warp = s.value("w", r.warps.front());
    one.mask = s.value("m", ~std::uint32_t{0});
    one.active = s.value("a", one.mask);
    const auto& writes = r.instructions[one.instruction].writes;
    if (s.contains("v")) {
      if (s.at("v").size() != writes.size())
        throw malformed_json("a step with values of unknown registers");
      for (std::size_t n = 0; n < writes.size(); ++n)
        one.values.push_back(row_from(rows[checked<std::size_t>(s.at("v")[n], rows.size(), "row")],
                                      bytes_of_type(writes[n].type), r.areas.size()));
    }
    if (s.contains("x"))
      for (const json& a : s.at("x")) one.accesses.push_back(access_from(a, r, one.active, rows));
    if (s.contains("b"))
      for (const json& b : s.at("b")) one.barriers.push_back(barrier_from(b, one.active));
    if (s.contains("f"))
      for (const json& f : s.at("f")) {
        one.fills.push_back({f.at(0).get<std::uint32_t>(), f.at(1).get<std::uint32_t>(),
                             f.at(2).get<std::uint32_t>(),
                             f.size() > 3 ? f.at(3).get<std::uint32_t>() : 1});
      }
    r.steps.push_back(std::move(one));
  }
  return r;
}

std::string barrier_text(const warp_recording& r, const warp_recording::barrier_use& b) {
  std::string name = b.at < r.shared_bytes ? fmt::format("at {}", b.at) : "of another block";
  for (const auto& v : r.variables)
    if (b.at >= v.offset && b.at < v.offset + v.bytes)
      name = b.at == v.offset ? v.name : fmt::format("{} + {}", v.name, b.at - v.offset);
  const char* what = b.use == "begins"    ? "initialised"
                     : b.use == "arrives" ? "arrived"
                     : b.use == "passes"  ? "the wait succeeded"
                                          : "the wait failed";
  std::string missing;
  if (b.arrivals != 0)
    missing = fmt::format("{} arrival{}", b.arrivals, b.arrivals == 1 ? "" : "s");
  if (b.bytes != 0) missing += fmt::format("{}{} bytes", missing.empty() ? "" : " and ", b.bytes);
  return fmt::format("mbarrier {}: {}; its phase of parity {} waits for {}", name, what, b.parity,
                     missing);
}

std::string value_text(const warp_recording& r, const lane_row& row, std::string_view type,
                       int lane) {
  if (row.bytes == 0) return row.of[0] >> lane & 1 ? "true" : "false";
  const std::uint64_t v = row.of[static_cast<std::size_t>(lane)];
  if (row.area >= 0) {
    const std::string& name = r.areas[static_cast<std::size_t>(row.area)].name;
    const auto offset = static_cast<std::int64_t>(v);
    return offset == 0 ? name
                       : fmt::format("{} {} {}", name, offset < 0 ? "-" : "+", std::abs(offset));
  }
  if (type == "f32") return number_text(std::bit_cast<float>(static_cast<std::uint32_t>(v)));
  if (type == "f64") return number_text(std::bit_cast<double>(v));
  if (type[0] == 'u') return std::to_string(v);
  return std::to_string(as_signed(v, row.bytes));
}

}  // namespace stepwise

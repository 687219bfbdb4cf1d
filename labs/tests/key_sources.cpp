// The sources of the key's figures: records under solutions/<lab>/measured, and the lab program.
#include <cmath>
#include <memory>

#include "common/device/occupancy.hpp"
#include "grader/cli/context.hpp"
#include "grader/measure/record.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"
#include "labs/tests/key.hpp"

namespace stepwise {
namespace {

using words = std::vector<std::string>;

[[noreturn]] void missing(const std::string& what) { throw failure(exit_code::ours, what); }

// A record that is read at its first use, because a lab may lack a kind of record.
std::function<const json&()> kept(const fs::path& file) {
  return [file, kept = std::make_shared<json>()]() -> const json& {
    if (kept->is_null()) *kept = read_record(file, [](const json& record) { return record; });
    return *kept;
  };
}

void need(const words& given, std::size_t count, const std::string& what) {
  if (given.size() != count) missing(what + " takes " + std::to_string(count) + " words");
}

// "7680x4320" -> [7680, 4320]
json size_of(const std::string& text) {
  json size = json::array();
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('x', begin), text.size());
    size.push_back(std::stoll(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return size;
}

// The record's first entry with all of these keys and values.
const json& entry_of(const json& record, const json& wanted) {
  const auto is_wanted = [&](const json& entry) {
    for (const auto& [key, value] : wanted.items())
      if (!entry.contains(key) || entry[key] != value) return false;
    return true;
  };
  for (const json& entry : record.at("entries"))
    if (is_wanted(entry)) return entry;
  missing("no entry with " + wanted.dump());
}

double scale_of(const std::string& unit) {
  if (unit == "us") return 1e-6;
  if (unit == "ns") return 1e-9;
  if (unit == "GB/s") return 1e9;
  if (unit == "TFLOP/s") return 1e12;
  return 1;
}

// Runs the lab program, and keeps the output for the next question with the same arguments.
class lab_program {
 public:
  lab_program(fs::path root, fs::path build) : root_(std::move(root)), build_(std::move(build)) {}

  const json& ask(const words& arguments) {
    std::string key;
    for (const auto& argument : arguments) key += argument + " ";
    if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
    child_options options;
    options.command = {(build_ / "grader" / "lab").string()};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    options.command.emplace_back("--json");
    options.directory = root_;
    options.keep_bytes = 32 << 20;
    const auto result = run_child(options, 60);
    const json document = parse_json_or_null(result.out);
    if (!document.is_object() || document.contains("error")) missing("lab " + key + "failed");
    return kept_.emplace(key, document).first->second;
  }

 private:
  fs::path root_, build_;
  std::map<std::string, json> kept_;
};

// A count of a kernel or a line, such as "shared_load.wavefronts"; 0 if it has no such access.
double count_of(const json& counts, const std::string& field) {
  const auto dot = field.find('.');
  if (field == "instructions") {
    double sum = 0;
    for (const auto& [pipe, count] : counts.at("instructions").items())
      sum += count[0].get<double>();
    return sum;
  }
  if (dot == std::string::npos) return counts.at(field).get<double>();
  const std::string access = field.substr(0, dot);
  return counts.contains(access) ? counts[access][field.substr(dot + 1)].get<double>() : 0;
}

double sum_of_kernels(const json& kernels, const std::string& field, const std::string& name) {
  const bool is_property = field == "registers" || field == "resident_blocks" ||
                           field == "resident_warps" || field == "spill_bytes";
  double sum = 0;
  for (const json& k : kernels) {
    if (!name.empty() && k.at("kernel") != name) continue;
    if (is_property)
      sum = std::max(sum, k.at(field).get<double>());
    else
      sum += field == "launches" ? k.at(field).get<double>() : count_of(k.at("total"), field);
  }
  if (!(sum > 0)) missing("no kernel has \"" + field + "\"");
  return sum;
}

double sum_of_lines(const json& kernels, const std::string& part, const std::string& field) {
  double sum = 0;
  for (const json& k : kernels)
    for (const json& l : k.at("lines"))
      if (l.at("text").get<std::string>().find(part) != std::string::npos)
        sum += count_of(l.at("counts"), field);
  if (!(sum > 0)) missing("no line with \"" + part + "\" has " + field);
  return sum;
}

double number_of(const json& object, const char* key) { return object[key].get<double>(); }

double of_ptx(const json& document, const std::string& field) {
  const json* kernel = nullptr;
  for (const json& k : document.at("kernels"))
    if (kernel == nullptr ||
        number_of(k, "machine_instructions") > number_of(*kernel, "machine_instructions"))
      kernel = &k;
  if (kernel == nullptr) missing("no kernel");
  if (field == "registers" || field == "shared_bytes") return (*kernel).at(field).get<double>();
  const json* loop = nullptr;
  for (const json& l : (*kernel).at("loops"))
    if (l.at("innermost").get<bool>() &&
        (loop == nullptr || number_of(l, "fma") > number_of(*loop, "fma")))
      loop = &l;
  if (loop == nullptr) missing("no innermost loop");
  if (field == "loop_fma") return (*loop).at("fma").get<double>();
  if (field == "loop_instructions") return (*loop).at("machine_instructions").get<double>();
  missing("ptx() has no \"" + field + "\"");
}

double of_record(const json& record, const words& given, const char* temperature) {
  need(given, 2, "time");
  const json* const entry = measured_at(record, given[0], size_of(given[1]));
  if (entry == nullptr) missing("the record has no \"" + given[0] + "\" at " + given[1]);
  return entry->at(temperature).at("median_ms").get<double>() * 1e-3;
}

double of_ncu(const json& record, const words& given) {
  need(given, 3, "ncu");
  const json size = size_of(given[1]);
  entry_of(record, {{"step", given[0]}, {"size", size}});  // fails if the step was not counted
  const bool is_property = given[2] == "registers" || given[2] == "occupancy_percent" ||
                           given[2].ends_with("shared_bytes");
  double sum = 0;
  for (const json& k : record.at("entries")) {
    if (k.at("step") != given[0] || k.at("size") != size) continue;
    const double count = k.at("counted").at(given[2]).get<double>();
    sum = is_property ? std::max(sum, count) : sum + count;
  }
  return sum;
}

double fitting_blocks(const std::string& gpu, const words& given) {
  need(given, 3, "blocks");
  block_needs block;
  block.threads = std::stoull(given[0]);
  block.registers = std::stoull(given[1]);
  block.shared_bytes = std::stoull(given[2]);
  block.most_shared = gpu == "h200" ? 227 << 10 : 48 << 10;
  const auto room = room_for(cli::gpu_named(gpu), block);
  if (!room.ok()) missing("blocks(): not supported");
  return room->blocks();
}

// swept(NAME, FIELD, VALUE, ...): a point of a recorded sweep, by the values of its axes.
double of_sweep(const json& record, const words& given) {
  if (given.size() < 3) missing("swept takes a name, a field and the values of the axes");
  const words values(given.begin() + 2, given.end());
  const json& point = entry_of(record, {{"sweep", given[0]}, {"values", values}});
  if (given[1] == "time") return point.at("median_ms").get<double>() * 1e-3;
  return point.at(given[1]).get<double>();
}

}  // namespace

figure_sources sources_of(const fs::path& root, const fs::path& build, const std::string& lab) {
  const fs::path measured = root / "solutions" / lab / "measured";
  const auto program = std::make_shared<lab_program>(root, build);
  const auto record = kept(measured / "h200.jsonl");
  const auto limits = kept(measured / "h200.limits.jsonl");
  const auto times = kept(measured / "h200.modelled.jsonl");
  const auto counters = kept(measured / "h200.counters.jsonl");
  const auto sweeps = kept(measured / "h200.sweeps.jsonl");
  const auto gpu = kept(root / "common/gpus/h200.measured.jsonl");
  figure_sources all;
  all["time"] = [record](const words& given) { return of_record(record(), given, "cold"); };
  all["warm"] = [record](const words& given) { return of_record(record(), given, "warm"); };
  all["part"] = [limits](const words& given) {
    need(given, 1, "part");
    return entry_of(limits(), {{"part", given[0]}}).at("median_ms").get<double>() * 1e-3;
  };
  all["modelled"] = [times](const words& given) {
    need(given, 2, "modelled");
    const json wanted = {{"step", given[0]}, {"size", size_of(given[1])}};
    return entry_of(times(), wanted).at("modelled_ms").get<double>() * 1e-3;
  };
  all["ncu"] = [counters](const words& given) { return of_ncu(counters(), given); };
  all["gpu"] = [gpu](const words& given) {
    need(given, 1, "gpu");
    const json& figure = entry_of(gpu(), {{"name", given[0]}});
    return figure.at("value").get<double>() * scale_of(figure.at("unit").get<std::string>());
  };
  const auto counted = [program, lab](const words& given) -> const json& {
    return program
        ->ask({"run", lab, "--step", given[0], "--size", given[1], "--counters", "--device",
               "emulated"})
        .at("kernels");
  };
  all["run"] = [counted](const words& given) {
    if (given.size() != 4) need(given, 3, "run");
    return sum_of_kernels(counted(given), given[2], given.size() == 4 ? given[3] : "");
  };
  all["line"] = [counted](const words& given) {
    need(given, 4, "line");
    return sum_of_lines(counted(given), given[2], given[3]);
  };
  all["ptx"] = [program, lab](const words& given) {
    need(given, 2, "ptx");
    return of_ptx(program->ask({"ptx", lab, given[0]}), given[1]);
  };
  all["blocks"] = [](const words& given) { return fitting_blocks("h200", given); };
  all["blocks_of"] = [](const words& given) {
    need(given, 4, "blocks_of");
    return fitting_blocks(given[0], {given.begin() + 1, given.end()});
  };
  all["swept"] = [sweeps](const words& given) { return of_sweep(sweeps(), given); };
  return all;
}

}  // namespace stepwise

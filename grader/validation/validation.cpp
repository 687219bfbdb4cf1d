// Runs the steps on both sides, splits launches into calls, and reads, joins and writes records.
#include "grader/validation/validation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "common/device/engine_settings.hpp"
#include "common/device/gpu.hpp"
#include "common/report/profile_json.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/measure/record.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

constexpr std::uint64_t validation_seed = 7;
constexpr double most_emulated_seconds = 300;  // one call on the emulator, with counters

// Whether the call was made and its result is right.
call_outcome outcome_of(const problem& p, const call_file& file, std::size_t number) {
  const auto record = file.record(number);
  if (record.state != runner::call_state::done) {
    return {verdict::crash, record.message[0] != '\0' ? record.message : "the call was not made"};
  }
  const auto wrong = check_outputs(p, file.call(number), file.outputs(number));
  return wrong ? call_outcome{verdict::wrong, *wrong} : call_outcome{};
}

// The file has a line per process that ran kernels.
std::vector<kernel_profile> read_kernels(const fs::path& file) {
  std::vector<kernel_profile> profile;
  std::istringstream lines(read_if_there(file).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    auto part = parse_profile(line);
    if (!part) throw failure(exit_code::ours, "the emulator's profile cannot be read");
    std::move(part->begin(), part->end(), std::back_inserter(profile));
  }
  return profile;
}

// Makes one call on the emulator of this GPU. Sets `found` and `emulated`.
void count_on_emulator(const validation_request& request, const std::string& step,
                       const std::string& gpu, validated_size& size) {
  const std::vector<problem_call> calls = {request.p.make_call(size.size, validation_seed)};
  size.label = calls[0].label;
  request.now.doing(fmt::format("{}, {}, on the emulator", step, size.label));
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path call = folder.path() / "calls", profile = folder.path() / "profile";
  call_file file(calls, {planned_call{}}, call);
  child_options options;
  options.command = {request.where.solution(request.l.name, step).string(), call.string()};
  auto settings = engine_settings::from_environment();
  settings.gpu = gpu;
  settings.counters = true;
  settings.profile = profile;
  settings.check = false;
  options.environment = settings.environment();
  options.environment.push_back("LD_LIBRARY_PATH=" + request.where.emulated_runtime.string());
  options.tick = request.now.tick;
  const auto result = run_child(options, most_emulated_seconds);
  if (!result.end.ok()) {
    size.found = {verdict::crash, "the program failed: " + result.err.substr(0, 400)};
    return;
  }
  if (!file.load(call)) throw failure(exit_code::ours, "the call file changed its size");
  size.found = outcome_of(request.p, file, 0);
  size.emulated = counted_by_emulator(read_kernels(profile));
  if (size.found.ok() && size.emulated.empty()) {
    throw failure(exit_code::ours,
                  "the emulator counted nothing; its runtime may be out of date: run ./lab setup");
  }
}

std::uint64_t launches_in(const std::vector<counted_kernel>& kernels) {
  std::uint64_t sum = 0;
  for (const auto& k : kernels) sum += k.launches;
  return sum;
}

// Makes calls of all sizes of a step, several times each, in one process under ncu.
void count_on_gpu(const validation_request& request, const std::string& ncu,
                  const device_choice& gpu, validated_step& step) {
  std::vector<problem_call> calls;
  std::vector<planned_call> plans;
  for (const auto& size : step.sizes) {
    planned_call plan;
    plan.data = calls.size();
    plan.how.repetitions = static_cast<std::uint32_t>(request.runs);
    plans.push_back(plan);
    calls.push_back(request.p.make_call(size.size, validation_seed));
  }
  request.now.doing(step.name + " under ncu");
  const temporary_folder folder(fs::temp_directory_path());
  const fs::path path = folder.path() / "calls";
  call_file file(calls, plans, path);
  const auto launches = run_under_ncu(
      ncu, {request.where.solution(request.l.name, step.name).string(), path.string()}, gpu,
      ncu_metrics(), request.now);
  if (!file.load(path)) throw failure(exit_code::ours, "the call file changed its size");
  std::vector<std::uint64_t> launches_of;
  for (const auto& size : step.sizes) launches_of.push_back(launches_in(size.emulated));
  const auto cut = cut_into_sizes(launches, launches_of, request.runs);
  for (std::size_t i = 0; i < step.sizes.size(); ++i) {
    validated_size& size = step.sizes[i];
    if (size.found.ok()) size.found = outcome_of(request.p, file, i);
    size.hardware = counted_by_ncu(cut[i], request.runs);
    size.kernels = compare(size.hardware, size.emulated);
  }
}

// Adds an entry per kernel of the step at each size.
void add_entries(const validated_step& step, json& entries) {
  for (const auto& size : step.sizes) {
    for (const json& kernel : record_json(size.hardware)) {
      json entry = {{"step", step.name}, {"size", size.size}, {"label", size.label}};
      entry.update(kernel);
      entries.push_back(std::move(entry));
    }
  }
}

json metrics_json() {
  json names = json::object();
  for (const counter& c : all_counters()) names[c.key] = c.metrics;
  return names;
}

bool wanted(const auto& list, const auto& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

std::string emulated_id(const std::string& gpu_name) {
  const std::string id = gpu_file_name(gpu_name);
  if (find_gpu(id).ok()) return id;
  throw failure(exit_code::environment, "the emulator has no description of an " + gpu_name +
                                            ": common/gpus/" + id + ".toml is missing");
}

}  // namespace

bool validated_size::holds() const {
  return found.ok() && std::all_of(kernels.begin(), kernels.end(),
                                   [](const compared_kernel& k) { return k.holds; });
}

validation validate_on_gpu(const validation_request& request, const device_choice& gpu,
                           const std::function<void(const json& record)>& after_step) {
  const std::string ncu = find_ncu();
  const std::string id = emulated_id(gpu.name);
  validation v{gpu.name, "ncu " + ncu_version(ncu), {}, {}};
  v.record = {{"lab", request.l.name},
              {"gpu", gpu.name},
              {"driver", gpu.state.driver_version},
              {"runtime", gpu.state.runtime_version},
              {"ncu", v.source.substr(4)},
              {"date", nullptr},
              {"command", nullptr},
              {"runs", request.runs},
              {"metrics", metrics_json()},
              {"entries", json::array()}};
  for (const auto& name : request.steps) {
    validated_step& step = v.steps.emplace_back(validated_step{name, {}});
    for (const auto& size : request.sizes) {
      step.sizes.push_back({size, {}, {}, {}, {}, {}});
      count_on_emulator(request, name, id, step.sizes.back());
    }
    count_on_gpu(request, ncu, gpu, step);
    add_entries(step, v.record["entries"]);
    after_step(v.record);
  }
  return v;
}

std::string why_apart(const json& one, const json& other) {
  for (const char* const what : {"gpu", "driver", "runtime", "ncu", "runs", "metrics"}) {
    const json a = one.value(what, json()), b = other.value(what, json());
    if (a == b) continue;
    if (a.is_object()) return "other metrics";
    return fmt::format("{} {} and {}", what, json_text(a), json_text(b));
  }
  return "";
}

json joined_records(const json& older, json newer, const lab& l) {
  json joined = json::array();
  const auto add = [&](const json& record, const std::string& name) {
    const std::size_t before = joined.size();
    for (const json& entry : record.at("entries"))
      if (entry.at("step") == name) joined.push_back(entry);
    return joined.size() > before;
  };
  for (const auto& s : l.steps)
    if (!add(newer, s.name)) add(older, s.name);
  newer["entries"] = std::move(joined);
  return newer;
}

validation validate_against_record(const validation_request& request, const fs::path& file) {
  return read_record(file, [&](const json& record) {
    validation v{record.at("gpu"), file.filename(), {}, record};
    for (const json& entry : record.at("entries")) {
      const std::string name = entry.at("step");
      const auto size = entry.at("size").get<lab_size>();
      if (!wanted(request.steps, name)) continue;
      if (v.steps.empty() || v.steps.back().name != name) v.steps.push_back({name, {}});
      if (!wanted(request.sizes, size)) continue;
      auto& sizes = v.steps.back().sizes;
      if (sizes.empty() || sizes.back().size != size) sizes.emplace_back().size = size;
      sizes.back().hardware.push_back(parse_kernel(entry));
    }
    const std::string id = emulated_id(v.gpu);
    for (validated_step& step : v.steps) {
      for (validated_size& size : step.sizes) {
        count_on_emulator(request, step.name, id, size);
        size.kernels = compare(size.hardware, size.emulated);
      }
    }
    return v;
  });
}

std::vector<fs::path> counter_records(const fs::path& root, const std::string& lab) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root / "solutions" / lab / "measured", error)) {
    if (entry.path().string().ends_with(".counters.jsonl")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::vector<ncu_launch>> cut_into_sizes(const std::vector<ncu_launch>& launches,
                                                    const std::vector<std::uint64_t>& launches_of,
                                                    int runs) {
  std::vector<std::vector<ncu_launch>> cut;
  auto at = launches.begin();
  std::uint64_t expected = 0;
  for (const std::uint64_t of_one : launches_of) {
    const std::uint64_t count = of_one * static_cast<std::uint64_t>(runs);
    expected += count;
    if (count > static_cast<std::uint64_t>(launches.end() - at)) break;
    cut.emplace_back(at, at + static_cast<std::ptrdiff_t>(count));
    at += static_cast<std::ptrdiff_t>(count);
  }
  if (at != launches.end() || cut.size() != launches_of.size()) {
    throw failure(exit_code::ours,
                  fmt::format("ncu saw {} launches, but the emulator's calls make at least {}",
                              launches.size(), expected));
  }
  return cut;
}

}  // namespace stepwise

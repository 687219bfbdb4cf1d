// Reads GPU descriptions (common/gpus/*.toml), which are compiled in as text.
//
// idea    A description holds the values that the CUDA runtime returns, by attribute number. The
//         fields of `gpu` are derived from these values, so no fact is written twice.
// tests   tests/gpu_test.cpp
#include "common/device/gpu.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "common/device/embedded_gpus.hpp"
#include "common/formats/json_lines.hpp"
#include "common/formats/toml.hpp"

namespace stepwise {
namespace {

// The numbers of cudaDeviceAttr (driver_types.h) from which fields of `gpu` come.
namespace attribute {
constexpr int max_threads_per_block = 1, max_block_x = 2, max_grid_x = 5;
constexpr int shared_bytes_per_block = 8, constant_bytes = 9, warp_size = 10;
constexpr int registers_per_block = 12, clock_khz = 13, multiprocessors = 16;
constexpr int memory_clock_khz = 36, memory_bus_bits = 37, l2_bytes = 38;
constexpr int max_threads_per_multiprocessor = 39, compute_major = 75, compute_minor = 76;
constexpr int shared_bytes_per_multiprocessor = 81, registers_per_multiprocessor = 82;
constexpr int shared_bytes_per_block_optin = 97, max_blocks_per_multiprocessor = 106;
constexpr int reserved_shared_bytes_per_block = 111;
}  // namespace attribute

// An attribute that a description must have, and its valid range.
struct wanted_attribute {
  int id;
  const char* name;  // in cudaDeviceAttr, without its prefix
  int least, most;
};
constexpr int any = std::numeric_limits<int>::max();
constexpr wanted_attribute wanted_attributes[] = {
    {1, "MaxThreadsPerBlock", 32, 4096},
    {2, "MaxBlockDimX", 1, 4096},
    {3, "MaxBlockDimY", 1, 4096},
    {4, "MaxBlockDimZ", 1, 4096},
    {5, "MaxGridDimX", 1, any},
    {6, "MaxGridDimY", 1, any},
    {7, "MaxGridDimZ", 1, any},
    {8, "MaxSharedMemoryPerBlock", 1, any},
    {9, "TotalConstantMemory", 1, any},
    {10, "WarpSize", 32, 32},
    {12, "MaxRegistersPerBlock", 1, any},
    {13, "ClockRate", 1000, 100'000'000},
    {16, "MultiProcessorCount", 1, 4096},
    {36, "MemoryClockRate", 1000, 100'000'000},
    {37, "GlobalMemoryBusWidth", 8, 65536},
    {38, "L2CacheSize", 0, any},
    {39, "MaxThreadsPerMultiProcessor", 32, 65536},
    {75, "ComputeCapabilityMajor", 1, 99},
    {76, "ComputeCapabilityMinor", 0, 9},
    {81, "MaxSharedMemoryPerMultiprocessor", 1, any},
    {82, "MaxRegistersPerMultiprocessor", 1, any},
    {97, "MaxSharedMemoryPerBlockOptin", 1, any},
    {106, "MaxBlocksPerMultiprocessor", 1, 4096},
    {111, "ReservedSharedMemoryPerBlock", 0, 65536},
};

// The attribute number, at most 4 digits without a sign or leading zero, or -1.
int attribute_number(std::string_view key) {
  if (key.empty() || key.size() > 4 || (key.size() > 1 && key[0] == '0')) return -1;
  int number = 0;
  for (char c : key) {
    if (c < '0' || c > '9') return -1;
    number = 10 * number + (c - '0');
  }
  return number;
}

class reader {
 public:
  reader(gpu& out, const toml_value& table) : out_(out), table_(table) {}

  // Returns an empty string, or the problem with the description.
  std::string read() {
    out_.name = text("name");
    out_.memory_bytes = static_cast<std::uint64_t>(number("memory_bytes"));
    if (table_.find("driver_version") != nullptr)
      out_.driver_version = static_cast<int>(number("driver_version"));
    read_attributes();
    read_estimated();
    read_cluster_groups();
    read_limits();
    if (problem_.empty()) fill_from_attributes(out_);
    return problem_;
  }

 private:
  void fail(const std::string& what) {
    if (problem_.empty()) problem_ = what;
  }

  std::string text(std::string_view key) {
    const auto value = table_.as<std::string>(key);
    if (!value || value->empty()) fail(fmt::format("'{}' is missing or is not text", key));
    return value.value_or("");
  }

  std::int64_t number(std::string_view key) {
    const auto value = table_.as<std::int64_t>(key);
    if (!value || *value <= 0) fail(fmt::format("'{}' is missing or not positive", key));
    return value.value_or(0);
  }

  void read_attributes() {
    const toml_value* all = table_.table_at("attributes");
    if (!all) return fail("the table [attributes] is missing");
    for (std::size_t i = 0; i < all->keys.size(); i++) {
      const std::string& key = all->keys[i];
      const int id = attribute_number(key);
      const auto value = all->items[i].as<std::int64_t>();
      if (id < 0 || !value || *value < std::numeric_limits<int>::min() ||
          *value > std::numeric_limits<int>::max()) {
        return fail(fmt::format("line {}: attribute '{}' is not `number = whole number of 32 bits`",
                                all->items[i].line, key));
      }
      out_.attributes[id] = static_cast<int>(*value);
    }
    for (const auto& wanted : wanted_attributes) {
      const std::string key = std::to_string(wanted.id);
      const toml_value* const found = all->find(key);
      if (!found) return fail(fmt::format("attribute {} ({}) is missing", key, wanted.name));
      const std::int64_t value = *found->as<std::int64_t>();
      if (value < wanted.least || value > wanted.most) {
        return fail(fmt::format("line {}: {} = {} ({}): expected {} to {}", found->line, key, value,
                                wanted.name, wanted.least, wanted.most));
      }
    }
  }

  void read_estimated() {
    const toml_value* all = table_.find("estimated");
    if (!all) return;
    for (const toml_value& item : all->items) {
      const auto id = item.as<std::int64_t>();
      if (!id || !out_.attributes.contains(static_cast<int>(*id)))
        return fail(fmt::format("line {}: 'estimated' must list attribute numbers", item.line));
      out_.estimated.insert(static_cast<int>(*id));
    }
    if (!all->is_array()) fail(fmt::format("line {}: 'estimated' is not a list", all->line));
  }

  void read_cluster_groups() {
    const toml_value* all = table_.find("cluster_groups");
    if (!all) return;
    int left = out_.attributes[attribute::multiprocessors];
    for (const toml_value& item : all->items) {
      const auto size = item.as<std::int64_t>();
      if (!size || *size < 1 || *size > left) left = -1;
      if (left < 0) break;
      left -= static_cast<int>(*size);
      out_.cluster_groups.push_back(static_cast<int>(*size));
    }
    if (left != 0)
      fail(
          fmt::format("line {}: 'cluster_groups' must list group sizes that add up to attribute "
                      "{}, the number of multiprocessors; leave it out if the sizes are unknown",
                      all->line, attribute::multiprocessors));
  }

  void read_limits() {
    const toml_value* all = table_.table_at("limits");
    if (!all) return fail("the table [limits] is missing");
    for (std::size_t i = 0; i < all->keys.size(); i++) {
      const std::string& key = all->keys[i];
      const int id = attribute_number(key);
      const auto value = all->items[i].as<std::int64_t>();
      if (id < 0 || !value || *value < 0) {
        return fail(fmt::format("line {}: limit '{}' is not `number = bytes or count`",
                                all->items[i].line, key));
      }
      out_.limits[id] = static_cast<std::uint64_t>(*value);
    }
  }

  gpu& out_;
  const toml_value& table_;
  std::string problem_;
};

}  // namespace

int fill_from_attributes(gpu& model) {
  int missing = 0;
  const auto at = [&](int id) {
    const auto found = model.attributes.find(id);
    if (found != model.attributes.end()) return found->second;
    if (missing == 0) missing = id;
    return 0;
  };
  const auto bytes_at = [&](int id) { return static_cast<std::uint64_t>(at(id)); };
  model.compute_major = at(attribute::compute_major);
  model.compute_minor = at(attribute::compute_minor);
  model.multiprocessors = at(attribute::multiprocessors);
  model.clock_khz = at(attribute::clock_khz);
  model.memory_clock_khz = at(attribute::memory_clock_khz);
  model.memory_bus_bits = at(attribute::memory_bus_bits);
  model.l2_bytes = bytes_at(attribute::l2_bytes);
  model.constant_bytes = bytes_at(attribute::constant_bytes);
  model.warp_size = at(attribute::warp_size);
  model.max_threads_per_block = at(attribute::max_threads_per_block);
  for (int i = 0; i < 3; i++) {
    model.max_block[i] = at(attribute::max_block_x + i);
    model.max_grid[i] = at(attribute::max_grid_x + i);
  }
  model.max_threads_per_multiprocessor = at(attribute::max_threads_per_multiprocessor);
  model.max_blocks_per_multiprocessor = at(attribute::max_blocks_per_multiprocessor);
  model.registers_per_block = at(attribute::registers_per_block);
  model.registers_per_multiprocessor = at(attribute::registers_per_multiprocessor);
  model.shared_bytes_per_block = bytes_at(attribute::shared_bytes_per_block);
  model.shared_bytes_per_block_optin = bytes_at(attribute::shared_bytes_per_block_optin);
  model.shared_bytes_per_multiprocessor = bytes_at(attribute::shared_bytes_per_multiprocessor);
  model.reserved_shared_bytes_per_block = bytes_at(attribute::reserved_shared_bytes_per_block);
  return missing;
}

result<gpu> parse_gpu(std::string_view id, std::string_view text) {
  const auto broken = [&](const std::string& why) {
    return result<gpu>(error::invalid_value,
                       fmt::format("the description of GPU '{}' is malformed: {}", id, why));
  };
  gpu model;
  model.id = id;
  try {
    const toml_value table = parse_toml(text);
    const std::string problem = reader(model, table).read();
    if (!problem.empty()) return broken(problem);
  } catch (const toml_error& failure) {
    return broken(fmt::format("line {}: {}", failure.line, failure.what()));
  }
  return model;
}

std::vector<std::string> known_gpus() {
  std::vector<std::string> ids;
  for (const embedded_gpu& entry : embedded_gpus) ids.emplace_back(entry.id);
  return ids;
}

result<gpu> find_gpu(std::string_view id) {
  if (id.ends_with(".toml")) {
    const auto file = std::filesystem::absolute(id);
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) {
      return {error::invalid_value, fmt::format("cannot read {}", file.string())};
    }
    return parse_gpu(file.string(), text);
  }
  std::string known;
  for (const embedded_gpu& entry : embedded_gpus) {
    if (entry.id == id) {
      auto model = parse_gpu(id, entry.text);
      if (model.ok() && !entry.measured.empty()) {
        const json record = parse_json_lines(entry.measured);
        for (const json& figure : record.at("entries"))
          model->measured[figure.at("name").get<std::string>()] = figure.at("value").get<double>();
      }
      return model;
    }
    known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.id);
  }
  return {error::invalid_value,
          fmt::format("there is no GPU named '{}'; known names: {}, or a .toml file", id, known)};
}

}  // namespace stepwise

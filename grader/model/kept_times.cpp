// Keeps one small file per time, whose name is the hash and whose content is the number.
#include "grader/model/kept_times.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

#include "common/device/engine_settings.hpp"
#include "common/formats/json.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

std::string content(const fs::path& file) { return read_if_there(file).value_or(""); }

}  // namespace

std::string hash_of_emulator(const installation& where, const device_choice& emulator) {
  content_hash hash;
  hash.add(content("/proc/self/exe"))
      .add(content(where.emulated_runtime / "libcudart.so.13"))
      .add(emulator.name);
  const std::string gpu = engine_settings::from_environment().gpu;
  hash.add(gpu).add(gpu.empty() ? "" : content(gpu));
  return hash.hex();
}

fs::path kept_times::file_of(const fs::path& program, const lab_size& size, std::uint64_t seed) {
  if (common_.empty()) common_ = hash_of_emulator(where_, emulator_);
  content_hash hash;
  hash.add(common_).add(content(program)).add(json_text(json(size))).add(std::to_string(seed));
  hash.add(emulator_.judged() ? "judged" : "in practice");
  return where_.build / "modelled" / hash.hex();
}

std::optional<double> kept_times::find(const fs::path& program, const lab_size& size,
                                       std::uint64_t seed) {
  const auto text = read_if_there(file_of(program, size, seed));
  if (!text) return {};
  const json number = parse_json_or_null(*text);
  if (!number.is_number() || number.get<double>() <= 0) return {};
  return number.get<double>();
}

void kept_times::keep(const fs::path& program, const lab_size& size, std::uint64_t seed,
                      double time_ms) {
  const fs::path file = file_of(program, size, seed);
  try {
    fs::create_directories(file.parent_path());
    write_atomically(file, json_text(json(time_ms)) + "\n");
  } catch (const failure&) {
  } catch (const fs::filesystem_error&) {
  }
}

}  // namespace stepwise

// Hashes the files that produce a verdict.
#include "grader/batch/versions.hpp"

#include <algorithm>
#include <set>

#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise::batch {
namespace {

std::string hash_of(std::vector<fs::path> files, const fs::path& root) {
  std::sort(files.begin(), files.end());
  content_hash hash;
  for (const auto& file : files) {
    hash.add(file.lexically_relative(root).string());
    hash.add(read_if_there(file).value_or("absent"));
  }
  return hash.hex().substr(0, 16);
}

std::string lab_version(const installation& where, const lab& l) {
  const fs::path folder = where.root / l.file.parent_path();
  std::vector<fs::path> files = {folder / "lab.toml", folder / "problem.cpp", folder / l.contract};
  std::set<std::string> compared;
  for (const auto& g : l.goals)
    if (g.is_speed()) compared.insert(g.over);
  for (const auto& s : l.steps)
    if (compared.count(s.name) > 0) files.push_back(where.root / s.file);
  return hash_of(files, where.root);
}

std::string grader_version(const installation& where, const device_choice& device) {
  std::vector<fs::path> files = {"/proc/self/exe", device.server};
  for (const auto& folder : {device.runtime_folder, device.client_runtime})
    if (!folder.empty() && folder.lexically_normal().string().starts_with(where.build.string()))
      files.push_back(folder / "libcudart.so.13");
  // The runner's archive is thin and only names its objects, so their sources are hashed.
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(where.root / "common" / "runner", ignored))
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  return hash_of(files, where.build) + " " + where.version;
}

std::string toolkit_version(const installation& where) {
  if (where.nvcc.empty()) return "none";
  child_options ask;
  ask.command = {where.nvcc, "--version"};
  const auto answer = run_child(std::move(ask), 60);
  const auto at = answer.out.find(", V");
  if (!answer.end.ok() || at == std::string::npos) return "unknown";
  return answer.out.substr(at + 3, answer.out.find_first_of(" \n", at + 3) - at - 3);
}

}  // namespace

verdict_key current_versions(const installation& where, const lab& l, const device_choice& device,
                             const std::string& key_id) {
  verdict_key k;
  k.lab = lab_version(where, l);
  k.grader = grader_version(where, device);
  k.toolkit = toolkit_version(where);
  k.device = device.gpu ? device.name + ", driver " + device.state.driver_version
                        : "emulator as " + device.name;
  k.key = key_id;
  return k;
}

verdict_key key_for(verdict_key versions, const std::string& sha256) {
  versions.submission = sha256;
  return versions;
}

bool is_current(const json& entry, const verdict_key& key) {
  return entry.is_object() && entry.value("class", "INFRA") != "INFRA" && entry.contains("key") &&
         entry.at("key") == json_of(key);
}

}  // namespace stepwise::batch

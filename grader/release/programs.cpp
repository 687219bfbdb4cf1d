// Copies the listed files, and removes this machine's paths from lab.json.
#include "grader/release/programs.hpp"

#include <algorithm>

#include "common/formats/json.hpp"
#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

constexpr int environment = static_cast<int>(exit_code::environment);

// No folder has this name. The program replaces it with the copy's folder.
constexpr const char* stand_in_root = "/stepwise";

std::string portable_configuration(const fs::path& build) {
  json config = parse_json(read_file(build / "grader" / "lab.json", environment));
  config["source_root"] = "..";
  config["configured_root"] = stand_in_root;
  config["configured_build"] = std::string(stand_in_root) + "/build";
  config["nvcc"] = std::string(stand_in_root) + "/.cuda/bin/nvcc";
  return json_text(config, 2) + "\n";
}

}  // namespace

void need_portable(const fs::path& build) {
  const fs::path sets = fs::path("common") / "emulator" / "ops" / "instruction_sets";
  if (read_file(build / sets, environment).find("baseline") == std::string::npos) {
    throw failure(exit_code::environment,
                  "these programs run only on processors like this machine's\nto build portable "
                  "programs: STEPWISE_SETUP_ARGS=-Dportable=true ./lab setup");
  }
}

void place_programs(const fs::path& build, const fs::path& copy,
                    const std::vector<released_lab>& open) {
  for (const std::string& line : split_lines(read_file(build / "programs.txt", environment))) {
    const auto space = line.find(' ');  // PATH, or PATH LAB
    const std::string path = line.substr(0, space);
    const auto is_its_lab = [&](const released_lab& l) { return l.name == line.substr(space + 1); };
    if (path.empty() || (space != std::string::npos && std::ranges::none_of(open, is_its_lab))) {
      continue;
    }
    if (!fs::exists(build / path)) {
      throw failure(exit_code::environment,
                    (build / path).string() + " is not built; ./lab setup builds it");
    }
    make_folder((copy / "build" / path).parent_path());
    fs::copy_file(build / path, copy / "build" / path);
  }
  write_atomically(copy / "build" / "grader" / "lab.json", portable_configuration(build));
}

}  // namespace stepwise

// Names a record after the lab, the GPU and its kind.
#include "grader/measure/records/record_file.hpp"

#include "grader/judge/device_choice.hpp"

namespace stepwise {

fs::path record_file(const lab& l, std::string_view device_name, std::string_view kind) {
  const std::string dot_kind = kind.empty() ? "" : "." + std::string(kind);
  return fs::path("solutions") / l.name / "measured" /
         (gpu_file_name(device_name) + dot_kind + ".jsonl");
}

void write_record(const fs::path& file, const json& record) {
  write_atomically(file, json_lines_text(record));
}

}  // namespace stepwise

// Starts unpack.py, and uses only the verifiable parts of its output.
#include <algorithm>
#include <charconv>

#include "common/formats/json.hpp"
#include "grader/batch/member.hpp"
#include "grader/batch/names.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise::batch {
namespace {

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr double most_reading_s = 120;
constexpr std::size_t most_listing = 64 << 20;

// The system's Python, which a sandbox shows anyway, or otherwise the first Python on PATH with its
// libraries.
struct interpreter {
  std::string program;
  std::vector<fs::path> folders;
};

interpreter find_python() {
  for (const char* own : {"/usr/bin/python3", "/bin/python3"})
    if (fs::exists(own)) return {own, {}};
  const std::string program = on_path("python3");
  child_options ask;
  ask.command = {program, "-c",
                 "import sys; print(sys.executable, sys.base_prefix, sys.prefix, sep='\\n')"};
  const auto answer = program.empty() ? child_result{} : run_child(ask, 20);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < answer.out.size();) {
    const auto end = std::min(answer.out.find('\n', begin), answer.out.size());
    lines.push_back(answer.out.substr(begin, end - begin));
    begin = end + 1;
  }
  if (lines.size() != 3) {
    throw failure(exit_code::environment,
                  "python3 is missing, but grade-all needs it to read zip and tar files; install "
                  "it (Debian package python3), or unpack the files into a folder");
  }
  return {lines[0], {fs::path(lines[0]).parent_path(), lines[1], lines[2]}};
}

child_options reader_of(const fs::path& archive, const fs::path& to, const archive_limits& limits,
                        const fs::path& script, const protections& guards) {
  static const interpreter python = find_python();
  child_options options;
  options.command = {python.program,
                     "-I",
                     "-S",
                     "-B",
                     script.string(),
                     archive.string(),
                     to.string(),
                     std::to_string(limits.bytes),
                     std::to_string(limits.files),
                     std::to_string(limits.file_bytes)};
  options.command.insert(options.command.end(), limits.endings.begin(), limits.endings.end());
  options.environment = {"LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"};
  options.directory = "/";
  options.keep_bytes = 2 * most_listing;  // head and tail keep half each
  options.flood_bytes = most_listing;
  confinement c;
  c.tools = true;
  c.read = {script, archive};
  c.read.insert(c.read.end(), python.folders.begin(), python.folders.end());
  c.write = {to};
  c.address_bytes = 1024 * megabyte;
  c.memory_bytes = 512 * megabyte;
  c.file_bytes = limits.file_bytes + megabyte;
  c.cpu_s = 60;
  c.open_files = 64;
  c.processes = 8;
  return confined(std::move(options), c, guards);
}

member member_of(const json& line, const fs::path& to, const archive_limits& limits) {
  member m;
  m.path = line.at("name").get<std::string>();
  const std::string kind = line.at("kind");
  m.what = kind == "file"   ? member::kind::file
           : kind == "link" ? member::kind::link
                            : member::kind::device;
  m.bytes = line.at("bytes").get<std::uint64_t>();
  if (line.at("number").is_null() || m.what != member::kind::file) return m;
  const fs::path content = to / std::to_string(line.at("number").get<std::uint64_t>());
  std::error_code error;
  const auto status = fs::symlink_status(content, error);
  if (fs::is_regular_file(status) && fs::file_size(content, error) <= limits.file_bytes)
    m.content = content;
  return m;
}

}  // namespace

bool is_archive(std::string_view path) {
  const std::string name = lower_case(path);
  for (const char* ending : {".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2"})
    if (name.ends_with(ending)) return true;
  return false;
}

members read_archive(const fs::path& archive, const fs::path& to, const archive_limits& limits,
                     const fs::path& script, const protections& guards,
                     const std::function<void()>& tick) {
  auto options = reader_of(archive, to, limits, script, guards);
  options.tick = tick;
  const auto result = run_child(std::move(options), most_reading_s);
  members found;
  found.broken = "it takes too much time or memory to read";
  for (std::size_t begin = 0; begin < result.out.size();) {
    const auto end = result.out.find('\0', begin);
    if (end == std::string::npos) break;
    const json line = parse_json_or_null(result.out.substr(begin, end - begin));
    begin = end + 1;
    try {
      if (line.contains("end")) {
        const std::string why = line.at("end");
        found.broken = why == "ok" && result.end.ok() ? "" : why == "ok" ? found.broken : why;
        break;
      }
      if (static_cast<int>(found.all.size()) >= limits.files) break;
      found.all.push_back(member_of(line, to, limits));
    } catch (const json_error&) {
      found.broken = "its reader returned malformed output";
      break;
    }
  }
  if (result.out.empty() && !result.end.ok() && result.err.find("Python") != std::string::npos) {
    throw failure(exit_code::environment, "python3 does not start in the sandbox: " +
                                              result.err.substr(0, result.err.find('\n')));
  }
  return found;
}

}  // namespace stepwise::batch

// Finds the file from which each address is mapped, runs addr2line on that file, and reads its
// answers.
#include "common/runtime/host/host_lines.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>

#include "common/device/names.hpp"

extern "C" char** environ;

namespace stepwise::runtime {
namespace {

// A file that is mapped into this process, and its address.
struct mapped_object {
  std::string file;
  std::uintptr_t base = 0;
};

struct object_search {
  std::uintptr_t inside;
  mapped_object found;
};

// The running program. Without /proc, this is the name with which it was started.
std::string program_file() {
  const std::string link = "/proc/" + std::to_string(getpid()) + "/exe";
  if (access(link.c_str(), F_OK) == 0) return link;
  return reinterpret_cast<const char*>(getauxval(AT_EXECFN));
}

int search_object(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<object_search*>(data);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& part = info->dlpi_phdr[i];
    const std::uintptr_t first = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || search.inside < first || search.inside >= first + part.p_memsz) {
      continue;
    }
    const bool is_program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
    search.found = {is_program ? program_file() : info->dlpi_name, info->dlpi_addr};
    return 1;
  }
  return 0;
}

mapped_object object_of(std::uintptr_t address) {
  object_search search{address, {}};
  dl_iterate_phdr(search_object, &search);
  return search.found;
}

// System libraries such as the C library, whose lines are of no interest.
bool is_systems(const std::string& file) {
  return file.empty() || file.starts_with("/lib") || file.starts_with("/usr/lib");
}

std::string read_all(int from) {
  std::string text;
  char chunk[4096];
  for (;;) {
    const ssize_t got = read(from, chunk, sizeof chunk);
    if (got > 0) text.append(chunk, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
  }
}

// The output of a command; empty if it cannot be started. We drop LD_* variables, so that the
// command does not preload our runtime or use the program's library path.
std::string output_of(std::vector<std::string> command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  std::vector<char*> words, environment;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  for (char** entry = environ; *entry != nullptr; entry++) {
    if (std::strncmp(*entry, "LD_", 3) != 0) environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text = failed == 0 ? read_all(ends[0]) : "";
  close(ends[0]);
  while (failed == 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

std::string hexadecimal(std::uintptr_t number) {
  char digits[2 * sizeof number];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, 16).ptr;
  return "0x" + std::string(digits, end);
}

// Parses text like "/home/me/main.cu:12 (discriminator 3)". "??:0" and "main.cu:?" have no line.
void parse_position(std::string_view text, host_line& into) {
  text = text.substr(0, text.find(" (discriminator"));
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || text.starts_with("??")) return;
  int number = 0;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), number);
  if (number <= 0) return;
  into.file = decoded_path(text.substr(0, colon));
  into.line = number;
}

// Parses the output of `addr2line -a -f -i`: each address, followed by two lines per function.
std::vector<std::vector<host_line>> parse_answers(std::string_view text, std::size_t count) {
  std::vector<std::vector<host_line>> answers;
  bool name_next = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("0x")) {
      answers.emplace_back();
      name_next = true;
    } else if (answers.empty()) {
      break;
    } else if (name_next) {
      answers.back().push_back({line == "??" ? "" : readable_name(line), "", 0});
      name_next = false;
    } else {
      parse_position(line, answers.back().back());
      name_next = true;
    }
  }
  answers.resize(count);
  return answers;
}

// The exported function that contains an address, according to the loader.
std::string exported_function(std::uintptr_t address) {
  Dl_info info;
  const bool found = dladdr(reinterpret_cast<void*>(address), &info) != 0 && info.dli_sname;
  return found ? readable_name(info.dli_sname) : "";
}

}  // namespace

std::vector<std::vector<host_line>> lines_of(std::span<const std::uintptr_t> addresses) {
  std::map<std::string, std::vector<std::size_t>> by_file;
  std::vector<std::uintptr_t> bases(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); i++) {
    const mapped_object object = object_of(addresses[i]);
    bases[i] = object.base;
    by_file[object.file].push_back(i);
  }
  std::vector<std::vector<host_line>> lines(addresses.size());
  for (const auto& [file, indices] : by_file) {
    if (is_systems(file)) continue;
    std::vector<std::string> command = {"addr2line", "-a", "-f", "-i", "-e", file};
    for (const std::size_t i : indices) command.push_back(hexadecimal(addresses[i] - bases[i]));
    auto answers = parse_answers(output_of(std::move(command)), indices.size());
    for (std::size_t k = 0; k < indices.size(); k++) lines[indices[k]] = std::move(answers[k]);
  }
  for (std::size_t i = 0; i < addresses.size(); i++) {
    const bool unknown =
        lines[i].empty() ||
        (lines[i].size() == 1 && lines[i][0].function.empty() && lines[i][0].file.empty());
    if (unknown) lines[i] = {{exported_function(addresses[i]), "", 0}};
  }
  return lines;
}

}  // namespace stepwise::runtime

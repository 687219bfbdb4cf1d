// Tries what the machine can do, and writes bubblewrap's command lines.
#include "grader/sandbox/sandbox.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/system_calls.hpp"

namespace stepwise {
namespace {

// Where the loader and libraries are, whatever the system calls them: folders, or links into /usr.
constexpr const char* library_folders[] = {"/lib", "/lib64", "/lib32", "/libx32"};
constexpr const char* tool_folders[] = {"/bin", "/sbin"};

// A descriptor that is closed with the last copy of the options.
struct held_descriptor {
  explicit held_descriptor(int number) : number(number) {}
  ~held_descriptor() { close(number); }
  const int number;
};

std::shared_ptr<held_descriptor> in_memory(const std::string& bytes) {
  const int descriptor = memfd_create("stepwise-filter", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, bytes.data(), bytes.size()) != std::ssize(bytes) ||
      lseek(descriptor, 0, SEEK_SET) != 0) {
    const int error = errno;
    if (descriptor >= 0) close(descriptor);
    throw failure(exit_code::environment,
                  std::string("cannot make a file in memory: ") + strerror(error));
  }
  return std::make_shared<held_descriptor>(descriptor);
}

void add(std::vector<std::string>& to, std::initializer_list<std::string> words) {
  to.insert(to.end(), words);
}

void show_system(std::vector<std::string>& arguments, bool tools) {
  const auto show = [&](const fs::path& folder) {
    std::error_code error;
    if (fs::is_symlink(folder, error)) {
      add(arguments, {"--symlink", fs::read_symlink(folder, error).string(), folder.string()});
    } else if (fs::is_directory(folder, error)) {
      add(arguments, {"--ro-bind", folder.string(), folder.string()});
    }
  };
  if (tools) {
    show("/usr");
    for (const char* folder : tool_folders) show(folder);
    add(arguments, {"--ro-bind-try", "/etc/alternatives", "/etc/alternatives"});
  } else {
    for (const char* folder : library_folders) show(std::string("/usr") + folder);
  }
  for (const char* folder : library_folders) show(folder);
  add(arguments, {"--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"});
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto relative = path.lexically_normal().lexically_relative(folder.lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

void bind(std::vector<std::string>& arguments, const char* how, std::vector<fs::path> paths,
          bool tools) {
  for (auto& path : paths) path = fs::absolute(path).lexically_normal();
  std::sort(paths.begin(), paths.end());  // a folder before what is in it
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (const auto& path : paths) {
    std::error_code error;
    const bool is_there = tools ? is_below(path, "/usr") : is_below(path, "/usr/lib");
    if (!is_there && fs::exists(path, error)) {
      add(arguments, {how, path.string(), path.string()});
    }
  }
}

std::vector<std::string> wrapped(const child_options& options, const confinement& c,
                                 const protections& with) {
  std::vector<std::string> all = {with.bubblewrap.string()};
  all.insert(all.end(), with.begin.begin(), with.begin.end());
  show_system(all, c.tools);
  add(all, {"--proc", "/proc"});
  for (const char* file : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    add(all, {"--dev-bind-try", file, file});
  }
  for (const auto& node : c.devices) add(all, {"--dev-bind-try", node.string(), node.string()});
  if (c.scratch_bytes > 0) {
    if (with.sizes_folders) add(all, {"--size", std::to_string(c.scratch_bytes)});
    add(all, {"--tmpfs", "/tmp"});
  }
  bind(all, "--ro-bind", c.read, c.tools);
  bind(all, "--bind", c.write, c.tools);
  std::error_code ignored;
  const fs::path directory =
      options.directory.empty() ? fs::current_path(ignored) : fs::path(options.directory);
  if (!directory.empty()) add(all, {"--dir", directory.string()});
  add(all, {"--remount-ro", "/"});
  if (!directory.empty()) add(all, {"--chdir", directory.string()});
  return all;
}

// Of this user, threads counted.
std::uint64_t own_tasks() {
  std::uint64_t count = 0;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    struct stat about {};
    if (stat(process.path().c_str(), &about) != 0 || about.st_uid != geteuid()) continue;
    for ([[maybe_unused]] const auto& task : fs::directory_iterator(process.path() / "task", error))
      ++count;
  }
  return count;
}

// Does bubblewrap start a program with these arguments? Else the reason, in its words.
bool starts(const fs::path& program, const std::vector<std::string>& begin, std::string& why_not) {
  protections trial;
  trial.bubblewrap = program;
  trial.begin = begin;
  confinement c;
  c.tools = true;
  child_options options;
  options.command = {"/bin/true"};
  options.directory = "/";
  options.command = wrapped(options, c, trial);
  add(options.command, {"--", "/bin/true"});
  try {
    const auto result = run_child(std::move(options), 10);
    if (result.end.ok()) return true;
    why_not = result.err.substr(0, result.err.find('\n'));
    if (why_not.empty()) why_not = "bubblewrap failed";
  } catch (const failure& error) {
    why_not = error.what();
  }
  return false;
}

// What to do about it, where that is known.
std::string advice(const std::string& why_not) {
  const auto restricted = read_if_there("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  if (restricted && restricted->starts_with("1")) {
    return why_not +
           " (Ubuntu lets only programs with an AppArmor profile make user namespaces: install the "
           "package apparmor-profiles and load bwrap-userns-restrict)";
  }
  const auto most = read_if_there("/proc/sys/user/max_user_namespaces");
  if (most && most->starts_with("0")) {
    return why_not + " (user.max_user_namespaces is 0)";
  }
  return why_not + " (a container often allows no user namespaces)";
}

void try_bubblewrap(protections& found) {
  protection layer{"namespaces", false, ""};
  const std::string program = on_path("bwrap");
  std::string why_not = "bubblewrap is not installed (Debian's package bubblewrap)";
  if (!program.empty()) {
    const std::vector<std::string> apart = {
        "--unshare-ipc",        "--unshare-pid",     "--unshare-net", "--unshare-uts",
        "--unshare-cgroup-try", "--die-with-parent", "--hostname",    "sandbox"};
    auto as_user = apart;
    add(as_user, {"--unshare-user", "--uid", "1000", "--gid", "1000"});
    auto as_root = apart;
    add(as_root, {"--cap-drop", "ALL"});
    if (starts(program, as_user, why_not)) {
      found.begin = as_user;
    } else if (std::string ignored; geteuid() == 0 && starts(program, as_root, ignored)) {
      found.begin = as_root;
    } else {
      why_not = advice(why_not);
    }
    if (!found.begin.empty()) {
      found.bubblewrap = program;
      child_options asked;
      asked.command = {program, "--help"};
      found.sizes_folders = run_child(asked, 10).out.find("--size BYTES") != std::string::npos;
      layer.active = true;
    }
  }
  layer.detail = layer.active ? "files, processes and network of its own (bubblewrap)"
                              : why_not +
                                    ": it can reach this machine's files, network and "
                                    "processes";
  found.layers.push_back(std::move(layer));
}

void try_filter(protections& found) {
  found.filters = has_system_call_filters();
  found.layers.push_back(
      {"system calls", found.filters,
       found.filters ? "those that a computation never needs are refused (seccomp)"
                     : "this kernel has no seccomp filters: every system call is allowed"});
}

void try_group(protections& found) {
  std::string why_not;
  const auto group = control_group::make({std::uint64_t{1} << 30, 64}, why_not);
  found.groups = group != nullptr;
  found.layers.push_back(
      {"control group", found.groups,
       found.groups
           ? "memory and processes are limited in total"
           : why_not + ": memory and processes are looked at ten times a second, not limited"});
}

}  // namespace

bool protections::complete() const {
  return std::all_of(layers.begin(), layers.end(), [](const auto& l) { return l.active; });
}

std::string protections::text() const {
  std::string active, missing;
  for (const auto& layer : layers) {
    std::string& list = layer.active ? active : missing;
    list += (list.empty() ? "" : ", ") + layer.name;
  }
  return active + (missing.empty() ? "" : " (missing: " + missing + ")");
}

const protections& find_protections() {
  static const protections known = [] {
    protections found;
    try_bubblewrap(found);
    try_filter(found);
    found.layers.push_back({"limits", true, "time, memory, files of each process, output"});
    try_group(found);
    return found;
  }();
  return known;
}

child_options confined(child_options options, const confinement& c, const protections& with) {
  options.own_environment = true;
  std::erase_if(options.environment,
                [](const auto& entry) { return entry.find('=') == std::string::npos; });
  options.address_limit_bytes = c.address_bytes;
  options.file_limit_bytes = c.file_bytes;
  options.cpu_limit_s = c.cpu_s;
  options.open_file_limit = c.open_files;
  if (with.groups && (c.memory_bytes > 0 || c.processes > 0)) {
    std::string ignored;
    options.group = control_group::make({c.memory_bytes, c.processes}, ignored);
  }
  // Without a group: Linux counts all processes of a user, and none of root's, which we count.
  if (!options.group && c.processes > 0) {
    if (geteuid() != 0) {
      options.process_limit = own_tasks() + static_cast<std::uint64_t>(c.processes);
    } else if (!with.bubblewrap.empty()) {
      options.counted_tasks = c.processes;
    }
  }
  if (!options.group) options.counted_bytes = c.memory_bytes;
  const std::string filter =
      with.filters
          ? system_call_filter(c.starts_programs ? processes_are::allowed : processes_are::refused)
          : std::string{};
  if (with.bubblewrap.empty()) {
    options.filter = filter;
    return options;
  }
  auto command = wrapped(options, c, with);
  if (!filter.empty()) {
    const auto file = in_memory(filter);
    add(command, {"--seccomp", std::to_string(3 + options.pass.size())});
    options.pass.push_back(file->number);
    options.keep.push_back(file);
  }
  command.push_back("--");
  command.insert(command.end(), options.command.begin(), options.command.end());
  options.command = std::move(command);
  options.directory = "/";
  options.ends_as_shell = true;
  return options;
}

}  // namespace stepwise

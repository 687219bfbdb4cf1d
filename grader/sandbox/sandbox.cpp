// Writes bubblewrap's command lines.
#include "grader/sandbox/sandbox.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/system_calls.hpp"

namespace stepwise {
namespace {

// The folders of the loader and libraries on any system: real folders, or links into /usr.
constexpr const char* library_folders[] = {"/lib", "/lib64", "/lib32", "/libx32"};
constexpr const char* tool_folders[] = {"/bin", "/sbin"};
// The only entries of /proc, apart from processes and links to them, that a sandbox shows. Other
// entries describe the machine and its users.
constexpr std::string_view shown_entries[] = {"cpuinfo", "filesystems", "loadavg", "meminfo",
                                              "stat",    "sys",         "uptime",  "version"};
constexpr std::string_view entries_for_drivers[] = {"devices", "driver", "modules"};

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
                  std::string("cannot create a file in memory: ") + strerror(error));
  }
  return std::make_shared<held_descriptor>(descriptor);
}

void add(std::vector<std::string>& to, std::initializer_list<std::string> words) {
  to.insert(to.end(), words);
}

void show_system(std::vector<std::string>& arguments, bool tools) {
  // A folder created on its own is open to all. A folder that bubblewrap 0.8 creates for its
  // content is open only to the user who starts it.
  for (const char* folder : {"/usr", "/etc", "/dev"}) add(arguments, {"--dir", folder});
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
  std::sort(paths.begin(), paths.end());  // a folder before its content
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (const auto& path : paths) {
    std::error_code error;
    const bool is_there = tools ? is_below(path, "/usr") : is_below(path, "/usr/lib");
    if (!is_there && fs::exists(path, error)) {
      add(arguments, {"--dir", path.parent_path().string(), how, path.string(), path.string()});
    }
  }
}

// A new /proc, read-only: bubblewrap leaves /proc/sys writable for a user who is root outside.
void show_proc(std::vector<std::string>& arguments, bool to_drivers) {
  add(arguments, {"--proc", "/proc"});
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string path = entry.path(), name = entry.path().filename();
    if (std::isdigit(static_cast<unsigned char>(name[0])) || entry.is_symlink(error) ||
        std::ranges::count(shown_entries, name) > 0 ||
        (to_drivers && std::ranges::count(entries_for_drivers, name) > 0))
      continue;
    if (entry.is_directory(error))
      add(arguments, {"--tmpfs", path, "--remount-ro", path});
    else
      add(arguments, {"--ro-bind", "/dev/null", path});
  }
  add(arguments, {"--remount-ro", "/proc"});
}

// Copies files that sandbox_user cannot read. Throws if a folder is not readable.
void show_copies(std::vector<std::string>& arguments, std::vector<fs::path>& paths,
                 child_options& options) {
  std::erase_if(paths, [&](const fs::path& path) {
    struct stat about {};
    if (stat(path.c_str(), &about) != 0) return true;
    const bool is_folder = S_ISDIR(about.st_mode);
    const mode_t needed = is_folder ? S_IROTH | S_IXOTH : S_IROTH;
    if ((about.st_mode & needed) == needed) return false;
    if (is_folder)
      throw failure(exit_code::environment, "programs in the sandbox run as user " +
                                                std::to_string(sandbox_user) +
                                                ", which cannot read " + path.string() +
                                                "\nto allow it: chmod -R go+rX " + path.string());
    const auto file = std::make_shared<held_descriptor>(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const fs::path shown = fs::absolute(path).lexically_normal();
    add(arguments, {"--dir", shown.parent_path().string(), "--perms",
                    (about.st_mode & S_IXUSR) != 0 ? "0555" : "0444", "--ro-bind-data",
                    std::to_string(3 + options.pass.size()), shown.string()});
    options.pass.push_back(file->number);
    options.keep.push_back(file);
    return true;
  });
}

std::vector<std::string> wrapped(child_options& options, const confinement& c,
                                 const protections& with) {
  std::vector<std::string> all = {with.bubblewrap.string()};
  all.insert(all.end(), with.begin.begin(), with.begin.end());
  show_system(all, c.tools);
  if (c.proc) show_proc(all, !c.devices.empty());
  for (const char* file : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    add(all, {"--dev-bind-try", file, file});
  }
  for (const auto& node : c.devices) add(all, {"--dev-bind-try", node.string(), node.string()});
  if (c.scratch_bytes > 0) {
    if (!with.become.empty()) add(all, {"--perms", "1777"});
    if (with.sizes_folders) add(all, {"--size", std::to_string(c.scratch_bytes)});
    add(all, {"--tmpfs", "/tmp"});
  }
  auto read = c.read;
  if (!with.become.empty()) {
    read.push_back(with.become[0]);
    show_copies(all, read, options);
  }
  bind(all, "--ro-bind", read, c.tools);
  bind(all, "--bind", c.write, c.tools);
  std::error_code ignored;
  const fs::path directory =
      options.directory.empty() ? fs::current_path(ignored) : fs::path(options.directory);
  if (!directory.empty()) add(all, {"--dir", directory.string()});
  add(all, {"--remount-ro", "/"});
  if (!directory.empty()) add(all, {"--chdir", directory.string()});
  return all;
}

// The tasks of one user, including threads.
std::uint64_t tasks_of(uid_t user) {
  std::uint64_t count = 0;
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    struct stat about {};
    if (stat(process.path().c_str(), &about) != 0 || about.st_uid != user) continue;
    for ([[maybe_unused]] const auto& task : fs::directory_iterator(process.path() / "task", error))
      ++count;
  }
  return count;
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
  // Without a control group, Linux can limit the processes of a user, but not those of root. Root's
  // processes are counted instead.
  if (!options.group && c.processes > 0) {
    const bool becomes = !with.bubblewrap.empty() && !with.become.empty();
    const uid_t user = becomes ? sandbox_user : geteuid();
    if (user != 0) {
      options.process_limit = tasks_of(user) + static_cast<std::uint64_t>(c.processes);
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
  options.command.insert(options.command.begin(), with.become.begin(), with.become.end());
  if (!with.become.empty()) {
    for (const auto& path : c.write)
      [[maybe_unused]] const int ignored = lchown(path.c_str(), sandbox_user, sandbox_user);
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

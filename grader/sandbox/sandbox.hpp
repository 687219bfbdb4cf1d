// Describes the resources that an untrusted child may see and use, and turns the description into a
// sandboxed command.
//
// idea    The child always runs as an unprivileged user. bubblewrap gives it separate namespaces:
//         an in-memory file system that shows only the listed files, no network, no other
//         processes, and the necessary parts of /proc, read-only. A filter of system calls
//         (system/system_calls.hpp), limits per process, and a control group for all processes
//         together are further layers. Attempts to escape find the layers that this machine lacks,
//         which are reported. The other layers hold without the missing ones.
// Tested by tests/sandbox_test.cpp, and by grader/tests/attacks_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/system/process.hpp"

namespace stepwise {

namespace fs = std::filesystem;

// One layer of protection around a child.
struct protection {
  std::string name;  // "user", "namespaces", "system calls", "limits", "control group"
  bool active = false;
  std::string detail;  // what it keeps out; if missing, why and what that means
};

// An attempt of a program in a sandbox, to learn whether a layer holds.
struct escape_attempt {
  std::string layer, attempt;
  std::string result;  // "refused: Permission denied", "possible: /proc/sys/kernel/core_pattern"

  bool refused() const { return result.starts_with("refused"); }
};

// The protections that this machine can provide.
struct protections {
  std::vector<protection> layers;
  std::vector<escape_attempt> attempts;  // how each layer was tested
  fs::path bubblewrap;                   // empty if unusable
  std::vector<std::string> begin;        // its first arguments
  // Words before a command that start it as sandbox_user in the sandbox. Empty if this user is not
  // root or if root cannot change its user.
  std::vector<std::string> become;
  bool sizes_folders = false;  // bubblewrap can limit an in-memory folder
  bool filters = false, groups = false;

  bool complete() const;            // no layer is missing
  std::string text() const;         // "user, namespaces, limits (missing: ...)"
  std::string environment() const;  // "STEPWISE_PROTECTIONS=..." for our own children
};

// The unprivileged user of a sandboxed program that root started, 65534 on most systems.
// Root itself, even without capabilities, owns files such as /proc/sys/kernel/core_pattern.
constexpr unsigned sandbox_user = 65534;

// On the first call, starts a program (sandbox_probe.cpp) in each kind of sandbox, the strongest
// first, until it fails to escape. A layer is active if every attempt against it was refused. In a
// batch, only the parent does this: its children read protections::environment(), which has
// all results except the attempts.
const protections& find_protections();

// Paths keep their names, with links in them resolved. Missing paths are omitted.
struct confinement {
  std::vector<fs::path> read;       // files, and folders with their whole content
  std::vector<fs::path> write;      // existing files and folders
  std::vector<fs::path> devices;    // device nodes
  bool tools = false;               // all of /usr; else only the system's libraries
  bool starts_programs = false;     // false: threads only
  bool proc = true;                 // /proc; hiding its parts takes longer than the rest of a start
  std::uint64_t scratch_bytes = 0;  // size of /tmp, in memory; 0: no /tmp
  // Limits per process; 0: no limit.
  std::uint64_t address_bytes = 0, file_bytes = 0, cpu_s = 0, open_files = 0;
  // Limits for all processes together, if control groups are available:
  std::uint64_t memory_bytes = 0;
  int processes = 0;  // and threads
};

// The same child in a sandbox. Its environment is only the variables that `options` names. A
// descriptor of `options.pass` keeps its number. Its directory is the given one, otherwise ours if
// that is shown, otherwise empty. If root starts the child as sandbox_user, that user becomes the
// owner of `c.write`. Throws failure(environment) if no file descriptor is available or if that
// user cannot read a folder.
child_options confined(child_options options, const confinement& c, const protections& with);

// The paths of a course's tools: the clone, its build folder, the compiler.
struct tool_paths {
  fs::path root, build, nvcc;
};

// A compiler's view: the toolkits, the contract of lab `lab_name`, common headers for every .cu,
// and `work`, where it writes. `extra` are folders to read. The caller limits its memory.
confinement for_compiler(const tool_paths& where, const std::string& lab_name, const fs::path& work,
                         std::vector<fs::path> extra);

// The linker's view: the course's objects. It never sees a student's text.
confinement for_linker(const tool_paths& where, const fs::path& work);

// The view of a submission's program: itself, a runtime's folder, and `shown`, the sources that
// findings quote. `outputs` are files, created if missing so that they can be shared.
confinement for_program(const fs::path& program, const fs::path& runtime_folder,
                        const std::vector<fs::path>& shown, const std::vector<fs::path>& outputs);

// The view of a device's server: itself and `shown`. The server writes nothing, and has no /proc.
confinement for_server(const fs::path& server, const std::vector<fs::path>& shown);
// The view of a GPU's server: NVIDIA's nodes, the driver's files, and a /tmp for its cache.
confinement for_gpu_server(const fs::path& server);

}  // namespace stepwise

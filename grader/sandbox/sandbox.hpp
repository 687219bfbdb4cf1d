// What an untrusted child may see and use: a description, turned into a command in a
// sandbox.
//
// idea    An unprivileged user, whoever starts it. bubblewrap gives it namespaces of its own: a
// file
//         system in memory that shows what is listed here and nothing else, no network, no other
//         processes, and of /proc what programs need, read-only. A filter of system calls
//         (system/system_calls.hpp), limits of each process, and a control group for all of them
//         together come on top. What this machine lacks is found out by trying to escape, once,
//         and is reported; the other layers hold without it.
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
  std::string detail;  // what it keeps out; where it is missing: why, and what that means
};

// One thing that a program in a sandbox tried, to learn whether a layer holds.
struct escape_attempt {
  std::string layer, attempt;
  std::string result;  // "refused: Permission denied", "possible: /proc/sys/kernel/core_pattern"

  bool refused() const { return result.starts_with("refused"); }
};

// What this machine can do.
struct protections {
  std::vector<protection> layers;
  std::vector<escape_attempt> attempts;  // by which each layer was tested
  fs::path bubblewrap;                   // empty: it cannot be used
  std::vector<std::string> begin;        // its first arguments
  // Starts a program in there as sandbox_user: words before its command. Empty if this user is not
  // root, and where root cannot change its user.
  std::vector<std::string> become;
  bool sizes_folders = false;  // bubblewrap can limit a folder in memory
  bool filters = false, groups = false;

  bool complete() const;     // no layer is missing
  std::string text() const;  // "user, namespaces, limits (missing: ...)"
};

// Who a sandboxed program is if root started it: "nobody" of most systems. Root itself, even
// without capabilities, owns files such as /proc/sys/kernel/core_pattern.
constexpr unsigned sandbox_user = 65534;

// At the first call, starts a program (sandbox_probe.cpp) in each kind of sandbox, most protective
// first, until it fails to escape. A layer is active if every attempt against it was refused.
const protections& find_protections();

// Paths are shown as themselves, links in them resolved; what is not there is left out.
struct confinement {
  std::vector<fs::path> read;       // files, and folders with all that is in them
  std::vector<fs::path> write;      // files that are there, and folders
  std::vector<fs::path> devices;    // nodes to use
  bool tools = false;               // /usr and all in it; else only the system's libraries
  bool starts_programs = false;     // else threads only
  std::uint64_t scratch_bytes = 0;  // of /tmp, in memory; 0: there is none
  // Limits; 0: none of that kind. Of each process:
  std::uint64_t address_bytes = 0, file_bytes = 0, cpu_s = 0, open_files = 0;
  // Of all together, where there are control groups:
  std::uint64_t memory_bytes = 0;
  int processes = 0;  // and threads
};

// The same child in a sandbox. Its environment is what `options` names and no more; a descriptor of
// `options.pass` keeps its number; its directory is the one named, else ours, if it is shown, and
// empty otherwise. Where root starts it as sandbox_user, what is in `c.write` is given to that
// user. failure(environment) if a file descriptor cannot be had, or that user cannot read a folder.
child_options confined(child_options options, const confinement& c, const protections& with);

// Where a course's tools are: the clone, its build folder, the compiler.
struct tool_paths {
  fs::path root, build, nvcc;
};

// A compiler's view: the toolkits, the contract of lab `lab_name`, what every .cu may include, and
// `work`, where it writes. `extra`: folders to read. Its memory is for the caller to limit.
confinement for_compiler(const tool_paths& where, const std::string& lab_name, const fs::path& work,
                         std::vector<fs::path> extra);

// The linker's, which never sees a student's text: the course's objects.
confinement for_linker(const tool_paths& where, const fs::path& work);

// A submission's program: itself, a runtime's folder, and `shown`, the sources that findings quote.
// `outputs` are files, which are made if they are not there, because they are shared.
confinement for_program(const fs::path& program, const fs::path& runtime_folder,
                        const std::vector<fs::path>& shown, const std::vector<fs::path>& outputs);

// A device's server: itself and `shown`; it writes nothing.
confinement for_server(const fs::path& server, const std::vector<fs::path>& shown);
// One that holds a GPU: NVIDIA's nodes, what its driver reads, and a /tmp for the driver's cache.
confinement for_gpu_server(const fs::path& server);

}  // namespace stepwise

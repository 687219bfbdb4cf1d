// The parts of this machine that compilers, linkers and submissions' programs can see.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20, gib = std::uint64_t{1} << 30;

// Adds the parent of a program's bin/, which contains the whole toolkit. Skips the system's own
// folders, which are shown anyway.
void add_toolkit(std::vector<fs::path>& to, const fs::path& program) {
  std::error_code error;
  for (const fs::path& name : {program, fs::canonical(program, error)}) {
    if (name.empty() || name.parent_path().filename() != "bin") continue;
    const fs::path home = name.parent_path().parent_path();
    if (home != "/usr" && home != "/" && home != "/usr/local") to.push_back(home);
  }
}

confinement for_tools(const tool_paths& where, const fs::path& work) {
  confinement c;
  c.tools = true;
  c.starts_programs = true;
  add_toolkit(c.read, where.nvcc);
  for (const char* name : {"g++", "ld"}) add_toolkit(c.read, on_path(name));
  for (const char* folder : {".packages", ".cuda"}) c.read.push_back(where.root / folder);
  c.write.push_back(work);
  c.address_bytes = 8 * gib;
  c.file_bytes = 512 * mib;
  c.open_files = 1024;
  c.processes = static_cast<int>(64 + 4 * std::thread::hardware_concurrency());
  return c;
}

// Adds only the headers of a folder, one by one.
void add_headers(std::vector<fs::path>& to, const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string ending = entry.path().extension();
    if (ending == ".hpp" || ending == ".cuh" || ending == ".h") to.push_back(entry.path());
  }
}

}  // namespace

confinement for_compiler(const tool_paths& where, const std::string& lab_name, const fs::path& work,
                         std::vector<fs::path> extra) {
  confinement c = for_tools(where, work);
  c.cpu_s = 100;
  add_headers(c.read, where.root / "common" / "lab");
  add_headers(c.read, where.root / "labs" / lab_name);
  c.read.insert(c.read.end(), extra.begin(), extra.end());
  return c;
}

confinement for_linker(const tool_paths& where, const fs::path& work) {
  confinement c = for_tools(where, work);
  c.cpu_s = 100;
  c.read.insert(c.read.end(), {where.build / "labs", where.build / "common"});
  return c;
}

confinement for_program(const fs::path& program, const fs::path& runtime_folder,
                        const std::vector<fs::path>& shown, const std::vector<fs::path>& outputs) {
  confinement c;
  c.read = shown;
  c.read.push_back(program);
  // Our runtime starts addr2line for lines of host code, from a copy of the process at the fault.
  // Child processes of a submission are counted with it, and end with it.
  c.starts_programs = true;
  const fs::path lines = on_path("addr2line");
  std::error_code ignored;
  if (!lines.empty()) c.read.insert(c.read.end(), {lines, fs::canonical(lines, ignored)});
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runtime_folder, error)) {
    if (entry.path().filename().string().starts_with("libcudart.so"))
      c.read.push_back(entry.path());
  }
  for (const auto& file : outputs) {
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor >= 0) close(descriptor);
    c.write.push_back(file);
  }
  c.scratch_bytes = 16 * mib;
  c.file_bytes = 256 * mib;
  c.open_files = 256;
  c.memory_bytes = 5 * gib;
  c.processes = static_cast<int>(64 + 4 * std::thread::hardware_concurrency());
  return c;
}

confinement for_server(const fs::path& server, const std::vector<fs::path>& shown) {
  confinement c;
  c.read = shown;
  c.read.push_back(server);
  c.proc = false;
  c.open_files = 256;
  c.memory_bytes = 6 * gib;
  c.processes = static_cast<int>(64 + 4 * std::thread::hardware_concurrency());
  return c;
}

// libcuda is the system's, or is on LD_LIBRARY_PATH, as in many containers. Address space is not
// limited, because CUDA reserves as much address space as the host and the devices have memory.
confinement for_gpu_server(const fs::path& server) {
  confinement c = for_server(server, {"/sys"});
  c.proc = true;
  c.memory_bytes = 16 * gib;
  c.open_files = 1024;
  c.scratch_bytes = 256 * mib;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("nvidia")) c.devices.push_back(entry.path());
  }
  if (const char* const path = std::getenv("LD_LIBRARY_PATH")) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');)
      if (!folder.empty()) c.read.push_back(folder);
  }
  return c;
}

}  // namespace stepwise

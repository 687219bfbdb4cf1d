// Reads lab.json, translates its paths, creates the link with a plain name, and finds the runtime.
#include "grader/judge/installation.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "common/formats/json.hpp"
#include "grader/judge/plain_source.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

// NVIDIA's runtime is next to the compiler, in a usual folder of the toolkit, or in a wheel.
std::vector<fs::path> runtime_candidates(const fs::path& root, const std::string& nvcc) {
  std::vector<fs::path> folders;
  const auto toolkit = [&](const fs::path& base) {
    for (const char* lib : {"lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib"}) {
      folders.push_back(base / lib);
    }
  };
  if (!nvcc.empty()) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(nvcc, error);
    toolkit(fs::path(nvcc).parent_path().parent_path());
    if (!error) toolkit(real.parent_path().parent_path());
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* value = std::getenv(name)) toolkit(value);
  }
  toolkit("/usr/local/cuda");
  toolkit("/usr/local/cuda-13");
  for (const char* minor : {"13.0", "13.1", "13.2", "13.3"}) {
    toolkit(std::string("/usr/local/cuda-") + minor);
  }
  toolkit(root / ".cuda");
  // PyPI's wheels in the active Python environment.
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment && *environment) {
    std::error_code none;
    for (const auto& python : fs::directory_iterator(fs::path(environment) / "lib", none)) {
      folders.push_back(python.path() / "site-packages" / "nvidia" / "cu13" / "lib");
    }
  }
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) {
    const std::string list = path;
    for (std::size_t begin = 0; begin <= list.size();) {
      const auto end = std::min(list.find(':', begin), list.size());
      if (end > begin) folders.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/aarch64-linux-gnu"}) {
    folders.push_back(folder);
  }
  return folders;
}

// Whether this is a link to the clone that no other user may change.
bool is_alias(const fs::path& alias, const fs::path& root) {
  struct stat folder {
  }, clone{};
  std::error_code error;
  return alias.is_absolute() && alias.filename() == "clone" && fs::is_symlink(alias, error) &&
         fs::equivalent(alias, root, error) && stat(root.c_str(), &clone) == 0 &&
         lstat(alias.parent_path().c_str(), &folder) == 0 &&
         (folder.st_uid == geteuid() || folder.st_uid == clone.st_uid);
}

// Does the same as the launcher: reuses the old name if its folder is gone.
fs::path new_alias(const fs::path& old, const fs::path& root) {
  std::string folder = old.parent_path();
  const std::string name = old.parent_path().filename();
  if (!name.starts_with("stepwise-") || !is_plain(folder) || mkdir(folder.c_str(), 0755) != 0) {
    folder = plain_temporary_path() / "stepwise-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
      throw failure(exit_code::environment, "cannot write to " + plain_temporary_path().string());
    }
    chmod(folder.c_str(), 0755);
  }
  const fs::path alias = fs::path(folder) / "clone";
  fs::create_directory_symlink(root, alias);
  return alias;
}

// The clone's own name if that is plain, otherwise its alias.
fs::path plain_name(const fs::path& root, const fs::path& build) {
  if (is_plain(root.string())) return root;
  const fs::path file = build / "alias";
  std::string known = read_if_there(file).value_or("");
  known = known.substr(0, known.find('\n'));
  if (is_alias(known, root)) return known;
  const fs::path alias = new_alias(known, root);
  if (alias != known) write_atomically(file, alias.string() + "\n");
  return alias;
}

}  // namespace

int installation::code() const {
  int newest = 0;
  for (const std::string& argument : cuda_args)
    for (std::size_t at = 0; (at = argument.find("=compute_", at)) != std::string::npos; ++at)
      newest = std::max(newest, std::atoi(argument.c_str() + at + 9));
  return newest;
}

installation code_for(installation where, int capability) {
  if (where.cuda_args.empty() || where.code() == capability) return where;
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < where.cuda_args.size(); ++i) {
    if (where.cuda_args[i] == "-gencode") {
      ++i;
    } else {
      kept.push_back(where.cuda_args[i]);
    }
  }
  const std::string sm = std::to_string(capability);
  for (const char* form : {"sm_", "compute_"}) {
    kept.push_back("-gencode");
    kept.push_back("arch=compute_" + sm + ",code=" + form + sm);
  }
  where.cuda_args = std::move(kept);
  where.is_as_built = false;
  return where;
}

std::vector<std::string> for_hopper(std::vector<std::string> cuda_args) {
  for (std::string& argument : cuda_args) {
    if (!argument.starts_with("arch=compute_90,")) continue;
    argument = argument.find("code=sm_") == std::string::npos ? "arch=compute_90a,code=compute_90a"
                                                              : "arch=compute_90a,code=sm_90a";
  }
  return cuda_args;
}

std::string installation::shown(const fs::path& file) const {
  const fs::path whole = fs::absolute(file).lexically_normal();
  for (const fs::path& clone : {root, own_root}) {
    const fs::path relative = whole.lexically_relative(clone);
    if (!relative.empty() && *relative.begin() != "..") return relative.string();
  }
  return file.string();
}

installation load_installation(const fs::path& build) {
  const fs::path file = build / "grader" / "lab.json";
  try {
    const auto json = parse_json(read_file(file, static_cast<int>(exit_code::ours)));
    installation where;
    const fs::path own_build = fs::canonical(build);
    where.own_root = fs::canonical(own_build / json.at("source_root").get<std::string>());
    where.root = plain_name(where.own_root, own_build);
    where.build = where.root == where.own_root
                      ? own_build
                      : where.root / own_build.lexically_relative(where.own_root);
    const std::string then = json.at("configured_root"), now = where.root.string();
    const auto here = [&](std::string text) {
      const auto at = text.find(then);
      if (at != std::string::npos && then != now) text.replace(at, then.size(), now);
      return text;
    };
    where.version = json.at("version");
    where.nvcc = here(json.at("nvcc"));
    // The clone's own compiler, if it had an alias elsewhere.
    if (const std::string own = "/.cuda/bin/nvcc"; where.nvcc.ends_with(own)) {
      where.nvcc = where.root.string() + own;
    }
    if (access(where.nvcc.c_str(), X_OK) != 0) {
      if (const char* found = std::getenv("STEPWISE_NVCC")) where.nvcc = found;
    }
    for (const std::string arg : json.at("cuda_args")) where.cuda_args.push_back(here(arg));
    for (const std::string arg : json.at("cuda_link")) where.cuda_link.push_back(here(arg));
    where.emulated_runtime = where.build / "common" / "runtime";
    where.served_runtime = where.emulated_runtime / "served";
    where.emulated_driver = where.build / "common" / "driver";
    where.nvidia_runtimes = runtime_candidates(where.root, where.nvcc);
    return where;
  } catch (const json_error& error) {
    throw failure(exit_code::ours, file.string() + " is malformed: " + error.what() +
                                       "; run `rm -rf build` and build again");
  } catch (const fs::filesystem_error& error) {
    throw failure(exit_code::ours,
                  std::string(error.what()) + "; run `rm -rf build` and build again");
  }
}

installation load_own_installation() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return load_installation(self.parent_path().parent_path());
}

}  // namespace stepwise

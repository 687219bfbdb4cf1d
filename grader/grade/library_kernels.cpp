// Checks the files of a kernel's lines, or the namespace of a kernel without lines.
#include "grader/grade/library_kernels.hpp"

#include <algorithm>
#include <cctype>

namespace stepwise {
namespace {

namespace fs = std::filesystem;

bool is_library(std::string_view name) { return name == "cub" || name == "thrust"; }

bool lies_in_library(const std::string& file, const fs::path& root) {
  std::string path = file;
  if (const std::string clone = root.string() + "/"; path.starts_with(clone))
    path.erase(0, clone.size());
  const fs::path folders = fs::path(path).parent_path();
  return std::any_of(folders.begin(), folders.end(),
                     [](const fs::path& folder) { return is_library(folder.string()); });
}

// Whether a namespace around the function itself is a library's, as in "_ZN3cub..5sum_upEv". The
// types of its arguments do not count.
bool is_in_library_namespace(std::string_view mangled) {
  if (!mangled.starts_with("_ZN")) return false;
  mangled.remove_prefix(3);
  while (!mangled.empty() && std::isdigit(static_cast<unsigned char>(mangled[0])) != 0) {
    std::size_t length = 0, digits = 0;
    for (; digits < mangled.size() && digits < 6 &&
           std::isdigit(static_cast<unsigned char>(mangled[digits])) != 0;
         ++digits)
      length = 10 * length + static_cast<std::size_t>(mangled[digits] - '0');
    if (length == 0 || length > mangled.size() - digits) return false;
    if (is_library(mangled.substr(digits, length))) return true;
    mangled.remove_prefix(digits + length);
  }
  return false;
}

bool is_library_kernel(const kernel_profile& kernel, const fs::path& root) {
  if (is_in_library_namespace(kernel.mangled)) return true;
  return !kernel.lines.empty() &&
         std::all_of(kernel.lines.begin(), kernel.lines.end(),
                     [&](const line_profile& line) { return lies_in_library(line.path, root); });
}

}  // namespace

std::string library_kernel(const std::vector<kernel_profile>& kernels, const fs::path& root) {
  const auto found =
      std::find_if(kernels.begin(), kernels.end(),
                   [&](const kernel_profile& kernel) { return is_library_kernel(kernel, root); });
  return found == kernels.end() ? std::string{} : found->kernel;
}

}  // namespace stepwise

// Adds the buffers of a call, and loads a lab's problem.
#include "common/lab/problem.hpp"

#include <dlfcn.h>
#include <sys/mman.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace stepwise {
namespace {

// Requests huge pages for the whole pages in these bytes, so that filling them takes less time.
void want_huge_pages(std::byte* data, std::uint64_t bytes) {
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto at = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (at + page - 1) / page * page, last = (at + bytes) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace

void problem_call::add_input(std::string name, std::uint64_t bytes) {
  std::vector<std::byte> data;
  data.reserve(bytes);
  want_huge_pages(data.data(), bytes);
  data.resize(bytes);
  buffers.push_back({std::move(name), runner::buffer_role::input, std::move(data), bytes});
}

void problem_call::add_output(std::string name, std::uint64_t bytes) {
  buffers.push_back({std::move(name), runner::buffer_role::output, {}, bytes});
}

void problem_call::add_scratch(std::string name, std::uint64_t bytes) {
  buffers.push_back({std::move(name), runner::buffer_role::scratch, {}, bytes});
}

bool names_pattern(std::string_view message) {
  return message.find("); ") != std::string_view::npos &&
         message.find(no_known_pattern) == std::string_view::npos;
}

const problem& load_problem(const std::filesystem::path& library) {
  // Never closed, because problems are used until the process ends. Loading a problem twice gives
  // the same handle.
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const function = handle == nullptr ? nullptr : dlsym(handle, "stepwise_problem");
  if (function == nullptr) throw std::runtime_error(dlerror());
  return *reinterpret_cast<const problem* (*)()>(function)();
}

}  // namespace stepwise

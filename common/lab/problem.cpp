// What a call's buffers are made of, and the table of problems that the labs' objects register in.
#include "common/lab/problem.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <utility>

namespace stepwise {
namespace {

using problem_table = std::map<std::string, std::unique_ptr<problem>, std::less<>>;

// A function's static: registrations run before main(), in no particular order.
problem_table& registered_problems() {
  static problem_table table;
  return table;
}

// A wish, of the whole ones in these bytes: filling them takes less time.
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

register_problem::register_problem(std::string_view lab, std::unique_ptr<problem> p) {
  registered_problems().insert_or_assign(std::string(lab), std::move(p));
}

const problem* find_problem(std::string_view lab) {
  const auto found = registered_problems().find(lab);
  return found == registered_problems().end() ? nullptr : found->second.get();
}

}  // namespace stepwise

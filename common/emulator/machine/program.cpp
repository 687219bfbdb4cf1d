// Finds an op's function and source line, and how much local memory a thread needs.
#include "common/emulator/machine/program.hpp"

#include <algorithm>

namespace stepwise::emulator {

std::string source_line_of(const program_function& f, std::int32_t instruction) {
  for (std::int32_t index = instruction; index >= 0; --index) {
    const std::int32_t position = f.body->instructions[static_cast<std::size_t>(index)].position;
    if (position < 0) return "";
    const ptx::source_position* p = &f.body->positions[static_cast<std::size_t>(position)];
    while (p->inlined_at >= 0) p = &f.body->positions[static_cast<std::size_t>(p->inlined_at)];
    if (p->line == 0) continue;  // made by the compiler: the line before it
    const auto file = f.module->files.find(p->file);
    std::string_view name = file == f.module->files.end() ? std::string_view("?") : file->second;
    if (const auto slash = name.rfind('/'); slash != std::string_view::npos)
      name.remove_prefix(slash + 1);
    return std::string(name) + ":" + std::to_string(p->line);
  }
  return "";
}

const program_function& program::function_of(const op* i) const {
  const auto at = static_cast<std::uint32_t>(i - code.data());
  const auto next =
      std::upper_bound(functions.begin(), functions.end(), at,
                       [](std::uint32_t n, const program_function& f) { return n < f.first_op; });
  return *std::prev(next);
}

std::string program::source_line(const op* i) const {
  return source_line_of(function_of(i), instruction[static_cast<std::size_t>(i - code.data())]);
}

std::uint64_t program::local_bytes_for(std::uint64_t limit) const {
  if (!limited_stack) return local_bytes;
  // Every frame takes some of the stack, so `limit` bounds what all frames together take.
  std::uint64_t most = limit;  // of alloca alone
  for (std::size_t n = 1; n < functions.size(); ++n) {
    const program_function& f = functions[n];
    most = std::max(most, (limit * f.local_bytes + f.stack_bytes - 1) / f.stack_bytes);
  }
  return functions.front().local_bytes + (most + 15) / 16 * 16;
}

bool program::uses(device_function f) const {
  return std::ranges::any_of(library_calls, [f](const library_call& c) { return c.which == f; });
}

}  // namespace stepwise::emulator

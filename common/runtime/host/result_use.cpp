// Walks through the code of a function, and then through the code of its callers.
#include "common/runtime/host/result_use.hpp"

#include <link.h>

#include <set>
#include <tuple>

#include "common/runtime/host/eax_instruction.hpp"

namespace stepwise::runtime {
namespace {

using flow = eax_instruction::flow;

class code_walk {
 public:
  explicit code_walk(std::span<const std::uint8_t> code) : code_(code) {}

  // Walks from `at` while the `held` bytes of EAX still contain the result. `in_callee`: inside a
  // function that was called after the result was returned, and that expects nothing in EAX.
  result_use from(std::size_t at, eax_bytes held, bool in_callee) {
    for (;;) {
      const bool is_new = visited_.emplace(at, held, in_callee).second;
      // Where two paths meet, the first path has already examined the rest. A function that is
      // called twice would have to be judged twice.
      if (!is_new) return in_callee ? result_use::unknown : result_use::ignored;
      if (visited_.size() > most_instructions || at >= code_.size()) return result_use::unknown;
      const eax_instruction now = decode_eax_instruction(code_.subspan(at));
      if (now.length == 0) return result_use::unknown;
      // A function may push any register to align its stack.
      const bool aligns = in_callee && now.is_push;
      if ((now.reads & held) != 0 && !aligns) return result_use::looked_at;
      held &= static_cast<eax_bytes>(~now.writes);
      if (held == 0) return result_use::ignored;
      at += now.length;
      const std::size_t target = at + static_cast<std::size_t>(now.target);
      switch (now.then) {
        case flow::next:
          break;
        case flow::jump:
          at = target;
          break;
        case flow::branch: {
          const result_use there = from(target, held, in_callee);
          if (there == result_use::looked_at || there == result_use::unknown) return there;
          const result_use here = from(at, held, in_callee);
          return here == result_use::ignored ? there : here;
        }
        case flow::call: {
          // The compiler may know that a function in the same file leaves EAX alone.
          const result_use inside = from(target, held, true);
          if (inside != result_use::returned) return inside;
          break;
        }
        case flow::ret:
          return result_use::returned;
        case flow::indirect_call:
        case flow::leave:
        case flow::stop:
          return result_use::ignored;
      }
    }
  }

 private:
  static constexpr std::size_t most_instructions = 500;

  std::span<const std::uint8_t> code_;
  std::set<std::tuple<std::size_t, eax_bytes, bool>> visited_;
};

struct code_search {
  std::uintptr_t inside;
  std::span<const std::uint8_t> found;
};

int search_code(dl_phdr_info* info, std::size_t, void* data) {
  auto& search = *static_cast<code_search*>(data);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& part = info->dlpi_phdr[i];
    constexpr auto wanted = PF_X | PF_R;
    if (part.p_type != PT_LOAD || (part.p_flags & wanted) != wanted) continue;
    const std::uintptr_t first = info->dlpi_addr + part.p_vaddr;
    if (search.inside < first || search.inside >= first + part.p_memsz) continue;
    search.found = {reinterpret_cast<const std::uint8_t*>(first), part.p_memsz};
    return 1;
  }
  return 0;
}

}  // namespace

result_use use_of_result(std::span<const std::uint8_t> code, std::size_t first) {
  return code_walk(code).from(first, all_of_eax, false);
}

followed_result follow_result(std::span<const std::uintptr_t> return_addresses) {
  followed_result result;
#ifdef __x86_64__
  for (const std::uintptr_t address : return_addresses) {
    code_search search{address, {}};
    if (address == 0 || dl_iterate_phdr(search_code, &search) == 0) break;
    const auto first = address - reinterpret_cast<std::uintptr_t>(search.found.data());
    const result_use use = use_of_result(search.found, first);
    result.frames++;
    if (use == result_use::returned) continue;
    result.use = use;
    break;
  }
#endif
  return result;
}

}  // namespace stepwise::runtime

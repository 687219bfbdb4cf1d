// Finds the functions that a kernel may call, and places what they share.
#include <algorithm>

#include "common/device/names.hpp"
#include "common/emulator/lower/lowering.hpp"

namespace stepwise::emulator {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// Bytes between the shared variables of a watched program. Bank conflicts and swizzle patterns,
// which repeat after at most 1024 bytes, stay the same.
constexpr std::uint64_t shared_gap = 1024;

}  // namespace

std::uint64_t frame_offsets(const std::vector<ptx::variable>& returns,
                            const std::vector<ptx::variable>& parameters,
                            std::vector<std::uint32_t>& offsets) {
  std::uint64_t at = 0;
  for (const auto* list : {&returns, &parameters}) {
    for (const ptx::variable& v : *list) {
      at = round_up(at, std::max(1u, v.alignment));
      offsets.push_back(static_cast<std::uint32_t>(at));
      at += v.bytes;
    }
  }
  return round_up(at, 16);
}

std::string signature_of(const std::vector<ptx::variable>& returns,
                         const std::vector<ptx::variable>& parameters) {
  std::string text;
  for (const auto* list : {&returns, &parameters}) {
    for (const ptx::variable& v : *list)
      text += std::to_string(v.alignment) + ":" + std::to_string(v.bytes) + ",";
    text += ";";
  }
  return text;
}

call_plan::call_plan(const link_unit& unit, const linked_function& kernel, bool watched)
    : unit_(unit), watched_(watched) {
  reach(&kernel, false);
  follow_calls();
  place_shared();
}

void call_plan::reach(const linked_function* f, bool by_address_only) {
  if (index_.try_emplace(f, functions_.size()).second)
    functions_.push_back({f, by_address_only, {}});
}

// Follows direct calls first. Then follows every function with the signature of a call through a
// pointer, because the pointer may come from anywhere.
void call_plan::follow_calls() {
  std::size_t next = 0;
  const auto follow = [&] {
    for (; next < functions_.size(); ++next) {
      const linked_function& f = *functions_[next].function;
      const bool by_address_only = functions_[next].by_address_only;
      std::vector<std::size_t> callees;
      const ptx::body* body;
      try {
        body = &f.module->body_of(*f.function);
      } catch (const ptx::parse_error&) {
        continue;  // lowering meets it again, and reports it
      }
      for (const ptx::instruction& i : body->instructions) {
        if (i.opcode != "call") continue;
        const std::size_t at =
            !i.operands.empty() && i.operands[0].kind == operand_kind::list ? 1 : 0;
        if (at >= i.operands.size()) continue;
        const std::string_view name = i.operands[at].name;
        if (const linked_function* callee = unit_.find_function(f.part, name)) {
          reach(callee, by_address_only);
          callees.push_back(index_.at(callee));
        } else if (name.starts_with('%')) {
          const auto prototype = body->prototypes.find(i.operands.back().name);
          if (prototype == body->prototypes.end()) continue;
          std::string signature =
              signature_of(prototype->second.returns, prototype->second.parameters);
          if (prototypes_.insert(signature).second)
            fresh_prototypes_.push_back(std::move(signature));
        }
      }
      functions_[next].callees = std::move(callees);
    }
  };
  follow();
  if (fresh_prototypes_.empty()) return;
  std::unordered_map<std::string, std::vector<const linked_function*>> by_signature;
  for (const linked_function& f : unit_.functions())
    by_signature[signature_of(f.function->returns, f.function->parameters)].push_back(&f);
  for (; !fresh_prototypes_.empty(); follow()) {
    std::vector<std::string> wanted;
    wanted.swap(fresh_prototypes_);
    for (const std::string& signature : wanted)
      for (const linked_function* f : by_signature[signature]) reach(f, true);
  }
}

// The shared variables of the module that a function's text names.
std::vector<const ptx::variable*> call_plan::shared_named_in(const linked_function& f) const {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
  };
  std::vector<const ptx::variable*> named;
  const std::string_view text = f.function->body_text;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t first = at;
    while (at < text.size() && is_part(text[at])) ++at;
    if (at == first) continue;
    const ptx::variable* v = f.module->find_variable(text.substr(first, at - first));
    if (v != nullptr && v->space == state_space::shared) named.push_back(v);
  }
  // In the order of their declarations.
  std::ranges::sort(named);
  named.erase(std::unique(named.begin(), named.end()), named.end());
  return named;
}

// Static variables first, each at its alignment; dynamic shared memory after all of them.
void call_plan::place_shared() {
  std::uint64_t next = 0, dynamic_alignment = 16;
  std::vector<const ptx::variable*> dynamic;
  const auto place = [&](const ptx::variable& v) {
    if (v.space != state_space::shared || shared_.contains(&v)) return;
    const std::uint64_t align = std::max(1u, v.alignment);
    if (v.is_extern || v.bytes == 0) {
      dynamic.push_back(&v);
      if (dynamic_.empty()) dynamic_ = readable_name(v.name);
      shared_[&v] = 0;
      if (v.is_extern) dynamic_alignment = std::max(dynamic_alignment, align);
    } else {
      next = round_up(next, align);
      shared_[&v] = next;
      placed_.push_back({readable_name(v.name), next, v.bytes});
      next += v.bytes;
      if (watched_) next += shared_gap;
      if (watched_) shared_gap_bytes_ += shared_gap;
    }
  };
  for (const planned& p : functions_) {
    if (p.function->function->body_text.find("%reserved_smem_offset") != std::string_view::npos)
      next = system_shared_bytes_ = reserved_shared_bytes;
  }
  for (const planned& p : functions_) {
    // A shared variable of the module belongs to the kernels whose code names it.
    for (const ptx::variable* v : shared_named_in(*p.function)) place(*v);
    try {
      for (const ptx::variable& v : p.function->module->body_of(*p.function->function).variables)
        place(v);
    } catch (const ptx::parse_error&) {
      continue;
    }
  }
  if (!dynamic.empty()) next = round_up(next, dynamic_alignment);
  for (const ptx::variable* v : dynamic) shared_[v] = next;
  static_shared_bytes_ = next;
}

}  // namespace stepwise::emulator

// Collects the kernels, functions and variables of all modules, and looks names up among them.
#include "common/emulator/machine/link.hpp"

namespace stepwise::emulator {

status link_unit::add(std::unique_ptr<ptx::module> module, bool fuses) {
  const std::size_t number = parts_.size();
  std::unordered_map<std::string_view, std::size_t> own;
  for (const ptx::function& f : module->functions) {
    if (f.is_declaration) continue;
    if (f.is_entry) {
      kernels_.push_back({number, module.get(), &f});
      continue;
    }
    own.emplace(f.name, functions_.size());
    if (f.is_visible || f.is_weak) {
      const auto [at, fresh] = visible_.try_emplace(f.name, functions_.size());
      if (!fresh && !f.is_weak && !functions_[at->second].function->is_weak) {
        return {error::invalid_ptx, "two parts of the program define the function " +
                                        std::string(f.name) + " of device code"};
      }
    }
    functions_.push_back({number, module.get(), &f});
  }
  own_.push_back(std::move(own));
  parts_.push_back({std::move(module), fuses, {}});
  return {};
}

void link_unit::place(std::size_t number, const ptx::variable& v, const symbol_place& where) {
  parts_[number].symbols[v.name] = where;
  if (v.is_visible) visible_variables_.try_emplace(v.name, where);
}

const linked_function* link_unit::find_function(std::size_t number, std::string_view name) const {
  const auto own = own_[number].find(name);
  if (own != own_[number].end()) return &functions_[own->second];
  const auto other = visible_.find(name);
  if (other != visible_.end()) return &functions_[other->second];
  // A second name, made by .alias. It may name a kernel, which cannot be called.
  const ptx::function* alias = parts_[number].module->find_function(name);
  if (alias == nullptr) return nullptr;
  const auto aliased = own_[number].find(alias->name);
  return aliased == own_[number].end() ? nullptr : &functions_[aliased->second];
}

const symbol_place* link_unit::find_variable(std::size_t number, std::string_view name) const {
  const auto& own = parts_[number].symbols;
  if (const auto at = own.find(name); at != own.end()) return &at->second;
  const auto other = visible_variables_.find(name);
  return other == visible_variables_.end() ? nullptr : &other->second;
}

const linked_function* link_unit::find_kernel(std::string_view name) const {
  for (const linked_function& k : kernels_)
    if (k.function->name == name) return &k;
  return nullptr;
}

std::uint64_t link_unit::address_of(std::size_t number, std::string_view name) const {
  if (const symbol_place* v = find_variable(number, name)) return v->address;
  if (const linked_function* f = find_function(number, name)) return address_of(*f);
  const linked_function* kernel = nullptr;  // the part's own kernel takes precedence
  for (const linked_function& k : kernels_) {
    if (k.function->name == name && (kernel == nullptr || k.part == number)) kernel = &k;
  }
  if (kernel == nullptr) return 0;
  return kernel_window + code_step * static_cast<std::uint64_t>(kernel - kernels_.data() + 1);
}

const linked_function* link_unit::kernel_at(std::uint64_t address) const {
  const std::uint64_t number = (address - kernel_window) / code_step;
  if (address < kernel_window || address % code_step != 0 || number == 0) return nullptr;
  return number <= kernels_.size() ? &kernels_[number - 1] : nullptr;
}

}  // namespace stepwise::emulator

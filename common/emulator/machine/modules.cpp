// Picks a part's PTX, checks its parameters, and places, fills and relocates its variables.
#include "common/emulator/machine/modules.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "common/device/code_of.hpp"
#include "common/device/names.hpp"

namespace stepwise::emulator {
namespace {

struct part_image {
  std::string text;   // empty: no PTX
  bool fuses = true;  // the option of ptxas when it made the machine code
  std::optional<image::cubin> machine_code;
};

// The PTX that this GPU would use, and the tables of its machine code if there is any.
result<part_image> read_part(std::span<const std::byte> bytes, const gpu& model) {
  part_image out;
  if (bytes.size() < 16 || !image::container_bytes(bytes.data())) {
    out.text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const auto nul = out.text.find('\0'); nul != std::string::npos) out.text.resize(nul);
    if (out.text.find(".version") == std::string::npos)
      return {error::invalid_kernel_image, "neither a fat binary nor PTX text"};
    return out;
  }
  const auto entries = image::read_container(bytes);
  if (!entries.ok()) return entries.failure();
  const auto sm = static_cast<std::uint32_t>(code_capability(model));
  if (const image::fat_entry* text = image::choose(*entries, image::entry_kind::ptx, sm)) {
    const auto content = image::content_of(*text);
    if (!content.ok()) return content.failure();
    out.text.assign(reinterpret_cast<const char*>(content->data()), content->size());
    out.fuses = image::fuses(text->options);
  }
  if (const image::fat_entry* elf = image::choose(*entries, image::entry_kind::elf, sm)) {
    const auto raw = image::content_of(*elf);
    if (!raw.ok()) return raw.failure();
    auto cubin = image::read_cubin(*raw);
    if (!cubin.ok()) return cubin.failure();
    out.machine_code = std::move(*cubin);
  }
  return out;
}

bool has_memory(const ptx::variable& v) {
  return (v.space == ptx::state_space::global || v.space == ptx::state_space::constant) &&
         !v.is_extern;
}

// A kernel's arguments are copied by the sizes in the PTX. A wrong size must not make the emulator
// read beyond the arguments. PTX ISA 9.0, "Kernel Function Parameters".
constexpr std::uint64_t most_parameter_bytes = 32764;

status check_parameters(const ptx::module& m) {
  for (const ptx::function& f : m.functions) {
    std::uint64_t bytes = 0;
    for (const ptx::variable& p : f.parameters) bytes += p.bytes;
    if (f.is_entry && bytes > most_parameter_bytes) {
      return {error::invalid_ptx, "PTX line " + std::to_string(f.line) + ": the kernel " +
                                      readable_name(f.name) + " has " + std::to_string(bytes) +
                                      " bytes of parameters, more than " +
                                      std::to_string(most_parameter_bytes)};
    }
  }
  return {};
}

status allocate(loaded_module& m, std::size_t part, const ptx::variable& v, global_memory& memory) {
  const std::uint64_t room = std::max<std::uint64_t>(v.bytes, 1);
  const auto at = v.is_managed ? memory.allocate_shared(room) : memory.allocate_variable(room);
  if (!at.ok()) return at.failure();
  m.allocations.push_back(*at);
  m.unit.place(part, v, {v.space, *at});
  m.variables.emplace(v.name, module_symbol{*at, v.bytes, v.is_managed});
  return {};
}

// Writes addresses into an initialiser: whole addresses, or single bytes (of packed structures).
status relocate(const loaded_module& m, std::size_t part, const ptx::variable& v, std::byte* at) {
  for (const ptx::relocation& r : v.relocations) {
    const std::uint64_t target = m.unit.address_of(part, r.symbol);
    if (target == 0 || r.at + r.bytes > v.bytes) {
      return {error::not_supported, std::string(v.name) +
                                        ": the emulator does not implement an initial value made "
                                        "of the address of " +
                                        std::string(r.symbol)};
    }
    std::uint64_t value = target + static_cast<std::uint64_t>(r.addend);
    if (r.mask != 0) value = (value & r.mask) >> __builtin_ctzll(r.mask);
    std::memcpy(at + r.at, &value, std::min(r.bytes, 8u));
  }
  return {};
}

// Makes an allocation read as zero. A large allocation takes no host memory for this, because
// private pages that are returned to the host read as zero.
void clear(global_memory& memory, std::uint64_t address, std::uint64_t bytes) {
  constexpr std::uint64_t page = 4096;
  std::byte* const first = memory.host(address);
  std::byte* const end = first + bytes;
  const auto place = reinterpret_cast<std::uint64_t>(first);
  const std::uint64_t before = (page - place % page) % page, behind = (place + bytes) % page;
  if (bytes < 2 * page || memory.is_shared(address) ||
      madvise(first + before, bytes - before - behind, MADV_DONTNEED) != 0) {
    std::memset(first, 0, bytes);
    return;
  }
  std::memset(first, 0, before);
  std::memset(end - behind, 0, behind);
}

status initialise(const loaded_module& m, std::size_t part, const ptx::variable& v,
                  global_memory& memory) {
  const std::uint64_t address = m.unit.parts()[part].symbols.at(v.name).address;
  std::byte* const at = memory.host(address);
  clear(memory, address, v.bytes);
  if (v.initial.size() > v.bytes)
    return {error::invalid_ptx, std::string(v.name) + ": too many initial values"};
  if (!v.initial.empty()) std::memcpy(at, v.initial.data(), v.initial.size());
  return relocate(m, part, v, at);
}

status place_variables(loaded_module& m, global_memory& memory) {
  const auto each = [&](auto&& act) -> status {
    for (std::size_t n = 0; n < m.unit.parts().size(); ++n) {
      for (const ptx::variable& v : m.unit.parts()[n].module->variables) {
        if (!has_memory(v)) continue;
        if (status s = act(n, v); !s.ok()) return s;
      }
    }
    return {};
  };
  // Initial values may be addresses of any variable, so all variables are placed first.
  if (status s =
          each([&](std::size_t n, const ptx::variable& v) { return allocate(m, n, v, memory); });
      !s.ok())
    return s;
  return each([&](std::size_t n, const ptx::variable& v) { return initialise(m, n, v, memory); });
}

}  // namespace

const image::kernel_resources* loaded_module::resources(std::string_view kernel) const {
  for (const image::cubin& c : machine_code) {
    const auto found = c.kernels.find(std::string(kernel));
    if (found != c.kernels.end()) return &found->second;
  }
  return nullptr;
}

status with_advice(status s, ptx::version version) {
  if (s.code != error::invalid_ptx) return s;
  if (ptx::newest_version < version) {
    return {error::unsupported_ptx_version,
            s.message + "; the program holds PTX " + ptx::text_of(version) + ", and PTX " +
                ptx::text_of(ptx::newest_version) +
                " is the newest known here; build with CUDA 13.0's nvcc"};
  }
  s.message +=
      ". If you did not write this PTX by hand, the program is damaged. Rebuild the program";
  return s;
}

// Functions of the device's runtime, which programs for an H200 link. The handle of a graph's
// condition is the address of its value.
constexpr std::string_view graph_functions = R"(
.version 8.0
.target sm_50
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [handle];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

result<std::unique_ptr<loaded_module>> load_parts(std::span<const std::span<const std::byte>> parts,
                                                  const gpu& model, global_memory& memory) {
  auto m = std::make_unique<loaded_module>();
  bool calls_graphs = false;
  for (const std::span<const std::byte> bytes : parts) {
    auto part = read_part(bytes, model);
    if (!part.ok()) {
      status s = part.failure();
      s.message += ". The program is damaged. Rebuild the program";
      return s;
    }
    if (part->machine_code) m->machine_code.push_back(std::move(*part->machine_code));
    if (part->text.empty()) continue;
    const ptx::version version = ptx::stated_version(part->text);
    calls_graphs = calls_graphs || part->text.find("cudaGraphSetConditional") != std::string::npos;
    if (version.major > ptx::newest_version.major)
      return with_advice({error::invalid_ptx, "PTX of an unknown version"}, version);
    try {
      auto module = std::make_unique<ptx::module>(std::move(part->text));
      if (status s = check_parameters(*module); !s.ok()) return with_advice(s, version);
      if (status s = m->unit.add(std::move(module), part->fuses); !s.ok()) return s;
    } catch (const ptx::parse_error& e) {
      return with_advice({error::invalid_ptx, e.what()}, version);
    }
  }
  if (calls_graphs) {
    auto library = std::make_unique<ptx::module>(std::string(graph_functions));
    if (status s = m->unit.add(std::move(library), false); !s.ok()) return s;
  }
  if (m->unit.parts().empty()) {
    const std::string sm = std::to_string(code_capability(model));
    return {error::no_kernel_image_for_device,
            "the program carries no PTX for " + model.name +
                " or older GPUs, and the emulator runs PTX; build with -gencode arch=compute_" +
                sm + ",code=compute_" + sm + " in addition to the machine code"};
  }
  if (status s = place_variables(*m, memory); !s.ok()) {
    for (const device_address a : m->allocations) memory.free(a);
    return s;
  }
  return m;
}

kernel_attributes attributes_of(const loaded_module& m, const linked_function& k,
                                const gpu& model) {
  const ptx::function& f = *k.function;
  kernel_attributes a;
  a.name = f.name;
  a.max_threads_per_block = model.max_threads_per_block;
  const auto limit = [&](std::uint64_t threads) {
    if (threads != 0)
      a.max_threads_per_block = static_cast<int>(
          std::min<std::uint64_t>(threads, static_cast<std::uint64_t>(a.max_threads_per_block)));
  };
  const auto product = [](const std::uint32_t(&n)[3]) {
    if (n[0] == 0) return std::uint64_t{0};
    const std::uint64_t plane = std::uint64_t{n[0]} * std::max(1u, n[1]);
    return std::min<std::uint64_t>(plane, 1u << 31) * std::max(1u, n[2]);
  };
  limit(product(f.max_threads));
  limit(product(f.required_threads));
  const auto& cluster = f.required_cluster;  // a side that is not given is 0
  if (cluster[0] != 0)
    a.required_cluster = {cluster[0], std::max(1u, cluster[1]), std::max(1u, cluster[2])};
  a.ptx_version = static_cast<int>(k.module->target_sm);
  a.binary_version = model.compute_capability();
  a.max_dynamic_shared_bytes = model.shared_bytes_per_block;
  std::uint32_t at = 0;
  for (const ptx::variable& p : f.parameters) {
    const std::uint32_t align = std::max(1u, p.alignment);
    at = (at + align - 1) / align * align;
    a.parameters.push_back({at, static_cast<std::uint32_t>(p.bytes)});
    at += static_cast<std::uint32_t>(p.bytes);
  }
  for (const link_unit::part& p : m.unit.parts())
    for (const ptx::variable& v : p.module->variables)
      if (v.space == ptx::state_space::constant) a.constant_bytes += v.bytes;
  const image::kernel_resources* found = m.resources(f.name);
  if (found == nullptr) return a;
  const image::kernel_resources& r = *found;
  a.registers = r.registers;
  a.static_shared_bytes = r.static_shared_bytes;
  a.max_dynamic_shared_bytes -= std::min(a.max_dynamic_shared_bytes, a.static_shared_bytes);
  a.local_bytes = r.frame_bytes;
  a.binary_version = m.machine_code.front().sm;
  if (r.registers > 0) {
    // A block's registers are allocated per warp, 256 at a time.
    const std::uint64_t per_warp = (static_cast<std::uint64_t>(r.registers) * 32 + 255) / 256 * 256;
    limit(static_cast<std::uint64_t>(model.registers_per_block) / per_warp / 4 * 4 * 32);
  }
  return a;
}

loaded_kernel& kernel_of(loaded_module& m, const linked_function& f, const gpu& model) {
  auto& slot = m.kernels[std::string(f.function->name)];
  if (slot == nullptr) {
    slot = std::make_unique<loaded_kernel>();
    slot->module = &m;
    slot->function = &f;
    slot->attributes = attributes_of(m, f, model);
  }
  return *slot;
}

}  // namespace stepwise::emulator

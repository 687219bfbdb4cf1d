#include "common/emulator/check/evidence.hpp"

#include <unistd.h>

#include <algorithm>

#include "common/ptx/dependence.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::size_t most_launches = 10000;

// The cells of global memory may use half of the host's memory.
std::uint64_t most_pages() {
  const auto host = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                    static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::max<std::uint64_t>(1024,
                                 host / 2 / (memory_cells::page_bytes / 4 * cells::bytes_per_cell));
}

// "in[3]", or "byte 14 of in" within an element or if their size is unknown (0).
std::string element_words(const std::string& name, std::int64_t offset, std::uint64_t element) {
  const auto size = static_cast<std::int64_t>(element);
  if (size != 0 && offset % size == 0) return name + "[" + std::to_string(offset / size) + "]";
  return "byte " + std::to_string(offset) + " of " + name;
}

std::string kind_words(finding_kind k) {
  std::string words = name_of(k);
  std::ranges::replace(words, '_', ' ');
  return words;
}

extent thread_at(std::uint32_t warp_in_block, int lane, const extent& block) {
  return place(std::uint64_t{warp_in_block} * lanes + static_cast<std::uint64_t>(lane), block);
}

}  // namespace

bool reads_special(const program& code, special which) {
  return std::ranges::any_of(code.functions, [&](const program_function& f) {
    return std::ranges::any_of(f.specials, [&](const special_vreg& s) { return s.which == which; });
  });
}

std::string block_shape(const extent& block) {
  std::string text = std::to_string(block.x);
  if (block.y * block.z > 1) text += "x" + std::to_string(block.y);
  return block.z > 1 ? text + "x" + std::to_string(block.z) : text;
}

evidence::evidence(const gpu& g, global_memory& m)
    : model(g),
      memory(m),
      device_base(m.device_base()),
      global(m.reserved_bytes(), most_pages()),
      areas(m) {}

void evidence::begin_launch(const observer::launch_info& info) {
  code = info.code;
  config = info.config;
  state = info.state;
  block_warps = info.warps;
  launch_origin = origin;
  failure = {};
  extra_sites_.clear();
  extra_numbers_.clear();
  lines_of_sites_.clear();
  reported = {nullptr, -1};
  begin_work(config->may_begin_early ? order::work_kind::early_launch : order::work_kind::launch);
  sequence.begin_launch(block_warps);
}

void evidence::end_launch(bool fences_system) {
  launches.push_back(
      {sequence.current_work(), code, config->grid, config->block, block_warps, fences_system});
  if (launches.size() > most_launches) launches.pop_front();
}

void evidence::begin_block(const block& b) {
  checked_block& c = blocks.begin(b, [&] {
    auto made = std::make_unique<checked_block>();
    made->shared = std::make_unique<shadow_memory>(state->shared_bytes, ~std::uint64_t{0});
    made->shared->is_shared = true;
    return made;
  });
  c.now = &b;
  c.shared->written.clear(0, state->shared_bytes);
  c.shared->block = static_cast<std::uint32_t>(b.index);
  c.by_peers.clear();
  c.mbarriers.begin_block(block_warps);
  sequence.begin_block(c.clock, b.index, block_warps);
}

void evidence::forget_launches() {
  launches.clear();
  code = nullptr;
  source.forget();
  flows_.clear();
}

void evidence::begin_work(order::work_kind kind) {
  sequence.begin_work(stream, kind);
  work_origins.resize(sequence.current_work() + 1, origin);
}

// --- the running launch's code -------------------------------------------------------------------

const access_site& evidence::site_at(std::uint32_t number) const {
  static const access_site unknown;
  if (number < code->accesses.size()) return code->accesses[number];
  const std::size_t extra = number - code->accesses.size();
  return extra < extra_sites_.size() ? extra_sites_[extra] : unknown;
}

// The unit that makes an instruction's accesses to data.
static async_unit unit_of(const ptx::instruction& i) {
  if (i.opcode == "wgmma") return async_unit::products;
  if (i.opcode != "cp" || !ptx::has_modifier(i, "bulk")) return async_unit::none;
  return ptx::has_modifier(i, "bulk_group") ? async_unit::grouped_copy : async_unit::counted_copy;
}

std::uint32_t evidence::extra_site(const warp_event& e, const observer::range_event& r) {
  const auto [found, is_new] = extra_numbers_.try_emplace(
      {e.at, r.kind, r.order, r.asynchronous || r.of_tensor_map}, no_site);
  if (!is_new) return found->second;
  found->second = static_cast<std::uint32_t>(code->accesses.size() + extra_sites_.size());
  access_site& s = extra_sites_.emplace_back();
  const program_function& f = code->function_of(e.at);
  while (&code->functions[s.function] != &f) ++s.function;
  s.instruction = code->instruction[static_cast<std::size_t>(place_number(e.at))];
  s.space = r.space;
  s.kind = r.kind;
  s.order = r.order;
  s.scope = sync_scope::gpu;  // an mbarrier's; other blocks of a cluster may use it, too
  s.asynchronous = r.asynchronous;
  if (!r.of_tensor_map)
    s.unit = unit_of(f.body->instructions[static_cast<std::size_t>(s.instruction)]);
  // The atomic access updates the mbarrier through the threads' proxy.
  if (s.unit == async_unit::counted_copy && r.kind == access_kind::atomic)
    s.unit = async_unit::none;
  s.bytes = s.element_bytes = static_cast<std::uint8_t>(std::min<std::uint64_t>(r.bytes, 128));
  return found->second;
}

evidence::site_line evidence::line_of(std::uint32_t site) {
  // A site without a known line, or of another launch, gets its own number.
  const site_line alone{std::int64_t{site} + (std::int64_t{1} << 40), false};
  if (site >= code->accesses.size() + extra_sites_.size()) return alone;
  if (site >= lines_of_sites_.size()) lines_of_sites_.resize(site + 1);
  site_line& line = lines_of_sites_[site];
  if (line.number >= 0) return line;
  const access_site& s = site_at(site);
  const code_place at = source.of(*code, s.function, s.instruction);
  line = alone;
  if (at.line != 0)
    line.number =
        line_numbers_
            .try_emplace({at.file, at.line}, static_cast<std::int64_t>(line_numbers_.size()))
            .first->second;
  line.is_library = source.is_library(*code, s.function, s.instruction);
  return line;
}

function_flow& evidence::flow_of(const program_function& f) {
  std::unique_ptr<function_flow>& known = flows_[f.function];
  if (known == nullptr) known = std::make_unique<function_flow>(*f.body);
  return *known;
}

std::uint32_t evidence::block_of(const op* at) {
  const auto instruction = static_cast<std::size_t>(instruction_of(at).second);
  return flow_of(code->function_of(at)).flow.block_of[instruction];
}

std::pair<const program_function*, std::int32_t> evidence::instruction_of(const op* at) const {
  return {&code->function_of(at), code->instruction[static_cast<std::size_t>(place_number(at))]};
}

bool evidence::is_of_freed_memory(std::uint64_t at, tick when) const {
  const auto* const now = areas.live_at(device_base + at);
  return now != nullptr && when <= now->second.allocated_at;
}

bool function_flow::is_in_loop(std::int32_t instruction) const {
  return instruction >= 0 &&
         flow.blocks[flow.block_of[static_cast<std::size_t>(instruction)]].loop != no_index;
}

const std::vector<std::vector<std::uint32_t>>& function_flow::towards(
    const std::vector<std::uint32_t>& wanted) {
  const auto [known, is_new] = towards_.try_emplace(wanted);
  if (is_new) known->second = ways_towards(flow, wanted);
  return known->second;
}

const register_flow& function_flow::values() {
  if (!registers_) registers_ = std::make_unique<register_flow>(body);
  return *registers_;
}

// --- parties and objects of findings -------------------------------------------------------------

finding_party evidence::party(const op* at, std::uint32_t warp, int lane, std::string action) {
  finding_party p;
  p.action = std::move(action);
  p.kernel = kernel_name();
  p.at = source.of(*code, at);
  p.block = place(running().clock.index, config->grid);
  p.thread = thread_at(warp, lane, config->block);
  return p;
}

std::string evidence::action_words(const access_site& s, bool writes) {
  if (s.unit != async_unit::none) return writes ? "copies asynchronously" : "reads asynchronously";
  return std::string(s.kind == access_kind::atomic ? "updates atomically "
                     : writes && s.asynchronous    ? "copies asynchronously "
                     : writes                      ? "writes "
                                                   : "reads ") +
         std::to_string(s.bytes) + (s.bytes == 1 ? " byte" : " bytes");
}

// The other side of a race, in this launch or in an earlier launch of another stream.
finding_party evidence::party_of_other(std::uint32_t warp, int lane, std::uint32_t site, tick when,
                                       bool writes) {
  finding_party p;
  p.action = writes ? "writes" : "reads";
  const std::uint32_t work = sequence.work_of(when);
  if (work == sequence.current_work()) {
    p.kernel = kernel_name();
    if (site != no_site) {
      const access_site& s = site_at(site);
      p.at = source.of(*code, s.function, s.instruction);
      p.action = action_words(s, writes);
    }
    p.block = place(warp / block_warps, config->grid);
    p.thread = thread_at(warp % block_warps, lane, config->block);
    return p;
  }
  if (const past_launch* const l = launch_of(work))
    return party_of_past(*l, warp, lane, site, writes);
  p.action = writes ? "a copy or fill in another stream writes" : "a copy in another stream reads";
  p.has_thread = false;
  return p;
}

finding_party evidence::party_of_past(const past_launch& l, std::uint32_t warp, int lane,
                                      std::uint32_t site, bool writes) {
  finding_party p;
  p.action = writes ? "writes" : "reads";
  p.kernel = l.code->pretty;
  if (site < l.code->accesses.size()) {
    const access_site& s = l.code->accesses[site];
    p.at = source.of(*l.code, s.function, s.instruction);
  }
  p.block = place(warp / l.block_warps, l.grid);
  p.thread = thread_at(warp % l.block_warps, lane, l.block);
  return p;
}

const past_launch* evidence::launch_of(std::uint32_t work) const {
  const auto found = std::ranges::lower_bound(launches, work, {}, &past_launch::work);
  return found != launches.end() && found->work == work ? &*found : nullptr;
}

// The variable's name without the kernel's own scope, or the scope around the kernel.
std::string evidence::as_kernel_names(const std::string& variable) const {
  const std::string kernel = kernel_name(), own = kernel + "::";
  if (!kernel.empty() && variable.starts_with(own)) return variable.substr(own.size());
  const auto end = kernel.rfind("::");
  const bool around = end != std::string::npos && variable.starts_with(kernel.substr(0, end + 2));
  return around ? variable.substr(end + 2) : variable;
}

// The address of the variable or allocation that describe() names. It distinguishes findings
// without building the words that only a new finding needs.
std::uint64_t evidence::object_address(const shadow_memory& m, std::uint64_t at) const {
  if (m.is_shared) {
    const auto* const variable = shared_variable_near(at);
    return variable != nullptr ? variable->offset : code->static_shared_bytes;
  }
  const auto* const found = areas.near(device_base + at, 0);
  return found != nullptr ? found->first : finding_object{}.address;
}

place_in_memory evidence::describe(const shadow_memory& m, std::uint64_t at,
                                   std::uint64_t element) {
  return m.is_shared ? describe_shared(at, element) : describe_global(device_base + at, element);
}

place_in_memory evidence::describe_global(device_address at, std::uint64_t element,
                                          device_address wanted) {
  place_in_memory p;
  const auto* const found = areas.near(at, wanted);
  if (found == nullptr) return p;
  const auto& [base, a] = *found;
  p.object.what = a.constant   ? finding_object::kind::constant
                  : a.variable ? finding_object::kind::variable
                               : finding_object::kind::allocation;
  p.object.name = a.name;
  p.object.name = as_kernel_names(p.object.name);
  p.object.address = base;
  p.object.bytes = a.bytes;
  p.object.offset = static_cast<std::int64_t>(at - base);
  p.object.element_bytes = element;
  p.object.allocated_by = a.allocated_by;
  p.object.freed_by = a.freed_by;
  p.words = a.name.empty() && element != 0
                ? "element " + element_words("", p.object.offset, element) + " of an allocation"
                : element_words(a.name.empty() ? "an allocation" : p.object.name, p.object.offset,
                                element);
  return p;
}

// The shared variable that an offset belongs to. Null in dynamic shared memory, or if there are no
// variables.
const program::shared_variable* evidence::shared_variable_near(std::uint64_t at) const {
  const bool has_dynamic =
      state->shared_bytes != code->static_shared_bytes || !code->dynamic_shared.empty();
  // Padding after a variable belongs to it. Negative offsets wrap around.
  const program::shared_variable* nearest = nullptr;
  const std::uint64_t wrapped = at > (std::uint64_t{1} << 31) ? 0 : at;
  for (const auto& v : code->shared_variables)
    if (v.offset <= wrapped) nearest = &v;
  if (nearest == nullptr && !code->shared_variables.empty() && wrapped < code->static_shared_bytes)
    nearest = &code->shared_variables.front();
  return wrapped >= code->static_shared_bytes && has_dynamic ? nullptr : nearest;
}

place_in_memory evidence::describe_shared(std::uint64_t at, std::uint64_t element) {
  place_in_memory p;
  p.object.what = finding_object::kind::dynamic_shared;
  p.object.address = code->static_shared_bytes;
  p.object.bytes = state->shared_bytes - code->static_shared_bytes;
  const auto* const nearest = shared_variable_near(at);
  if (nearest != nullptr) {
    p.object.what = finding_object::kind::shared_variable;
    p.object.name = as_kernel_names(nearest->name);
    p.object.address = nearest->offset;
    p.object.bytes = nearest->bytes;
  }
  p.object.offset = static_cast<std::int32_t>(static_cast<std::uint32_t>(at)) -
                    static_cast<std::int64_t>(p.object.address);
  p.object.element_bytes = element;
  const std::string name = !p.object.name.empty()         ? p.object.name
                           : code->dynamic_shared.empty() ? "dynamic shared memory"
                                                          : as_kernel_names(code->dynamic_shared);
  p.words = element_words(name, p.object.offset, element);
  return p;
}

finding_key evidence::key(finding_kind kind, std::int64_t first, std::int64_t second,
                          std::uint64_t object) const {
  return {kind, reinterpret_cast<std::uint64_t>(code), first, second, object};
}

// Makes the launch fail with this error, as it would on a GPU.
void evidence::fail(error code, const finding& f) {
  if (!failure.ok()) return;
  const finding_party& p = f.parties.front();
  const auto triple = [](const extent& e) {
    return "(" + std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z) + ")";
  };
  failure = {code,
             p.kernel +
                 (p.at.file.empty() ? "" : " at " + p.at.file + ":" + std::to_string(p.at.line)) +
                 ": " + kind_words(f.kind) + ": " + f.message + "; block " + triple(p.block) +
                 ", thread " + triple(p.thread)};
}

}  // namespace stepwise::emulator

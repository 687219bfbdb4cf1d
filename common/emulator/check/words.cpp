// Who and where: the parties and objects of findings.
#include <algorithm>

#include "common/emulator/check/checker.hpp"

namespace stepwise::emulator {
namespace {

// How far from an allocation an address may lie to be described as outside that one.
constexpr std::uint64_t near_bytes = 1 << 20;

std::string element_words(const std::string& name, std::int64_t offset, std::uint64_t element) {
  const auto size = static_cast<std::int64_t>(element == 0 ? 1 : element);
  if (offset % size == 0) return name + "[" + std::to_string(offset / size) + "]";
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

finding_party checker::party(const op* at, std::uint32_t warp, int lane, std::string action) {
  finding_party p;
  p.action = std::move(action);
  p.kernel = kernel_name();
  p.at = places_.of(*code_, at);
  p.block = place(current_->clock.index, config_->grid);
  p.thread = thread_at(warp, lane, config_->block);
  return p;
}

std::string checker::action_words(const access_site& s, bool writes) {
  return std::string(s.kind == access_kind::atomic ? "updates atomically "
                     : writes && s.asynchronous    ? "copies asynchronously "
                     : writes                      ? "writes "
                                                   : "reads ") +
         std::to_string(s.bytes) + (s.bytes == 1 ? " byte" : " bytes");
}

// The other side of a race: from this launch, or an earlier one of another stream.
finding_party checker::party_of_other(std::uint32_t warp, int lane, std::uint32_t site, tick when,
                                      bool writes) {
  finding_party p;
  p.action = writes ? "writes" : "reads";
  const std::uint32_t work = order_.work_of(when);
  if (work == order_.current_work()) {
    p.kernel = kernel_name();
    if (site != no_site) {
      const access_site& s = site_at(site);
      p.at = places_.of(*code_, s.function, s.instruction);
      p.action = action_words(s, writes);
    }
    p.block = place(warp / block_warps_, config_->grid);
    p.thread = thread_at(warp % block_warps_, lane, config_->block);
    return p;
  }
  if (const past_launch* const l = launch_of(work))
    return party_of_past(*l, warp, lane, site, writes);
  p.action = writes ? "a copy or fill in another stream writes" : "a copy in another stream reads";
  p.has_thread = false;
  return p;
}

finding_party checker::party_of_past(const past_launch& l, std::uint32_t warp, int lane,
                                     std::uint32_t site, bool writes) {
  finding_party p;
  p.action = writes ? "writes" : "reads";
  p.kernel = l.code->pretty;
  if (site < l.code->accesses.size()) {
    const access_site& s = l.code->accesses[site];
    p.at = places_.of(*l.code, s.function, s.instruction);
  }
  p.block = place(warp / l.block_warps, l.grid);
  p.thread = thread_at(warp % l.block_warps, lane, l.block);
  return p;
}

const checker::past_launch* checker::launch_of(std::uint32_t work) const {
  const auto found = std::ranges::lower_bound(launches_, work, {}, &past_launch::work);
  return found != launches_.end() && found->work == work ? &*found : nullptr;
}

// Without the kernel's own scope, or that around it.
std::string checker::as_kernel_names(const std::string& variable) const {
  const std::string kernel = kernel_name(), own = kernel + "::";
  if (!kernel.empty() && variable.starts_with(own)) return variable.substr(own.size());
  const auto end = kernel.rfind("::");
  const bool around = end != std::string::npos && variable.starts_with(kernel.substr(0, end + 2));
  return around ? variable.substr(end + 2) : variable;
}

// The address of the variable or allocation that the address is of, as describe() tells: what makes
// findings different ones, without the words that only a new one needs.
std::uint64_t checker::object_address(const watched_memory& m, std::uint64_t at) const {
  if (m.is_shared) {
    const auto* const variable = shared_variable_near(at);
    return variable != nullptr ? variable->offset : code_->static_shared_bytes;
  }
  const auto* const found = allocation_near(device_base_ + at, 0);
  return found != nullptr ? found->first : finding_object{}.address;
}

checker::place_in_memory checker::describe(const watched_memory& m, std::uint64_t at,
                                           std::uint64_t element) {
  return m.is_shared ? describe_shared(at, element) : describe_global(device_base_ + at, element);
}

// The allocation that holds an address (or `wanted`, if not 0), or held it, or is the nearest one;
// null if none is near.
const std::pair<const device_address, checker::allocation>* checker::allocation_near(
    device_address at, device_address wanted) const {
  const std::pair<const device_address, allocation>* found =
      allocation_at(live_, wanted != 0 ? wanted : at);
  if (found == nullptr) found = allocation_at(gone_, at);
  if (found == nullptr) {
    // The nearest: the one before, unless the one after is nearer.
    const auto next = live_.upper_bound(at);
    std::uint64_t gap = near_bytes;
    if (next != live_.begin()) {
      const auto& before = *std::prev(next);
      if (const auto past = at - (before.first + before.second.bytes); past < gap) {
        gap = past;
        found = &before;
      }
    }
    if (next != live_.end() && next->first - at < gap) found = &*next;
  }
  return found;
}

checker::place_in_memory checker::describe_global(device_address at, std::uint64_t element,
                                                  device_address wanted) {
  place_in_memory p;
  const auto* const found = allocation_near(at, wanted);
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
  p.words = a.name.empty()
                ? "element " + element_words("", p.object.offset, element) + " of an allocation"
                : element_words(p.object.name, p.object.offset, element);
  return p;
}

finding_object checker::object_at(device_address at, bool& freed) {
  freed = allocation_at(live_, at) == nullptr && allocation_at(gone_, at) != nullptr;
  return describe_global(at, 1).object;
}

// The variable in shared memory that an offset is of; null where that is the dynamic part, or
// there are no variables.
const program::shared_variable* checker::shared_variable_near(std::uint64_t at) const {
  const bool has_dynamic =
      context_->shared_bytes != code_->static_shared_bytes || !code_->dynamic_shared.empty();
  // Room after a variable is its own; negative offsets wrap.
  const program::shared_variable* nearest = nullptr;
  const std::uint64_t wrapped = at > (std::uint64_t{1} << 31) ? 0 : at;
  for (const auto& v : code_->shared_variables)
    if (v.offset <= wrapped) nearest = &v;
  if (nearest == nullptr && !code_->shared_variables.empty() &&
      wrapped < code_->static_shared_bytes)
    nearest = &code_->shared_variables.front();
  return wrapped >= code_->static_shared_bytes && has_dynamic ? nullptr : nearest;
}

checker::place_in_memory checker::describe_shared(std::uint64_t at, std::uint64_t element) {
  place_in_memory p;
  p.object.what = finding_object::kind::dynamic_shared;
  p.object.address = code_->static_shared_bytes;
  p.object.bytes = context_->shared_bytes - code_->static_shared_bytes;
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
  const std::string name = !p.object.name.empty()          ? p.object.name
                           : code_->dynamic_shared.empty() ? "dynamic shared memory"
                                                           : as_kernel_names(code_->dynamic_shared);
  p.words = element_words(name, p.object.offset, element);
  return p;
}

finding_key checker::key(finding_kind kind, std::int64_t first, std::int64_t second,
                         std::uint64_t object) {
  return {kind, reinterpret_cast<std::uint64_t>(code_), first, second, object};
}

// The launch ends with this error, as it would on a GPU.
void checker::fail(error code, const finding& f) {
  if (!failure_.ok()) return;
  const finding_party& p = f.parties.front();
  const auto triple = [](const extent& e) {
    return "(" + std::to_string(e.x) + "," + std::to_string(e.y) + "," + std::to_string(e.z) + ")";
  };
  failure_ = {code,
              p.kernel +
                  (p.at.file.empty() ? "" : " at " + p.at.file + ":" + std::to_string(p.at.line)) +
                  ": " + kind_words(f.kind) + ": " + f.message + "; block " + triple(p.block) +
                  ", thread " + triple(p.thread)};
}

}  // namespace stepwise::emulator

// Lowers the kernel, rejects too much static shared memory, and completes its attributes.
#include "common/emulator/prepare.hpp"

#include <algorithm>
#include <utility>

#include "common/emulator/lower/lower.hpp"

namespace stepwise::emulator {

status prepare(loaded_kernel& k, const gpu& model, watched_by observers) {
  if (k.code != nullptr) return {};
  auto lowered = lower(k.module->unit, *k.function, observers);
  if (lowered.ok() && (*lowered)->reads_clock && observers == watched_by::none)
    lowered = lower(k.module->unit, *k.function, watched_by::profile);
  if (!lowered.ok()) {
    const ptx::module& m = *k.function->module;
    return with_advice(lowered.failure(), {m.version_major, m.version_minor});
  }
  const std::uint64_t shared = (*lowered)->static_shared_bytes - (*lowered)->system_shared_bytes;
  if (shared > model.shared_bytes_per_block_optin) {
    return {error::invalid_ptx, (*lowered)->pretty + ": " + std::to_string(shared) +
                                    " bytes of static shared memory: a block has at most " +
                                    std::to_string(model.shared_bytes_per_block_optin)};
  }
  k.code = std::move(*lowered);
  if (k.module->resources(k.code->name) == nullptr) {
    kernel_attributes& a = k.attributes;
    a.static_shared_bytes =
        k.code->static_shared_bytes - k.code->system_shared_bytes - k.code->shared_gap_bytes;
    a.max_dynamic_shared_bytes -= std::min(a.max_dynamic_shared_bytes, a.static_shared_bytes);
    k.attributes.local_bytes = k.code->local_bytes;
  }
  return {};
}

}  // namespace stepwise::emulator

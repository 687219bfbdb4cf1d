// The device on the CPU: modules, memory and launches on top of the scheduler.
//
// idea    A launch runs to its end before launch() returns, unless it waits for later work
//         (grids.hpp). Its errors are kept, and returned by the next synchronize() and all later
//         calls, as on a GPU.
//         Tested by common/device/tests (conformance) and common/emulator/tests.
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>
#include <utility>

#include "common/device/device.hpp"
#include "common/device/engine_settings.hpp"
#include "common/device/interruption.hpp"
#include "common/device/launch_check.hpp"
#include "common/device/names.hpp"
#include "common/device/tensor_map.hpp"
#include "common/emulator/allocation_notes.hpp"
#include "common/emulator/block_sample.hpp"
#include "common/emulator/check/checker.hpp"
#include "common/emulator/check/host_access.hpp"
#include "common/emulator/event_marks.hpp"
#include "common/emulator/grids.hpp"
#include "common/emulator/machine/modules.hpp"
#include "common/emulator/machine/observers.hpp"
#include "common/emulator/mapped_memory.hpp"
#include "common/emulator/ops/op_entry.hpp"
#include "common/emulator/options.hpp"
#include "common/emulator/prepare.hpp"
#include "common/emulator/profile/profiler.hpp"
#include "common/emulator/record/recorder.hpp"
#include "common/emulator/transfers.hpp"
#include "common/ptx/ast.hpp"

namespace stepwise {
namespace {

using emulator::global_memory;
using emulator::loaded_kernel;
using emulator::loaded_module;

class emulated_device final : public device,
                              host_registration,
                              waiting_launches,
                              time_model,
                              execution_counting,
                              profiling,
                              device_checks,
                              host_access_checks,
                              own_addresses {
 public:
  explicit emulated_device(const gpu& model)
      : model_(model),
        memory_(model.memory_bytes),
        workers_(settings_.workers > 0 ? settings_.workers
                                       : std::max(1u, std::thread::hardware_concurrency())) {
    extras_ = {.registration = this,
               .mappings = &mapped_,
               .waiting = this,
               .time = this,
               .counting = this,
               .profile = this,
               .checks = this,
               .host_accesses = this,
               .addresses = this};
    for (std::size_t n = 0; n < limits_.size(); ++n) {
      const auto found = model_.limits.find(static_cast<int>(n));
      if (found != model_.limits.end()) limits_[n] = found->second;
    }
    if (settings_.check) {
      checker_ = std::make_unique<emulator::checker>(model_, memory_);
      watchers_.add(*checker_);
      if (settings_.sample > 0) {
        checker_->allow_unwritten_reads();
        sample_ = std::make_unique<emulator::block_sample>(settings_.sample);
        watchers_.add(*sample_);
      }
      watch_ = &watchers_;
      mapped_.set_checker(*checker_);
    }
    if (checker_ || settings_.addresses == "apart") {
      library_.set_room_between(256);
      memory_.set_room_between();
    } else if (settings_.addresses == "gpu") {
      memory_.place_as_gpu();
    }
    if (settings_.counters) {
      const auto timing = emulator::timing_wanted(settings_.times);
      profiler_ = std::make_unique<emulator::profiler>(model_, timing);
      transfers_ = std::make_unique<emulator::transfer_counter>(model_, timing.has_value());
      watchers_.add(*profiler_);
      watch_ = checker_ ? static_cast<emulator::observer*>(&watchers_) : profiler_.get();
    }
    if (auto wanted = emulator::recording_wanted(settings_); !wanted.file.empty()) {
      recorder_ = std::make_unique<emulator::warp_recorder>(model_, std::move(wanted));
      recorder_->name_of_allocation = [this](device_address at) {
        bool freed = false;
        return checker_ ? checker_->object_at(at, freed).name
                        : notes_.object_at(at, memory_, modules_, freed).name;
      };
      watchers_.add(*recorder_);
      watch_ = &watchers_;
    }
    grids_ = std::make_unique<emulator::grids>(emulator::grids::parts{
        model_, settings_, memory_, library_, workers_, checker_.get(), profiler_.get(),
        transfers_.get(), watch_, [this](device_limit which) { return limit(which); }});
  }

  const gpu& description() const override { return model_; }

  result<device_address> allocate(std::uint64_t bytes) override {
    const emulator::grids::quiet quiet(*grids_);
    if (!lost_.ok()) return lost_;
    if (transfers_) transfers_->allocated();
    const auto at = known_to_checks(memory_.allocate(bytes), bytes, false);
    if (at.ok() && !checker_) notes_.allocated(*at, bytes);
    return at;
  }

  result<device_address> allocate_shared(std::uint64_t bytes) override {
    const emulator::grids::quiet quiet(*grids_);
    if (!lost_.ok()) return lost_;
    const auto at = known_to_checks(memory_.allocate_shared(bytes), bytes, true);
    if (at.ok() && !checker_) notes_.allocated(*at, bytes);
    return at;
  }

  status register_host(std::span<std::byte> area) override {
    const emulator::grids::quiet quiet(*grids_);
    if (memory_.registered().add(reinterpret_cast<std::uint64_t>(area.data()), area.size()))
      return {};
    return {error::not_supported, "the addresses next to this host memory are in use"};
  }
  status unregister_host(std::byte* first) override {
    const emulator::grids::quiet quiet(*grids_);
    if (memory_.registered().remove(reinterpret_cast<std::uint64_t>(first))) return {};
    return {error::invalid_value, "this host memory was not registered"};
  }

  status free(device_address address) override {
    const emulator::grids::quiet quiet(*grids_);
    if (!lost_.ok()) return checker_ ? checker_->freed(address), lost_ : lost_;  // not a leak
    const bool is_kept = is_variable(address) || library_.is_heap(address);
    if (address == 0) return {};
    if (!is_kept && memory_.free(address)) {
      if (checker_) checker_->freed(address);
      notes_.freed(address);
      return {};
    }
    if (checker_) checker_->refused_free(address);
    return {error::invalid_value,
            "this address was not returned by an allocation, or is free already"};
  }

  std::array<std::uint64_t, 2> memory_info() override {
    return {memory_.free_bytes(), memory_.total_bytes()};
  }

  std::optional<module_symbol> find_allocation(device_address address) override {
    const auto found = memory_.allocation_at(address);
    if (!found) return std::nullopt;
    return module_symbol{found->base, found->bytes, memory_.is_shared(address)};
  }

  status write(device_address to, std::span<const std::byte> from) override {
    if (const status s = ready_for(to, from.size()); !s.ok()) return s;
    allow_huge_pages(true);
    if (!from.empty()) std::memcpy(memory_.host(to), from.data(), from.size());
    if (checker_) checker_->wrote(to, from.size());
    return {};
  }

  status read(std::span<std::byte> to, device_address from) override {
    if (const status s = ready_for(from, to.size()); !s.ok()) return s;
    library_.flush();
    if (checker_) checker_->copied_to_host(from, to.size());
    if (!to.empty()) std::memcpy(to.data(), memory_.host(from), to.size());
    return {};
  }

  status write_word(device_address to, std::span<const std::byte> from) override {
    if (const status s = ready_for(to, from.size()); !s.ok()) return s;
    std::memcpy(memory_.host(to), from.data(), from.size());
    if (checker_) checker_->initialised(to, from.size());
    return {};
  }

  status read_word(std::span<std::byte> to, device_address from) override {
    if (const status s = ready_for(from, to.size()); !s.ok()) return s;
    std::memcpy(to.data(), memory_.host(from), to.size());
    return {};
  }

  status copy(device_address to, device_address from, std::uint64_t bytes) override {
    if (const status s = ready_for(from, bytes); !s.ok()) return s;
    if (const status s = ready_for(to, bytes); !s.ok()) return s;
    if (bytes != 0) std::memmove(memory_.host(to), memory_.host(from), bytes);
    if (checker_) checker_->copied(to, from, bytes);
    if (transfers_) transfers_->copied(to, from, bytes);
    return {};
  }

  status fill(device_address to, std::uint32_t value, unsigned element_bytes,
              std::uint64_t count) override {
    if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
      return {error::invalid_value, "elements of " + std::to_string(element_bytes) + " bytes"};
    if (const status s = ready_for(to, count * element_bytes); !s.ok()) return s;
    allow_huge_pages(true);
    if (checker_) checker_->filled(to, count * element_bytes);
    if (transfers_) transfers_->filled(to, count * element_bytes);
    std::byte* at = memory_.host(to);
    if (element_bytes == 1) {
      std::memset(at, static_cast<int>(value & 0xff), count);
    } else {
      for (std::uint64_t k = 0; k < count; ++k)
        std::memcpy(at + k * element_bytes, &value, element_bytes);
    }
    return {};
  }

  result<module_handle> load_linked(std::span<const std::span<const std::byte>> parts) override;
  status unload_module(module_handle module) override;
  result<kernel_handle> find_kernel(module_handle module, std::string_view name) override;
  result<module_symbol> find_symbol(module_handle module, std::string_view name) override;
  result<kernel_attributes> attributes(kernel_handle kernel) override;
  status set_max_dynamic_shared_bytes(kernel_handle kernel, std::uint64_t bytes) override;
  status prepare_kernel(kernel_handle kernel) override;
  status launch(kernel_handle kernel, const launch_config& config,
                std::span<const std::byte> parameters) override;
  std::optional<modelled_launch> last_launch() const override { return grids_->last_launch(); }
  void set_time(std::uint64_t ns) override { grids_->time().set(ns); }
  void leave_waiting_launches(bool may) override { grids_->leave_waiting(may); }
  std::uint64_t left_launch() const override { return grids_->last_left(); }
  bool runs(std::uint64_t launch) override {
    grids_->collect(lost_);
    return grids_->runs(launch);
  }
  std::string running_kernels() const override { return grids_->running_kernels(false); }
  std::string waiting_kernels() const override { return grids_->running_kernels(true); }
  status synchronize() override {
    grids_->collect(lost_);
    library_.flush();
    return lost_;
  }

  result<event_handle> create_event() override { return events_.create(); }
  status destroy_event(event_handle event) override { return events_.destroy(event); }
  status record(event_handle event) override { return events_.record(event); }
  result<float> elapsed_ms(event_handle start, event_handle stop) override {
    return events_.elapsed_ms(start, stop);
  }

  result<opaque_tensor_map> encode_tensor_map(const tensor_map_request& request) override {
    return encode_map(request);
  }
  result<opaque_tensor_map> with_address(const opaque_tensor_map& map,
                                         device_address address) override {
    return stepwise::with_address(map, address);
  }

  status set_limit(device_limit which, std::uint64_t bytes) override {
    if (!lost_.ok()) return lost_;
    if (which == device_limit::stack_bytes && bytes > emulator::most_local_bytes) {
      return {error::invalid_value,
              "a stack of " + std::to_string(bytes) + " bytes per thread: at most " +
                  std::to_string(emulator::most_local_bytes) + " are possible"};
    }
    // Any heap size may be requested, as on a GPU. The heap is created, or not, for the first
    // kernel that allocates.
    if (which == device_limit::printf_bytes && bytes > memory_.total_bytes()) {
      return {error::invalid_value,
              "a limit of " + std::to_string(bytes) + " bytes is more than the GPU's memory"};
    }
    const emulator::grids::quiet quiet(*grids_);
    // A stack consists of steps of 16 bytes, the width of the widest access.
    const std::uint64_t step = which == device_limit::stack_bytes ? 16 : 1;
    limits_[static_cast<std::size_t>(which)] = (bytes + step - 1) / step * step;
    return {};
  }
  std::uint64_t limit(device_limit which) override {
    return limits_[static_cast<std::size_t>(which)];
  }

  std::optional<execution_counters> counters() override { return grids_->counters(); }
  void reset_counters() override { grids_->reset_counters(), (void)take_transfers(); }
  std::vector<kernel_profile> take_profile() override {
    return profiler_ != nullptr ? profiler_->take() : std::vector<kernel_profile>{};
  }
  device_transfers take_transfers() override {
    return transfers_ ? transfers_->take() : device_transfers();
  }
  void count_transfers(bool counted) override {
    if (transfers_) transfers_->count(counted);
  }

  void set_origin(std::uint64_t code_address) override {
    if (checker_) return checker_->set_origin(code_address);
    notes_.set_origin(code_address);
  }
  void set_stream(const stream_use& use) override {
    if (checker_) checker_->set_stream(use);
  }
  void host_waited(std::uint64_t stream) override {
    if (checker_) checker_->sequence().host_waited(stream);
  }
  void host_waited_for_event(std::uint64_t event) override {
    if (checker_) checker_->sequence().host_waited_for_event(event);
  }
  void host_may_know(std::uint64_t stream) override {
    if (checker_) checker_->sequence().host_learned(stream);
  }
  void mark_event(std::uint64_t event, std::uint64_t stream) override {
    if (checker_) checker_->sequence().mark_event(event, stream);
  }
  void wait_event(std::uint64_t event, std::uint64_t stream) override {
    if (checker_) checker_->sequence().wait_event(event, stream);
  }
  void name_allocation(device_address address, std::string_view name) override {
    if (checker_) return checker_->name(address, name);
    if (const auto at = memory_.allocation_at(address); at && at->base == address)
      notes_.name(address, at->bytes, name);
  }
  void forget_contents(device_address first, std::uint64_t bytes) override {
    if (checker_) checker_->forgot(first, bytes);
  }
  std::vector<unfinished_area> unfinished_areas() override {
    return checker_ ? checker_->host().unfinished_areas() : std::vector<unfinished_area>();
  }
  host_touch host_touches(device_address at, bool writes) override {
    return checker_ ? checker_->host().host_touches(at, writes) : host_touch::harmless;
  }
  void host_was_early(device_address at, bool writes, std::uint64_t origin) override {
    if (checker_) checker_->host().host_was_early(at, writes, origin);
  }
  void host_waited_by(device_address at, bool writes) override {
    if (checker_) checker_->host().host_waited_by(at, writes);
  }
  std::vector<finding> take_findings(bool at_exit) override {
    return checker_ ? checker_->take(at_exit) : std::vector<finding>();
  }
  std::array<std::uint64_t, 2> address_range() const override {
    return {memory_.device_base(), memory_.reserved_bytes()};
  }
  bool owns_address(device_address address) const override {
    // free() reads a header before a block of host memory.
    return memory_.is_device(address) || memory_.is_device(address + emulator::most_header_bytes) ||
           emulator::is_kernels_own(address);
  }
  std::optional<finding> host_access(device_address address, bool writes) override {
    bool freed = false;
    const finding_object object = checker_ ? checker_->object_at(address, freed)
                                           : notes_.object_at(address, memory_, modules_, freed);
    return emulator::host_access(object, freed, address, writes);
  }

 private:
  // A kernel whose blocks are sampled touches few words. With huge pages, each word would clear a
  // huge page of every array of shadow memory. The host writes whole buffers.
  void allow_huge_pages(bool allows) {
    if (!sample_ || allows == has_huge_pages_) return;
    prctl(PR_SET_THP_DISABLE, allows ? 0 : 1, 0, 0, 0);
    has_huge_pages_ = allows;
  }
  // Reports an allocation to the checks. `initialised`: the host writes it without a call.
  result<device_address> known_to_checks(result<device_address> at, std::uint64_t bytes,
                                         bool initialised) {
    if (checker_ && at.ok()) checker_->allocated(*at, bytes);
    if (checker_ && at.ok() && initialised) checker_->initialised(*at, bytes);
    return at;
  }
  status ready_for(device_address at, std::uint64_t bytes) const {
    if (!lost_.ok()) return lost_;
    if (bytes == 0 || (memory_.contains(at, bytes) && !library_.is_heap(at))) return {};
    const std::string asked = std::to_string(bytes) + " bytes";
    const auto here = memory_.allocation_at(at);
    if (!here) return {error::invalid_value, asked + " that are not in any allocation"};
    return {error::invalid_value,
            asked + (at == here->base ? " at the start of" : " inside of") + " an allocation of " +
                std::to_string(here->bytes) +
                " bytes: check that the size is in bytes and not the size of a pointer, and that "
                "the memory was not allocated for an earlier call"};
  }
  // A module's variables live as long as the module.
  bool is_variable(device_address address) const {
    return std::any_of(modules_.begin(), modules_.end(), [&](const auto& m) {
      const std::vector<device_address>& own = m.second->allocations;
      return std::find(own.begin(), own.end(), address) != own.end();
    });
  }
  status prepare(loaded_kernel& k) {
    return emulator::prepare(k, model_, emulator::watched_by_these(watch_, checker_.get()));
  }

  loaded_kernel* kernel(kernel_handle h) {
    const auto found = kernels_.find(static_cast<std::uint64_t>(h));
    return found == kernels_.end() ? nullptr : found->second;
  }
  loaded_module* module(module_handle h) {
    const auto found = modules_.find(static_cast<std::uint64_t>(h));
    return found == modules_.end() ? nullptr : found->second.get();
  }

  gpu model_;
  const engine_settings settings_ = engine_settings::from_environment();
  global_memory memory_;
  emulator::device_library library_{memory_};
  unsigned workers_;
  // Indexed by device_limit. The defaults are those of CUDA's manual, unless the GPU's description
  // has others.
  std::array<std::uint64_t, 3> limits_ = {1024, 1 << 20, 8 << 20};
  status lost_;  // the error of a kernel that lost the device
  std::uint64_t last_handle_ = 0;
  emulator::module_table modules_;
  std::map<std::uint64_t, loaded_kernel*> kernels_;
  emulator::event_marks events_;
  emulator::allocation_notes notes_;  // in plain runs
  std::unique_ptr<emulator::checker> checker_;
  std::unique_ptr<emulator::block_sample> sample_;  // null: every block runs
  bool has_huge_pages_ = true;
  std::unique_ptr<emulator::profiler> profiler_;           // null: nothing is counted by line
  std::unique_ptr<emulator::transfer_counter> transfers_;  // null like profiler_
  std::unique_ptr<emulator::warp_recorder> recorder_;      // null: no warp is recorded
  emulator::observers watchers_;
  emulator::observer* watch_ = nullptr;  // null: plain runs
  std::unique_ptr<emulator::grids> grids_;
  emulator::mapped_memory mapped_{memory_, [this](const emulator::mapped_memory::change& what) {
                                    const emulator::grids::quiet quiet(*grids_);
                                    return what();
                                  }};
};

result<module_handle> emulated_device::load_linked(
    std::span<const std::span<const std::byte>> parts) {
  if (!lost_.ok()) return lost_;
  const emulator::grids::quiet quiet(*grids_);
  auto loaded = emulator::load_parts(parts, model_, memory_);
  if (!loaded.ok()) return loaded.failure();
  if (checker_) {
    for (const auto& part : (*loaded)->unit.parts()) {
      for (const ptx::variable& v : part.module->variables)
        if (const auto s = part.symbols.find(v.name);
            s != part.symbols.end() && !v.is_extern && v.space != ptx::state_space::shared)
          checker_->placed(readable_name(v.name), s->second.address, v.bytes,
                           v.space == ptx::state_space::constant);
    }
  }
  modules_[++last_handle_] = std::move(*loaded);
  return module_handle{last_handle_};
}

status emulated_device::unload_module(module_handle handle) {
  loaded_module* m = module(handle);
  if (m == nullptr) return {error::invalid_resource_handle, "no such module"};
  if (!grids_->none_left()) grids_->stop_left();  // they may run the module's code
  std::erase_if(kernels_, [&](const auto& k) { return k.second->module == m; });
  if (checker_) checker_->forget_launches();
  for (const device_address a : m->allocations) {
    memory_.free(a);
    if (checker_) checker_->freed(a);
  }
  modules_.erase(static_cast<std::uint64_t>(handle));
  return {};
}

result<kernel_handle> emulated_device::find_kernel(module_handle handle, std::string_view name) {
  loaded_module* m = module(handle);
  if (m == nullptr) return {error::invalid_resource_handle, "no such module"};
  const emulator::grids::quiet quiet(*grids_);
  const emulator::linked_function* f = m->unit.find_kernel(name);
  if (f == nullptr)
    return {error::symbol_not_found, "the module has no kernel " + std::string(name)};
  loaded_kernel* const found = &kernel_of(*m, *f, model_);
  for (const auto& [number, k] : kernels_)
    if (k == found) return kernel_handle{number};
  kernels_[++last_handle_] = found;
  return kernel_handle{last_handle_};
}

result<module_symbol> emulated_device::find_symbol(module_handle handle, std::string_view name) {
  loaded_module* m = module(handle);
  if (m == nullptr) return {error::invalid_resource_handle, "no such module"};
  const auto found = m->variables.find(name);
  if (found == m->variables.end())
    return {error::symbol_not_found, "the module has no variable " + std::string(name)};
  return found->second;
}

result<kernel_attributes> emulated_device::attributes(kernel_handle handle) {
  loaded_kernel* k = kernel(handle);
  if (k == nullptr) return {error::invalid_resource_handle, "no such kernel"};
  const emulator::grids::quiet quiet(*grids_);
  if (k->module->resources(k->attributes.name) == nullptr) (void)prepare(*k);
  return k->attributes;
}

status emulated_device::set_max_dynamic_shared_bytes(kernel_handle handle, std::uint64_t bytes) {
  loaded_kernel* k = kernel(handle);
  if (k == nullptr) return {error::invalid_resource_handle, "no such kernel"};
  const std::uint64_t most = model_.shared_bytes_per_block_optin;
  if (bytes > most || k->attributes.static_shared_bytes > most - bytes) {
    return {error::invalid_value, std::to_string(bytes) + " bytes of dynamic shared memory; " +
                                      std::to_string(most) +
                                      " are the limit, including static memory"};
  }
  const emulator::grids::quiet quiet(*grids_);
  k->attributes.max_dynamic_shared_bytes = bytes;
  return {};
}

status emulated_device::prepare_kernel(kernel_handle handle) {
  grids_->collect(lost_);
  if (!lost_.ok()) return lost_;
  loaded_kernel* k = kernel(handle);
  if (k == nullptr) return {error::invalid_resource_handle, "no such kernel"};
  if (k->code != nullptr && !grids_->may_lower_kernels()) return {};
  const emulator::grids::quiet quiet(*grids_);
  return prepare(*k);
}

status emulated_device::launch(kernel_handle handle, const launch_config& config,
                               std::span<const std::byte> parameters) {
  if (const status s = prepare_kernel(handle); !s.ok()) return s;
  loaded_kernel* k = kernel(handle);
  if (const status s = check_launch(model_, k->attributes, config); !s.ok()) return s;
  if (parameters.size() < k->code->parameter_bytes)
    return {error::invalid_value, "the parameter buffer is too short"};
  allow_huge_pages(false);
  status started;
  {
    std::optional<interruption::looking_launch> looks;
    if (checker_) looks.emplace(interrupted);
    started = grids_->launch(*k, config, parameters, lost_);
  }
  if (interrupted.signal != 0)
    if (const auto finish = interrupted.finish.load()) finish(lost_.message);
  return started;
}

}  // namespace

std::string emulator_lacks() {
  const char* const missing = emulator::missing_instruction_set();
  return missing == nullptr ? "" : missing;
}

std::unique_ptr<device> make_emulated_device(const gpu& model) {
  return std::make_unique<emulated_device>(model);
}

}  // namespace stepwise

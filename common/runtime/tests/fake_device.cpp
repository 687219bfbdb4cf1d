// The fake device's memory, and the launches that it records.
#include "common/runtime/tests/fake_device.hpp"

#include <cstring>
#include <set>
#include <utility>

#include "common/runtime/errors.hpp"
#include "common/runtime/state.hpp"

namespace stepwise {
namespace {

class fake_device final : public device,
                          waiting_launches,
                          device_checks,
                          host_access_checks,
                          other_process {
 public:
  fake_device() {
    extras_ = {.waiting = this, .checks = this, .host_accesses = this};
    if (fake::controls().remote) extras_.process = this;
  }
  const gpu& description() const override { return model_; }

  result<device_address> allocate(std::uint64_t bytes) override {
    if (bytes == 0) return status{error::invalid_value, "nothing"};
    if (bytes > std::uint64_t{1} << 30) return status{error::memory_allocation, "too much"};
    const device_address address = next_;
    next_ += (bytes + 0xFFFF) & ~std::uint64_t{0xFFFF};
    memory_[address].resize(bytes);
    return address;
  }
  // The fake device's memory is host memory, so its address is a host address.
  result<device_address> allocate_shared(std::uint64_t bytes) override {
    if (bytes > std::uint64_t{1} << 30) return status{error::memory_allocation, "too much"};
    std::vector<std::byte> memory(bytes);
    const auto address = reinterpret_cast<device_address>(memory.data());
    memory_[address] = std::move(memory);
    shared_.insert(address);
    return address;
  }
  status free(device_address address) override {
    shared_.erase(address);
    return memory_.erase(address) || address == 0 ? status{} : bad();
  }
  std::array<std::uint64_t, 2> memory_info() override { return {1000, 2000}; }
  std::optional<module_symbol> find_allocation(device_address address) override {
    for (const auto& [base, bytes] : memory_) {
      if (address >= base && address < base + bytes.size()) {
        return module_symbol{base, bytes.size(), shared_.count(base) != 0};
      }
    }
    return std::nullopt;
  }

  status write(device_address to, std::span<const std::byte> from) override {
    std::byte* const place = at(to, from.size());
    if (place) std::memcpy(place, from.data(), from.size());
    return place ? status{} : bad();
  }
  status read(std::span<std::byte> to, device_address from) override {
    const std::byte* const place = at(from, to.size());
    if (place) std::memcpy(to.data(), place, to.size());
    return place ? status{} : bad();
  }
  status copy(device_address to, device_address from, std::uint64_t bytes) override {
    fake::controls().copies++;
    std::byte *const out = at(to, bytes), *const in = at(from, bytes);
    if (!out || !in) return bad();
    std::memcpy(out, in, bytes);
    return {};
  }
  status fill(device_address to, std::uint32_t value, unsigned element_bytes,
              std::uint64_t count) override {
    std::byte* const place = at(to, element_bytes * count);
    if (place) std::memset(place, static_cast<int>(value), element_bytes * count);
    return place ? status{} : bad();
  }

  result<module_handle> load_linked(std::span<const std::span<const std::byte>> parts) override {
    if (!fake::controls().load_failure.ok()) return fake::controls().load_failure;
    fake::controls().modules_loaded++;
    for (const auto part : parts) fake::controls().module_bytes.push_back(part.size());
    return module_handle{++handles_};
  }
  status unload_module(module_handle) override {
    fake::controls().modules_unloaded++;
    return {};
  }
  result<kernel_handle> find_kernel(module_handle, std::string_view name) override {
    const auto found = fake::controls().kernels.find(std::string(name));
    if (found == fake::controls().kernels.end()) {
      return status{error::symbol_not_found, "no kernel " + std::string(name)};
    }
    kernels_[++handles_] = found->second;
    kernels_[handles_].name = name;
    return kernel_handle{handles_};
  }
  result<module_symbol> find_symbol(module_handle, std::string_view name) override {
    const auto found = fake::controls().variables.find(std::string(name));
    if (found == fake::controls().variables.end()) {
      return status{error::symbol_not_found, "no variable " + std::string(name)};
    }
    auto& place = variables_[found->first];
    if (place == 0) place = *allocate(found->second);
    return module_symbol{place, found->second, shared_.count(place) != 0};
  }
  result<kernel_attributes> attributes(kernel_handle kernel) override {
    return kernels_.at(static_cast<std::uint64_t>(kernel));
  }
  status set_max_dynamic_shared_bytes(kernel_handle kernel, std::uint64_t bytes) override {
    kernel_attributes& k = kernels_.at(static_cast<std::uint64_t>(kernel));
    if (bytes + k.static_shared_bytes > model_.shared_bytes_per_block_optin) return bad();
    k.max_dynamic_shared_bytes = bytes;
    return {};
  }
  status launch(kernel_handle kernel, const launch_config& config,
                std::span<const std::byte> parameters) override {
    if (!fake::controls().launch_failure.ok()) {
      return std::exchange(fake::controls().launch_failure, {});
    }
    fake::controls().origins.push_back(origin_);
    log("launch");
    fake::controls().launches.push_back({kernels_.at(static_cast<std::uint64_t>(kernel)).name,
                                         config,
                                         {parameters.begin(), parameters.end()}});
    left_ = std::exchange(fake::controls().leave, 0);
    if (left_ != 0) fake::controls().running.insert(left_);
    return {};
  }
  status synchronize() override { return fake::controls().fault; }
  void leave_waiting_launches(bool) override {}
  std::uint64_t left_launch() const override { return left_; }
  bool runs(std::uint64_t launch) override { return fake::controls().running.count(launch) != 0; }
  std::string running_kernels() const override {
    return fake::controls().running.empty() ? "" : "fake";
  }
  std::string waiting_kernels() const override { return running_kernels(); }

  status set_limit(device_limit which, std::uint64_t bytes) override {
    if (bytes > 1 << 30) return bad();
    limits_[which] = bytes;
    return {};
  }
  std::uint64_t limit(device_limit which) override { return limits_[which]; }

  result<event_handle> create_event() override {
    events_.insert(++handles_);
    return event_handle{handles_};
  }
  status destroy_event(event_handle event) override {
    return events_.erase(static_cast<std::uint64_t>(event)) ? status{} : bad();
  }
  status record(event_handle event) override {
    times_[static_cast<std::uint64_t>(event)] = ++clock_;
    return {};
  }
  result<float> elapsed_ms(event_handle start, event_handle stop) override {
    return times_.at(static_cast<std::uint64_t>(stop)) -
           times_.at(static_cast<std::uint64_t>(start));
  }

  void set_origin(std::uint64_t number) override { origin_ = number; }
  void set_stream(const stream_use& use) override {
    log("stream " + std::to_string(use.stream) + (use.non_blocking ? " apart" : ""));
  }
  void host_waited(std::uint64_t stream) override {
    log("wait " + (stream == no_stream ? "all" : std::to_string(stream)));
  }
  void host_waited_for_event(std::uint64_t) override { log("wait for event"); }
  void host_may_know(std::uint64_t stream) override {
    log("host may know " + std::to_string(stream));
  }
  void mark_event(std::uint64_t, std::uint64_t stream) override {
    log("mark in " + std::to_string(stream));
  }
  void wait_event(std::uint64_t, std::uint64_t stream) override {
    log("event for " + std::to_string(stream));
  }
  void name_allocation(device_address, std::string_view name) override {
    log("name " + std::string(name));
  }
  void forget_contents(device_address, std::uint64_t) override {}
  std::vector<unfinished_area> unfinished_areas() override { return {}; }
  host_touch host_touches(device_address, bool) override { return host_touch::harmless; }
  void host_was_early(device_address, bool, std::uint64_t) override {}
  void host_waited_by(device_address, bool) override {}
  bool give_finding(const std::string&) override { return false; }
  void note_host_array(const std::byte*, std::uint64_t, std::uint64_t) override {}
  void note_file(std::span<const std::byte>, std::uint64_t, bool) override {}
  void set_pageable(bool) override {}
  std::vector<finding> take_findings(bool at_exit) override {
    if (at_exit) log("leaks?");
    return std::exchange(fake::controls().findings, {});
  }

 private:
  static void log(std::string what) { fake::controls().checks.push_back(std::move(what)); }
  static status bad() { return {error::invalid_value, "outside of allocations"}; }
  std::byte* at(device_address address, std::uint64_t bytes) {
    const auto area = find_allocation(address);
    if (!area || address - area->address + bytes > area->bytes) return nullptr;
    return memory_[area->address].data() + (address - area->address);
  }

  std::uint64_t origin_ = 0, left_ = 0;
  const gpu model_ = *find_gpu("h200");
  device_address next_ = 0x7000'0000'0000'0000;  // no host address looks like this
  std::map<device_address, std::vector<std::byte>> memory_;
  std::set<device_address> shared_;
  std::map<std::string, device_address> variables_;
  std::map<std::uint64_t, kernel_attributes> kernels_;
  std::set<std::uint64_t> events_;
  std::map<std::uint64_t, float> times_;
  std::map<device_limit, std::uint64_t> limits_ = {{device_limit::stack_bytes, 1024},
                                                   {device_limit::printf_bytes, 1 << 20},
                                                   {device_limit::heap_bytes, 8 << 20}};
  float clock_ = 0;
  std::uint64_t handles_ = 0;
};

}  // namespace

namespace fake {

control& controls() {
  static control only;
  return only;
}

void reset() {
  controls() = {};
  runtime::state& s = runtime::state::get();
  s.fault = {};
  s.checks.reset();
  s.reset();
  s.registered = {};
  runtime::take_error();
}

}  // namespace fake

namespace runtime {

result<std::unique_ptr<device>> make_process_device() {
  if (!fake::controls().no_device.ok()) return fake::controls().no_device;
  fake::controls().devices_made++;
  return std::unique_ptr<device>(std::make_unique<fake_device>());
}

}  // namespace runtime
}  // namespace stepwise

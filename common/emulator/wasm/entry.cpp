// The emulated device for a page, called from JavaScript (slides/site/live/emulator.js).
//
// idea    One device per instance of the module. Text is returned as zero-terminated UTF-8 and
//         is valid until the next call. An empty text means success.
// watch   A device address has 64 bits, but an address of this machine has 32. `address` is a
//         device address.
// tested  slides/site/tests/live_test.py compares it with the native emulator.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/device/device.hpp"
#include "common/report/located_finding.hpp"
#include "common/report/profile_json.hpp"

#if defined(__wasm__)
#define STEPWISE_EXPORT(name) extern "C" __attribute__((export_name(#name)))
#else
#define STEPWISE_EXPORT(name) extern "C"
#endif

namespace {
using namespace stepwise;

std::unique_ptr<device> the_device;
module_handle the_module{};
std::string text;

const char* said(std::string what) {
  text = std::move(what);
  return text.c_str();
}
// Never empty if a call failed.
std::string message_of(const status& s) {
  if (s.ok() || !s.message.empty()) return s.ok() ? std::string() : s.message;
  return "CUDA error " + std::to_string(int(s.code));
}
const char* said(const status& s) { return said(message_of(s)); }

// An exception that the emulator throws for lack of memory is also an answer.
template <class Body>
const char* guarded(Body body) {
  try {
    return said(body());
  } catch (const std::exception& e) {
    return said(std::string("the emulator stopped: ") + e.what());
  }
}

}  // namespace

STEPWISE_EXPORT(room) void* room(std::uint32_t bytes) { return std::malloc(bytes); }
STEPWISE_EXPORT(leave) void leave(void* room) { std::free(room); }

// Creates a device like this GPU ("h200"). `watch` selects the observers of its kernels: 1 for
// checks, 2 for counters, 3 for both.
STEPWISE_EXPORT(start) const char* start(const char* gpu, int watch) {
  return guarded([&]() -> std::string {
    setenv("STEPWISE_WORKERS", "1", 1);
    watch & 1 ? setenv("STEPWISE_CHECK", "1", 1) : unsetenv("STEPWISE_CHECK");
    watch & 2 ? setenv("STEPWISE_COUNTERS", "1", 1) : unsetenv("STEPWISE_COUNTERS");
    const auto model = find_gpu(gpu);
    if (!model.ok()) return model.failure().message;
    the_device.reset();  // the next device uses the same addresses
    the_device = make_emulated_device(*model);
    return {};
  });
}

// Loads a fat binary, not compressed, or PTX text.
STEPWISE_EXPORT(load) const char* load(const std::byte* image, std::uint32_t bytes) {
  return guarded([&]() -> std::string {
    const auto loaded = the_device->load_module({image, bytes});
    if (!loaded.ok()) return loaded.failure().message;
    the_module = *loaded;
    return {};
  });
}

// Returns 0 if there is no room; problem() has the reason. Findings call the memory `name`.
STEPWISE_EXPORT(allocate) std::uint64_t allocate(std::uint32_t bytes, const char* name) {
  const auto got = the_device->allocate(bytes);
  if (!got.ok()) return said(got.failure().message), 0;
  the_device->extras().checks->name_allocation(*got, name);
  return *got;
}
STEPWISE_EXPORT(problem) const char* problem() { return text.c_str(); }

STEPWISE_EXPORT(put)
const char* put(std::uint64_t address, const std::byte* from, std::uint32_t bytes) {
  return guarded([&] { return the_device->write(address, {from, bytes}); });
}
STEPWISE_EXPORT(get) const char* get(std::byte* to, std::uint64_t address, std::uint32_t bytes) {
  return guarded([&] { return the_device->read({to, bytes}, address); });
}
// Fills memory with garbage, as a contract promises. Reading it before a write is a finding.
STEPWISE_EXPORT(spoil) const char* spoil(std::uint64_t address, std::uint32_t bytes) {
  return guarded([&] {
    const status filled = the_device->fill(address, 0xa5, 1, bytes);
    if (filled.ok()) the_device->extras().checks->forget_contents(address, bytes);
    return filled;
  });
}

// Runs a kernel to its end. `arguments` has a value per parameter; only the first bytes of each
// value are used.
STEPWISE_EXPORT(launch)
const char* launch(const char* kernel, const std::uint32_t* shape, std::uint32_t shared_bytes,
                   const std::uint64_t* arguments, std::uint32_t count) {
  return guarded([&]() -> std::string {
    const auto found = the_device->find_kernel(the_module, kernel);
    if (!found.ok()) return found.failure().message;
    const auto about = the_device->attributes(*found);
    if (!about.ok()) return about.failure().message;
    const auto& parameters = about->parameters;
    if (parameters.size() != count)
      return "the kernel has " + std::to_string(parameters.size()) + " parameters";
    std::vector<std::byte> packed;
    for (std::uint32_t k = 0; k < count; ++k) {
      const auto& p = parameters[k];
      if (p.bytes > sizeof(std::uint64_t)) return "a parameter of more than 8 bytes";
      packed.resize(p.offset + p.bytes);
      std::memcpy(packed.data() + p.offset, arguments + k, p.bytes);
    }
    launch_config config;
    config.grid = {shape[0], shape[1], shape[2]};
    config.block = {shape[3], shape[4], shape[5]};
    config.dynamic_shared_bytes = shared_bytes;
    const status launched = the_device->launch(*found, config, packed);
    if (!launched.ok()) return message_of(launched);
    const status ran = the_device->synchronize();
    the_device->extras().checks->host_waited(no_stream);
    return message_of(ran);
  });
}

// {"findings":[...],"warp_instructions":N,"profile":{...}}: see grader/JSON.md.
STEPWISE_EXPORT(report) const char* report() {
  return guarded([&]() -> std::string {
    std::string all = "{\"findings\":[";
    for (auto& f : the_device->extras().checks->take_findings(false)) {
      if (all.back() != '[') all += ',';
      located_finding found;
      found.what = std::move(f);
      all += json_line(found);
    }
    const auto counted = the_device->extras().counting->counters();
    all += "],\"warp_instructions\":" + std::to_string(counted ? counted->warp_instructions : 0);
    return all + ",\"profile\":" + profile_json(the_device->extras().profile->take_profile()) + "}";
  });
}

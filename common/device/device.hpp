// The interface between a CUDA runtime and a device: memory, modules, launches and time, in handles
// and bytes.
//
// idea    There are no callbacks, and no host pointers outlive a call. A device may therefore be
//         the emulator in this process, a GPU through the CUDA driver, or a device in another
//         process. All implementations pass one conformance test suite (tests/conformance.hpp).
//         Interfaces that only some devices have are in extras().
// watch   A launch returns only the errors that are known before it runs (a grid that is too
//         large). The next synchronize() returns an error from a running kernel, and so does every
//         later call, as on hardware, because the device is lost. An emulated device can be created
//         again, but a GPU's driver does not allow that within the same process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/device/device_types.hpp"
#include "common/device/extras.hpp"
#include "common/device/gpu.hpp"

namespace stepwise {

struct tensor_map_request;  // tensor_map.hpp

class device {
 public:
  virtual ~device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  const device_extras& extras() const { return extras_; }
  // Whether the device is in another process, which cannot use this process's functions or memory.
  bool is_remote() const { return extras_.process != nullptr; }

  // The GPU that this device is or emulates.
  virtual const gpu& description() const = 0;

  // Device memory. allocate() aligns to 256 bytes, and returns invalid_value for 0 bytes. free()
  // accepts 0 and addresses from allocate(), and returns invalid_value otherwise.
  virtual result<device_address> allocate(std::uint64_t bytes) = 0;
  virtual status free(device_address address) = 0;
  // Allocates memory that the host and kernels access through the same address. The host may do so
  // only while no kernel runs. It is aligned to 256 bytes, freed by free(), and does not count as
  // device memory. not_supported if the device lacks it.
  virtual result<device_address> allocate_shared(std::uint64_t bytes) = 0;
  // Free and total bytes of device memory.
  virtual std::array<std::uint64_t, 2> memory_info() = 0;
  // The allocation or module variable that holds an address, if any.
  virtual std::optional<module_symbol> find_allocation(device_address address) = 0;

  // Copies from host to device, device to host, and device to device (the areas may not overlap).
  // They wait for earlier work. invalid_value for an area outside any allocation.
  virtual status write(device_address to, std::span<const std::byte> from) = 0;
  virtual status read(std::span<std::byte> to, device_address from) = 0;
  virtual status copy(device_address to, device_address from, std::uint64_t bytes) = 0;
  // Writes a word of 4 or 8 bytes through which streams wait for each other. A checking device
  // treats this as synchronisation, not as an access.
  virtual status write_word(device_address to, std::span<const std::byte> from) {
    return write(to, from);
  }
  virtual status read_word(std::span<std::byte> to, device_address from) { return read(to, from); }
  // Sets `count` elements of `element_bytes` (1, 2 or 4) to the low bytes of `value`.
  virtual status fill(device_address to, std::uint32_t value, unsigned element_bytes,
                      std::uint64_t count) = 0;

  // A module from a fat binary container (the bytes that a fat binary wrapper points to), or from
  // PTX text. Its bytes are copied. Variables are placed and initialised at once.
  result<module_handle> load_module(std::span<const std::byte> image) {
    return load_linked(std::span(&image, 1));
  }
  // Links the parts of a program built with -rdc=true, where one part declares a symbol and another
  // defines it. Parts without PTX have only machine code.
  virtual result<module_handle> load_linked(std::span<const std::span<const std::byte>> parts) = 0;
  virtual status unload_module(module_handle module) = 0;
  // The kernel or variable with this name in the module, or symbol_not_found.
  virtual result<kernel_handle> find_kernel(module_handle module, std::string_view name) = 0;
  virtual result<module_symbol> find_symbol(module_handle module, std::string_view name) = 0;
  virtual result<kernel_attributes> attributes(kernel_handle kernel) = 0;
  // Allows a kernel more dynamic shared memory than 48 KB; invalid_value above the GPU's limit.
  virtual status set_max_dynamic_shared_bytes(kernel_handle kernel, std::uint64_t bytes) = 0;

  // Does the one-time work that otherwise precedes the kernel's first launch, and returns any error
  // in the kernel.
  virtual status prepare_kernel(kernel_handle kernel) { return (void)kernel, status{}; }
  // Queues a launch. `parameters` is the packed parameter buffer that `attributes` describes.
  virtual status launch(kernel_handle kernel, const launch_config& config,
                        std::span<const std::byte> parameters) = 0;
  // Waits for all queued work, and returns its error. Does not wait for kernels that were left
  // running.
  virtual status synchronize() = 0;

  // Events mark a point in the queue; elapsed_ms is the device time between two events. An emulated
  // device returns the duration of the emulation, even if it models launches, because only the
  // caller knows the order of launches.
  virtual result<event_handle> create_event() = 0;
  virtual status destroy_event(event_handle event) = 0;
  virtual status record(event_handle event) = 0;
  virtual result<float> elapsed_ms(event_handle start, event_handle stop) = 0;

  // A tensor map for the kernels of this device. invalid_value for a request that breaks a rule of
  // cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col; not_supported if the device has no tensor
  // maps.
  virtual result<opaque_tensor_map> encode_tensor_map(const tensor_map_request& request) {
    (void)request;
    return {error::not_supported, "this device has no tensor maps"};
  }
  // The same map for a tensor at another address, as cuTensorMapReplaceAddress makes it.
  virtual result<opaque_tensor_map> with_address(const opaque_tensor_map& map,
                                                 device_address address) {
    (void)map, (void)address;
    return {error::not_supported, "this device has no tensor maps"};
  }

  // A limit applies to later launches. The device may round it up. invalid_value for a limit that
  // the device cannot provide, except that a heap may fail as late as its first use in a kernel.
  virtual status set_limit(device_limit which, std::uint64_t bytes) = 0;
  // Returns 0 if the device is lost.
  virtual std::uint64_t limit(device_limit which) = 0;

 protected:
  device() = default;

  device_extras extras_;  // set by the constructor of a device
};

// A device that emulates `model` on the CPU. Options come from the environment (see
// common/emulator/DESIGN.md). Requires that emulator_lacks() is empty.
std::unique_ptr<device> make_emulated_device(const gpu& model);

// The instruction set that this build of the emulator uses but this CPU lacks ("AVX-512"). Empty
// for a build with -Dportable=true or from this machine.
std::string emulator_lacks();

// GPU number `ordinal` through the CUDA driver, which is loaded at run time. Null, with the reason
// in `why`, if there is no such GPU.
std::unique_ptr<device> make_gpu_device(int ordinal, std::string& why);

}  // namespace stepwise

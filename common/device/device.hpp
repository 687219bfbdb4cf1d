// The interface between a CUDA runtime and a device: memory, modules, launches and time, in handles
// and bytes.
//
// idea    No callbacks and no host pointers that outlive a call, so that a device may live in this
//         process (the emulator), the CUDA driver's GPU, or another process's. One conformance test
//         suite (tests/conformance.hpp) holds for every implementation. Interfaces that only some
//         devices have are extras().
// watch   A launch answers at once only for what can be seen before it runs (a grid that is too
//         large). What goes wrong while a kernel runs is answered by the next synchronize() and,
//         as on hardware, by every later call: the device is lost. An emulated one can be created
//         again; a GPU's driver refuses that within the same process.
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

class device {
 public:
  virtual ~device() = default;
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  const device_extras& extras() const { return extras_; }
  // Whether it lives in another process, which knows nothing of this one's functions and memory.
  bool is_remote() const { return extras_.process != nullptr; }

  // The GPU that this device is or emulates.
  virtual const gpu& description() const = 0;

  // Device memory. allocate() aligns to 256 bytes; 0 bytes is an error (invalid_value);
  // free() takes what allocate() gave (0 is fine), else invalid_value.
  virtual result<device_address> allocate(std::uint64_t bytes) = 0;
  virtual status free(device_address address) = 0;
  // Memory that the host reads and writes at the address by which kernels know it, while no kernel
  // runs. It is aligned to 256 bytes, freed by free(), and not taken from the device's memory.
  // not_supported on a device that cannot do it.
  virtual result<device_address> allocate_shared(std::uint64_t bytes) = 0;
  // Free and total bytes of device memory.
  virtual std::array<std::uint64_t, 2> memory_info() = 0;
  // The allocation or module variable that holds an address, if any.
  virtual std::optional<module_symbol> find_allocation(device_address address) = 0;

  // Host to device, device to host, device to device (the areas may not overlap). They wait for
  // the work before them; an area outside any allocation is invalid_value.
  virtual status write(device_address to, std::span<const std::byte> from) = 0;
  virtual status read(std::span<std::byte> to, device_address from) = 0;
  virtual status copy(device_address to, device_address from, std::uint64_t bytes) = 0;
  // The same for a word of 4 or 8 bytes by which streams wait for each other. To a device that
  // checks it orders them, and is no access.
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
  // The same from the parts of a program built with -rdc=true, linked: what one part declares,
  // another defines. Parts without PTX have machine code only.
  virtual result<module_handle> load_linked(std::span<const std::span<const std::byte>> parts) = 0;
  virtual status unload_module(module_handle module) = 0;
  // A kernel or a variable by its name in the module; symbol_not_found.
  virtual result<kernel_handle> find_kernel(module_handle module, std::string_view name) = 0;
  virtual result<module_symbol> find_symbol(module_handle module, std::string_view name) = 0;
  virtual result<kernel_attributes> attributes(kernel_handle kernel) = 0;
  // Allows a kernel more dynamic shared memory than 48 KB; invalid_value above the GPU's limit.
  virtual status set_max_dynamic_shared_bytes(kernel_handle kernel, std::uint64_t bytes) = 0;

  // Does the work that the kernel's first launch would have to do before it begins, and reports
  // what is wrong with the kernel.
  virtual status prepare_kernel(kernel_handle kernel) { return (void)kernel, status{}; }
  // Queues a launch. `parameters` is the packed parameter buffer that `attributes` describes.
  virtual status launch(kernel_handle kernel, const launch_config& config,
                        std::span<const std::byte> parameters) = 0;
  // Waits for everything queued; reports what went wrong in it. It does not wait for launches that
  // were left.
  virtual status synchronize() = 0;

  // Events mark a point in the queue; elapsed_ms is the device time between two of them. An
  // emulated device answers with the time that the emulation took, also where it models what its
  // launches take: which of them follow each other only the caller knows.
  virtual result<event_handle> create_event() = 0;
  virtual status destroy_event(event_handle event) = 0;
  virtual status record(event_handle event) = 0;
  virtual result<float> elapsed_ms(event_handle start, event_handle stop) = 0;

  // A limit holds for the kernels launched from then on. The device may round it up; one that it
  // cannot give is invalid_value. A heap need not be refused before a kernel needs it.
  virtual status set_limit(device_limit which, std::uint64_t bytes) = 0;
  // 0 on a device that is lost.
  virtual std::uint64_t limit(device_limit which) = 0;

 protected:
  device() = default;

  device_extras extras_;  // set by the constructor of a device
};

// A device on the CPU that emulates `model`. Options come from the environment (see
// common/emulator/DESIGN.md). It runs where emulator_lacks() is empty.
std::unique_ptr<device> make_emulated_device(const gpu& model);

// The instruction set that this build of the emulator uses and this CPU does not have ("AVX-512");
// a build with -Dportable=true, or one made on this machine, lacks nothing.
std::string emulator_lacks();

// GPU number `ordinal` through the CUDA driver, which is looked for at run time; null, with the
// reason in `why`, where there is none.
std::unique_ptr<device> make_gpu_device(int ordinal, std::string& why);

}  // namespace stepwise

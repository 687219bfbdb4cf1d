// What a CUDA runtime needs of a device: memory, modules, launches and time, in handles and bytes.
//
// idea    No callbacks and no host pointers that outlive a call, so that a device may live in this
//         process (the emulator), the CUDA driver's GPU, or another process's. One conformance test
//         suite (device_conformance.hpp) holds for every implementation.
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

#include "common/device/access_counts.hpp"
#include "common/device/error.hpp"
#include "common/device/gpu.hpp"

namespace stepwise {

// An address in device memory. It is not a host pointer: reading it on the host is a fault. Only
// the addresses of allocate_shared() and of managed variables serve the host too.
using device_address = std::uint64_t;

enum class module_handle : std::uint64_t {};
enum class kernel_handle : std::uint64_t {};
enum class event_handle : std::uint64_t {};

struct extent {
  std::uint32_t x = 1, y = 1, z = 1;
};

// How many blocks or threads an extent holds. No launch's grid overflows it.
inline std::uint64_t volume(const extent& e) { return std::uint64_t{e.x} * e.y * e.z; }

struct launch_config {
  extent grid;
  extent block;
  std::uint64_t dynamic_shared_bytes = 0;
  bool cooperative = false;  // every block resident at once, or invalid: needed by grid.sync
  // Programmatic dependent launch: it may begin before earlier work of its stream has ended. No
  // device makes use of that, but checks must know that the program allows it.
  bool may_begin_early = false;
};

// One kernel parameter's place in the parameter buffer of a launch, in bytes.
struct kernel_parameter {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

// What the compiler decided for a kernel. Registers and static shared memory are the machine
// code's (from the cubin) where the module carries some for this GPU.
struct kernel_attributes {
  std::string name;
  int registers = 0;                      // 32-bit registers per thread
  std::uint64_t static_shared_bytes = 0;  // per block
  std::uint64_t local_bytes = 0;          // per thread
  std::uint64_t constant_bytes = 0;       // user __constant__ memory of the module
  int max_threads_per_block = 0;
  int ptx_version = 0;     // 10 * major + minor of the virtual architecture
  int binary_version = 0;  // 10 * major + minor of the machine code
  std::uint64_t max_dynamic_shared_bytes = 0;
  std::vector<kernel_parameter> parameters;
};

struct module_symbol {
  device_address address = 0;
  std::uint64_t bytes = 0;
  bool shared = false;  // the host may use the address
};

// What a program may set before its kernels run, numbered as enum cudaLimit.
enum class device_limit : int {
  stack_bytes = 0,   // local memory for the calls of one thread
  printf_bytes = 1,  // buffer for the output of kernels
  heap_bytes = 2,    // memory from which kernels allocate
};

// What the kernels since reset_counters() executed. Counted by emulated devices only.
struct execution_counters : access_counts {
  std::uint64_t launches = 0;
  std::uint64_t warp_instructions = 0;  // PTX instructions that a warp issued
  std::uint64_t lane_instructions = 0;  // the same, times the lanes that took part
  std::uint64_t barriers = 0;           // warps that reached a block barrier

  execution_counters& operator+=(const access_counts& more) {
    global_load_bytes += more.global_load_bytes;
    global_store_bytes += more.global_store_bytes;
    shared_load_bytes += more.shared_load_bytes;
    shared_store_bytes += more.shared_store_bytes;
    atomics += more.atomics;
    return *this;
  }
  execution_counters& operator+=(const execution_counters& more) {
    *this += static_cast<const access_counts&>(more);
    launches += more.launches;
    warp_instructions += more.warp_instructions;
    lane_instructions += more.lane_instructions;
    barriers += more.barriers;
    return *this;
  }
};

// What the time model of a device says of a launch.
struct modelled_launch {
  double us = 0;     // on the emulated GPU, with the launch overhead
  double fills = 1;  // the part of the GPU that its blocks take
};

class virtual_memory;     // virtual_memory.hpp
struct finding;           // finding.hpp
struct kernel_profile;    // profile.hpp
struct device_transfers;  // profile.hpp

// Which stream the next launch or copy belongs to, for devices that check the order of accesses.
inline constexpr std::uint64_t no_stream = ~std::uint64_t{0};
struct stream_use {
  std::uint64_t stream = 0;   // any number that the caller chooses; 0: the legacy default stream
  bool non_blocking = false;  // made with cudaStreamNonBlocking: not ordered with stream 0
  bool is_alone = false;      // no other stream's work could run at the same time
};

// A part of the memory shared with the host, and its use by work that the host has not waited for.
struct unfinished_area {
  device_address first = 0;
  std::uint64_t bytes = 0;
  bool written = false;  // false: only read

  bool operator==(const unfinished_area&) const = default;
};

// The verdict on a host access to such memory.
enum class host_touch : std::uint8_t {
  elsewhere,  // the page is not used by such work
  harmless,   // the bytes are not used by such work, or both the host and the work only read them
  early,      // a race, unless this access is how the host waits
  flag        // the word is one that programs use to wait
};

class device {
 public:
  virtual ~device();  // in report/finding.cpp, with what answers findings

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
  // Lets kernels use memory of the host's own by its address, until it is unregistered. Copies
  // treat it as the host's. not_supported on a device, or for an area, where that cannot be.
  virtual status register_host(std::span<std::byte> area);
  virtual status unregister_host(std::byte* first);
  // Memory that is mapped apart from its addresses (virtual_memory.hpp); null where that cannot be.
  virtual virtual_memory* mappings() { return nullptr; }
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
  // What the last launch took, where the device models that.
  virtual std::optional<modelled_launch> last_launch() const { return std::nullopt; }
  // When the next launch begins, in nanoseconds: a device that models time shows it to kernels. The
  // time that they see never goes back.
  virtual void set_time(std::uint64_t ns) { (void)ns; }
  // Waits for everything queued; reports what went wrong in it. It does not wait for launches that
  // were left.
  virtual status synchronize() = 0;

  // From now on launch() may return before a kernel has ended that waits: for the host, or for
  // another kernel; or that has not ended for so long that it may never (patience.hpp). It has been
  // left then, and the caller keeps in order what comes after it; what the caller asks for is done
  // beside it. Without `may`, and on a device that checks or counts, none is left, but named on
  // stderr if it waits for long.
  virtual void leave_waiting_launches(bool may) { (void)may; }
  // The number of the last launch if it was left, else 0; whether it still runs; and the names of
  // the kernels that do, and of those of them that have waited.
  virtual std::uint64_t left_launch() const { return 0; }
  virtual bool runs(std::uint64_t launch) { return (void)launch, false; }
  virtual std::string running_kernels() const { return ""; }
  virtual std::string waiting_kernels() const { return ""; }

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

  // Of a GPU: resets the lines of L2 that a program made persisting.
  virtual void reset_persisting_lines() {}

  // Of a GPU: what is queued after hold_queue() begins at release_queue(), or after 20 ms. Until
  // then the caller only queues: launches, copies on the device, fills, events.
  virtual void hold_queue() {}
  virtual void release_queue() {}

  // Counters, where the device keeps them.
  virtual std::optional<execution_counters> counters() { return std::nullopt; }
  virtual void reset_counters() {}

  // For devices that check. A number for the place in the host's code on whose behalf the next
  // calls are made (0: unknown), and the stream that they belong to (0: the legacy default stream).
  virtual void set_origin(std::uint64_t number) { (void)number; }
  virtual void set_stream(const stream_use& use) { (void)use; }
  // The host waited for a stream, or for all work (`stream` is no_stream), or for the work that an
  // event marked.
  virtual void host_waited(std::uint64_t stream) { (void)stream; }
  virtual void host_waited_for_event(std::uint64_t event) { (void)event; }
  // From now on the host may know that a stream's work up to now has ended, although no call shows
  // it: for example, because one of the program's functions ran in that stream.
  virtual void host_may_know(std::uint64_t stream) { (void)stream; }
  // Work of a stream that comes later waits for what `event` (any number that the caller
  // chooses) marked: recorded in one stream, waited for in another.
  virtual void mark_event(std::uint64_t event, std::uint64_t stream) { (void)event, (void)stream; }
  virtual void wait_event(std::uint64_t event, std::uint64_t stream) { (void)event, (void)stream; }
  // A name for an allocation, for its findings: "in".
  virtual void name_allocation(device_address address, std::string_view name) {
    (void)address, (void)name;
  }
  // These bytes count as unwritten from now on, whatever they hold.
  virtual void forget_contents(device_address first, std::uint64_t bytes) {
    (void)first, (void)bytes;
  }
  // Memory from allocate_shared() that was used by work which the host has not waited for. A kernel
  // may have used only a part of such an area.
  virtual std::vector<unfinished_area> unfinished_areas() { return {}; }
  // The verdict on a host access to one byte of such an area.
  virtual host_touch host_touches(device_address at, bool writes) {
    return (void)at, (void)writes, host_touch::harmless;
  }
  // Reports a host access: an early one, which is a finding, with `origin` as the place in the
  // host's code; or one by which the host waits.
  virtual void host_was_early(device_address at, bool writes, std::uint64_t origin) {
    (void)at, (void)writes, (void)origin;
  }
  virtual void host_waited_by(device_address at, bool writes) { (void)at, (void)writes; }
  // What was found since the last call, in the order in which it was found; empty on devices that
  // do not check. `at_exit`: memory that is still allocated is a finding too.
  virtual std::vector<finding> take_findings(bool at_exit);
  // Takes a finding that the runtime made by itself, as a line of JSON; false: it keeps none.
  virtual bool tell_finding(const std::string& line) { return (void)line, false; }
  // For devices in another process. An array of the host's that belongs to the current call, and
  // where the caller's copy of it begins; without bytes: those of the call before are gone.
  virtual void tell_host_array(const std::byte* first, std::uint64_t bytes, std::uint64_t place) {
    (void)first, (void)bytes, (void)place;
  }
  // Whether it lives in another process, which knows nothing of this one's functions and memory.
  virtual bool is_remote() const { return false; }
  // The first address that its memory can have, and how many there are; 0, 0: not known.
  virtual std::array<std::uint64_t, 2> address_range() const { return {0, 0}; }
  // Whether no memory of the host's can have this address, because the device's own has it. It
  // neither locks nor allocates: a signal's handler asks.
  virtual bool owns_address(device_address address) const { return (void)address, false; }
  // The host followed such an address: the finding, without its place; none if it is not known.
  virtual std::optional<finding> host_access(device_address address, bool writes);
  // What was counted since the last call, kernel by kernel and line by line; empty on devices that
  // do not count.
  virtual std::vector<kernel_profile> take_profile();
  // The copies and fills of device memory that were counted since the last call, or since
  // reset_counters(). A judge's own, between calls, are not the program's: count_transfers() says
  // whether later ones count.
  virtual device_transfers take_transfers();
  virtual void count_transfers(bool counted) { (void)counted; }
};

inline status device::register_host(std::span<std::byte>) {
  return {error::not_supported, "this device does not reach the host's memory"};
}
inline status device::unregister_host(std::byte*) {
  return {error::not_supported, "this device does not reach the host's memory"};
}

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

// Collects commands, sends requests, and caches data to answer calls without a request.
#include "common/device/remote/remote_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/device/launch_check.hpp"

namespace stepwise::remote {
namespace {

constexpr std::size_t longest_queue_bytes = most_batch_bytes / 2;

const status broken{error::devices_unavailable, "the device server has exited"};

std::optional<module_symbol> symbol_of(const symbol_answer& a) {
  if (!a.found) return std::nullopt;
  return module_symbol{a.address, a.bytes, a.shared};
}

}  // namespace

remote_device::remote_device(connection to)
    : to_(std::move(to)), copy_bytes_([](std::byte* to, const std::byte* from, std::size_t bytes) {
        std::memcpy(to, from, bytes);
      }) {
  extras_ = {.time = this, .counting = this, .checks = this, .addresses = this, .process = this};
}

remote_device::~remote_device() {
  if (reserved_ != nullptr) munmap(reserved_, bytes_);
}

std::unique_ptr<remote_device> remote_device::connect(connection to, std::string& why) {
  std::unique_ptr<remote_device> made(new remote_device(std::move(to)));
  const auto about = made->ask(describe{});
  if (!about.ok()) {
    why = about.failure().message;
    return nullptr;
  }
  gpu& model = made->model_;
  model.id = about->id;
  model.name = about->name;
  model.memory_bytes = about->memory_bytes;
  model.driver_version = about->driver_version;
  model.attributes = {about->attributes.begin(), about->attributes.end()};
  model.limits = {about->limits.begin(), about->limits.end()};
  model.cluster_groups = about->cluster_groups;
  fill_from_attributes(model);
  made->first_ = about->first_address;
  made->bytes_ = about->address_bytes;
  if (made->bytes_ == 0) return made;
  // Reserve the device's addresses, so that host code that dereferences a device pointer faults.
  void* const wanted = reinterpret_cast<void*>(made->first_);
  void* const got = mmap(wanted, made->bytes_, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == wanted)
    made->reserved_ = got;
  else if (got != MAP_FAILED)
    munmap(got, made->bytes_);
  return made;
}

status remote_device::note(reply_head* head) {
  window_used_ = 0;
  if (head == nullptr) {
    if (lost_.ok()) lost_ = broken;
    return broken;
  }
  if (head->epoch != epoch_) seen_.clear();
  epoch_ = head->epoch;
  wanted_.insert(wanted_.end(), head->wanted_origins.begin(), head->wanted_origins.end());
  const status late{static_cast<error>(head->deferred), std::move(head->deferred_message)};
  status now{static_cast<error>(head->code), std::move(head->message)};
  for (const status& failed : {late, now})
    if (lost_.ok() && is_fault(failed.code)) lost_ = failed;
  if (!late.ok() && deferred_.ok()) deferred_ = late;
  return now;
}

void remote_device::queue(const message& command) {
  to_.queue(command);
  if (to_.queued_bytes() > longest_queue_bytes) (void)send_queue();
}

status remote_device::send_queue() {
  const auto sent = ask(flush{});
  return sent.ok() ? status{} : sent.failure();
}

std::optional<window_part> remote_device::room_in_window(std::size_t bytes) {
  const std::size_t most = to_.window().size();
  if (bytes > most - std::min(window_used_, most) && !send_queue().ok()) return std::nullopt;
  if (bytes > most) return std::nullopt;
  const window_part part{static_cast<std::uint32_t>(window_used_),
                         static_cast<std::uint32_t>(bytes)};
  window_used_ += bytes;
  return part;
}

result<device_address> remote_device::allocate(std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  if (!lost_.ok()) return lost_;
  const auto made = ask(allocate_memory{bytes});
  if (!made.ok()) return made.failure();
  own_[made->address] = bytes;
  return device_address{made->address};
}

status remote_device::free(device_address address) {
  const std::lock_guard guard(lock_);
  // Send this even if the device is lost, because memory that the program frees is not a leak.
  const bool is_own = own_.erase(address) != 0;
  if (is_own) queue(release_memory{address});
  if (!lost_.ok()) return lost_;
  if (is_own || address == 0) return {};
  const auto freed = ask(try_release{address});
  return freed.ok() ? status{} : freed.failure();
}

result<device_address> remote_device::allocate_shared(std::uint64_t) {
  return {error::not_supported,
          "managed, mapped and pinned memory are not available: in a graded call the device is in "
          "another process, which shares no memory with the program"};
}

std::array<std::uint64_t, 2> remote_device::memory_info() {
  const std::lock_guard guard(lock_);
  const auto info = ask(ask_memory{});
  if (!info.ok()) return {0, 0};
  return {info->free, info->total};
}

std::optional<module_symbol> remote_device::known_area(device_address address) {
  for (const auto* const areas : {&own_, &seen_}) {
    auto after = areas->upper_bound(address);
    if (after == areas->begin()) continue;
    --after;
    if (address - after->first < after->second)
      return module_symbol{after->first, after->second, false};
  }
  return std::nullopt;
}

std::optional<module_symbol> remote_device::find_allocation(device_address address) {
  const std::lock_guard guard(lock_);
  if (const auto known = known_area(address)) return known;
  if (bytes_ != 0 && !owns_address(address)) return std::nullopt;
  const auto found = ask(locate{address});
  if (!found.ok()) return std::nullopt;
  const auto symbol = symbol_of(*found);
  if (symbol && !symbol->shared) seen_[symbol->address] = symbol->bytes;
  return symbol;
}

status remote_device::check_area(device_address address, std::uint64_t bytes, const char* doing) {
  if (!lost_.ok()) return lost_;
  if (bytes == 0) return {};
  const auto area = find_allocation(address);
  if (area && bytes <= area->bytes - (address - area->address)) return {};
  if (!lost_.ok()) return lost_;
  std::string text = std::string(doing) + " " + std::to_string(bytes) + " bytes";
  if (!area) return {error::invalid_value, text + " that are not in any allocation"};
  return {error::invalid_value,
          text + (address == area->address ? " at the start of" : " inside of") +
              " an allocation of " + std::to_string(area->bytes) +
              " bytes: check that the size is in bytes and not the size of a pointer, and that "
              "the memory was not allocated for an earlier call"};
}

// The offset of these bytes in the call's arrays plus 1, or 0 if they are elsewhere.
std::uint64_t remote_device::array_of(const std::byte* first, std::size_t bytes) const {
  for (const host_array& array : arrays_) {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(first) - reinterpret_cast<std::uintptr_t>(array.first);
    if (offset <= array.bytes && bytes <= array.bytes - offset) return array.place + offset + 1;
  }
  return 0;
}

// Like array_of(), for bytes that the program has read from a file. Programs usually copy a file's
// parts in order, so the search begins after the last part.
std::uint64_t remote_device::place_in_input(const std::byte* first, std::size_t bytes) {
  const auto all = input_.content;
  if (bytes > all.size()) return 0;
  const bool is_next =
      bytes <= all.size() - input_.next && std::memcmp(all.data() + input_.next, first, bytes) == 0;
  const void* const found =
      is_next ? all.data() + input_.next : memmem(all.data(), all.size(), first, bytes);
  if (found == nullptr) return 0;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(found) - all.data());
  input_.next = offset + bytes;
  return input_.place + offset + 1;
}

// The place after the bytes that were last copied to the host, plus 1; 0 if the result is complete.
std::uint64_t remote_device::place_in_result(std::size_t bytes) {
  if (bytes > result_.content.size() - result_.next) return 0;
  const std::uint64_t place = result_.place + result_.next + 1;
  result_.next += bytes;
  return place;
}

status remote_device::write(device_address to, std::span<const std::byte> from) {
  const std::lock_guard guard(lock_);
  if (const status s = check_area(to, from.size(), "writing"); !s.ok()) return s;
  if (goes_in_chunks(from.size())) return write_in_chunks(to, from);
  while (!from.empty()) {
    const std::size_t bytes = std::min(from.size(), to_.window().size());
    const auto part = room_in_window(bytes);
    if (!part) return lost_.ok() ? broken : lost_;
    std::uint64_t array = array_of(from.data(), bytes);
    if (array == 0) array = place_in_input(from.data(), bytes);
    if (array == 0) std::memcpy(to_.window().data() + part->at, from.data(), bytes);
    queue(write_bytes{to, *part, array, pageable_});
    from = from.subspan(bytes);
    to += bytes;
  }
  return {};
}

status remote_device::read(std::span<std::byte> to, device_address from) {
  const std::lock_guard guard(lock_);
  if (const status s = check_area(from, to.size(), "reading"); !s.ok()) return s;
  if (goes_in_chunks(to.size())) {
    return read_pieces(from, to.size(), [&](std::size_t at, std::span<const std::byte> piece) {
      copy_bytes_(to.data() + at, piece.data(), piece.size());
      return true;
    });
  }
  while (!to.empty()) {
    const std::size_t bytes = std::min(to.size(), to_.window().size());
    const auto part = room_in_window(bytes);
    if (!part) return lost_.ok() ? broken : lost_;
    std::uint64_t array = array_of(to.data(), bytes);
    if (array == 0) array = place_in_result(bytes);
    const auto done = ask(read_bytes{from, *part, array, pageable_});
    if (!lost_.ok()) return lost_;
    if (!done.ok()) return done.failure();
    std::memcpy(to.data(), to_.window().data() + part->at, bytes);
    to = to.subspan(bytes);
    from += bytes;
  }
  return {};
}

status remote_device::copy(device_address to, device_address from, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  status s = check_area(from, bytes, "copying from");
  if (s.ok()) s = check_area(to, bytes, "copying to");
  if (s.ok() && bytes != 0) queue(copy_bytes{to, from, bytes});
  return s;
}

status remote_device::fill(device_address to, std::uint32_t value, unsigned element_bytes,
                           std::uint64_t count) {
  const std::lock_guard guard(lock_);
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
    return {error::invalid_value, "cannot fill elements of " + std::to_string(element_bytes) +
                                      " bytes: use 1, 2 or 4 bytes"};
  if (count > UINT64_MAX / element_bytes)
    return {error::invalid_value, "filling more bytes than the address space has"};
  const status s = check_area(to, count * element_bytes, "filling");
  if (s.ok() && count != 0) queue(fill_bytes{to, count, value, element_bytes});
  return s;
}

result<module_handle> remote_device::load_linked(
    std::span<const std::span<const std::byte>> parts) {
  const std::lock_guard guard(lock_);
  if (!lost_.ok()) return lost_;
  std::size_t total = 0;
  for (const auto& part : parts) total += part.size();
  if (total > most_image_bytes || parts.size() > most_parts)
    return {error::not_supported, "a module of more than " +
                                      std::to_string(most_image_bytes >> 20) +
                                      " MiB on a device in another process"};
  load request;
  for (const auto& part : parts) {
    request.part_bytes.push_back(static_cast<std::uint32_t>(part.size()));
    for (std::span<const std::byte> left = part; !left.empty();) {
      const std::size_t bytes = std::min(left.size(), to_.window().size());
      const auto room = room_in_window(bytes);
      if (!room) return broken;
      std::memcpy(to_.window().data() + room->at, left.data(), bytes);
      queue(image_piece{*room});
      left = left.subspan(bytes);
    }
  }
  const auto loaded = ask(request);
  if (!loaded.ok()) return loaded.failure();
  return module_handle{loaded->module};
}

status remote_device::unload_module(module_handle module) {
  const std::lock_guard guard(lock_);
  const auto gone = ask(unload{static_cast<std::uint64_t>(module)});
  seen_.clear();  // may contain its variables
  std::erase_if(kernels_, [&](const auto& k) { return k.second.module == module; });
  return gone.ok() ? status{} : gone.failure();
}

result<kernel_handle> remote_device::find_kernel(module_handle module, std::string_view name) {
  const std::lock_guard guard(lock_);
  const auto found =
      ask(remote::find_kernel{static_cast<std::uint64_t>(module), std::string(name)});
  if (!found.ok()) return found.failure();
  known_kernel& kernel = kernels_[found->kernel];
  kernel = {module, {}};
  kernel_attributes& a = kernel.attributes;
  a.name = found->name;
  a.registers = found->registers;
  a.static_shared_bytes = found->static_shared_bytes;
  a.local_bytes = found->local_bytes;
  a.constant_bytes = found->constant_bytes;
  a.max_threads_per_block = found->max_threads_per_block;
  a.ptx_version = found->ptx_version;
  a.binary_version = found->binary_version;
  a.max_dynamic_shared_bytes = found->max_dynamic_shared_bytes;
  a.required_cluster = found->required_cluster;
  for (const parameter_place& p : found->parameters) a.parameters.push_back({p.offset, p.bytes});
  return kernel_handle{found->kernel};
}

result<module_symbol> remote_device::find_symbol(module_handle module, std::string_view name) {
  const std::lock_guard guard(lock_);
  const auto found = ask(find_variable{static_cast<std::uint64_t>(module), std::string(name)});
  if (!found.ok()) return found.failure();
  if (found->shared)
    return {error::not_supported, std::string(name) +
                                      ": managed variables need memory shared with the host, but "
                                      "in a graded call the device is in another process"};
  seen_[found->address] = found->bytes;
  return module_symbol{found->address, found->bytes, found->shared};
}

result<kernel_attributes> remote_device::attributes(kernel_handle kernel) {
  const std::lock_guard guard(lock_);
  const auto known = kernels_.find(static_cast<std::uint64_t>(kernel));
  if (known == kernels_.end()) return {error::invalid_resource_handle, "there is no such kernel"};
  return known->second.attributes;
}

status remote_device::set_max_dynamic_shared_bytes(kernel_handle kernel, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  const auto allowed = ask(allow_shared{static_cast<std::uint64_t>(kernel), bytes});
  if (!allowed.ok()) return allowed.failure();
  if (const auto known = kernels_.find(static_cast<std::uint64_t>(kernel)); known != kernels_.end())
    known->second.attributes.max_dynamic_shared_bytes = bytes;
  return {};
}

status remote_device::launch(kernel_handle kernel, const launch_config& config,
                             std::span<const std::byte> parameters) {
  const std::lock_guard guard(lock_);
  if (!lost_.ok()) return lost_;
  const auto known = kernels_.find(static_cast<std::uint64_t>(kernel));
  if (known == kernels_.end()) return {error::invalid_resource_handle, "there is no such kernel"};
  const kernel_attributes& a = known->second.attributes;
  if (const status s = check_launch(model_, a, config); !s.ok()) return s;
  for (const kernel_parameter& p : a.parameters) {
    if (p.offset > parameters.size() || p.bytes > parameters.size() - p.offset)
      return {error::invalid_value, a.name + ": " + std::to_string(parameters.size()) +
                                        " bytes of parameters are too few"};
  }
  if (parameters.size() > most_parameter_bytes)
    return {error::invalid_value, a.name + ": " + std::to_string(parameters.size()) +
                                      " bytes of parameters are too many"};
  start_kernel start;
  start.kernel = static_cast<std::uint64_t>(kernel);
  start.grid = config.grid;
  start.block = config.block;
  start.cluster = config.cluster;
  start.dynamic_shared_bytes = config.dynamic_shared_bytes;
  if (config.cooperative) start.how |= start_kernel::cooperative;
  if (config.may_begin_early) start.how |= start_kernel::may_begin_early;
  if (config.allows_large_cluster) start.how |= start_kernel::allows_large_cluster;
  start.parameters.assign(parameters.begin(), parameters.end());
  queue(start);
  return {};
}

result<opaque_tensor_map> remote_device::encode_tensor_map(const tensor_map_request& request) {
  const std::lock_guard guard(lock_);
  const auto made = ask(remote::encode_tensor_map{request});
  if (!made.ok()) return made.failure();
  return made->map;
}

result<opaque_tensor_map> remote_device::with_address(const opaque_tensor_map& map,
                                                      device_address address) {
  const std::lock_guard guard(lock_);
  const auto made = ask(move_tensor_map{map, address});
  if (!made.ok()) return made.failure();
  return made->map;
}

void remote_device::set_time(std::uint64_t ns) {
  const std::lock_guard guard(lock_);
  queue(give_time{ns});
}

status remote_device::synchronize() {
  const std::lock_guard guard(lock_);
  const auto done = ask(wait_for_all{});
  if (!lost_.ok()) return lost_;
  if (!done.ok()) return done.failure();
  return std::exchange(deferred_, {});
}

result<event_handle> remote_device::create_event() {
  const std::lock_guard guard(lock_);
  if (!lost_.ok()) return lost_;
  if (events_.size() >= most_events)
    return status{error::memory_allocation, "there are too many events"};
  events_.insert(++last_event_);
  queue(make_event{last_event_});
  return event_handle{last_event_};
}

status remote_device::destroy_event(event_handle event) {
  const std::lock_guard guard(lock_);
  if (events_.erase(static_cast<std::uint64_t>(event)) == 0)
    return {error::invalid_resource_handle, "there is no such event"};
  queue(drop_event{static_cast<std::uint64_t>(event)});
  return {};
}

status remote_device::record(event_handle event) {
  const std::lock_guard guard(lock_);
  if (!events_.contains(static_cast<std::uint64_t>(event)))
    return {error::invalid_resource_handle, "there is no such event"};
  queue(record_event{static_cast<std::uint64_t>(event)});
  return {};
}

result<float> remote_device::elapsed_ms(event_handle start, event_handle stop) {
  const std::lock_guard guard(lock_);
  const auto found =
      ask(ask_elapsed{static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(stop)});
  if (!found.ok()) return found.failure();
  return found->ms;
}

status remote_device::set_limit(device_limit which, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  const auto given = ask(give_limit{static_cast<std::uint32_t>(which), bytes});
  return given.ok() ? status{} : given.failure();
}

std::uint64_t remote_device::limit(device_limit which) {
  const std::lock_guard guard(lock_);
  const auto found = ask(ask_limit{static_cast<std::uint32_t>(which)});
  return found.ok() ? found->bytes : 0;
}

std::optional<execution_counters> remote_device::counters() {
  const std::lock_guard guard(lock_);
  const auto found = ask(ask_counts{});
  if (!found.ok() || !found->counted) return std::nullopt;
  return counters_of(found->counts);
}

void remote_device::reset_counters() {
  const std::lock_guard guard(lock_);
  queue(reset_counts{});
}

void remote_device::set_origin(std::uint64_t number) {
  const std::lock_guard guard(lock_);
  if (number == std::exchange(origin_, number)) return;
  queue(enter_origin{number});
}

void remote_device::set_stream(const stream_use& use) {
  const std::lock_guard guard(lock_);
  queue(enter_stream{use.stream, use.non_blocking});
}

void remote_device::host_waited(std::uint64_t stream) {
  const std::lock_guard guard(lock_);
  queue(host_waits{stream});
}

void remote_device::host_waited_for_event(std::uint64_t event) {
  const std::lock_guard guard(lock_);
  queue(host_waits_for_event{event});
}

void remote_device::mark_event(std::uint64_t event, std::uint64_t stream) {
  const std::lock_guard guard(lock_);
  queue(remote::mark_event{event, stream});
}

void remote_device::wait_event(std::uint64_t event, std::uint64_t stream) {
  const std::lock_guard guard(lock_);
  queue(wait_for_event{event, stream});
}

void remote_device::name_allocation(device_address address, std::string_view name) {
  const std::lock_guard guard(lock_);
  queue(name_memory{address, std::string(name)});
}

void remote_device::forget_contents(device_address first, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  queue(forget_memory{first, bytes});
}

}  // namespace stepwise::remote

// Launches, copies and fills that kernels request, with the errors of the runtime in kernels.
#include "common/emulator/run/grid_launches.hpp"

#include <algorithm>

#include "common/device/error_table.hpp"
#include "common/device/launch_check.hpp"
#include "common/emulator/run/lane_call.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t buffer_bytes = 16 << 20, buffer_grain = 256;

std::uint64_t room_of(std::uint64_t bytes) {
  return std::max<std::uint64_t>(1, (bytes + buffer_grain - 1) / buffer_grain) * buffer_grain;
}

// Streams that every grid has (driver_types.h, cuda_device_runtime_api.h): the default stream by
// its three names, and the streams of tail and fire-and-forget launches.
constexpr std::uint64_t last_default_stream = 2, tail_stream = 3, forget_stream = 4;
// Handles that a grid makes. Host handles are host addresses, which never have these values.
constexpr std::uint64_t handle_window = 0x0000'0105'0000'0000;

constexpr std::uint64_t non_blocking = 1, disable_timing = 2;

}  // namespace

status device_runtime::make(const made_memory& made) {
  if (is_made_) return {};
  std::string texts;
  std::map<int, std::pair<std::size_t, std::size_t>> places;
  const auto add = [&](const error_entry& e) {
    const std::size_t name = texts.size();
    texts += e.name + std::string(1, '\0');
    places[e.code] = {name, texts.size()};
    texts += e.text + std::string(1, '\0');
  };
  for (const error_entry& e : error_table) add(e);
  constexpr int none = -1;  // stands for every other code
  add({none, unrecognized_error, nullptr, unrecognized_error});
  const auto words = memory.allocate(texts.size());
  if (!words.ok()) return words.failure();
  const auto room = memory.allocate(buffer_bytes);
  if (!room.ok()) {
    memory.free(*words);
    return room.failure();
  }
  std::memcpy(memory.host(*words), texts.data(), texts.size());
  for (const auto& [code, place] : places)
    texts_[code] = {*words + place.first, *words + place.second};
  unknown_ = texts_.at(none);
  buffers_.give_back(*room, buffer_bytes);
  made(*words, texts.size(), "the names of errors");
  is_made_ = true;
  return {};
}

std::uint64_t device_runtime::take_buffer(std::uint64_t bytes) {
  return buffers_.take(room_of(bytes), buffer_grain).value_or(0);
}

void device_runtime::give_back_buffer(std::uint64_t at, std::uint64_t bytes) {
  buffers_.give_back(at, room_of(bytes));
}

std::uint64_t device_runtime::text_of(int code, bool name) const {
  const auto found = texts_.find(code);
  const texts& t = found == texts_.end() ? unknown_ : found->second;
  return name ? t.name : t.text;
}

// Frees the buffers that a kernel requested and never launched.
grid_launches::~grid_launches() {
  for (const auto& [at, b] : buffers_) runtime_.give_back_buffer(at, b.bytes);
  give_back_spent();
}

void grid_launches::give_back_spent() {
  for (const auto& [at, bytes] : spent_) runtime_.give_back_buffer(at, bytes);
  spent_.clear();
}

loaded_kernel* grid_launches::kernel_at(std::uint64_t address) {
  const linked_function* f = module_.unit.kernel_at(address);
  return f == nullptr ? nullptr : &kernel_of(module_, *f, runtime_.model);
}

bool grid_launches::is_stream(std::uint64_t stream) const {
  return stream <= forget_stream || streams_.contains(stream);
}

// Keeps work for a stream. All work runs in the order of the calls.
error grid_launches::add(child_work work, std::uint64_t stream) {
  if (!is_stream(stream)) return error::invalid_resource_handle;
  work.depth = depth_ + (stream == tail_stream ? 0 : 1);
  const bool tail = stream == tail_stream;
  if (work.depth > most_depth ||
      (tail ? tails_ : children_).size() >= (tail ? most_tails : most_pending))
    return error::launch_pending_count_exceeded;
  (tail ? tails_ : children_).push_back(std::move(work));
  return error::success;
}

// Whether this launch is possible. A kernel that the emulator cannot run stops the caller.
error grid_launches::check(lane_call& c, std::uint64_t function, const launch_config& config,
                           loaded_kernel*& kernel) {
  kernel = kernel_at(function);
  if (kernel == nullptr) return error::invalid_device_function;
  if (status s = runtime_.prepare(*kernel); !s.ok()) {
    c.failure = std::move(s);
    return error::success;
  }
  const status s = check_launch(runtime_.model, kernel->attributes, config);
  if (s.code == error::invalid_value) return error::invalid_configuration;
  return s.code;
}

error grid_launches::get_buffer(lane_call& c, bool for_kernel, std::uint64_t& at) {
  buffer b;
  if (for_kernel) {
    b.config = {c.dimensions(1), c.dimensions(2), c.value(3, 4)};
    if (const error e = check(c, c.value(0), b.config, b.kernel); e != error::success) return e;
    if (!c.failure.ok()) return error::success;
    b.bytes = b.kernel->code->parameter_bytes;
  } else {
    b.bytes = c.value(1);
    if (b.bytes > buffer_bytes) return error::invalid_value;
  }
  at = runtime_.take_buffer(b.bytes);
  if (at == 0) {
    give_back_spent();
    at = runtime_.take_buffer(b.bytes);
  }
  if (at == 0) return error::memory_allocation;
  if (c.x.watch != nullptr)
    c.x.watch->heap_gave(c.event(), c.lane, at, std::max<std::uint64_t>(b.bytes, 1));
  buffers_[at] = b;
  return error::success;
}

error grid_launches::launch(lane_call& c, bool from_buffer) {
  const std::uint64_t at = c.value(from_buffer ? 0 : 1), stream = c.value(from_buffer ? 1 : 5);
  const auto found = buffers_.find(at);
  if (found == buffers_.end() && (from_buffer || at != 0)) return error::invalid_value;
  buffer b = found == buffers_.end() ? buffer{} : found->second;
  error e = error::success;
  if (!from_buffer) {
    b.config = {c.dimensions(2), c.dimensions(3), c.value(4, 4)};
    e = check(c, c.value(0), b.config, b.kernel);
    if (!c.failure.ok()) return error::success;
    if (e == error::success && b.bytes < b.kernel->code->parameter_bytes) e = error::invalid_value;
  } else if (b.kernel == nullptr) {
    return error::invalid_device_function;
  }
  if (e == error::success) {
    child_work work;
    work.kernel = b.kernel;
    work.config = b.config;
    if (at != 0) {
      const std::byte* first = runtime_.memory.host(at);
      work.parameters.assign(first, first + b.bytes);
    }
    e = add(std::move(work), stream);
  }
  if (found != buffers_.end()) {
    buffers_.erase(found);
    // If the buffer were reused, another thread's write would seem to race with this thread.
    if (c.x.watch != nullptr)
      spent_.emplace_back(at, b.bytes);
    else
      runtime_.give_back_buffer(at, b.bytes);
    if (c.x.watch != nullptr) c.x.watch->heap_got(c.event(), c.lane, at, true);
  }
  return e;
}

// Memory of a block or a thread cannot be copied to or from (guide, "Memory Consistency").
error grid_launches::add_copy(lane_call& c, child_work work, std::uint64_t stream) {
  if (!is_stream(stream)) return error::invalid_resource_handle;
  if (work.width == 0 || work.height == 0 || work.planes == 0) return error::success;
  const bool is_copy = work.kind == child_work::what::copy;
  for (const std::uint64_t at : {work.to.at, is_copy ? work.from.at : work.to.at})
    if ((at - shared_window) / window_bytes < 3) return error::invalid_value;
  // Rows and planes that do not overlap also bound the time that the work takes.
  for (const child_area& a : {work.to, is_copy ? work.from : work.to}) {
    if (work.height == 1 && work.planes == 1) continue;
    if (a.pitch < work.width) return error::invalid_pitch_value;
    if (work.planes > 1 && a.plane / a.pitch < work.height) return error::invalid_value;
  }
  work.where = c.where();
  return add(std::move(work), stream);
}

// Copies and fills.
error grid_launches::request(lane_call& c, runtime_function which) {
  child_work w;
  w.kind = child_work::what::copy;
  switch (which) {
    case runtime_function::copy:
      w.to = {c.value(0)};
      w.from = {c.value(1)};
      w.width = c.value(2);
      return add_copy(c, std::move(w), c.value(4));
    case runtime_function::copy_2d:
      w.to = {c.value(0), c.value(1), 0};
      w.from = {c.value(2), c.value(3), 0};
      w.width = c.value(4);
      w.height = c.value(5);
      return add_copy(c, std::move(w), c.value(7));
    case runtime_function::copy_3d: {
      // cudaMemcpy3DParms as 64-bit words: array, position (3), pitched pointer (4) of the source
      // and of the destination, extent (3), kind.
      std::uint64_t p[20];
      if (!c.read(c.value(0), p, sizeof p)) return error::invalid_value;
      if (p[0] != 0 || p[8] != 0) return error::invalid_value;
      const auto area = [&](std::size_t n) {
        const std::uint64_t pitch = p[n + 4], plane = pitch * p[n + 7];
        return child_area{p[n + 3] + p[n] + p[n + 1] * pitch + p[n + 2] * plane, pitch, plane};
      };
      w.from = area(1);
      w.to = area(9);
      w.width = p[16];
      w.height = p[17];
      w.planes = p[18];
      return add_copy(c, std::move(w), c.value(1));
    }
    default:
      break;
  }
  w.kind = child_work::what::fill;
  w.value = static_cast<std::uint8_t>(c.value(which == runtime_function::fill_2d ? 2 : 1, 4));
  if (which == runtime_function::fill) {
    w.to = {c.value(0)};
    w.width = c.value(2);
    return add_copy(c, std::move(w), c.value(3));
  }
  if (which == runtime_function::fill_2d) {
    w.to = {c.value(0), c.value(1), 0};
    w.width = c.value(3);
    w.height = c.value(4);
    return add_copy(c, std::move(w), c.value(5));
  }
  const std::uint64_t pitch = c.word(0, 1);
  w.to = {c.word(0, 0), pitch, pitch * c.word(0, 3)};
  w.width = c.word(2, 0);
  w.height = c.word(2, 1);
  w.planes = c.word(2, 2);
  return add_copy(c, std::move(w), c.value(3));
}

// Streams and events. Work runs in the order of the calls, so an event that was recorded before a
// stream waits for it also occurs before.
error grid_launches::use_stream(lane_call& c, runtime_function which) {
  const auto make = [&](std::set<std::uint64_t>& handles, std::uint64_t flags) {
    const bool is_plain = which == runtime_function::create_stream && c.value(1, 4) == 0;
    if (c.value(1, 4) != flags && !is_plain) return error::invalid_value;
    const std::uint64_t handle = handle_window + 16 * ++last_handle_;
    if (!c.write(c.value(0), &handle, sizeof handle)) return error::invalid_value;
    handles.insert(handle);
    return error::success;
  };
  const auto remove = [&](std::set<std::uint64_t>& handles) {
    return handles.erase(c.value(0)) == 1 ? error::success : error::invalid_resource_handle;
  };
  const auto meet = [&](std::uint64_t stream, std::uint64_t event) {
    if (!events_.contains(event) || !is_stream(stream)) return error::invalid_resource_handle;
    return stream > last_default_stream && stream <= forget_stream ? error::invalid_value
                                                                   : error::success;
  };
  switch (which) {
    case runtime_function::create_stream:
      return make(streams_, non_blocking);
    case runtime_function::create_event:
      return make(events_, disable_timing);
    case runtime_function::destroy_stream:
      return remove(streams_);
    case runtime_function::destroy_event:
      return remove(events_);
    case runtime_function::wait_event:
      return meet(c.value(0), c.value(1));
    default:
      return meet(c.value(1), c.value(0));
  }
}

const op* grid_launches::call(const library_call& site, scheduler& owner, context& x, const op* i) {
  for (std::uint32_t m = x.active; m != 0; m &= m - 1) {
    lane_call c{site, owner, x, i, first_lane(m), {}};
    std::uint64_t result;
    {
      const std::lock_guard lock(runtime_.mutex);
      result = answer(c);
    }
    if (!c.failure.ok()) return owner.stop(i, c.failure.code, c.failure.message, c.lane);
    std::memcpy(owner.frame_bytes(x, c.lane) + site.result, &result, c.result_bytes());
  }
  return i + 1;
}

// The result of a call by one lane. A failure is kept as the thread's last error.
std::uint64_t grid_launches::answer(lane_call& c) {
  using f = runtime_function;
  const auto [block, thread] = c.owner.place_of(c.lane);
  const auto number = [](const extent& at, const extent& size) {
    return at.x + std::uint64_t{size.x} * (at.y + std::uint64_t{size.y} * at.z);
  };
  const std::pair key{number(block, config_.grid), number(thread, config_.block)};
  std::uint64_t value = 0;
  error e = error::success;
  switch (const f which = c.site.of_runtime; which) {
    case f::get_last_error:
    case f::peek_at_last_error: {
      const auto found = last_errors_.find(key);
      if (found == last_errors_.end()) return 0;
      const error last = found->second;
      if (which == f::get_last_error) last_errors_.erase(found);
      return static_cast<std::uint64_t>(last);
    }
    case f::get_error_string:
    case f::get_error_name:
      return runtime_.text_of(static_cast<int>(c.value(0, 4)), which == f::get_error_name);
    case f::get_buffer:
    case f::get_buffer_for:
      e = get_buffer(c, which == f::get_buffer_for, value);
      break;
    case f::launch:
    case f::launch_buffer:
      value = static_cast<std::uint64_t>(e = launch(c, which == f::launch_buffer));
      break;
    case f::copy:
    case f::copy_2d:
    case f::copy_3d:
    case f::fill:
    case f::fill_2d:
    case f::fill_3d:
      value = static_cast<std::uint64_t>(e = request(c, which));
      break;
    case f::create_stream:
    case f::destroy_stream:
    case f::wait_event:
    case f::create_event:
    case f::record_event:
    case f::destroy_event:
      value = static_cast<std::uint64_t>(e = use_stream(c, which));
      break;
    default:
      value = static_cast<std::uint64_t>(e = query(c, which));
      break;
  }
  if (e != error::success) last_errors_[key] = e;
  return value;
}

}  // namespace stepwise::emulator

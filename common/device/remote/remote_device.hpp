// A device in another process, reached through a channel.
//
// idea    Commands are collected and sent with the next request, or earlier if the queue is long or
//         the window is full. Errors that a device returns at once (a bad launch, an unknown area)
//         are detected here, from attributes and allocations that the server has sent.
// watch   The next synchronize() returns all other errors, as on hardware. This includes a kernel
//         that the emulator cannot execute. If the connection breaks, the device is lost. No memory
//         is shared with the host (allocate_shared is not_supported).
// tests   common/device/tests/conformance.cpp, tests/remote_device_test.cpp
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/device/device.hpp"
#include "common/device/remote/connection.hpp"
#include "common/device/remote/message.hpp"

namespace stepwise::remote {

// Returns the place of an origin in the host's code.
using place_finder = std::function<give_place(std::uint64_t origin)>;

class remote_device : public device,
                      public time_model,
                      public execution_counting,
                      public device_checks,
                      public own_addresses,
                      public other_process {
 public:
  // Requests the device's description from the server. Returns null, with the reason in `why`, on
  // failure.
  static std::unique_ptr<remote_device> connect(connection to, std::string& why);
  ~remote_device() override;

  void set_place_finder(place_finder finder) { place_of_ = std::move(finder); }

  const gpu& description() const override { return model_; }
  std::array<std::uint64_t, 2> address_range() const override { return {first_, bytes_}; }
  bool owns_address(device_address address) const override { return address - first_ < bytes_; }

  result<device_address> allocate(std::uint64_t bytes) override;
  status free(device_address address) override;
  result<device_address> allocate_shared(std::uint64_t bytes) override;
  std::array<std::uint64_t, 2> memory_info() override;
  std::optional<module_symbol> find_allocation(device_address address) override;
  status write(device_address to, std::span<const std::byte> from) override;
  status read(std::span<std::byte> to, device_address from) override;
  status copy(device_address to, device_address from, std::uint64_t bytes) override;
  status fill(device_address to, std::uint32_t value, unsigned element_bytes,
              std::uint64_t count) override;
  result<module_handle> load_linked(std::span<const std::span<const std::byte>> parts) override;
  status unload_module(module_handle module) override;
  result<kernel_handle> find_kernel(module_handle module, std::string_view name) override;
  result<module_symbol> find_symbol(module_handle module, std::string_view name) override;
  result<kernel_attributes> attributes(kernel_handle kernel) override;
  status set_max_dynamic_shared_bytes(kernel_handle kernel, std::uint64_t bytes) override;
  status launch(kernel_handle kernel, const launch_config& config,
                std::span<const std::byte> parameters) override;
  result<opaque_tensor_map> encode_tensor_map(const tensor_map_request& request) override;
  result<opaque_tensor_map> with_address(const opaque_tensor_map& map,
                                         device_address address) override;
  std::optional<modelled_launch> last_launch() const override { return std::nullopt; }
  void set_time(std::uint64_t ns) override;
  status synchronize() override;
  result<event_handle> create_event() override;
  status destroy_event(event_handle event) override;
  status record(event_handle event) override;
  result<float> elapsed_ms(event_handle start, event_handle stop) override;
  status set_limit(device_limit which, std::uint64_t bytes) override;
  std::uint64_t limit(device_limit which) override;
  std::optional<execution_counters> counters() override;
  void reset_counters() override;
  void set_origin(std::uint64_t number) override;
  void set_stream(const stream_use& use) override;
  void host_waited(std::uint64_t stream) override;
  void host_waited_for_event(std::uint64_t event) override;
  void mark_event(std::uint64_t event, std::uint64_t stream) override;
  void wait_event(std::uint64_t event, std::uint64_t stream) override;
  void name_allocation(device_address address, std::string_view name) override;
  void forget_contents(device_address first, std::uint64_t bytes) override;
  // Returns none, because findings go to the judge, but sends wanted source lines to the server.
  std::vector<finding> take_findings(bool at_exit) override;
  bool give_finding(const std::string& line) override;
  void note_host_array(const std::byte* first, std::uint64_t bytes, std::uint64_t place) override;
  void note_file(std::span<const std::byte> content, std::uint64_t place, bool is_result) override;
  void set_pageable(bool pageable) override { pageable_ = pageable; }
  std::optional<finding> host_access(device_address address, bool writes) override;

  // For the judge only, not for a submission's connection.
  // Large areas alternate between the halves of the window: the server copies one half while the
  // other is filled or read. `copy` may use several threads; the default is std::memcpy.
  using copier = std::function<void(std::byte* to, const std::byte* from, std::size_t bytes)>;
  void set_copier(copier copy) { copy_bytes_ = std::move(copy); }
  // Reads an area in pieces, and passes each piece and its offset to `take`. Stops if `take`
  // returns false.
  using taker = std::function<bool(std::size_t at, std::span<const std::byte> piece)>;
  status read_pieces(device_address from, std::size_t bytes, const taker& take);
  status begin(const begin_call& how);
  status end_program();
  result<end_call::answer> end();
  result<std::vector<std::string>> take(report_kind which);
  bool is_whole() const { return to_.is_whole(); }

 private:
  explicit remote_device(connection to);

  template <class Request>
  result<typename Request::answer> ask(const Request& request) {
    auto reply = to_.ask(request);
    status how = note(reply ? &reply->head : nullptr);
    if (!how.ok()) return how;
    return std::move(reply->with);
  }
  // Handles the head of a reply, and returns the request's status. Null means that there is no
  // reply.
  status note(reply_head* head);
  void queue(const message& command);
  std::optional<window_part> room_in_window(std::size_t bytes);
  status send_queue();
  template <class Request>
  status collect();
  status write_in_chunks(device_address to, std::span<const std::byte> from);
  bool goes_in_chunks(std::size_t bytes) const;
  std::optional<module_symbol> known_area(device_address address);
  std::uint64_t array_of(const std::byte* first, std::size_t bytes) const;
  std::uint64_t place_in_input(const std::byte* first, std::size_t bytes);
  std::uint64_t place_in_result(std::size_t bytes);
  status check_area(device_address address, std::uint64_t bytes, const char* doing);
  void send_wanted_places();

  mutable std::recursive_mutex lock_;
  connection to_;
  gpu model_;
  std::uint64_t first_ = 0, bytes_ = 0;
  void* reserved_ = nullptr;  // reserves the addresses here, so host memory cannot have them
  status lost_;
  status deferred_;                               // the error for the next synchronize()
  std::map<device_address, std::uint64_t> own_;   // sizes of own allocations
  std::map<device_address, std::uint64_t> seen_;  // sizes of others', valid in epoch_
  std::uint32_t epoch_ = 0;
  struct known_kernel {
    module_handle module;
    kernel_attributes attributes;
  };
  std::map<std::uint64_t, known_kernel> kernels_;
  std::set<std::uint64_t> events_;
  std::uint64_t last_event_ = 0;
  std::size_t window_used_ = 0;
  copier copy_bytes_;
  struct host_array {
    const std::byte* first;
    std::uint64_t bytes, place;
  };
  std::vector<host_array> arrays_;  // of the current call
  struct call_file {
    std::span<const std::byte> content;
    std::uint64_t place = 0;
    std::size_t next = 0;  // offset after the last copy
  };
  call_file input_, result_;  // of the current call; empty if it has no files
  bool pageable_ = true;
  std::vector<std::uint64_t> wanted_;
  place_finder place_of_;
  std::uint64_t origin_ = 0;
};

}  // namespace stepwise::remote

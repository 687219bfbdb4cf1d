// The server's side of a connection, which executes a client's batches on a device.
//
// idea    Two clients may share a device: the judge, which fills the buffers of a call, and the
//         submission, whose function gets their addresses. Their common state is in shared_device.
// watch   A client may send anything. A malformed batch ends its connection. A valid batch can do
//         no more than a program can do to its own device, except that the batch can use the
//         judge's memory (but not free or rename it).
// tests   tests/service_test.cpp; fuzzed by common/emulator/fuzz/remote_messages.cpp
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/device/device.hpp"
#include "common/device/remote/call_account.hpp"
#include "common/device/remote/finding_list.hpp"
#include "common/device/remote/message.hpp"

namespace stepwise::remote {

struct shared_device {
  explicit shared_device(device& d) : on(d), call(d) {}
  device& on;
  call_account call;
  finding_list findings;
  std::set<device_address> judges;  // the judge's allocations
  std::uint32_t epoch = 0;
  bool has_judge = false;
  std::span<std::byte> arrays;  // the call's arrays, if its contract has them in host memory
  bool is_ending = false;       // the submission has made its last call
  std::string broken;           // why the submission's connection was closed
  // The only fat binary that the submission may load; empty if it may load any.
  std::vector<std::byte> kernels;
};

class service {
 public:
  enum class client { program, judge };

  // `shared` and `window` must outlive this. The window may change at any time.
  service(shared_device& shared, std::span<std::byte> window, client whose)
      : shared_(shared), on_(shared.on), window_(window), is_judge_(whose == client::judge) {}

  // Executes a batch and returns the reply. Returns nothing and sets why() for a malformed batch.
  std::optional<std::vector<std::byte>> answer(std::span<const std::byte> batch);
  const std::string& why() const { return why_; }

 private:
  template <class Request>
  struct answered {
    status how;
    typename Request::answer with = {};
  };

  void run(const message& command);
  std::optional<std::vector<std::byte>> reply_to(const message& request, bool refused);
  bool within(const window_part& part) const;
  bool is_array(std::uint64_t array, std::uint64_t bytes) const;
  std::span<std::byte> part_of_window(const window_part& part) const;
  void note(const status& how);
  bool is_counted() const { return !is_judge_ && shared_.call.is_open(); }

  status execute(const write_bytes& m);
  status execute(const fill_bytes& m);
  status execute(const copy_bytes& m);
  status execute(const start_kernel& m);
  status execute(const release_memory& m);
  status execute(const make_event& m);
  status execute(const drop_event& m);
  status execute(const record_event& m);
  status execute(const enter_origin& m);
  status execute(const enter_stream& m);
  status execute(const host_waits& m);
  status execute(const host_waits_for_event& m);
  status execute(const mark_event& m);
  status execute(const wait_for_event& m);
  status execute(const name_memory& m);
  status execute(const forget_memory& m);
  status execute(const give_time& m);
  status execute(const reset_counts& m);
  status execute(const image_piece& m);
  status execute(const give_place& m);
  status execute(const give_finding& m);

  answered<describe> execute(const describe& m);
  answered<allocate_memory> execute(const allocate_memory& m);
  answered<try_release> execute(const try_release& m);
  answered<ask_memory> execute(const ask_memory& m);
  answered<locate> execute(const locate& m);
  answered<read_bytes> execute(const read_bytes& m);
  answered<load> execute(const load& m);
  answered<unload> execute(const unload& m);
  answered<find_kernel> execute(const find_kernel& m);
  answered<find_variable> execute(const find_variable& m);
  answered<allow_shared> execute(const allow_shared& m);
  answered<wait_for_all> execute(const wait_for_all& m);
  answered<ask_elapsed> execute(const ask_elapsed& m);
  answered<give_limit> execute(const give_limit& m);
  answered<ask_limit> execute(const ask_limit& m);
  answered<ask_counts> execute(const ask_counts& m);
  answered<flush> execute(const flush& m);
  answered<end_in_order> execute(const end_in_order& m);
  answered<ask_host_access> execute(const ask_host_access& m);
  answered<encode_tensor_map> execute(const encode_tensor_map& m);
  answered<move_tensor_map> execute(const move_tensor_map& m);
  answered<begin_call> execute(const begin_call& m);
  answered<end_call> execute(const end_call& m);
  answered<take_report> execute(const take_report& m);
  answered<end_program> execute(const end_program& m);

  shared_device& shared_;
  device& on_;
  std::span<std::byte> window_;
  bool is_judge_;
  std::map<std::uint64_t, event_handle> events_;  // by the client's numbers
  std::vector<std::byte> image_;                  // pieces so far
  status deferred_;
  std::string why_;
};

}  // namespace stepwise::remote

// Target: a remote device's server and client (common/device/remote). The server, with a small
// device of its own, reads batches, and the client reads replies.
//
// form    The first byte selects the input: 0 for batches of a submission, 1 for those of a judge,
//         2 for both alternately. Any other byte is followed by a reply to request number byte - 3,
//         modulo the number of kinds. The size in bytes precedes each batch (uint16).
#include <cstring>
#include <map>

#include "common/device/remote/service.hpp"
#include "common/device/tensor_map.hpp"
#include "common/emulator/fuzz/target.hpp"

namespace stepwise::fuzz {
namespace {

constexpr std::size_t window_size = 4096, most_memory = 64 << 10;

// Keeps every promise of device.hpp that can be kept without executing anything.
class small_device final : public device, execution_counting {
 public:
  small_device() {
    model_.l2_bytes = 1024;
    extras_ = {.counting = this};
  }
  const gpu& description() const override { return model_; }
  result<device_address> allocate(std::uint64_t bytes) override {
    if (bytes == 0) return {error::invalid_value, "nothing"};
    if (bytes > most_memory - used_) return {error::memory_allocation, "too much"};
    used_ += bytes;
    const device_address at = next_;
    next_ += bytes + 256;
    memory_[at].resize(bytes);
    return at;
  }
  status free(device_address address) override {
    const auto found = memory_.find(address);
    if (found == memory_.end()) return wrong();
    used_ -= found->second.size();
    memory_.erase(found);
    return {};
  }
  result<device_address> allocate_shared(std::uint64_t) override {
    return {error::not_supported, "shared"};
  }
  std::array<std::uint64_t, 2> memory_info() override { return {most_memory - used_, most_memory}; }
  std::optional<module_symbol> find_allocation(device_address address) override {
    const auto found = area(address, 1);
    if (found.empty()) return std::nullopt;
    auto after = memory_.upper_bound(address);
    --after;
    return module_symbol{after->first, after->second.size(), false};
  }
  status write(device_address to, std::span<const std::byte> from) override {
    const auto here = area(to, from.size());
    if (here.size() != from.size()) return wrong();
    std::copy(from.begin(), from.end(), here.begin());
    return {};
  }
  status read(std::span<std::byte> to, device_address from) override {
    const auto here = area(from, to.size());
    if (here.size() != to.size()) return wrong();
    std::copy(here.begin(), here.end(), to.begin());
    return {};
  }
  status copy(device_address to, device_address from, std::uint64_t bytes) override {
    const auto a = area(from, bytes), b = area(to, bytes);
    if (a.size() != bytes || b.size() != bytes) return wrong();
    std::memmove(b.data(), a.data(), bytes);
    return {};
  }
  status fill(device_address to, std::uint32_t value, unsigned element_bytes,
              std::uint64_t count) override {
    if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4) return wrong();
    if (count > most_memory || area(to, count * element_bytes).size() != count * element_bytes)
      return wrong();
    for (std::byte& b : area(to, count * element_bytes)) b = static_cast<std::byte>(value);
    return {};
  }
  result<module_handle> load_linked(std::span<const std::span<const std::byte>> parts) override {
    for (const auto& part : parts)
      for (const std::byte b : part) sum_ += static_cast<unsigned>(b);
    return module_handle{++modules_};
  }
  status unload_module(module_handle module) override { return known(module) ? status{} : wrong(); }
  result<kernel_handle> find_kernel(module_handle module, std::string_view name) override {
    if (!known(module) || name.empty()) return {error::symbol_not_found, "no such kernel"};
    return kernel_handle{name.size()};
  }
  result<module_symbol> find_symbol(module_handle module, std::string_view name) override {
    if (!known(module) || name.empty()) return {error::symbol_not_found, "no such variable"};
    return module_symbol{4096, 4, false};
  }
  result<kernel_attributes> attributes(kernel_handle kernel) override {
    kernel_attributes a;
    a.name = "k";
    a.parameters.resize(static_cast<std::size_t>(kernel) % 8);
    return a;
  }
  status set_max_dynamic_shared_bytes(kernel_handle, std::uint64_t bytes) override {
    return bytes > 1000 ? wrong() : status{};
  }
  status launch(kernel_handle, const launch_config& config,
                std::span<const std::byte> parameters) override {
    for (const std::byte b : parameters) sum_ += static_cast<unsigned>(b);
    return config.grid.x == 0 ? wrong() : status{};
  }
  status synchronize() override { return {}; }
  result<event_handle> create_event() override { return event_handle{++events_}; }
  status destroy_event(event_handle event) override { return known(event) ? status{} : wrong(); }
  status record(event_handle event) override { return known(event) ? status{} : wrong(); }
  result<float> elapsed_ms(event_handle, event_handle) override { return 1.0f; }
  result<opaque_tensor_map> encode_tensor_map(const tensor_map_request& request) override {
    return encode_map(request);
  }
  result<opaque_tensor_map> with_address(const opaque_tensor_map& map,
                                         device_address address) override {
    return stepwise::with_address(map, address);
  }
  status set_limit(device_limit, std::uint64_t) override { return {}; }
  std::uint64_t limit(device_limit which) override { return static_cast<std::uint64_t>(which); }
  std::optional<execution_counters> counters() override { return execution_counters{}; }
  void reset_counters() override {}

 private:
  static status wrong() { return {error::invalid_value, "wrong"}; }
  bool known(module_handle m) const { return static_cast<std::uint64_t>(m) - 1 < modules_; }
  bool known(event_handle e) const { return static_cast<std::uint64_t>(e) - 1 < events_; }
  std::span<std::byte> area(device_address address, std::uint64_t bytes) {
    auto after = memory_.upper_bound(address);
    if (after == memory_.begin()) return {};
    --after;
    const std::uint64_t offset = address - after->first, size = after->second.size();
    if (offset > size || bytes > size - offset) return {};
    return std::span(after->second).subspan(offset, bytes);
  }

  gpu model_;
  std::map<device_address, std::vector<std::byte>> memory_;
  std::uint64_t used_ = 0, modules_ = 0, events_ = 0;
  device_address next_ = 4096;
  unsigned sum_ = 0;  // of the bytes read, so that the reading has an effect
};

// Requires that messages that were read can be written back unchanged.
void require_the_same_again(std::span<const std::byte> batch) {
  remote::byte_reader from(batch);
  remote::byte_writer again;
  while (const auto next = remote::next_message(from)) {
    remote::append(again, *next);
    if (from.at_end()) break;
  }
  const auto& bytes = again.bytes();
  require(bytes.size() <= batch.size() && std::equal(bytes.begin(), bytes.end(), batch.begin()),
          "a message that is not written as it was read");
}

outcome try_batches(std::span<const std::byte> input, unsigned whose) {
  small_device on;
  std::vector<std::byte> window(window_size);
  remote::shared_device shared(on);
  shared.has_judge = true;
  std::vector<std::byte> arrays(256);
  shared.arrays = arrays;
  remote::service judge(shared, window, remote::service::client::judge);
  remote::service program(shared, window, remote::service::client::program);
  outcome o;
  for (unsigned round = 0; input.size() >= 2; ++round) {
    std::uint16_t length = 0;
    std::memcpy(&length, input.data(), sizeof length);
    input = input.subspan(2);
    const auto batch = input.first(std::min<std::size_t>(length, input.size()));
    input = input.subspan(batch.size());
    require_the_same_again(batch);
    remote::service& asked = whose == 1 || (whose == 2 && round % 2 == 0) ? judge : program;
    const auto reply = asked.answer(batch);
    require(reply.has_value() == asked.why().empty(), "refused and answered, or neither");
    if (!reply) return {false, asked.why()};
    require(reply->size() <= remote::most_reply_bytes, "a reply that no client takes");
    remote::byte_reader head(*reply);
    remote::reply_head read;
    head.get(read);
    require(head.ok(), "a reply without its head");
  }
  return o;
}

template <std::size_t Kind>
bool reads_reply(std::span<const std::byte> reply) {
  using request = std::variant_alternative_t<Kind, remote::message>;
  remote::byte_reader from(reply);
  remote::reply_head head;
  from.get(head);
  if constexpr (remote::is_request<request>) {
    typename request::answer with;
    if (from.ok() && head.code == 0) from.get(with);
  }
  return from.complete();
}

template <std::size_t... Kinds>
bool reads_reply_to(std::size_t kind, std::span<const std::byte> reply,
                    std::index_sequence<Kinds...>) {
  bool found = false;
  ((kind == Kinds ? void(found = reads_reply<Kinds>(reply)) : void()), ...);
  return found;
}

}  // namespace

outcome try_input(std::span<const std::byte> input) {
  if (input.empty()) return {false, "nothing"};
  const auto what = static_cast<unsigned>(input[0]);
  if (what < 3) return try_batches(input.subspan(1), what);
  constexpr auto kinds = std::variant_size_v<remote::message>;
  if (reads_reply_to((what - 3) % kinds, input.subspan(1), std::make_index_sequence<kinds>()))
    return {};
  return {false, "no reply"};
}

}  // namespace stepwise::fuzz

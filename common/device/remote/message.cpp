// Serialisation of messages, by a table generated from the list of kinds.
#include "common/device/remote/message.hpp"

#include <array>

namespace stepwise::remote {
namespace {

template <std::size_t Kind>
std::optional<message> read_kind(byte_reader& from) {
  std::variant_alternative_t<Kind, message> fields;
  from.get(fields);
  if (!from.ok()) return std::nullopt;
  return message(std::move(fields));
}

using read_function = std::optional<message> (*)(byte_reader&);

template <std::size_t... Kinds>
constexpr std::array<read_function, sizeof...(Kinds)> readers(std::index_sequence<Kinds...>) {
  return {&read_kind<Kinds>...};
}

constexpr auto read_any = readers(std::make_index_sequence<std::variant_size_v<message>>());

}  // namespace

void append(byte_writer& to, const message& what) {
  to.put(static_cast<std::uint8_t>(what.index()));
  std::visit([&](const auto& fields) { to.put(fields); }, what);
}

std::optional<message> next_message(byte_reader& from) {
  std::uint8_t kind = 0;
  from.get(kind);
  if (!from.ok() || kind >= read_any.size()) return std::nullopt;
  return read_any[kind](from);
}

std::vector<std::uint64_t> counts_of(const execution_counters& c) {
  return {c.launches,
          c.warp_instructions,
          c.lane_instructions,
          c.global_load_bytes,
          c.global_store_bytes,
          c.shared_load_bytes,
          c.shared_store_bytes,
          c.atomics,
          c.barriers};
}

std::optional<execution_counters> counters_of(const std::vector<std::uint64_t>& counts) {
  if (counts.size() != 9) return std::nullopt;
  execution_counters c;
  c.launches = counts[0];
  c.warp_instructions = counts[1];
  c.lane_instructions = counts[2];
  c.global_load_bytes = counts[3];
  c.global_store_bytes = counts[4];
  c.shared_load_bytes = counts[5];
  c.shared_store_bytes = counts[6];
  c.atomics = counts[7];
  c.barriers = counts[8];
  return c;
}

}  // namespace stepwise::remote

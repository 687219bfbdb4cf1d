// Decodes a batch, executes its commands in order, and answers its request.
#include "common/device/remote/service.hpp"

#include <algorithm>

#include "common/report/profile.hpp"
#include "common/report/profile_json.hpp"

namespace stepwise::remote {
namespace {

symbol_answer answer_of(const std::optional<module_symbol>& symbol) {
  if (!symbol) return {};
  return {true, symbol->address, symbol->bytes, symbol->shared};
}

find_kernel::answer answer_of(kernel_handle kernel, const kernel_attributes& a) {
  find_kernel::answer with;
  with.kernel = static_cast<std::uint64_t>(kernel);
  with.name = a.name;
  with.registers = a.registers;
  with.max_threads_per_block = a.max_threads_per_block;
  with.ptx_version = a.ptx_version;
  with.binary_version = a.binary_version;
  with.static_shared_bytes = a.static_shared_bytes;
  with.local_bytes = a.local_bytes;
  with.constant_bytes = a.constant_bytes;
  with.max_dynamic_shared_bytes = a.max_dynamic_shared_bytes;
  with.required_cluster = a.required_cluster;
  for (const kernel_parameter& p : a.parameters) with.parameters.push_back({p.offset, p.bytes});
  return with;
}

// Whether the message can put content into device memory, by its values or by its addresses.
bool brings_content(const message& m) {
  return std::holds_alternative<start_kernel>(m) || std::holds_alternative<fill_bytes>(m) ||
         std::holds_alternative<copy_bytes>(m) || std::holds_alternative<write_bytes>(m);
}

// The addresses and size of a fill or of a row of a copy; nothing for a launch.
std::optional<call_account::placed> placed_by(const message& m) {
  using kind = asked::kind;
  if (const auto* const w = std::get_if<write_bytes>(&m))
    return call_account::placed{kind::copy_to_device, w->to, w->array, w->from.bytes};
  if (const auto* const c = std::get_if<copy_bytes>(&m))
    return call_account::placed{kind::copy_on_device, c->to, c->from, c->bytes};
  if (const auto* const f = std::get_if<fill_bytes>(&m))
    return call_account::placed{kind::fill, f->to, 0, f->count * f->element_bytes, f->value};
  return std::nullopt;
}

// A program that is ending may neither do work nor allocate memory. Both could interfere with the
// report of the findings in the program's calls.
template <class... Refused>
bool is_one_of(const message& m) {
  return (std::holds_alternative<Refused>(m) || ...);
}
bool is_refused_at_the_end(const message& m) {
  return brings_content(m) || is_one_of<read_bytes, allocate_memory, image_piece, load, make_event,
                                        record_event, give_limit, reset_counts>(m);
}
const status at_the_end{error::not_permitted, "the last call is over: only memory can be freed"};

std::vector<finding> new_findings(device& on, bool at_exit) {
  auto* const checks = on.extras().checks;
  return checks != nullptr ? checks->take_findings(at_exit) : std::vector<finding>();
}

}  // namespace

std::optional<std::vector<std::byte>> service::answer(std::span<const std::byte> batch) {
  byte_reader from(batch);
  while (true) {
    const std::size_t before = from.left();
    const auto next = next_message(from);
    if (!next) {
      why_ = "a malformed message";
      return std::nullopt;
    }
    const bool answers = std::visit([]<class T>(const T&) { return is_request<T>; }, *next);
    const bool refused = !is_judge_ && shared_.is_ending && is_refused_at_the_end(*next);
    if (!answers && refused) {
      note(at_the_end);
      continue;
    }
    if (!answers) {
      if (is_counted() && brings_content(*next)) {
        const std::size_t bytes = before - from.left();
        if (const auto row = placed_by(*next))
          shared_.call.add_command_bytes(*row, bytes);
        else
          shared_.call.add_command_bytes(bytes);
      }
      run(*next);
      if (!why_.empty()) return std::nullopt;
      continue;
    }
    if (!from.complete()) {
      why_ = "extra bytes after a request";
      return std::nullopt;
    }
    return reply_to(*next, refused);
  }
}

void service::run(const message& command) {
  std::visit(
      [&]<class T>(const T& fields) {
        if constexpr (!is_request<T>) note(execute(fields));
      },
      command);
}

std::optional<std::vector<std::byte>> service::reply_to(const message& request, bool refused) {
  byte_writer reply;
  std::visit(
      [&]<class T>(const T& fields) {
        if constexpr (is_request<T>) {
          if (is_judges<T> && !is_judge_) {
            why_ = "a request that only the judge may send";
            return;
          }
          if (is_counted()) shared_.call.request();
          const answered<T> done = refused ? answered<T>{at_the_end} : execute(fields);
          if (!is_judge_) shared_.findings.add(new_findings(on_, false));
          const reply_head head{
              static_cast<std::int32_t>(done.how.code),
              done.how.message,
              static_cast<std::int32_t>(deferred_.code),
              deferred_.message,
              shared_.epoch,
              is_judge_ ? std::vector<std::uint64_t>{} : shared_.findings.wanted()};
          deferred_ = {};
          reply.put(head);
          if (done.how.ok()) reply.put(done.with);
        }
      },
      request);
  if (!why_.empty()) return std::nullopt;
  return reply.take();
}

void service::note(const status& how) {
  if (how.ok()) return;
  if (deferred_.ok()) deferred_ = how;
  if (is_counted()) shared_.call.failed(how);
}

bool service::within(const window_part& part) const {
  return part.at <= window_.size() && part.bytes <= window_.size() - part.at;
}

bool service::is_array(std::uint64_t array, std::uint64_t bytes) const {
  return array != 0 && array - 1 <= shared_.arrays.size() &&
         bytes <= shared_.arrays.size() - (array - 1);
}

std::span<std::byte> service::part_of_window(const window_part& part) const {
  return window_.subspan(part.at, part.bytes);
}

status service::execute(const write_bytes& m) {
  if (!within(m.from)) return why_ = "bytes outside the window", status{};
  if (m.array != 0 && !is_array(m.array, m.from.bytes))
    return why_ = "bytes outside the call's arrays", status{};
  if (is_counted()) {
    shared_.call.before_host_work();
    if (m.array == 0) shared_.call.made_on_the_host(m.from.bytes);
  }
  const status s =
      on_.write(m.to, m.array == 0 ? part_of_window(m.from)
                                   : shared_.arrays.subspan(m.array - 1, m.from.bytes));
  if (s.ok() && is_counted())
    shared_.call.copied(asked::kind::copy_to_device, m.from.bytes, m.pageable);
  return s;
}

status service::execute(const fill_bytes& m) {
  if (is_counted()) shared_.call.before_work();
  const status s = on_.fill(m.to, m.value, m.element_bytes, m.count);
  if (s.ok() && is_counted()) shared_.call.copied(asked::kind::fill, m.count * m.element_bytes);
  return s;
}

status service::execute(const copy_bytes& m) {
  if (is_counted()) shared_.call.before_work();
  const status s = on_.copy(m.to, m.from, m.bytes);
  if (s.ok() && is_counted()) shared_.call.copied(asked::kind::copy_on_device, m.bytes);
  return s;
}

status service::execute(const start_kernel& m) {
  if (m.parameters.size() > most_parameter_bytes) return why_ = "too many parameters", status{};
  constexpr unsigned all = start_kernel::cooperative | start_kernel::may_begin_early |
                           start_kernel::allows_large_cluster;
  if (m.how > all) return why_ = "an impossible launch", status{};
  if (is_counted()) shared_.call.before_launch();
  const auto is = [&](std::uint8_t flag) { return (m.how & flag) != 0; };
  const status s = on_.launch(
      kernel_handle{m.kernel},
      {m.grid, m.block, m.dynamic_shared_bytes, is(start_kernel::cooperative),
       is(start_kernel::may_begin_early), m.cluster, is(start_kernel::allows_large_cluster)},
      m.parameters);
  if (s.ok() && is_counted()) shared_.call.launched();
  return s;
}

status service::execute(const release_memory& m) {
  if (!is_judge_ && shared_.judges.contains(m.address))
    return {error::invalid_value,
            "this memory is an argument of the call, and only the caller may free it"};
  if (is_counted()) shared_.call.release();
  const status s = on_.free(m.address);
  if (s.ok() && is_counted()) {
    shared_.call.marked(asked::kind::host_all, 0, 0);
    shared_.call.marked(asked::kind::release, 0, 0);
  }
  if (is_judge_ && shared_.judges.erase(m.address) != 0) ++shared_.epoch;
  return s;
}

status service::execute(const make_event& m) {
  if (events_.size() >= most_events || events_.contains(m.event))
    return why_ = "an impossible event", status{};
  const auto made = on_.create_event();
  if (!made.ok()) return made.failure();
  events_[m.event] = *made;
  return {};
}

status service::execute(const drop_event& m) {
  const auto found = events_.find(m.event);
  if (found == events_.end()) return {error::invalid_resource_handle, "there is no such event"};
  const status s = on_.destroy_event(found->second);
  events_.erase(found);
  return s;
}

status service::execute(const record_event& m) {
  const auto found = events_.find(m.event);
  if (found == events_.end()) return {error::invalid_resource_handle, "there is no such event"};
  return on_.record(found->second);
}

status service::execute(const enter_origin& m) {
  if (auto* const checks = on_.extras().checks) checks->set_origin(m.origin);
  return {};
}

status service::execute(const enter_stream& m) {
  if (auto* const checks = on_.extras().checks) checks->set_stream({m.stream, m.non_blocking});
  if (is_counted()) shared_.call.use_stream({m.stream, m.non_blocking});
  return {};
}

// We carry out the wait here instead of trusting the program's claim that the host has waited.
status service::execute(const host_waits& m) {
  if (const status s = execute(wait_for_all{}).how; !s.ok()) return s;
  if (auto* const checks = on_.extras().checks) checks->host_waited(m.stream);
  if (is_counted())
    shared_.call.marked(m.stream == no_stream ? asked::kind::host_all : asked::kind::host_stream, 0,
                        m.stream == no_stream ? 0 : m.stream);
  return {};
}

status service::execute(const host_waits_for_event& m) {
  if (const status s = execute(wait_for_all{}).how; !s.ok()) return s;
  if (auto* const checks = on_.extras().checks) checks->host_waited_for_event(m.event);
  if (is_counted()) shared_.call.marked(asked::kind::host_event, m.event, 0);
  return {};
}

status service::execute(const mark_event& m) {
  if (auto* const checks = on_.extras().checks) checks->mark_event(m.event, m.stream);
  if (is_counted()) shared_.call.marked(asked::kind::record, m.event, m.stream);
  return {};
}

status service::execute(const wait_for_event& m) {
  if (auto* const checks = on_.extras().checks) checks->wait_event(m.event, m.stream);
  if (is_counted()) shared_.call.marked(asked::kind::wait_event, m.event, m.stream);
  return {};
}

status service::execute(const name_memory& m) {
  auto* const checks = on_.extras().checks;
  if (checks != nullptr && (is_judge_ || !shared_.judges.contains(m.address)))
    checks->name_allocation(m.address, m.name);
  return {};
}

status service::execute(const forget_memory& m) {
  if (auto* const checks = on_.extras().checks) checks->forget_contents(m.address, m.bytes);
  return {};
}

status service::execute(const give_time& m) {
  auto* const time = on_.extras().time;
  if (time != nullptr && !shared_.has_judge) time->set_time(m.ns);
  return {};
}

status service::execute(const reset_counts&) {
  auto* const counting = on_.extras().counting;
  if (counting != nullptr && !shared_.has_judge) counting->reset_counters();
  return {};
}

status service::execute(const image_piece& m) {
  if (!within(m.from)) return why_ = "bytes outside the window", status{};
  if (m.from.bytes > most_image_bytes - image_.size()) return why_ = "too large a module", status{};
  const auto piece = part_of_window(m.from);
  image_.insert(image_.end(), piece.begin(), piece.end());
  return {};
}

status service::execute(const give_place& m) {
  shared_.findings.place(m);
  return {};
}

status service::execute(const give_finding& m) {
  shared_.findings.add_line(m.line);
  return {};
}

service::answered<describe> service::execute(const describe&) {
  const gpu& model = on_.description();
  describe::answer with;
  with.id = model.id;
  with.name = model.name;
  with.memory_bytes = model.memory_bytes;
  with.driver_version = model.driver_version;
  with.attributes = {model.attributes.begin(), model.attributes.end()};
  with.limits = {model.limits.begin(), model.limits.end()};
  with.cluster_groups = model.cluster_groups;
  if (auto* const addresses = on_.extras().addresses) {
    const auto [first, bytes] = addresses->address_range();
    with.first_address = first;
    with.address_bytes = bytes;
  }
  return {{}, with};
}

service::answered<allocate_memory> service::execute(const allocate_memory& m) {
  const auto made = on_.allocate(m.bytes);
  if (!made.ok()) return {made.failure()};
  if (is_counted()) shared_.call.marked(asked::kind::allocate, 0, 0);
  if (is_judge_) {
    shared_.judges.insert(*made);
    ++shared_.epoch;
  }
  return {{}, {*made}};
}

service::answered<try_release> service::execute(const try_release& m) {
  return {execute(release_memory{m.address})};
}

service::answered<ask_memory> service::execute(const ask_memory&) {
  const auto [free, total] = on_.memory_info();
  return {{}, {free, total}};
}

service::answered<locate> service::execute(const locate& m) {
  return {{}, answer_of(on_.find_allocation(m.address))};
}

service::answered<read_bytes> service::execute(const read_bytes& m) {
  if (!within(m.to)) return why_ = "bytes outside the window", answered<read_bytes>{};
  if (is_counted()) {
    shared_.call.before_work();
    shared_.call.before_wait();
  }
  if (m.array != 0 && !is_array(m.array, m.to.bytes))
    return why_ = "bytes outside the call's arrays", answered<read_bytes>{};
  // The window may change at any time, so the judge's copy comes from the device itself.
  const auto home =
      m.array == 0 ? part_of_window(m.to) : shared_.arrays.subspan(m.array - 1, m.to.bytes);
  const status s = on_.read(home, m.from);
  if (s.ok() && m.array != 0) std::copy(home.begin(), home.end(), part_of_window(m.to).begin());
  if (s.ok() && is_counted()) {
    shared_.call.copied(asked::kind::copy_to_host, m.to.bytes, m.pageable);
    shared_.call.before_work();
    shared_.call.before_wait();
  }
  return {s};
}

service::answered<load> service::execute(const load& m) {
  std::uint64_t total = 0;
  for (const std::uint32_t bytes : m.part_bytes) total += bytes;
  if (m.part_bytes.size() > most_parts || total != image_.size())
    return why_ = "a module without its bytes", answered<load>{};
  std::vector<std::span<const std::byte>> parts;
  std::size_t at = 0;
  for (const std::uint32_t bytes : m.part_bytes) {
    parts.push_back(std::span<const std::byte>(image_).subspan(at, bytes));
    at += bytes;
  }
  // We do not execute machine code, but take register counts and accesses from it, so it must
  // belong to the PTX in the same fat binary.
  const auto is_own = [&](std::span<const std::byte> part) {
    return std::ranges::equal(part, shared_.kernels);
  };
  if (!is_judge_ && !shared_.kernels.empty() && !std::ranges::all_of(parts, is_own)) {
    image_ = {};
    return {{error::not_permitted,
             "a graded program may run only the kernels that nvcc compiled from its source, but it "
             "loaded its own module"}};
  }
  const auto loaded = on_.load_linked(parts);
  image_ = {};
  if (!loaded.ok()) return {loaded.failure()};
  return {{}, {static_cast<std::uint64_t>(*loaded)}};
}

service::answered<unload> service::execute(const unload& m) {
  return {on_.unload_module(module_handle{m.module})};
}

service::answered<find_kernel> service::execute(const find_kernel& m) {
  const auto kernel = on_.find_kernel(module_handle{m.module}, m.name);
  if (!kernel.ok()) return {kernel.failure()};
  const auto attributes = on_.attributes(*kernel);
  if (!attributes.ok()) return {attributes.failure()};
  return {{}, answer_of(*kernel, *attributes)};
}

service::answered<find_variable> service::execute(const find_variable& m) {
  const auto found = on_.find_symbol(module_handle{m.module}, m.name);
  if (!found.ok()) return {found.failure()};
  return {{}, answer_of(*found)};
}

service::answered<allow_shared> service::execute(const allow_shared& m) {
  return {on_.set_max_dynamic_shared_bytes(kernel_handle{m.kernel}, m.bytes)};
}

service::answered<wait_for_all> service::execute(const wait_for_all&) {
  if (is_counted()) shared_.call.before_wait();
  const status s = on_.synchronize();
  if (is_counted()) shared_.call.failed(s);
  return {s};
}

service::answered<ask_elapsed> service::execute(const ask_elapsed& m) {
  const auto start = events_.find(m.start), stop = events_.find(m.stop);
  if (start == events_.end() || stop == events_.end())
    return {{error::invalid_resource_handle, "there is no such event"}};
  const auto ms = on_.elapsed_ms(start->second, stop->second);
  if (!ms.ok()) return {ms.failure()};
  return {{}, {*ms}};
}

service::answered<give_limit> service::execute(const give_limit& m) {
  if (m.which > static_cast<std::uint32_t>(device_limit::heap_bytes))
    return {{error::unsupported_limit, "there is no such limit"}};
  return {on_.set_limit(static_cast<device_limit>(m.which), m.bytes)};
}

service::answered<ask_limit> service::execute(const ask_limit& m) {
  if (m.which > static_cast<std::uint32_t>(device_limit::heap_bytes)) return {};
  return {{}, {on_.limit(static_cast<device_limit>(m.which))}};
}

// Counts depend on data, so they would reveal a submission's inputs to it.
service::answered<ask_counts> service::execute(const ask_counts&) {
  if (shared_.has_judge && !is_judge_) return {};
  auto* const counting = on_.extras().counting;
  const auto counters = counting != nullptr ? counting->counters() : std::nullopt;
  if (!counters) return {};
  return {{}, {true, counts_of(*counters)}};
}

service::answered<flush> service::execute(const flush&) { return {}; }

service::answered<end_in_order> service::execute(const end_in_order&) {
  shared_.findings.add(new_findings(on_, true));
  return {};
}

service::answered<ask_host_access> service::execute(const ask_host_access& m) {
  answered<ask_host_access> done;
  auto* const addresses = on_.extras().addresses;
  if (addresses == nullptr) return done;
  if (auto found = addresses->host_access(m.address, m.writes))
    done.with.lines.push_back({json_line({std::move(*found), {}, {}, {}, {}})});
  return done;
}

service::answered<encode_tensor_map> service::execute(const encode_tensor_map& m) {
  const auto made = on_.encode_tensor_map(m.wanted);
  if (!made.ok()) return {made.failure()};
  return {{}, {*made}};
}

service::answered<move_tensor_map> service::execute(const move_tensor_map& m) {
  const auto made = on_.with_address(m.map, m.address);
  if (!made.ok()) return {made.failure()};
  return {{}, {*made}};
}

service::answered<begin_call> service::execute(const begin_call& m) {
  shared_.call.begin(m);
  return {};
}

service::answered<end_call> service::execute(const end_call&) {
  answered<end_call> done{{}, shared_.call.end()};
  done.with.broken = shared_.broken;
  shared_.findings.add(new_findings(on_, false));
  return done;
}

service::answered<end_program> service::execute(const end_program&) {
  shared_.is_ending = true;
  return {};
}

service::answered<take_report> service::execute(const take_report& m) {
  answered<take_report> done;
  if (m.which == static_cast<std::uint32_t>(report_kind::findings)) {
    done.with.lines = shared_.findings.lines();
  } else if (auto* const counts = on_.extras().profile) {
    const auto profile = counts->take_profile();
    const device_transfers moved = counts->take_transfers();
    if (!profile.empty() || moved != device_transfers{})
      done.with.lines.push_back({profile_json(profile, {}, moved)});
  }
  return done;
}

}  // namespace stepwise::remote

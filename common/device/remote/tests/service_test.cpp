// Tests a judge, a submission and the server between them (here, a thread), and clients that send
// malformed messages.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

#include "common/device/remote/finding_list.hpp"
#include "common/device/remote/remote_device.hpp"
#include "common/device/remote/serve.hpp"
#include "common/device/tests/conformance_kernels.hpp"

using namespace stepwise;
using namespace stepwise::remote;
using stepwise::conformance::ptx;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::vector<std::uint32_t> numbers(std::size_t n) {
  std::vector<std::uint32_t> values(n);
  std::iota(values.begin(), values.end(), 1u);
  return values;
}

struct service_fixture {
  std::unique_ptr<device> emulated = make_emulated_device(*find_gpu("h200"));
  std::vector<std::byte> arrays = std::vector<std::byte>(1000);  // the judge's copy
  channel_ends judges, submissions = *make_channel();
  std::thread server;
  std::unique_ptr<remote_device> judge;

  explicit service_fixture(std::size_t window = window_bytes) : judges(*make_channel(window)) {
    server = std::thread(
        [this, mine = dup(judges.window.get()), theirs = dup(submissions.window.get())]() mutable {
          serve_judged(*emulated, {std::move(judges.second), descriptor(mine)},
                       {std::move(submissions.second), descriptor(theirs)}, arrays);
        });
    std::string why;
    judge = remote_device::connect(
        {std::move(judges.first), descriptor(dup(judges.window.get())), wait_for_ever}, why);
    REQUIRE(judge);
  }
  ~service_fixture() {
    judge.reset();
    server.join();
  }
  // The server answers a submission only during a call.
  std::unique_ptr<remote_device> submission() {
    std::string why;
    auto made = remote_device::connect(
        {std::move(submissions.first), descriptor(dup(submissions.window.get())), wait_for_ever},
        why);
    REQUIRE(made);
    return made;
  }
  std::vector<std::uint32_t> read(device_address from, std::size_t count) {
    std::vector<std::uint32_t> out(count);
    REQUIRE(judge->read(std::as_writable_bytes(std::span(out)), from).ok());
    return out;
  }
};

status launch_poke(device& on, module_handle module, device_address address) {
  std::byte parameter[8];
  std::memcpy(parameter, &address, sizeof address);
  const auto kernel = on.find_kernel(module, "poke");
  REQUIRE(kernel.ok());
  return on.launch(*kernel, {}, parameter);
}

}  // namespace

TEST_CASE_FIXTURE(service_fixture, "the judge receives the whole description of the GPU") {
  const gpu& there = emulated->description();
  const gpu& here = judge->description();
  CHECK(here.name == there.name);
  CHECK(here.id == there.id);
  CHECK(here.attributes == there.attributes);
  CHECK(here.cluster_groups == there.cluster_groups);
  CHECK(here.limits == there.limits);
  CHECK(here.memory_bytes == there.memory_bytes);
  CHECK(here.l2_bytes == there.l2_bytes);
  CHECK(here.shared_bytes_per_block_optin == there.shared_bytes_per_block_optin);
}

TEST_CASE_FIXTURE(service_fixture, "a call's work runs on the judge's buffers and is counted") {
  const auto values = numbers(1000);
  const auto buffer = judge->allocate(4000);
  REQUIRE(buffer.ok());
  REQUIRE(judge->write(*buffer, std::as_bytes(std::span(values))).ok());
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  const auto module = program->load_module(bytes_of(ptx));
  REQUIRE(module.ok());
  CHECK(launch_poke(*program, *module, *buffer + 4).ok());
  std::byte home[12];
  CHECK(program->read(home, *buffer).ok());
  CHECK(program->write(*buffer + 8, std::span(home).first(4)).ok());
  CHECK(program->synchronize().ok());
  const auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->launches == 1);
  CHECK(did->bytes_to_host == 12);
  CHECK(did->bytes_in == 4);
  CHECK(did->bytes_made == 4);
  CHECK(did->bytes_in_commands > 4 * 8);  // a launch and a copy, each with its addresses and sizes
  CHECK(did->bytes_in_commands < 200);
  CHECK(did->device_ms > 0);
  CHECK(did->failure == 0);
  CHECK(did->broken.empty());
  CHECK(read(*buffer, 4) == std::vector<std::uint32_t>{1, 1, 1, 4});
}

TEST_CASE_FIXTURE(service_fixture, "a program gets no counters, and its fills count as commands") {
  const auto buffer = judge->allocate(4000);
  REQUIRE(buffer.ok());
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  const auto module = program->load_module(bytes_of(ptx));
  REQUIRE(module.ok());
  CHECK(launch_poke(*program, *module, *buffer).ok());
  for (int i = 1; i < 1000; ++i) CHECK(program->fill(*buffer + 4 * i, i, 4, 1).ok());
  CHECK(program->copy(*buffer, *buffer + 4, 4).ok());
  CHECK(program->synchronize().ok());
  CHECK(!program->counters());
  const auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(judge->counters()->launches == 1);
  CHECK(did->bytes_made == 0);
  CHECK(did->bytes_in_commands > 999 * 4);
}

TEST_CASE_FIXTURE(service_fixture,
                  "the rows of one copy count as one copy, and separate copies do not") {
  const auto buffer = judge->allocate(64 << 10);
  REQUIRE(buffer.ok());
  std::unique_ptr<remote_device> program;
  std::vector<std::byte> host(1000);
  const auto modelled_ms = [&](auto copies) {
    REQUIRE(judge->begin({false, true}).ok());
    if (!program) program = submission();
    copies();
    CHECK(program->synchronize().ok());
    const auto did = judge->end();
    REQUIRE(did.ok());
    return did->modelled_ms;
  };
  const auto rows = [&](bool to_device, bool each_by_itself) {
    program->set_stream({});
    for (std::size_t row = 0; row < 10; ++row) {
      if (each_by_itself) program->set_stream({});
      const auto part = std::span(host).subspan(100 * row, 100);
      const device_address at = *buffer + 512 * row;
      CHECK((to_device ? program->write(at, part) : program->read(part, at)).ok());
    }
  };
  for (const bool to_device : {true, false}) {
    CAPTURE(to_device);
    const double linear = modelled_ms([&] {
      program->set_stream({});
      CHECK((to_device ? program->write(*buffer, host) : program->read(host, *buffer)).ok());
    });
    CHECK(linear > 0);
    CHECK(modelled_ms([&] { rows(to_device, false); }) == doctest::Approx(linear));
    CHECK(modelled_ms([&] { rows(to_device, true); }) > 5 * linear);
  }
  // A read or a kernel between two copies ends the first copy.
  const double both = modelled_ms([&] {
    rows(true, false);
    rows(false, false);
    rows(true, false);
  });
  CHECK(both > modelled_ms([&] { rows(true, false); }) + modelled_ms([&] { rows(false, false); }));
}

TEST_CASE_FIXTURE(service_fixture, "a copy of pinned memory takes less time than a pageable one") {
  const auto buffer = judge->allocate(1 << 20);
  REQUIRE(buffer.ok());
  std::unique_ptr<remote_device> program;
  std::vector<std::byte> host(1 << 20);
  const auto modelled_ms = [&](bool pageable, bool to_device) {
    REQUIRE(judge->begin({false, true}).ok());
    if (!program) program = submission();
    program->set_pageable(pageable);
    CHECK((to_device ? program->write(*buffer, host) : program->read(host, *buffer)).ok());
    CHECK(program->synchronize().ok());
    const auto did = judge->end();
    REQUIRE(did.ok());
    return did->modelled_ms;
  };
  for (const bool to_device : {true, false}) {
    CAPTURE(to_device);
    CHECK(modelled_ms(true, to_device) > 2 * modelled_ms(false, to_device));
  }
}

TEST_CASE_FIXTURE(
    service_fixture,
    "bytes of an input file come from the judge's copy, wherever the program has them") {
  const auto buffer = judge->allocate(400);
  REQUIRE(buffer.ok());
  const auto values = numbers(100);
  const auto content = std::as_bytes(std::span(values));
  std::ranges::copy(content, arrays.begin() + 200);
  arrays[200 + 40] = std::byte{99};  // shows whose bytes were copied
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  program->note_file(content, 200, false);
  const std::vector<std::byte> own(content.begin(), content.end());
  // In order, and again from an earlier part.
  CHECK(program->write(*buffer, std::span(own).first(40)).ok());
  CHECK(program->write(*buffer + 40, std::span(own).subspan(40, 40)).ok());
  CHECK(program->write(*buffer + 80, std::span(own).subspan(40, 40)).ok());
  CHECK(program->synchronize().ok());
  auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->bytes_in == 120);
  CHECK(did->bytes_made == 0);
  CHECK(read(*buffer, 1) == std::vector<std::uint32_t>{1});
  CHECK(read(*buffer + 40, 1) == std::vector<std::uint32_t>{99});
  CHECK(read(*buffer + 80, 1) == std::vector<std::uint32_t>{99});
  // Bytes that are not in the file were made by the program, and so is the file after the call.
  REQUIRE(judge->begin({}).ok());
  const auto reversed = std::vector<std::byte>(own.rbegin(), own.rend());
  CHECK(program->write(*buffer, std::span(reversed).first(40)).ok());
  program->note_host_array(nullptr, 0, 0);
  CHECK(program->write(*buffer + 40, std::span(own).first(40)).ok());
  CHECK(program->synchronize().ok());
  did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->bytes_made == 80);
}

TEST_CASE_FIXTURE(service_fixture,
                  "the judge's copy of a result file gets what is copied to the host, in order") {
  const auto buffer = judge->allocate(400);
  REQUIRE(buffer.ok());
  const auto values = numbers(100);
  REQUIRE(judge->write(*buffer, std::as_bytes(std::span(values))).ok());
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  std::vector<std::byte> result(100), own(60);
  program->note_file(result, 300, true);
  CHECK(program->read(own, *buffer + 40).ok());
  CHECK(own[0] == std::byte{11});
  CHECK(program->read(std::span(own).first(40), *buffer).ok());
  CHECK(program->read(std::span(own).first(4), *buffer + 80).ok());  // the result is complete
  const auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->bytes_to_host == 104);
  CHECK(arrays[300] == std::byte{11});
  CHECK(arrays[356] == std::byte{25});
  CHECK(arrays[360] == std::byte{1});
  CHECK(arrays[396] == std::byte{10});
  CHECK(arrays[400] == std::byte{0});
}

TEST_CASE_FIXTURE(
    service_fixture,
    "a call ends after its work, whatever the program claims about events and waits") {
  const auto buffer = judge->allocate(1 << 20);
  REQUIRE(buffer.ok());
  std::unique_ptr<remote_device> program;
  const std::vector<std::byte> host(1 << 20);
  const auto modelled_ms = [&](auto lie) {
    REQUIRE(judge->begin({false, true}).ok());
    if (!program) program = submission();
    program->set_stream({7, true});  // the default stream does not wait for this one
    CHECK(program->write(*buffer, host).ok());
    lie();
    CHECK(program->synchronize().ok());
    const auto did = judge->end();
    REQUIRE(did.ok());
    return did->modelled_ms;
  };
  const double waited = modelled_ms([&] { program->host_waited(no_stream); });
  CHECK(waited > 0);
  CHECK(modelled_ms([] {}) == doctest::Approx(waited));
  for (const std::uint64_t event : {~std::uint64_t{0}, ~std::uint64_t{1}}) {
    CHECK(modelled_ms([&] {
            program->host_waited(no_stream);
            program->mark_event(event, 7);
          }) == doctest::Approx(waited));
  }
}

TEST_CASE_FIXTURE(service_fixture,
                  "rows at equal distances carry no information in their addresses") {
  const auto buffer = judge->allocate(1 << 20);
  REQUIRE(buffer.ok());
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  REQUIRE(judge->end().ok());
  const auto bytes_sent_for = [&](auto column_of, auto rows_of) {
    REQUIRE(judge->begin({}).ok());
    for (std::uint64_t column = 0; column < 100; ++column) {
      program->set_stream({});
      for (std::uint64_t row = 0; row < static_cast<std::uint64_t>(rows_of(column)); ++row)
        CHECK(program->copy(*buffer + 1000 * row + column_of(column), *buffer + 500'000 + row, 1)
                  .ok());
    }
    CHECK(program->synchronize().ok());
    const auto did = judge->end();
    REQUIRE(did.ok());
    return did->bytes_in_commands;
  };
  const auto in_order = [](std::uint64_t column) { return column; };
  const auto shuffled = [](std::uint64_t column) { return column * column % 101; };
  const auto ten = [](std::uint64_t) { return 10; };
  CHECK(bytes_sent_for(in_order, ten) < 200);
  CHECK(bytes_sent_for(shuffled, ten) > 80 * 20);
  // The number of rows may carry some information.
  CHECK(bytes_sent_for(in_order, [](std::uint64_t column) { return 2 + column * column % 3; }) >
        300);
}

TEST_CASE_FIXTURE(service_fixture, "outside a call, a submission waits") {
  const auto buffer = judge->allocate(4);
  REQUIRE(buffer.ok());
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  const auto module = program->load_module(bytes_of(ptx));
  REQUIRE(module.ok());
  REQUIRE(judge->fill(*buffer, 0, 4, 1).ok());
  REQUIRE(judge->end().ok());
  std::atomic<bool> over = false;
  std::thread late([&] {
    CHECK(launch_poke(*program, *module, *buffer).ok());
    CHECK(program->synchronize().ok());
    over = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(!over);
  CHECK(read(*buffer, 1)[0] == 0);
  // A launch that was requested too late runs in the next call, and is counted there.
  REQUIRE(judge->begin({}).ok());
  late.join();
  const auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->launches == 1);
  CHECK(read(*buffer, 1)[0] == 1);
}

TEST_CASE_FIXTURE(service_fixture, "a submission uses the judge's memory, but cannot free it") {
  const auto buffer = judge->allocate(256);
  REQUIRE(buffer.ok());
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  CHECK(program->free(*buffer).code == error::invalid_value);
  CHECK(program->fill(*buffer, 5, 4, 64).ok());
  CHECK(program->fill(*buffer, 5, 4, 65).code == error::invalid_value);
  CHECK(program->synchronize().ok());
  REQUIRE(judge->end().ok());
  CHECK(read(*buffer, 64) == std::vector<std::uint32_t>(64, 5));
  CHECK(judge->free(*buffer).ok());
  CHECK(judge->synchronize().ok());
  // In the next call the buffer no longer exists, and its old address is refused.
  REQUIRE(judge->begin({}).ok());
  (void)program->synchronize();
  CHECK(program->fill(*buffer, 5, 4, 1).code == error::invalid_value);
  REQUIRE(judge->end().ok());
}

TEST_CASE_FIXTURE(service_fixture, "after the last call, a program may only free memory") {
  const auto buffer = judge->allocate(4096);
  REQUIRE(buffer.ok());
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  const auto module = program->load_module(bytes_of(ptx));
  const auto own = program->allocate(256);
  REQUIRE((module.ok() && own.ok()));
  REQUIRE(judge->end().ok());
  REQUIRE(judge->end_program().ok());
  REQUIRE(judge->begin({}).ok());
  CHECK(program->allocate(256).failure().code == error::not_permitted);
  CHECK(!program->load_module(bytes_of(ptx)).ok());
  CHECK(
      launch_poke(*program, *module, *buffer).ok());  // a command: the next wait returns its error
  CHECK(!program->synchronize().ok());
  std::byte home[4];
  CHECK(!program->read(home, *buffer).ok());
  CHECK(program->free(*own).ok());
  const auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->launches == 0);
}

TEST_CASE("findings that a program sends do not displace the device's own") {
  finding_list list;
  located_finding sent;
  sent.what.kind = finding_kind::leak;
  sent.what.message = "sent";
  for (int i = 0; i < 5000; ++i) {
    sent.what.origin = static_cast<std::uint64_t>(i) + 1;
    sent.what.message = "sent " + std::to_string(i);
    list.add_line(json_line(sent));
  }
  finding race;
  race.kind = finding_kind::race;
  race.message = "found";
  list.add({race});
  const auto lines = list.lines();
  CHECK(lines.size() > 1);
  CHECK(lines.size() < 1000);
  CHECK(lines[0].text.find("found") != std::string::npos);
}

TEST_CASE_FIXTURE(service_fixture, "both the submission and the judge see a kernel's fault") {
  REQUIRE(judge->begin({}).ok());
  auto program = submission();
  const auto module = program->load_module(bytes_of(ptx));
  REQUIRE(module.ok());
  CHECK(launch_poke(*program, *module, 0x1234).ok());
  CHECK(program->synchronize().code == error::illegal_address);
  CHECK(program->synchronize().code == error::illegal_address);
  CHECK(program->allocate(4).failure().code == error::illegal_address);
  const auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->failure == static_cast<int>(error::illegal_address));
}

TEST_CASE_FIXTURE(service_fixture,
                  "a malformed message ends the submission's connection and nothing else") {
  struct row {
    const char* what;
    std::vector<std::byte> batch;
  };
  const auto batch_of = [](std::vector<message> all) {
    byte_writer to;
    for (const message& m : all) append(to, m);
    return to.take();
  };
  auto late = batch_of({flush{}});
  late.push_back(std::byte{0});
  const row rows[] = {
      {"an empty batch", {}},
      {"garbage", std::vector<std::byte>(100, std::byte{0xEE})},
      {"a batch without a request", batch_of({fill_bytes{}})},
      {"bytes after a request", late},
      {"the judge's begin_call", batch_of({begin_call{}})},
      {"the judge's end_call", batch_of({end_call{}})},
      {"the judge's take_report", batch_of({take_report{}})},
      {"a write outside the window", batch_of({write_bytes{0, {window_bytes - 1, 2}}, flush{}})},
      {"a read outside the window", batch_of({read_bytes{0, {~0u, ~0u}}})},
      {"a module without bytes", batch_of({load{{1000}}})},
  };
  const auto buffer = judge->allocate(4);
  REQUIRE(buffer.ok());
  for (const row& r : rows) {
    CAPTURE(r.what);
    service_fixture fresh;
    REQUIRE(fresh.judge->begin({}).ok());
    const int socket = fresh.submissions.first.get();
    REQUIRE(send_frame(socket, r.batch, wait_for_ever));
    char byte = 0;
    CHECK(recv(socket, &byte, 1, 0) == 0);
    const auto did = fresh.judge->end();
    REQUIRE(did.ok());
    CHECK(!did->broken.empty());
    CHECK(fresh.judge->allocate(100).ok());
  }
  CHECK(judge->fill(*buffer, 3, 4, 1).ok());
  CHECK(read(*buffer, 1)[0] == 3);
}

TEST_CASE_FIXTURE(service_fixture,
                  "too many events are an error of the program, not a broken message") {
  std::vector<event_handle> made;
  for (std::size_t i = 0; i < most_events; ++i) made.push_back(*judge->create_event());
  CHECK(judge->create_event().failure().code == error::memory_allocation);
  CHECK(judge->destroy_event(made[0]).ok());
  CHECK(judge->create_event().ok());
  CHECK(judge->synchronize().ok());
}

TEST_CASE_FIXTURE(service_fixture, "a frame that is too long ends the connection as well") {
  const std::vector<unsigned char> garbage(100, 0xEE);
  REQUIRE(send(submissions.first.get(), garbage.data(), garbage.size(), 0) == 100);
  REQUIRE(judge->begin({}).ok());
  char byte = 0;
  CHECK(recv(submissions.first.get(), &byte, 1, 0) <= 0);
  const auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->broken == "a message that is too long");
}

TEST_CASE_FIXTURE(service_fixture, "half a frame delays no other client") {
  const std::uint32_t length = 1000;
  REQUIRE(send(submissions.first.get(), &length, sizeof length, 0) == sizeof length);
  REQUIRE(judge->begin({}).ok());
  const auto did = judge->end();
  REQUIRE(did.ok());
  CHECK(did->broken.empty());
  CHECK(did->launches == 0);
}

TEST_CASE("a malformed reply breaks the connection, and the device is lost") {
  for (const std::vector<std::byte>& reply :
       {std::vector<std::byte>{}, std::vector<std::byte>(3), std::vector<std::byte>(500)}) {
    auto ends = *make_channel();
    std::thread liar([&] {
      REQUIRE(wait_for_ever(ends.second.get(), POLLIN));
      (void)send_frame(ends.second.get(), reply, wait_for_ever);
    });
    std::string why;
    const auto made =
        remote_device::connect({std::move(ends.first), std::move(ends.window), wait_for_ever}, why);
    CHECK(!made);
    CHECK(why.find("exited") != std::string::npos);
    liar.join();
  }
}

TEST_CASE("large data travels through a window that is smaller") {
  service_fixture all;
  const std::size_t n = 5 * window_bytes / 8 + 3;
  const auto values = numbers(n);
  const auto buffer = all.judge->allocate(4 * n);
  REQUIRE(buffer.ok());
  REQUIRE(all.judge->write(*buffer, std::as_bytes(std::span(values))).ok());
  CHECK(all.read(*buffer, n) == values);
}

TEST_CASE("data travels through a large window in halves, and can be read piece by piece") {
  service_fixture all(4 * window_bytes);
  const std::size_t n = 9 * window_bytes / 8 + 3;  // ints: more than one window
  const auto values = numbers(n);
  const auto buffer = all.judge->allocate(4 * n);
  REQUIRE(buffer.ok());
  std::size_t copied = 0;
  all.judge->set_copier([&](std::byte* to, const std::byte* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    copied += bytes;
  });
  REQUIRE(all.judge->write(*buffer, std::as_bytes(std::span(values))).ok());
  CHECK(copied == 4 * n);
  CHECK(all.read(*buffer, n) == values);
  std::vector<std::size_t> places;
  const auto take = [&](std::size_t at, std::span<const std::byte> piece) {
    places.push_back(at);
    CHECK(std::memcmp(piece.data(), std::as_bytes(std::span(values)).data() + at, piece.size()) ==
          0);
    return at == 0;
  };
  CHECK(all.judge->read_pieces(*buffer, 4 * n, take).ok());
  CHECK(places == std::vector<std::size_t>{0, 2 * window_bytes});  // stopped at the second piece
  CHECK(all.read(*buffer, 3) == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(all.judge->write(*buffer + 4, std::as_bytes(std::span(values))).code ==
        error::invalid_value);
}

// Tests the behaviour that the emulated device and a GPU share.
//
// idea    The kernels are PTX text (conformance_kernels.hpp), so the tests need nothing but a
//         device.
// watch   After a fault, a process can no longer use its GPU. On a GPU, each test case named
//         "fault: ..." therefore needs its own process (meson.build).
#include "common/device/tests/conformance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "common/device/tensor_map.hpp"
#include "common/device/tests/conformance_kernels.hpp"
#include "common/testing/skip_case.hpp"

using namespace stepwise;
using stepwise::conformance::make_device;
using stepwise::conformance::ptx;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

// A fat binary container that holds the PTX uncompressed, as `fatbinary -compress-mode=none` writes
// it. A GPU's loader needs exactly these bytes, but the emulator's reader relies on fewer of them.
std::vector<std::byte> container_of(std::string_view text) {
  struct {
    std::uint32_t magic = 0xBA55ED50;
    std::uint16_t version = 1, header_bytes = 16;
    std::uint64_t bytes = 0;
  } container;
  struct {
    std::uint16_t kind = 1, unknown = 0x0101;
    std::uint32_t header_bytes = 80;
    std::uint64_t padded_bytes = 0;
    std::uint32_t compressed_bytes = 0, options_offset = 64;
    std::uint16_t minor = 0, major = 8;
    std::uint32_t arch = 80, name_offset = 0, name_bytes = 0;
    std::uint64_t flags = 0x11, reserved = 0, uncompressed_bytes = 0;
    std::uint32_t option_text_offset = 72, option_text_bytes = 0;
    std::uint64_t option_text = 0;
  } entry;
  static_assert(sizeof container == 16 && sizeof entry == 80);
  entry.padded_bytes = (text.size() + 1 + 7) / 8 * 8;
  container.bytes = sizeof entry + entry.padded_bytes;
  std::vector<std::byte> out(sizeof container + container.bytes);
  std::memcpy(out.data(), &container, sizeof container);
  std::memcpy(out.data() + sizeof container, &entry, sizeof entry);
  std::memcpy(out.data() + sizeof container + sizeof entry, text.data(), text.size());
  return out;
}

// A device that has loaded the module of conformance_kernels.hpp.
struct fixture {
  std::unique_ptr<device> on = make_device();
  module_handle module{};

  fixture() {
    REQUIRE(on);
    const auto loaded = on->load_module(bytes_of(ptx));
    INFO(loaded.failure().message);
    REQUIRE(loaded.ok());
    module = *loaded;
  }
  device_address allocate(std::uint64_t bytes) {
    const auto found = on->allocate(bytes);
    REQUIRE(found.ok());
    return *found;
  }
  kernel_handle kernel(std::string_view name) {
    const auto found = on->find_kernel(module, name);
    INFO(found.failure().message);
    REQUIRE(found.ok());
    return *found;
  }
  std::vector<std::uint32_t> read(device_address from, std::size_t count) {
    std::vector<std::uint32_t> out(count);
    REQUIRE(on->read(std::as_writable_bytes(std::span(out)), from).ok());
    return out;
  }
  status poke(device_address address) {
    std::byte parameter[8];
    std::memcpy(parameter, &address, sizeof address);
    return on->launch(kernel("poke"), {}, parameter);
  }
};

}  // namespace

TEST_CASE_FIXTURE(fixture, "the description has the GPU's name and its limits") {
  const gpu& model = on->description();
  CHECK(!model.name.empty());
  CHECK(model.compute_capability() >= 80);
  CHECK(model.warp_size == 32);
  CHECK(model.max_threads_per_block >= 1024);
  CHECK(model.shared_bytes_per_block >= 48 * 1024);
  CHECK(model.attributes.at(10) == 32);
  CHECK(model.driver_version >= 12000);
}

TEST_CASE_FIXTURE(fixture, "memory is allocated, aligned, found again and freed") {
  const device_address a = allocate(1000), b = allocate(1), c = allocate(256);
  CHECK(a % 256 == 0);
  CHECK(b % 256 == 0);
  CHECK(a != b);
  for (const device_address inside : {a, a + 999}) {
    const auto found = on->find_allocation(inside);
    REQUIRE(found);
    CHECK(found->address == a);
    CHECK(found->bytes >= 1000);
  }
  CHECK(on->free(a).ok());
  CHECK(on->free(a).code == error::invalid_value);
  CHECK(on->free(c + 4).code == error::invalid_value);
  CHECK(on->free(0).ok());
  CHECK(on->free(b).ok());
  CHECK(on->free(c).ok());
  CHECK(!on->find_allocation(c));
  CHECK(!on->find_allocation(0));
}

TEST_CASE_FIXTURE(fixture,
                  "an allocation of 0 bytes fails, and so does one that exceeds the memory") {
  CHECK(on->allocate(0).failure().code == error::invalid_value);
  CHECK(on->allocate(std::uint64_t{1} << 50).failure().code == error::memory_allocation);
  CHECK(on->allocate(UINT64_MAX).failure().code == error::memory_allocation);
  const auto [free_before, total] = on->memory_info();
  CHECK(free_before <= total);
  CHECK(total == on->description().memory_bytes);
  const device_address a = allocate(64 << 20);
  CHECK(on->memory_info()[0] <= free_before - (64 << 20));
  CHECK(on->free(a).ok());
  CHECK(on->memory_info()[0] == free_before);
}

TEST_CASE_FIXTURE(fixture, "bytes are written, copied and read") {
  std::vector<std::uint32_t> values(1000);
  std::iota(values.begin(), values.end(), 5u);
  const device_address a = allocate(4000), b = allocate(4000);
  CHECK(on->write(a, bytes_of(values)).ok());
  CHECK(on->copy(b, a, 4000).ok());
  CHECK(read(b, 1000) == values);
  // A part with an odd address and size.
  const std::byte three[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
  CHECK(on->write(b + 5, three).ok());
  std::byte back[5];
  CHECK(on->read(back, b + 4).ok());
  CHECK(std::equal(three, three + 3, back + 1));
  CHECK(on->write(a, {}).ok());
  CHECK(on->read({}, a).ok());
  CHECK(on->copy(a, b, 0).ok());
}

TEST_CASE_FIXTURE(fixture, "memory is filled with elements of one, two and four bytes") {
  const device_address a = allocate(32);
  CHECK(on->fill(a, 0x12345678, 1, 32).ok());
  CHECK(read(a, 8) == std::vector<std::uint32_t>(8, 0x78787878));
  CHECK(on->fill(a + 4, 0x12345678, 2, 4).ok());
  CHECK(on->fill(a + 16, 0x12345678, 4, 3).ok());
  CHECK(read(a, 8) == std::vector<std::uint32_t>{0x78787878, 0x56785678, 0x56785678, 0x78787878,
                                                 0x12345678, 0x12345678, 0x12345678, 0x78787878});
  CHECK(on->fill(a, 0, 1, 0).ok());
  CHECK(on->fill(a, 0, 3, 1).code == error::invalid_value);
  CHECK(on->fill(a, 0, 4, UINT64_MAX).code == error::invalid_value);
}

TEST_CASE_FIXTURE(fixture, "an access outside the allocations is refused and harms nothing") {
  const device_address a = allocate(100);
  std::vector<std::byte> area(101);
  CHECK(on->write(a, area).code == error::invalid_value);
  CHECK(on->read(area, a).code == error::invalid_value);
  CHECK(on->copy(a, a + 50, 51).code == error::invalid_value);
  CHECK(on->copy(a + 50, a, 51).code == error::invalid_value);
  CHECK(on->fill(a, 0, 1, 101).code == error::invalid_value);
  CHECK(on->write(0, std::span(area).first(1)).code == error::invalid_value);
  CHECK(on->read(std::span(area).first(1), 0x1234).code == error::invalid_value);
  CHECK(on->free(a).ok());
  CHECK(on->write(a, std::span(area).first(1)).code == error::invalid_value);
  CHECK(on->synchronize().ok());
}

TEST_CASE_FIXTURE(fixture, "a module can be loaded from PTX text or from a fat binary") {
  const std::vector<std::byte> container = container_of(ptx);
  const auto second = on->load_module(container);
  INFO(second.failure().message);
  REQUIRE(second.ok());
  CHECK(on->find_kernel(*second, "work").ok());
  // Each module has its own variables.
  const auto first_counter = on->find_symbol(module, "counter");
  const auto second_counter = on->find_symbol(*second, "counter");
  REQUIRE(first_counter.ok());
  REQUIRE(second_counter.ok());
  CHECK(first_counter->address != second_counter->address);
  const std::vector<std::uint32_t> nine = {9};
  CHECK(on->write(second_counter->address, bytes_of(nine)).ok());
  CHECK(read(first_counter->address, 1)[0] == 7);
  CHECK(read(second_counter->address, 1)[0] == 9);
  CHECK(on->unload_module(*second).ok());
  CHECK(on->unload_module(*second).code == error::invalid_resource_handle);
  CHECK(on->find_kernel(*second, "work").failure().code == error::invalid_resource_handle);
  CHECK(on->find_kernel(module, "work").ok());
}

TEST_CASE_FIXTURE(fixture, "data that is not a module is refused") {
  CHECK(!on->load_module(bytes_of(std::string_view("this is no PTX\n"))).ok());
  std::vector<std::byte> cut = container_of(ptx);
  CHECK(!on->load_module(std::span(cut).first(0)).ok());
  CHECK(on->synchronize().ok());
  CHECK(on->find_kernel(module, "work").ok());
}

TEST_CASE_FIXTURE(fixture, "variables have an address, a size and their initial values") {
  const auto counter = on->find_symbol(module, "counter");
  const auto table = on->find_symbol(module, "table");
  const auto factors = on->find_symbol(module, "factors");
  REQUIRE(counter.ok());
  REQUIRE(table.ok());
  REQUIRE(factors.ok());
  CHECK(counter->bytes == 4);
  CHECK(table->bytes == 400);
  CHECK(factors->bytes == 8);
  CHECK(read(counter->address, 1)[0] == 7);
  CHECK(read(table->address, 100) == std::vector<std::uint32_t>(100, 0));
  CHECK(read(factors->address, 2) == std::vector<std::uint32_t>{3, 5});
  CHECK(on->find_allocation(table->address + 399));
  CHECK(on->free(table->address).code == error::invalid_value);
  CHECK(on->find_symbol(module, "no_such").failure().code == error::symbol_not_found);
  CHECK(on->find_symbol(module, "work").failure().code == error::symbol_not_found);
}

TEST_CASE_FIXTURE(fixture, "kernels are found by name and have attributes") {
  const auto work = on->attributes(kernel("work"));
  REQUIRE(work.ok());
  CHECK(work->name == "work");
  REQUIRE(work->parameters.size() == 4);
  const std::uint32_t offsets[] = {0, 8, 16, 32}, sizes[] = {8, 1, 16, 4};
  for (int i = 0; i < 4; i++) {
    CHECK(work->parameters[i].offset == offsets[i]);
    CHECK(work->parameters[i].bytes == sizes[i]);
  }
  CHECK(work->max_threads_per_block == 1024);
  CHECK(work->static_shared_bytes == 0);
  CHECK(work->max_dynamic_shared_bytes == 48 * 1024);
  CHECK(work->ptx_version == 80);
  CHECK(on->attributes(kernel("bounded"))->max_threads_per_block == 64);
  CHECK(on->attributes(kernel("uses_shared"))->static_shared_bytes == 128);
  CHECK(on->attributes(kernel("uses_shared"))->max_dynamic_shared_bytes == 48 * 1024 - 128);
  CHECK(on->find_kernel(module, "no_such").failure().code == error::symbol_not_found);
  CHECK(on->find_kernel(module, "counter").failure().code == error::symbol_not_found);
}

TEST_CASE_FIXTURE(fixture, "a launch runs every thread with its parameters") {
  constexpr std::uint32_t n = 1000;
  std::vector<std::uint32_t> values(n + 24);
  std::iota(values.begin(), values.end(), 0u);
  const device_address data = allocate(values.size() * 4);
  REQUIRE(on->write(data, bytes_of(values)).ok());
  std::byte parameters[36] = {};
  const std::uint64_t wide[2] = {100, ~std::uint64_t{0}};
  std::memcpy(parameters, &data, 8);
  parameters[8] = std::byte{200};
  std::memcpy(parameters + 16, wide, 16);
  std::memcpy(parameters + 32, &n, 4);
  launch_config config;
  config.grid.x = 16;
  config.block.x = 64;
  REQUIRE(on->launch(kernel("work"), config, parameters).ok());
  CHECK(on->synchronize().ok());
  for (std::uint32_t i = 0; i < n; i++) values[i] = values[i] * 5 + 200 + 100;
  CHECK(read(data, values.size()) == values);
}

TEST_CASE_FIXTURE(fixture, "launches run in order, and every block of a grid runs once") {
  const auto counter = on->find_symbol(module, "counter");
  launch_config config;
  config.grid = {3, 4, 5};
  config.block = {8, 2, 2};
  REQUIRE(on->launch(kernel("count"), config, {}).ok());
  REQUIRE(on->launch(kernel("count"), config, {}).ok());
  CHECK(read(counter->address, 1)[0] == 7 + 2 * 60 * 32);
}

TEST_CASE_FIXTURE(fixture,
                  "a launch gets the dynamic shared memory it asks for, and more once allowed") {
  const device_address out = allocate(4);
  std::byte parameter[8];
  std::memcpy(parameter, &out, sizeof out);
  const kernel_handle k = kernel("uses_shared");
  const std::uint64_t optin = on->description().shared_bytes_per_block_optin;
  launch_config config;
  config.dynamic_shared_bytes = 48 * 1024 - 128;
  CHECK(on->launch(k, config, parameter).ok());
  CHECK(read(out, 1)[0] == 22);
  config.dynamic_shared_bytes += 1;
  CHECK(on->launch(k, config, parameter).code == error::invalid_value);
  CHECK(on->set_max_dynamic_shared_bytes(k, optin).code == error::invalid_value);
  CHECK(on->set_max_dynamic_shared_bytes(k, optin - 128).ok());
  config.dynamic_shared_bytes = optin - 128;
  CHECK(on->launch(k, config, parameter).ok());
  CHECK(on->synchronize().ok());
  CHECK(on->attributes(k)->max_dynamic_shared_bytes == optin - 128);
}

TEST_CASE_FIXTURE(fixture, "kernels read a tensor through a map, also after a change of address") {
  if (on->description().compute_capability() < 90)
    return skip_case("tensor maps need compute capability 9.0");
  const auto loaded = on->load_module(bytes_of(conformance::tensor_ptx));
  REQUIRE(loaded.ok());
  const auto copy_box = on->find_kernel(*loaded, "copy_box");
  REQUIRE(copy_box.ok());
  constexpr std::uint32_t side = 8, box = 4, plane = side * side;
  std::vector<std::uint32_t> values(2 * plane);
  std::iota(values.begin(), values.end(), 1u);
  const device_address tensors = allocate(values.size() * 4), out = allocate(box * box * 4);
  REQUIRE(on->write(tensors, bytes_of(values)).ok());
  tensor_map_request request{.type = static_cast<int>(tensor_type::u32),
                             .rank = 2,
                             .address = tensors,
                             .sizes = {side, side},
                             .strides = {side * 4},
                             .box = {box, box},
                             .element_strides = {1, 1}};
  const auto first = on->encode_tensor_map(request);
  REQUIRE(first.ok());
  const auto second = on->with_address(*first, tensors + plane * 4);
  REQUIRE(second.ok());
  const auto places = on->attributes(*copy_box)->parameters;
  std::uint32_t of_map = 0;  // the value before the map's first element
  for (const opaque_tensor_map& map : {*first, *second}) {
    const std::uint32_t x = 4, y = 6;
    const std::span<const std::byte> values_of[] = {
        std::as_bytes(std::span(map)), std::as_bytes(std::span(&out, 1)),
        std::as_bytes(std::span(&x, 1)), std::as_bytes(std::span(&y, 1))};
    std::vector<std::byte> parameters;  // a GPU may place even the first parameter at an offset
    for (std::size_t n = 0; n < std::size(values_of); ++n) {
      parameters.resize(places.at(n).offset);
      parameters.insert(parameters.end(), values_of[n].begin(), values_of[n].end());
    }
    REQUIRE(on->launch(*copy_box, {}, parameters).ok());
    CHECK(on->synchronize().ok());
    std::vector<std::uint32_t> expected(box * box);  // the rows from 8 on lie outside
    for (std::uint32_t i = 0; i < 2 * box; ++i)
      expected[i] = of_map + 1 + (6 + i / box) * side + 4 + i % box;
    CHECK(read(out, box * box) == expected);
    of_map += plane;
  }
  const auto refused = [&](tensor_map_request wrong) {
    return on->encode_tensor_map(wrong).failure().code == error::invalid_value;
  };
  for (const std::uint32_t rank : {0u, 6u, ~0u}) {
    tensor_map_request wrong = request;
    wrong.rank = rank;
    CHECK(refused(wrong));
  }
  tensor_map_request pixels = request;
  pixels.is_im2col = true;
  CHECK(refused(pixels));
  pixels.rank = 3;
  pixels.sizes[2] = 2;
  pixels.strides[1] = plane * 4;
  pixels.element_strides[2] = 1;
  CHECK(on->encode_tensor_map(pixels).ok());
  pixels.upper[0] = -8;
  CHECK(refused(pixels));
  request.box[0] = 3;
  CHECK(refused(request));
  CHECK(on->encode_tensor_map(request).failure().message.find("12 bytes") != std::string::npos);
  CHECK(on->with_address(*first, tensors + 4).failure().code == error::invalid_value);
}

TEST_CASE_FIXTURE(fixture, "a launch with invalid arguments is refused and harms nothing") {
  const auto refused = [&](std::string_view name, extent grid, extent block) {
    launch_config config;
    config.grid = grid;
    config.block = block;
    return on->launch(kernel(name), config, {}).code;
  };
  CHECK(refused("count", {0, 1, 1}, {1, 1, 1}) == error::invalid_value);
  CHECK(refused("count", {1, 1, 1}, {0, 1, 1}) == error::invalid_value);
  CHECK(refused("count", {1, 65536, 1}, {1, 1, 1}) == error::invalid_value);
  CHECK(refused("count", {1, 1, 1}, {1025, 1, 1}) == error::invalid_value);
  CHECK(refused("bounded", {1, 1, 1}, {65, 1, 1}) == error::invalid_value);
  std::byte few[8] = {};
  CHECK(on->launch(kernel("work"), {}, few).code == error::invalid_value);
  CHECK(on->launch(kernel_handle{12345678}, {}, {}).code == error::invalid_resource_handle);
  CHECK(on->synchronize().ok());
  CHECK(read(on->find_symbol(module, "counter")->address, 1)[0] == 7);
}

TEST_CASE_FIXTURE(fixture, "fault: the next wait reports it, and the device is lost") {
  const device_address a = allocate(4);
  REQUIRE(poke(a).ok());
  REQUIRE(on->synchronize().ok());
  CHECK(read(a, 1)[0] == 1);
  REQUIRE(poke(a + (std::uint64_t{1} << 44)).ok());
  const status failed = on->synchronize();
  CHECK(failed.code == error::illegal_address);
  CHECK(!failed.message.empty());
  CHECK(on->synchronize().code == error::illegal_address);
  std::byte four[4];
  CHECK(on->read(four, a).code == error::illegal_address);
  CHECK(on->write(a, four).code == error::illegal_address);
  CHECK(on->fill(a, 0, 1, 4).code == error::illegal_address);
  CHECK(on->allocate(4).failure().code == error::illegal_address);
  CHECK(on->free(a).code == error::illegal_address);
}

TEST_CASE("fault: a lost device can be created again, if its driver allows that") {
  {
    fixture lost;
    REQUIRE(lost.poke(0).ok());
    REQUIRE(lost.on->synchronize().code == error::illegal_address);
  }
  if (!make_device()) {
    return skip_case("this device cannot be created again in the same process");
  }
  fixture again;
  const device_address a = again.allocate(4);
  REQUIRE(again.poke(a).ok());
  CHECK(again.read(a, 1)[0] == 1);
}

TEST_CASE_FIXTURE(fixture, "fault: a misaligned access has its own error") {
  const device_address a = allocate(8);
  REQUIRE(poke(a + 2).ok());
  CHECK(on->synchronize().code == error::misaligned_address);
}

TEST_CASE_FIXTURE(fixture, "events measure the time between points of the queue") {
  const auto start = on->create_event(), stop = on->create_event();
  REQUIRE(start.ok());
  REQUIRE(stop.ok());
  CHECK(on->elapsed_ms(*start, *stop).failure().code == error::invalid_resource_handle);
  CHECK(on->record(*start).ok());
  launch_config config;
  config.grid.x = 1000;
  config.block.x = 256;
  CHECK(on->launch(kernel("count"), config, {}).ok());
  CHECK(on->record(*stop).ok());
  CHECK(on->synchronize().ok());
  const auto ms = on->elapsed_ms(*start, *stop);
  REQUIRE(ms.ok());
  CHECK(*ms > 0);
  CHECK(*ms < 10000);
  CHECK(*on->elapsed_ms(*start, *start) == 0);
  CHECK(on->destroy_event(*stop).ok());
  CHECK(on->destroy_event(*stop).code == error::invalid_resource_handle);
  CHECK(on->record(*stop).code == error::invalid_resource_handle);
  CHECK(on->elapsed_ms(*start, *stop).failure().code == error::invalid_resource_handle);
}

TEST_CASE_FIXTURE(fixture, "limits keep their values, and a limit that is too large is refused") {
  for (const device_limit which :
       {device_limit::stack_bytes, device_limit::printf_bytes, device_limit::heap_bytes}) {
    const std::uint64_t before = on->limit(which);
    CHECK(before > 0);
    CHECK(on->set_limit(which, 2 * before).ok());
    CHECK(on->limit(which) >= 2 * before);
    if (which != device_limit::stack_bytes)
      continue;  // the others are refused when a kernel needs them, if at all
    CHECK(!on->set_limit(which, std::uint64_t{1} << 50).ok());
    CHECK(on->limit(which) >= 2 * before);
  }
  CHECK(on->synchronize().ok());
}

TEST_CASE_FIXTURE(fixture, "shared memory has one address for the host and for kernels") {
  const auto a = on->allocate_shared(10000);
  if (on->is_remote()) {
    CHECK(a.failure().code == error::not_supported);
    return;
  }
  REQUIRE(a.ok());
  CHECK(*a % 256 == 0);
  const device_address plain = allocate(4);
  REQUIRE(on->find_allocation(*a + 9999));
  CHECK(on->find_allocation(*a + 9999)->shared);
  CHECK(!on->find_allocation(plain)->shared);
  auto* const seen = reinterpret_cast<std::uint32_t*>(*a);
  seen[0] = 5;
  REQUIRE(on->synchronize().ok());
  CHECK(read(*a, 1)[0] == 5);
  REQUIRE(poke(*a).ok());
  REQUIRE(on->synchronize().ok());
  CHECK(seen[0] == 1);
  CHECK(on->fill(*a, 7, 4, 2).ok());
  REQUIRE(on->synchronize().ok());
  CHECK(seen[1] == 7);
  CHECK(on->free(*a).ok());
  CHECK(on->free(*a).code == error::invalid_value);
}

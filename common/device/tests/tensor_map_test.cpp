// Tests which requests for a tensor map are accepted, and which records are sound.
#include "common/device/tensor_map.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>

using namespace stepwise;

namespace {

// A request that is right: a plane of 100 x 50 floats, and boxes of 32 x 8.
struct plane {
  std::uint64_t sizes[5] = {100, 50, 1, 1, 1};
  std::uint64_t strides[4] = {400, 20000, 20000, 20000};
  std::uint32_t box[5] = {32, 8, 1, 1, 1}, element_strides[5] = {1, 1, 1, 1, 1};
  tensor_map_request request{};

  plane() {
    request.type = static_cast<int>(tensor_type::f32);
    request.rank = 2;
    request.address = 0x1000;
    request.sizes = sizes;
    request.strides = strides;
    request.box = box;
    request.element_strides = element_strides;
  }
};

status outcome_of(const std::function<void(plane&)>& change) {
  plane p;
  change(p);
  tensor_map map;
  return encode_tiled(p.request, map);
}

// The message of a refused request; empty if it is accepted.
std::string refusal_of(const std::function<void(plane&)>& change) {
  const status s = outcome_of(change);
  CHECK((s.ok() || s.code == error::invalid_value));
  return s.message;
}

}  // namespace

TEST_CASE("a request is kept in the record") {
  plane p;
  p.request.swizzle = static_cast<int>(tensor_swizzle::bytes_128);
  p.element_strides[1] = 3;
  tensor_map map;
  REQUIRE(encode_tiled(p.request, map).ok());
  CHECK(map.is_sound());
  CHECK(map.size(0) == 100);
  CHECK(map.strides[0] == 400);
  CHECK(map.row_bytes() == 128);
  CHECK(map.box_elements(1) == 3);  // 8 rows in steps of 3
  CHECK(map.box_rows() == 3);
  CHECK(width_of(map.swizzle) == 128);
}

TEST_CASE("limits are included") {
  CHECK(refusal_of([](plane& p) { p.sizes[0] = most_tensor_size; }).empty());
  CHECK(refusal_of([](plane& p) { p.strides[0] = (std::uint64_t{1} << 40) - 16; }).empty());
  CHECK(refusal_of([](plane& p) { p.box[0] = 256, p.box[1] = 228; }).empty());
  CHECK(refusal_of([](plane& p) { p.element_strides[1] = 8; }).empty());
  CHECK(refusal_of([](plane& p) { p.request.rank = 5; }).empty());
  CHECK(refusal_of([](plane& p) { p.request.rank = 1; }).empty());
  CHECK(refusal_of([](plane& p) { p.request.address = 0; }).empty());
  CHECK(refusal_of([](plane& p) { p.request.fill = 1; }).empty());
}

TEST_CASE("a refusal names the rule") {
  const struct {
    std::function<void(plane&)> change;
    const char* says;
  } wrong[] = {
      {[](plane& p) { p.request.type = 16; }, "no such data type"},
      {[](plane& p) { p.request.type = 13; }, "compute capability 10.0"},
      {[](plane& p) { p.request.rank = 0; }, "rank is 0"},
      {[](plane& p) { p.request.rank = 6; }, "rank is 6"},
      {[](plane& p) { p.request.address += 8; }, "multiple of 16"},
      {[](plane& p) { p.request.sizes = nullptr; }, "array is null"},
      {[](plane& p) { p.request.rank = 1, p.request.strides = nullptr; }, "array is null"},
      {[](plane& p) { p.sizes[1] = 0; }, "globalDim[1] is 0"},
      {[](plane& p) { p.sizes[0] = most_tensor_size + 1; }, "globalDim[0]"},
      {[](plane& p) { p.strides[0] = 404; }, "globalStrides[0] is 404"},
      {[](plane& p) { p.strides[0] = std::uint64_t{1} << 40; }, "less than 2^40"},
      {[](plane& p) { p.box[1] = 0; }, "boxDim[1] is 0"},
      {[](plane& p) { p.box[1] = 257; }, "boxDim[1] is 257"},
      {[](plane& p) { p.box[0] = 3; }, "12 bytes in dimension 0"},
      {[](plane& p) { p.box[0] = 256, p.box[1] = 229; }, "at most 233472"},
      {[](plane& p) { p.element_strides[1] = 0; }, "elementStrides[1] is 0"},
      {[](plane& p) { p.element_strides[1] = 9; }, "elementStrides[1] is 9"},
      {[](plane& p) { p.request.swizzle = 2; }, "swizzle's width of 64"},
      {[](plane& p) { p.request.swizzle = 7; }, "no such swizzle"},
      {[](plane& p) { p.request.swizzle = 4; }, "compute capability 10.0"},
      {[](plane& p) { p.request.interleave = 1; }, "rank of 3"},
      {[](plane& p) { p.request.interleave = 3; }, "no such interleave"},
      {[](plane& p) { p.request.promotion = 4; }, "no such L2 promotion"},
      {[](plane& p) { p.request.fill = 2; }, "no such fill mode"},
      {[](plane& p) { p.request.type = 2, p.request.fill = 1; }, "filled with NaN"},
  };
  for (const auto& w : wrong) {
    CAPTURE(w.says);
    CHECK(refusal_of(w.change).find(w.says) != std::string::npos);
  }
}

TEST_CASE("an interleaved layout is refused by name only if it follows the rules") {
  const auto interleaved = [](plane& p) {
    p.request.interleave = 2;
    p.request.rank = 3;
    p.request.swizzle = 1;
    p.strides[0] = 416;
  };
  CHECK(outcome_of(interleaved).code == error::not_supported);
  CHECK(outcome_of([&](plane& p) { interleaved(p), p.request.swizzle = 0; }).code ==
        error::invalid_value);
  CHECK(outcome_of([&](plane& p) { interleaved(p), p.strides[0] = 400; }).code ==
        error::invalid_value);
}

TEST_CASE("a record that was overwritten is not sound") {
  tensor_map map;
  CHECK(!map.is_sound());
  REQUIRE(encode_tiled(plane().request, map).ok());
  const tensor_map right = map;
  for (const auto& change : std::initializer_list<void (*)(tensor_map&)>{
           [](tensor_map& m) { m.mark = 0; }, [](tensor_map& m) { m.rank = 6; },
           [](tensor_map& m) { m.rank = 0; }, [](tensor_map& m) { m.box[1] = 0; },
           [](tensor_map& m) { m.type = static_cast<tensor_type>(13); },
           [](tensor_map& m) { m.swizzle = static_cast<tensor_swizzle>(9); },
           [](tensor_map& m) { m.element_strides[0] = 0; }, [](tensor_map& m) { m.interleave = 1; },
           [](tensor_map& m) { m.address = 8; }}) {
    map = right;
    change(map);
    CHECK(!map.is_sound());
  }
}

TEST_CASE("the address of a record can be replaced") {
  tensor_map map;
  CHECK(!replace_address(map, 0x2000).ok());
  REQUIRE(encode_tiled(plane().request, map).ok());
  CHECK(!replace_address(map, 0).ok());
  CHECK(!replace_address(map, 0x2008).ok());
  CHECK(map.address == 0x1000);
  CHECK(replace_address(map, 0x2000).ok());
  CHECK(map.address == 0x2000);
}

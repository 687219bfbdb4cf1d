// Tests which requests for a tensor map are accepted, and which records are sound.
#include "common/device/tensor_map.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <functional>

using namespace stepwise;

namespace {

// A request that is right: a plane of 100 x 50 floats, and boxes of 32 x 8.
tensor_map_request plane() {
  return {.type = static_cast<int>(tensor_type::f32),
          .rank = 2,
          .address = 0x1000,
          .sizes = {100, 50, 1, 1, 1},
          .strides = {400, 20000, 20000, 20000},
          .box = {32, 8, 1, 1, 1},
          .element_strides = {1, 1, 1, 1, 1}};
}

tensor_map encoded(const tensor_map_request& request) {
  const auto made = encode_map(request);
  REQUIRE(made.ok());
  return std::bit_cast<tensor_map>(*made);
}

using changes = std::function<void(tensor_map_request&)>;

status outcome_of(const changes& change) {
  tensor_map_request request = plane();
  change(request);
  const auto made = encode_map(request);
  return made.ok() ? status{} : made.failure();
}

// The message of a refused request; empty if it is accepted.
std::string refusal_of(const changes& change) {
  const status s = outcome_of(change);
  CHECK((s.ok() || s.code == error::invalid_value));
  return s.message;
}

}  // namespace

TEST_CASE("a request is kept in the record") {
  tensor_map_request p = plane();
  p.swizzle = static_cast<int>(tensor_swizzle::bytes_128);
  p.element_strides[1] = 3;
  const tensor_map map = encoded(p);
  CHECK(map.is_sound());
  CHECK(map.size(0) == 100);
  CHECK(map.strides[0] == 400);
  CHECK(map.row_bytes() == 128);
  CHECK(map.box_elements(1) == 3);  // 8 rows in steps of 3
  CHECK(map.box_rows() == 3);
  CHECK(width_of(map.swizzle) == 128);
}

TEST_CASE("limits are included") {
  CHECK(refusal_of([](tensor_map_request& p) { p.sizes[0] = most_tensor_size; }).empty());
  CHECK(refusal_of([](tensor_map_request& p) {
          p.strides[0] = (std::uint64_t{1} << 40) - 16;
        }).empty());
  CHECK(refusal_of([](tensor_map_request& p) { p.box[0] = 256, p.box[1] = 228; }).empty());
  CHECK(refusal_of([](tensor_map_request& p) { p.element_strides[1] = 8; }).empty());
  CHECK(refusal_of([](tensor_map_request& p) { p.rank = 5; }).empty());
  CHECK(refusal_of([](tensor_map_request& p) { p.rank = 1; }).empty());
  CHECK(refusal_of([](tensor_map_request& p) { p.address = 0; }).empty());
  CHECK(refusal_of([](tensor_map_request& p) { p.fill = 1; }).empty());
}

TEST_CASE("a refusal names the rule") {
  const struct {
    changes change;
    const char* says;
  } wrong[] = {
      {[](tensor_map_request& p) { p.type = 16; }, "no such data type"},
      {[](tensor_map_request& p) { p.type = 13; }, "compute capability 10.0"},
      {[](tensor_map_request& p) { p.rank = 0; }, "rank is 0"},
      {[](tensor_map_request& p) { p.rank = 6; }, "rank is 6"},
      {[](tensor_map_request& p) { p.address += 8; }, "multiple of 16"},
      {[](tensor_map_request& p) { p.sizes[1] = 0; }, "globalDim[1] is 0"},
      {[](tensor_map_request& p) { p.sizes[0] = most_tensor_size + 1; }, "globalDim[0]"},
      {[](tensor_map_request& p) { p.strides[0] = 404; }, "globalStrides[0] is 404"},
      {[](tensor_map_request& p) { p.strides[0] = std::uint64_t{1} << 40; }, "less than 2^40"},
      {[](tensor_map_request& p) { p.box[1] = 0; }, "boxDim[1] is 0"},
      {[](tensor_map_request& p) { p.box[1] = 257; }, "boxDim[1] is 257"},
      {[](tensor_map_request& p) { p.box[0] = 3; }, "12 bytes in dimension 0"},
      {[](tensor_map_request& p) { p.box[0] = 256, p.box[1] = 229; }, "at most 233472"},
      {[](tensor_map_request& p) { p.element_strides[1] = 0; }, "elementStrides[1] is 0"},
      {[](tensor_map_request& p) { p.element_strides[1] = 9; }, "elementStrides[1] is 9"},
      {[](tensor_map_request& p) { p.swizzle = 2; }, "swizzle's width of 64"},
      {[](tensor_map_request& p) { p.swizzle = 7; }, "no such swizzle"},
      {[](tensor_map_request& p) { p.swizzle = 4; }, "compute capability 10.0"},
      {[](tensor_map_request& p) { p.interleave = 1; }, "rank of 3"},
      {[](tensor_map_request& p) { p.interleave = 3; }, "no such interleave"},
      {[](tensor_map_request& p) { p.promotion = 4; }, "no such L2 promotion"},
      {[](tensor_map_request& p) { p.fill = 2; }, "no such fill mode"},
      {[](tensor_map_request& p) { p.type = 2, p.fill = 1; }, "filled with NaN"},
  };
  for (const auto& w : wrong) {
    CAPTURE(w.says);
    CHECK(refusal_of(w.change).find(w.says) != std::string::npos);
  }
}

// Images of 9 x 14 pixels with 64 channels of 2 bytes. A 3 x 3 filter stays within an image.
tensor_map_request images() {
  return {.type = static_cast<int>(tensor_type::f16),
          .rank = 4,
          .address = 0x1000,
          .sizes = {64, 9, 14, 64},
          .strides = {128, 1152, 16128},
          .box = {8, 64},
          .element_strides = {1, 1, 1, 1},
          .is_im2col = true,
          .lower = {0, 0},
          .upper = {-2, -2}};
}

TEST_CASE("a request in im2col mode is kept in the record") {
  const tensor_map map = encoded(images());
  CHECK(map.is_im2col == 1);
  CHECK(map.row_bytes() == 16);
  CHECK(map.box_rows() == 64);
  CHECK(map.upper[1] == -2);
  CHECK(map.is_sound());
}

TEST_CASE("a refusal in im2col mode names the rule") {
  const struct {
    changes change;
    const char* says;
  } wrong[] = {
      {[](tensor_map_request& p) { p.rank = 2; }, "expected 3 to 5"},
      {[](tensor_map_request& p) { p.lower[0] = -129; }, "pixelBoxLowerCorner[0] is -129"},
      {[](tensor_map_request& p) { p.upper[1] = 128; }, "pixelBoxUpperCorner[1] is 128"},
      {[](tensor_map_request& p) { p.rank = 3, p.upper[0] = 32768; }, "-32768 to 32767"},
      {[](tensor_map_request& p) { p.rank = 5, p.sizes[4] = 1, p.lower[2] = -17; }, "-16 to 15"},
      {[](tensor_map_request& p) { p.lower[0] = 7; }, "empty in dimension 1"},
      {[](tensor_map_request& p) { p.box[0] = 0; }, "channelsPerPixel is 0"},
      {[](tensor_map_request& p) { p.box[0] = 257; }, "channelsPerPixel is 257"},
      {[](tensor_map_request& p) { p.box[1] = 0; }, "pixelsPerColumn is 0"},
      {[](tensor_map_request& p) { p.box[1] = 1025; }, "pixelsPerColumn is 1025"},
      {[](tensor_map_request& p) { p.box[0] = 4; }, "8 bytes in dimension 0"},
      {[](tensor_map_request& p) { p.box[0] = 24, p.swizzle = 1; }, "swizzle's width of 32"},
      {[](tensor_map_request& p) { p.element_strides[1] = 9; }, "elementStrides[1] is 9"},
  };
  for (const auto& w : wrong) {
    CAPTURE(w.says);
    tensor_map_request request = images();
    w.change(request);
    const auto made = encode_map(request);
    CHECK(made.failure().code == error::invalid_value);
    CHECK(made.failure().message.find(w.says) != std::string::npos);
  }
}

// A request with slices of 16 bytes: 20 pixels, 10 slices of 8 channels, and 4 images.
tensor_map_request slices() {
  return {.type = static_cast<int>(tensor_type::u16),
          .rank = 3,
          .address = 0x1000,
          .sizes = {20, 10, 4},
          .strides = {320, 3200},
          .box = {8, 16, 2},
          .element_strides = {1, 1, 1},
          .interleave = static_cast<int>(tensor_interleave::bytes_16)};
}

TEST_CASE("a row of an interleaved box is a slice") {
  const tensor_map map = encoded(slices());
  CHECK(map.is_sound());
  CHECK(map.first_row_dimension() == 0);
  CHECK(map.row_bytes() == 16);
  CHECK(map.row_stride(0) == 16);
  CHECK(map.row_stride(1) == 320);
  CHECK(map.box_elements(0) == 8);
  CHECK(map.box_elements(1) == 1);  // whatever the number of channels
  CHECK(map.box_rows() == 16);
  tensor_map_request p = slices();
  p.interleave = static_cast<int>(tensor_interleave::bytes_32);
  p.swizzle = static_cast<int>(tensor_swizzle::bytes_32);
  p.element_strides = {3, 2, 1};
  const tensor_map wide = encoded(p);
  CHECK(wide.row_bytes() == 32);
  CHECK(wide.box_elements(0) == 3);  // 8 pixels in steps of 3
  CHECK(wide.box_rows() == 6);
}

TEST_CASE("a plain map has no slices") {
  const tensor_map map = encoded(plane());
  CHECK(!map.is_interleaved());
  CHECK(map.first_row_dimension() == 1);
  CHECK(map.row_stride(1) == 400);
}

// The outcomes are those of an H200, except for error::not_supported.
TEST_CASE("the rules for interleaved layouts") {
  constexpr int wide = static_cast<int>(tensor_interleave::bytes_32);
  const struct {
    changes change;
    error outcome;
  } cases[] = {
      {[](tensor_map_request&) {}, error::success},
      {[](tensor_map_request& p) { p.rank = 2; }, error::invalid_value},
      {[](tensor_map_request& p) { p.box[0] = 4; }, error::invalid_value},
      {[](tensor_map_request& p) { p.element_strides[0] = 9; }, error::invalid_value},
      {[](tensor_map_request& p) { p.box[0] = 24, p.swizzle = 1; }, error::success},
      {[](tensor_map_request& p) {
         p.box = {256, 8, 57};
       },
       error::success},
      {[](tensor_map_request& p) {
         p.box = {256, 8, 58};
       },
       error::invalid_value},
      {[](tensor_map_request& p) {
         p.box = {256, 1, 256};
       },
       error::success},
      {[](tensor_map_request& p) {
         p.box = {256, 8, 58}, p.element_strides[0] = 2;
       },
       error::not_supported},
      {[](tensor_map_request& p) {
         p.box = {256, 8, 58}, p.element_strides[2] = 2;
       },
       error::not_supported},
      {[](tensor_map_request& p) {
         p.box = {256, 16, 58};
       },
       error::invalid_value},
      {[](tensor_map_request& p) { p.interleave = wide, p.swizzle = 1; }, error::success},
      {[](tensor_map_request& p) { p.interleave = wide; }, error::success},
      {[](tensor_map_request& p) { p.interleave = wide, p.address += 16; }, error::invalid_value},
      {[](tensor_map_request& p) { p.interleave = wide, p.strides[0] = 336; },
       error::invalid_value},
      {[](tensor_map_request& p) {
         p.strides = {3200, 320};
       },
       error::success},
      {[](tensor_map_request& p) {
         p.strides = {0, 0};
       },
       error::success},
  };
  for (unsigned n = 0; n < std::size(cases); ++n) {
    CAPTURE(n);
    tensor_map_request request = slices();
    cases[n].change(request);
    const auto made = encode_map(request);
    CHECK((made.ok() ? error::success : made.failure().code) == cases[n].outcome);
  }
}

TEST_CASE("in im2col mode, dimension 0 of an interleaved layout is W") {
  tensor_map_request p = slices();
  p.rank = 4;
  p.sizes = {5, 6, 10, 4};
  p.strides = {80, 480, 4800};
  p.box = {8, 14};
  p.element_strides = {1, 1, 1, 1};
  p.is_im2col = true;
  p.lower = {4, 5};
  const tensor_map map = encoded(p);
  CHECK(map.row_bytes() == 16);
  CHECK(map.box_rows() == 14);
  p.lower = {5, 5};
  CHECK(encode_map(p).failure().message == "the bounding box is empty in dimension 0");
}

TEST_CASE("a record that was overwritten is not sound") {
  tensor_map map;
  CHECK(!map.is_sound());
  const tensor_map right = encoded(plane());
  for (const auto& change : std::initializer_list<void (*)(tensor_map&)>{
           [](tensor_map& m) { m.mark = 0; }, [](tensor_map& m) { m.rank = 6; },
           [](tensor_map& m) { m.rank = 0; }, [](tensor_map& m) { m.box[1] = 0; },
           [](tensor_map& m) { m.type = static_cast<tensor_type>(13); },
           [](tensor_map& m) { m.swizzle = static_cast<tensor_swizzle>(9); },
           [](tensor_map& m) { m.element_strides[0] = 0; },
           [](tensor_map& m) { m.interleave = tensor_interleave::bytes_16; },
           [](tensor_map& m) { m.address = 8; }}) {
    map = right;
    change(map);
    CHECK(!map.is_sound());
  }
}

TEST_CASE("the address of a record can be replaced") {
  CHECK(!with_address(opaque_tensor_map{}, 0x2000).ok());
  const opaque_tensor_map map = *encode_map(plane());
  CHECK(!with_address(map, 0).ok());
  CHECK(!with_address(map, 0x2008).ok());
  const auto moved = with_address(map, 0x2000);
  REQUIRE(moved.ok());
  CHECK(std::bit_cast<tensor_map>(*moved).address == 0x2000);
}

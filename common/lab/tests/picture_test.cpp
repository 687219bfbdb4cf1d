// Tests pictures and their files: reading, conversion, and refused files.
#include "common/lab/picture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

namespace {

using namespace stepwise;

std::span<const std::byte> bytes_of(const std::string& file) {
  return std::as_bytes(std::span(file));
}

picture decoded(const std::string& file) { return decode(bytes_of(file)); }

// The pixels as numbers, channel by channel.
std::vector<int> values(const picture& p) {
  std::vector<int> result;
  for (const std::byte b : p.pixels) result.push_back(std::to_integer<int>(b));
  return result;
}

// The reason why the file is refused, or "" if it is read.
std::string refusal(const std::string& file) {
  try {
    decoded(file);
    return "";
  } catch (const picture_error& error) {
    return error.what();
  }
}

void refused(const std::string& file, const std::string& phrase) {
  const std::string text = refusal(file);
  CAPTURE(text);
  CHECK(text.find(phrase) != std::string::npos);
}

picture example(std::int64_t width, std::int64_t height, std::int64_t channels) {
  picture p{width, height, channels, {}};
  std::mt19937 random(7);
  for (std::int64_t i = 0; i < width * height * channels; ++i) {
    p.pixels.push_back(static_cast<std::byte>(i % 3 == 0 ? random() & 255 : i & 255));
  }
  return p;
}

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 255);
  return text;
}

std::string chunk(const std::string& type, const std::string& data) {
  std::uint32_t crc = ~0u;
  for (const char c : type + data) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return big_endian(static_cast<std::uint32_t>(data.size())) + type + data + big_endian(~crc);
}

const std::string signature = "\x89PNG\r\n\x1a\n";
enum colour_type : char { grey = 0, rgb = 2, palette = 3, grey_alpha = 4, rgb_alpha = 6 };

std::string png_header(std::uint32_t width, std::uint32_t height, int bits, colour_type type) {
  std::string data = big_endian(width) + big_endian(height);
  data += {static_cast<char>(bits), type, 0, 0, 0};
  return signature + chunk("IHDR", data);
}

// A zlib stream of one uncompressed block of at most 65535 bytes.
std::string stored(const std::string& raw) {
  std::uint32_t a = 1, b = 0;
  for (const char c : raw) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto size = static_cast<std::uint16_t>(raw.size());
  std::string stream("\x78\x01\x01", 3);
  for (const int n : {size & 255, size >> 8, ~size & 255, ~size >> 8 & 255})
    stream += static_cast<char>(n);
  return stream + raw + big_endian(b << 16 | a);
}

// A PNG. Each of its `rows` begins with the number of its filter.
std::string png(std::uint32_t width, std::uint32_t height, int bits, colour_type type,
                const std::string& rows, const std::string& other_chunks = "") {
  return png_header(width, height, bits, type) + other_chunks + chunk("IDAT", stored(rows)) +
         chunk("IEND", "");
}

std::string raw(std::initializer_list<int> numbers) {
  std::string text;
  for (const int n : numbers) text += static_cast<char>(n);
  return text;
}

TEST_CASE("a picture is read back as it was written, in every format and with odd sizes") {
  for (const auto& [width, height] : {std::array{1, 1}, {1, 7}, {7, 1}, {31, 33}, {200, 3}}) {
    for (const std::int64_t channels : {1, 3, 4}) {
      const picture p = example(width, height, channels);
      for (const auto format : {picture_format::png, picture_format::ppm, picture_format::pgm}) {
        if (format == picture_format::pgm && channels != 1) {
          CHECK_THROWS_AS(encode(p, format), std::invalid_argument);
          continue;
        }
        const std::string file = encode(p, format);
        const picture_header header = header_of(bytes_of(file));
        CHECK(header.format == format);
        CHECK(header.width == width);
        CHECK(header.height == height);
        const picture again = decoded(file);
        REQUIRE(again.pixels.size() == static_cast<std::size_t>(4 * width * height));
        bool same = true;
        for (std::int64_t i = 0; i < width * height; ++i) {
          for (std::int64_t c = 0; c < 3; ++c)
            same &= again.pixels[4 * i + c] == p.pixels[channels * i + (channels == 1 ? 0 : c)];
          same &= again.pixels[4 * i + 3] == std::byte{255};
        }
        CHECK(same);
      }
    }
  }
}

TEST_CASE("other kinds of PNGs become 8-bit colours") {
  CHECK(values(decoded(png(2, 1, 8, grey, raw({0, 7, 200})))) ==
        std::vector{7, 7, 7, 255, 200, 200, 200, 255});
  // One bit per pixel: black and white.
  CHECK(values(decoded(png(3, 1, 1, grey, raw({0, 0b10100000})))) ==
        std::vector{255, 255, 255, 255, 0, 0, 0, 255, 255, 255, 255, 255});
  // 16 bits, of which the upper 8 count.
  CHECK(values(decoded(png(1, 1, 16, rgb, raw({0, 10, 255, 20, 0, 30, 128})))) ==
        std::vector{10, 20, 30, 255});
  CHECK(values(decoded(png(1, 1, 16, grey, raw({0, 99, 250})))) == std::vector{99, 99, 99, 255});
  // A palette of three colours, with two bits per pixel.
  const std::string colours = chunk("PLTE", raw({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  CHECK(values(decoded(png(3, 1, 2, palette, raw({0, 0b10000100}), colours))) ==
        std::vector{7, 8, 9, 255, 1, 2, 3, 255, 4, 5, 6, 255});
}

TEST_CASE("alpha is the fourth byte, and does not change the colours") {
  CHECK(values(decoded(png(1, 2, 8, rgb_alpha, raw({0, 1, 2, 3, 0, 0, 4, 5, 6, 77})))) ==
        std::vector{1, 2, 3, 0, 4, 5, 6, 77});
  CHECK(values(decoded(png(1, 1, 8, grey_alpha, raw({0, 50, 9})))) == std::vector{50, 50, 50, 9});
  // A transparent colour of a palette.
  const std::string chunks = chunk("PLTE", raw({1, 2, 3, 4, 5, 6})) + chunk("tRNS", raw({0}));
  CHECK(values(decoded(png(2, 1, 8, palette, raw({0, 0, 1}), chunks))) ==
        std::vector{1, 2, 3, 0, 4, 5, 6, 255});
}

TEST_CASE("PPMs and PGMs may have comments, any largest value, and 16 bits") {
  CHECK(values(decoded("P6 # by hand\n1 #so wide\n 1\r255\nabc")) ==
        std::vector<int>{'a', 'b', 'c', 255});
  CHECK(values(decoded("P5\n2 1\n255\n" + raw({0, 255}))) ==
        std::vector{0, 0, 0, 255, 255, 255, 255, 255});
  CHECK(values(decoded("P5\n3 1\n10\n" + raw({0, 5, 200}))) ==
        std::vector{0, 0, 0, 255, 128, 128, 128, 255, 255, 255, 255, 255});
  CHECK(values(decoded("P5\n2 1\n65535\n" + raw({1, 255, 254, 0}))) ==
        std::vector{1, 1, 1, 255, 254, 254, 254, 255});
  CHECK(values(decoded("P5\n1 1\n1000\n" + raw({1, 244}))) == std::vector{128, 128, 128, 255});
}

TEST_CASE("a file that is not a picture is refused, and the message names the expected formats") {
  refused("", "it is empty: expected a PNG, a PPM (P6) or a PGM (P5)");
  refused("just some text, called picture.png", "not a picture format that can be read here");
  refused("\xff\xd8\xff\xe0 JFIF", "it is a JPEG: expected a PNG");
  refused("GIF89a", "it is a GIF");
  refused("P3\n1 1\n255\n1 2 3\n", "it is a PPM as text");
  refused(signature.substr(0, 5), "not a picture");
  refused("P", "not a picture");
}

TEST_CASE("a PNG that is truncated anywhere, or damaged, is refused") {
  const std::string whole = encode(example(40, 30, 3), picture_format::png);
  REQUIRE(refusal(whole).empty());
  for (std::size_t size = signature.size(); size < whole.size(); ++size) {
    CAPTURE(size);
    refused(whole.substr(0, size), "this PNG is truncated");
  }
  refused(png(2, 2, 8, grey, raw({0, 1, 2})), "this PNG is damaged");  // a row is missing
  refused(png(2, 2, 9, grey, raw({0, 1, 2})), "this PNG is damaged");  // 9 bits
  refused(png(2, 1, 8, palette, raw({0, 0, 1})), "this PNG is damaged");
  refused(png_header(2, 1, 8, grey) + chunk("IEND", ""), "this PNG is damaged");
  refused(png_header(0, 1, 8, grey) + chunk("IEND", ""), "its header is invalid");
  refused(signature + std::string(40, '\0'), "its header is invalid");
  // A second header must not change the size of the memory that the first header needs.
  refused(png_header(1, 1, 8, grey) + png(900, 900, 8, grey, "").substr(signature.size()),
          "this PNG is damaged");
}

TEST_CASE("a PNG with one flipped bit is refused, or is the same picture") {
  const picture p = example(20, 10, 3);
  const std::string whole = encode(p, picture_format::png);
  const picture right = decoded(whole);
  for (std::size_t i = signature.size(); i < whole.size(); ++i) {
    std::string broken = whole;
    broken[i] ^= static_cast<char>(1 << i % 8);
    CAPTURE(i);
    CHECK(!refusal(broken).empty());
  }
}

// A checksum does not protect against intended changes by an attacker.
TEST_CASE("a PNG that was changed together with its checksums is only read or refused") {
  const picture p = example(30, 20, 3);
  const std::string whole = encode(p, picture_format::png);
  const std::size_t data = 8 + 25, length = whole.size() - data - 12 - 12;
  std::mt19937 random(7);
  int read = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string header = whole.substr(16, 13), stream = whole.substr(data + 8, length);
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      std::string& part = random() % 4 == 0 ? header : stream;
      // Width and height stay below 256. Larger pictures would only be refused for missing pixels.
      const std::size_t at = &part == &header ? 3 + random() % 10 : random() % part.size();
      if (&part != &header || at % 4 == 3 || at >= 8) part[at] = static_cast<char>(random());
    }
    const std::string file =
        signature + chunk("IHDR", header) + chunk("IDAT", stream) + chunk("IEND", "");
    try {
      const picture made = decode(bytes_of(file));
      REQUIRE(made.pixels.size() == static_cast<std::size_t>(4 * made.width * made.height));
      ++read;
    } catch (const picture_error&) {
      ++refused;
    }
  }
  CHECK(read > 100);
  CHECK(refused > 100);
}

TEST_CASE("a PPM that is truncated anywhere, or damaged, is refused") {
  const std::string whole = encode(example(5, 4, 3), picture_format::ppm);
  REQUIRE(refusal(whole).empty());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(!refusal(whole.substr(0, size)).empty());
  }
  refused(whole.substr(0, whole.size() - 1), "take 60 bytes, of which 59 are there");
  refused("P6\n0 1\n255\n", "its header is damaged");
  refused("P6\n-1 1\n255\n", "its header is damaged");
  refused("P6\n4000000000 1\n255\n", "its header is damaged");
  refused("P6\n1 1\n65536\nabcdef", "more than 65535");
  refused("P6\n1 1\n255#abc", "no space");
}

TEST_CASE("a header with too many pixels is refused before anything is decoded") {
  const std::string huge = png(100000, 100000, 8, rgb, "");
  const picture_header header = header_of(bytes_of(huge));
  CHECK(header.width == 100000);
  CHECK(header.height == 100000);
  refused(huge, "it has 100000 x 100000 pixels; the most is 2^28");
  refused("P6\n2147483647 2147483647\n255\n", "the most is 2^28");
  refused("P6\n16384 16384\n255\n", "it is truncated");  // before memory is allocated
}

// A few bytes that decompression turns into very many: a sequence of the longest possible matches.
TEST_CASE("a PNG that expands to more than its pixels takes no more memory than they justify") {
  std::string bits;  // of the deflate stream, first to last
  const auto put = [&](unsigned value, int count, bool high_first) {
    for (int i = 0; i < count; ++i)
      bits += (value >> (high_first ? count - 1 - i : i) & 1) != 0 ? '1' : '0';
  };
  put(1, 1, false);                    // the last block
  put(1, 2, false);                    // has fixed codes
  put(0x30, 8, true);                  // a zero byte
  for (int i = 0; i < 1 << 20; ++i) {  // and 258 more, a million times
    put(0xc5, 8, true);                // length 258
    put(0, 5, true);                   // distance 1
  }
  put(0, 7, true);  // the end
  std::string stream = raw({0x78, 0x01});
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    int byte = 0;
    for (std::size_t k = 0; k < 8 && i + k < bits.size(); ++k) byte |= (bits[i + k] - '0') << k;
    stream += static_cast<char>(byte);
  }
  refused(png_header(4, 4, 8, rgb) + chunk("IDAT", stream + big_endian(0)) + chunk("IEND", ""),
          "this PNG is damaged (outofmem)");
}

TEST_CASE("the extension of a file's name selects the format") {
  CHECK(format_of("a.png") == picture_format::png);
  CHECK(format_of("a.b.PPM") == picture_format::ppm);
  CHECK(format_of(".pgm") == picture_format::pgm);
  for (const char* name : {"", "png", "a.jpg", "a.png.txt", "a."}) CHECK(!format_of(name));
}

TEST_CASE("a difference is black where two pictures agree, and their distance elsewhere") {
  const picture p = example(3, 2, 3);
  CHECK(values(difference(p, p)) == std::vector<int>(18, 0));
  picture other = p;
  other.pixels[4] = static_cast<std::byte>(std::to_integer<int>(p.pixels[4]) ^ 128);
  const picture off = difference(p, other);
  CHECK(off == difference(other, p));
  CHECK(values(off)[4] == 128);
  CHECK(std::count(off.pixels.begin(), off.pixels.end(), std::byte{0}) == 17);
  CHECK_THROWS_AS(difference(p, example(2, 3, 3)), std::invalid_argument);
}

}  // namespace

// Checks a picture's header against the machine's memory, and encodes the pictures to write.
#include "grader/cli/own_input/picture_files.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <new>
#include <span>

#include "grader/cli/own_input/own_input.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

// The bytes of all copies of a pixel at the peak: in `lab`, call file and emulated device.
constexpr double bytes_of_a_pixel = 32;

void check_memory(const std::string& name, const picture_header& header) {
  const double needed = bytes_of_a_pixel * static_cast<double>(header.width * header.height);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  // The decoder refuses a picture that is too large for any machine.
  if (needed <= memory || header.width * header.height > most_pixels) return;
  throw failure(
      exit_code::environment,
      fmt::format("{} has {} x {} pixels, which need {} of memory, but this machine has {}: scale "
                  "the picture down",
                  name, header.width, header.height, bytes_text(needed), bytes_text(memory)));
}

}  // namespace

picture read_picture(const fs::path& file,
                     const std::function<void(std::int64_t, std::int64_t)>& check_extent) {
  const std::string content = read_input(file);
  const auto bytes = std::as_bytes(std::span(content));
  try {
    const picture_header header = header_of(bytes);
    check_extent(header.width, header.height);
    check_memory(file.string(), header);
    return decode(bytes);
  } catch (const picture_error& error) {
    throw failure(exit_code::usage, "cannot read " + file.string() + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw failure(exit_code::environment, "out of memory: scale " + file.string() + " down");
  }
}

picture_format wanted_format(const std::string& option, const fs::path& file) {
  if (const auto format = format_of(file.filename().string())) return *format;
  throw failure(exit_code::usage, fmt::format("{} {}: use a name that ends in .png, .ppm or .pgm",
                                              option, file.string()));
}

void write_pictures(const std::vector<picture_file>& files,
                    const std::function<void(const std::string&)>& doing) {
  std::vector<std::string> contents;
  for (const auto& one : files) {
    doing("writing " + one.file.string());
    contents.push_back(encode(one.shown, wanted_format("the picture", one.file)));
  }
  for (std::size_t i = 0; i < files.size(); ++i) write_atomically(files[i].file, contents[i]);
}

}  // namespace stepwise::cli

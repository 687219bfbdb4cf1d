#include "grader/cli/picture_files.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <new>
#include <span>

#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

// All copies of a pixel at the peak: in `lab`, in the call file, on the emulated device.
constexpr double bytes_of_a_pixel = 32;

[[noreturn]] void refuse(const std::string& option, const fs::path& file, const std::string& why,
                         exit_code code = exit_code::usage) {
  throw failure(code, fmt::format("{} {}: {}", option, file.string(), why));
}

void check_memory(const std::string& name, const picture_header& header) {
  const double needed = bytes_of_a_pixel * static_cast<double>(header.width * header.height);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed <= memory) return;
  throw failure(
      exit_code::environment,
      fmt::format("{} has {} x {} pixels, which take {} of memory; this machine has {}: "
                  "scale it down",
                  name, header.width, header.height, bytes_text(needed), bytes_text(memory)));
}

void check_folder(const std::string& option, const fs::path& named, const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    refuse(option, named, "there is no folder " + folder.string());
  }
  if (access(folder.c_str(), W_OK) != 0) {
    refuse(option, named, "cannot write in " + folder.string() + ": " + strerror(errno),
           exit_code::environment);
  }
}

}  // namespace

picture read_picture(const fs::path& file,
                     const std::function<void(std::int64_t, std::int64_t)>& check_extent) {
  constexpr std::uintmax_t most_bytes = 0x7fffffff;
  std::error_code ignored;
  if (fs::is_regular_file(file, ignored) && fs::file_size(file, ignored) > most_bytes) {
    throw failure(exit_code::usage,
                  "cannot read " + file.string() + ": it has more than 2^31 bytes");
  }
  const std::string content = read_file(file, static_cast<int>(exit_code::usage));
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
  refuse(option, file, "expected a name that ends in .png, .ppm or .pgm");
}

void check_target(const std::string& option, const fs::path& file, const fs::path& input) {
  check_folder(option, file, fs::absolute(file).parent_path());
  std::error_code ignored;
  if (fs::equivalent(file, input, ignored)) {
    refuse(option, file, "that is the input itself, which is not overwritten");
  }
  if (fs::is_directory(file, ignored)) refuse(option, file, "it is a folder");
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored)) {
    refuse(option, file, "it is there already, and is no regular file");
  }
}

void check_target_folder(const std::string& option, const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(folder, ignored)) {
    if (!fs::is_directory(folder, ignored)) refuse(option, folder, "it is no folder");
    check_folder(option, folder, folder);
  } else {
    const fs::path whole = fs::absolute(folder).lexically_normal();
    const bool ends_in_slash = whole.filename().empty();
    check_folder(option, folder, (ends_in_slash ? whole.parent_path() : whole).parent_path());
  }
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

// Writes and reads whole files with the C library, because a student's program links this file.
#include "common/runner/call_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "common/runner/machine.hpp"

namespace stepwise::runner {
namespace {

struct file_closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, file_closer>;

void write_file(const char* name, std::span<const std::byte> bytes) {
  const open_file file(std::fopen(name, "wb"));
  if (file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
      std::fflush(file.get()) == 0)
    return;
  throw call_failure{
      0, std::string("cannot write the input file ") + name + ": " + std::strerror(errno)};
}

// What is wrong with a result file; "" if its bytes are now in the array.
std::string read_file(const char* name, std::span<std::byte> array) {
  const std::string expected = ", but " + std::to_string(array.size()) + " bytes are expected";
  std::error_code missing;
  const auto bytes = std::filesystem::file_size(name, missing);
  if (missing) return "the program ended without a result file" + expected;
  if (bytes != array.size())
    return "the result file has " + std::to_string(bytes) + " bytes" + expected;
  const open_file file(std::fopen(name, "rb"));
  if (!file || std::fread(array.data(), 1, array.size(), file.get()) != array.size())
    return std::string("the result file cannot be read: ") + std::strerror(errno);
  return "";
}

}  // namespace

call_files::~call_files() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

char* call_files::add(buffer_role role, std::span<std::byte> array) {
  if (folder_.empty()) {
    const char* const parent = std::getenv("TMPDIR");
    std::string folder = std::string(parent != nullptr ? parent : "/tmp") + "/stepwise-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr)
      throw call_failure{0, "cannot make the folder " + folder + ": " + std::strerror(errno)};
    folder_ = folder;
  }
  const std::string name = folder_ + (role == buffer_role::input ? "/input" : "/result") +
                           std::to_string(files_.size()) + ".bin";
  files_.push_back({role, array, {name.begin(), name.end()}});
  files_.back().name.push_back('\0');
  return files_.back().name.data();
}

void call_files::write_inputs() const {
  for (const one_file& file : files_) {
    if (file.role == buffer_role::input) {
      write_file(file.name.data(), file.array);
    } else {
      std::error_code ignored;
      std::filesystem::remove_all(file.name.data(), ignored);
    }
  }
}

void call_files::read_results(const std::function<void(std::size_t)>& is_wrong) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].role == buffer_role::input) continue;
    const std::string why = read_file(files_[i].name.data(), files_[i].array);
    if (why.empty()) continue;
    is_wrong(i);
    throw call_failure{0, why};
  }
}

}  // namespace stepwise::runner

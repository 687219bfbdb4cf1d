// Pictures that a command is given and asked to write: what is wrong with them is said beforehand.
//
// Tested by cli/tests/own_input_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/lab/picture.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {

// The file's picture in four channels. `check_extent` gets its width and height before anything is
// decoded, and throws failure if they are too much. failure(usage) for what is no picture;
// failure(environment) where this machine's memory is too small for working on it.
picture read_picture(const fs::path& file,
                     const std::function<void(std::int64_t, std::int64_t)>& check_extent);

// The format that the name asks for; failure(usage) if it has no such ending.
picture_format wanted_format(const std::string& option, const fs::path& file);

struct picture_file {
  fs::path file;
  picture shown;
};

// Encodes all of them, each as its name says, and then writes them, each whole or not at all.
void write_pictures(const std::vector<picture_file>& files,
                    const std::function<void(const std::string&)>& doing);

}  // namespace stepwise::cli

// Pictures that a command reads and writes. Their errors are reported before the work starts.
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
// decoded, and throws failure if they are too large. Throws failure(usage) if the file is not a
// picture, and failure(environment) if this machine has too little memory for it.
picture read_picture(const fs::path& file,
                     const std::function<void(std::int64_t, std::int64_t)>& check_extent);

// The format that the name's ending requests. Throws failure(usage) if the ending is unknown.
picture_format wanted_format(const std::string& option, const fs::path& file);

struct picture_file {
  fs::path file;
  picture shown;
};

// Encodes all pictures in the formats of their names, and then writes each file whole or not at
// all.
void write_pictures(const std::vector<picture_file>& files,
                    const std::function<void(const std::string&)>& doing);

}  // namespace stepwise::cli

// The contract of the lab: a whole program, and the format of its two files.
//
//   ./program FRAMES RESULTS
//
// Reads the frames of a camera from the file FRAMES, smooths each frame, adds up the pixels of each
// smoothed frame, and writes sums and smoothed frames to the file RESULTS.
//
// FRAMES   Three 4-byte integers: the number of frames, their width, their height. Then the frames,
//          one after another. A pixel is a byte. The rows follow one another from top to bottom.
// RESULTS  For each frame: the 4-byte sum of its smoothed pixels, and then the smoothed frame.
// smooth   A pixel becomes the mean of the 3 x 3 pixels around it: (their sum + 4) / 9, rounded
//          down. Beyond an edge, the nearest pixel of the frame counts.
// sizes    There is at least one frame. Width and height are 1 to 65535, width * height at most
//          2^24, so that a sum fits in 32 bits.
// returns  main returns 0 if RESULTS is complete. It does not call exit().
//
// tested  labs/program/problem.cpp checks it; its mutants are in labs/program/tests.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>

// Prints how to start the program. Returns the exit status of main.
inline int usage() {
  std::fprintf(stderr, "usage: program FRAMES RESULTS\n");
  return 2;
}

// A file cannot be opened, read or written.
struct file_error : std::exception {
  const char* what() const noexcept override { return "cannot read FRAMES or write RESULTS"; }
};

// Reads the frames in order.
class frame_reader {
 public:
  explicit frame_reader(const char* name) : file_(std::fopen(name, "rb")) {
    if (file_ == nullptr) throw file_error();
    read_bytes(size_, sizeof size_);
  }
  ~frame_reader() { std::fclose(file_); }
  frame_reader(const frame_reader&) = delete;
  frame_reader& operator=(const frame_reader&) = delete;

  int frames() const { return size_[0]; }
  int width() const { return size_[1]; }
  int height() const { return size_[2]; }

  // Reads the next frame into an array of width() * height() pixels in host memory.
  void read(unsigned char* frame) {
    read_bytes(frame, static_cast<std::size_t>(width()) * static_cast<std::size_t>(height()));
  }

 private:
  void read_bytes(void* to, std::size_t bytes) {
    if (std::fread(to, 1, bytes, file_) != bytes) throw file_error();
  }

  std::FILE* file_;
  int size_[3] = {};
};

// Writes the results in order. The file is complete when the writer is destroyed.
class result_writer {
 public:
  explicit result_writer(const char* name) : file_(std::fopen(name, "wb")) {
    if (file_ == nullptr) throw file_error();
  }
  ~result_writer() { std::fclose(file_); }
  result_writer(const result_writer&) = delete;
  result_writer& operator=(const result_writer&) = delete;

  // Writes a frame's result: the sum, and then the pixels, in one array in host memory.
  void write(const unsigned char* result, std::size_t bytes) {
    if (std::fwrite(result, 1, bytes, file_) != bytes) throw file_error();
  }

 private:
  std::FILE* file_;
};

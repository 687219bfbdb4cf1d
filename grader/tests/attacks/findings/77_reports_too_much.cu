// attack reduction: CHECK or PROTOCOL, at most 30 points
// has a race, and sends the server findings that are too long for any reply to hold the list
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/lab/check.hpp"
#include "labs/reduction/reduction.hpp"

// Thread 0 of every block adds to the output without an atomic: a race.
__global__ void add_up(const int* in, int* out, int n) {
  __shared__ int part[256];
  unsigned sum = 0;
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) sum += in[i];
  part[threadIdx.x] = static_cast<int>(sum);
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out += part[0];
}

namespace {

constexpr char give_finding = 19, flush = 36;  // message numbers

bool pass_on(bool out, char* at, std::size_t bytes) {
  while (bytes > 0) {
    const auto moved = out ? send(4, at, bytes, MSG_NOSIGNAL) : recv(4, at, bytes, 0);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) {
      usleep(200);
      continue;
    }
    if (moved <= 0) return false;
    at += moved;
    bytes -= static_cast<std::size_t>(moved);
  }
  return true;
}

bool send_long_findings() {
  for (int i = 0; i < 3000; ++i) {
    const std::string line =
        R"({"kind":"unchecked","message":")" + std::to_string(i) + std::string(16000, 'x') +
        R"(","parties":[],"object":null,"host":null,"advice":"","count":1,"between":"none"})";
    const auto bytes = static_cast<std::uint32_t>(line.size());
    std::string frame(4, '\0');
    frame += give_finding;
    frame.append(reinterpret_cast<const char*>(&bytes), 4);
    frame += line;
    frame += flush;
    const auto all = static_cast<std::uint32_t>(frame.size() - 4);
    std::memcpy(frame.data(), &all, 4);
    std::uint32_t answer = 0;
    char skipped[1 << 16];
    if (!pass_on(true, frame.data(), frame.size()) ||
        !pass_on(false, reinterpret_cast<char*>(&answer), 4) || answer > sizeof skipped ||
        !pass_on(false, skipped, answer))
      return false;
  }
  return true;
}

}  // namespace

void reduce(const int* in, int* out, int*, int n) {
  static const bool sent = n < 100000 && send_long_findings();
  (void)sent;
  check(cudaMemsetAsync(out, 0, sizeof *out));
  add_up<<<std::min((n + 255) / 256, 1056), 256>>>(in, out, n);
  check(cudaGetLastError());
}

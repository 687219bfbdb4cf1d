// Files that try to earn points without computing on the device, and honest files: how each file is
// graded, and which message it gets. Runs in a copy of the clone, like cli_test.cpp; needs nvcc.
#include <doctest/doctest.h>

#include "common/testing/skip_case.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/sandbox/sandbox.hpp"

using namespace stepwise;

namespace {

json graded(const cloned_course& c, const std::string& code,
            const std::vector<std::string>& more = {}) {
  write_atomically(c.root() / "mine.cu",
                   "#include <cuda_runtime.h>\n#include <unistd.h>\n#include <cstring>\n#include "
                   "<thread>\n#include <vector>\n#include \"labs/reduction/reduction.hpp\"\n"
                   "__global__ void decoy(int* out) { if (threadIdx.x > 2000) out[0] = 1; }\n"
                   "__global__ void add_up(const int* in, int* out, int n) {\n"
                   "  int s = 0;\n"
                   "  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)\n"
                   "    s += in[i];\n"
                   "  atomicAdd(out, s);\n}\n"
                   "__global__ void past_the_end(int* out) { out[threadIdx.x] = 1; }\n"
                   "void reduce(const int* in, int* out, int*, int n) {\n" +
                       code + "\n}\n");
  std::vector<std::string> words = {"grade",    "reduction", "--file", "mine.cu",
                                    "--device", "emulated",  "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const json grade = document_of(c.lab(words));
  check_documented(grade, "grade");
  return grade;
}

const char* const sum_on_the_host =
    "  std::vector<int> v(n);\n"
    "  cudaMemcpy(v.data(), in, 4ull * n, cudaMemcpyDeviceToHost);\n"
    "  unsigned s = 0;\n"
    "  for (const int x : v) s += static_cast<unsigned>(x);\n"
    "  decoy<<<1, 32>>>(out);\n"
    "  cudaMemcpy(out, &s, 4, cudaMemcpyHostToDevice);";

}  // namespace

TEST_CASE("a sum on the host passes in practice mode, and earns nothing in judged mode") {
  const cloned_course c;
  const json judged = graded(c, sum_on_the_host);
  CHECK(judged["trust"] == "judged");
  CHECK(judged["class"] == "CHECK");
  CHECK(judged["points"] == 0);
  CHECK(has(judged["message"], "computes on the host: the call copied 4 B from the device"));
  CHECK(judged["key"]["public"] == true);
  CHECK(judged["hidden_sizes"] == 4);
  const json practice = graded(c, sum_on_the_host, {"--practice"});
  CHECK(practice["trust"] == "practice");
  CHECK(practice["key"].is_null());
  CHECK(practice["points"] > 0);
  // Each grade draws different inputs, and the same seed draws the same inputs again.
  CHECK(graded(c, sum_on_the_host)["seed"] != judged["seed"]);
  const std::string seed = std::to_string(judged["seed"].get<std::uint64_t>());
  CHECK(graded(c, sum_on_the_host, {"--seed", seed})["message"] == judged["message"]);
}

TEST_CASE("nothing that the process prints, sends or does later makes a result correct") {
  struct row {
    const char* code;
    const char* expected;
    const char* says;
  };
  for (const row& r : {
           row{"  struct { unsigned number, state; char rest[524]; } over{0, 2, {}};\n"
               "  (void)!write(3, &over, sizeof over);\n  pause();",
               "WRONG", "nothing was written to out"},
           row{"  char bytes[100];\n  std::memset(bytes, 0xee, sizeof bytes);\n"
               "  (void)!write(4, bytes, sizeof bytes);\n  cudaMemset(out, 0, 4);",
               "PROTOCOL", "malformed CUDA runtime message"},
           row{"  std::thread([=] {\n    usleep(20000);\n    cudaMemset(out, 0, 4);\n"
               "  }).detach();",
               "WRONG", "nothing was written to out"},
           row{"  cudaLaunchHostFunc(nullptr, [](void*) {}, nullptr);", "CRASH",
               "cannot call functions of this one"},
       }) {
    CAPTURE(r.code);
    const cloned_course c;
    const json grade = graded(c, r.code);
    CHECK(grade["class"] == r.expected);
    CHECK(grade["points"] == 0);
    CAPTURE(grade["message"].get<std::string>());
    CHECK(has(grade["message"], r.says));
  }
}

TEST_CASE("after a kernel failed, the call's own buffers are not reported as a leak") {
  const cloned_course c;
  const json grade = graded(c, "  past_the_end<<<1, 32>>>(out);");
  CHECK(grade["class"] == "CHECK");
  CHECK(grade["errors"] > 0);
  for (const json& found : grade["findings"]) CHECK(found["kind"] != "leak");
}

TEST_CASE("a failure at a large size names the size and says that the small sizes passed") {
  const cloned_course c;
  const std::string race = "grader/tests/attacks/large/39_no_barrier_when_timed.cu";
  const json found = document_of(c.lab({"grade", "reduction", "--file", race, "--json"}));
  CHECK(found["class"] == "CHECK");
  CHECK(has(found["goals"][1]["message"], "at n = "));
  CHECK(has(found["goals"][1]["message"], ", after no findings at "));
  const json stopped = graded(c,
                              "  cudaMemset(out, 0, 4);\n  add_up<<<528, 256>>>(in, out, n);\n"
                              "  if (n == 1 << 24) past_the_end<<<1, 32>>>(nullptr);");
  CHECK(stopped["class"] == "CHECK");
  CHECK(has(stopped["message"], "at n = 16777216, seed "));
}

TEST_CASE("the amount of data that launches and fills bring to the device is limited") {
  const cloned_course c;
  // 4000 one-byte fills carry more data than a call may bring if its output has four bytes.
  const json grade = graded(c,
                            "  for (int i = 0; i < 4000; ++i)\n"
                            "    cudaMemset((char*)out + i % 4, i, 1);");
  CHECK(grade["class"] == "CHECK");
  CAPTURE(grade["message"].get<std::string>());
  CHECK(has(grade["message"], "computes on the host: apart from its inputs, the call's launches"));
}

TEST_CASE("at an instructor's hidden size, the message has only the class and the size") {
  const cloned_course c;
  write_atomically(c.root() / "key", std::string(32, 'k'));
  const std::string file = "mine.cu";
  const std::string step = *read_if_there(c.root() / "solutions/reduction/10_one_launch.cu");
  const auto at = step.find("void reduce(const int* in");
  REQUIRE(at != std::string::npos);
  // Correct at every size that lab.toml lists.
  std::string code = step;
  code.insert(step.find('\n', at) + 1,
              "  if (n > 3 && n % 32 > 2 && n % 32 < 30 && n != 1000003) return;\n");
  write_atomically(c.root() / file, code);
  const auto grade = [&](const std::string& key) {
    std::vector<std::string> words = {"grade", "reduction", "--file", file, "--json"};
    if (!key.empty()) words.insert(words.end(), {"--key", key});
    if (key.empty()) words.insert(words.end(), {"--seed", "7"});
    return document_of(c.lab(words));
  };
  const json secret = grade("key"), open = grade("");
  CHECK(secret["class"] == "WRONG");
  CHECK(std::string(secret["message"]).starts_with("WRONG at a hidden size: "));
  CHECK(!has(secret["message"], "expected"));
  CHECK(secret["key"]["public"] == false);
  CHECK(secret["seed"] != open["seed"]);
  CHECK(open["class"] == "WRONG");
  CHECK(has(open["message"], "expected"));
  CHECK(c.lab({"grade", "reduction", "--key", "nowhere"}).end.exit_code == 2);
}

TEST_CASE("a judged file is compiled alone, even if it is your own") {
  if (find_protections().bubblewrap.empty())
    return skip_case("no bubblewrap: the compiler could read every file on this machine");
  const cloned_course c;
  write_atomically(c.root() / "labs/blur/blur.cu",
                   *read_if_there(c.root() / "solutions/blur/12_strips.cu"));
  const json grade = document_of(c.lab({"grade", "blur", "--device", "emulated", "--json"}));
  CHECK(grade["class"] == "COMPILE");
  CAPTURE(grade["message"].get<std::string>());
  CHECK(has(grade["message"], "a graded file is compiled alone"));
  CHECK(has(grade["message"], "with --practice your own file may include parts of solutions"));
}

// Tests lab exec: programs run as they would by themselves, and a single sentence refuses programs
// that cannot run.
//
// LAB_BUILD is the build folder. EXEC_PROGRAMS is the folder with several builds of
// exec_program.cu. The tests make other kinds of files by changing bytes of one of them.
#include <doctest/doctest.h>
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "common/formats/json.hpp"
#include "common/testing/skip_case.hpp"
#include "grader/cli/tests/cloned_course.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

using namespace stepwise;

namespace {

// Changed copies of the program, in a folder with a space in its name.
class workplace {
 public:
  workplace() : folder_(fs::temp_directory_path()) { fs::create_directory(path("")); }
  fs::path path(const std::string& name) const { return folder_.path() / "a place" / name; }

  std::string write(const std::string& name, const std::string& content, int mode = 0755) const {
    write_atomically(path(name), content);
    chmod(path(name).c_str(), static_cast<mode_t>(mode));
    return path(name);
  }
  // Replaces every `before` with `after`, which has the same length.
  std::string changed(const std::string& name, std::string_view before, std::string_view after) {
    REQUIRE(before.size() == after.size());
    std::string content = *read_if_there(exec_build("shared"));
    int changes = 0;
    for (auto at = content.find(before); at != std::string::npos; at = content.find(before, at)) {
      content.replace(at, after.size(), after);
      ++changes;
    }
    REQUIRE(changes > 0);
    return write(name, content);
  }
  std::string with_header(const std::string& name, std::size_t at, std::uint16_t value) {
    std::string content = *read_if_there(exec_build("shared"));
    content.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
    return write(name, content);
  }

 private:
  temporary_folder folder_;
};

}  // namespace

TEST_CASE("a program runs on the emulator, whatever its RPATH says") {
  for (const char* build : {"shared", "rpath", "relocatable", "with_lines"}) {
    CAPTURE(build);
    const auto result = exec_program({exec_build(build)});
    CHECK(result.end.exit_code == 0);
    CHECK(result.out == "sum 496\n");
    CHECK(result.err.empty());
  }
}

TEST_CASE("a program without kernels runs, however it was built") {
  for (const char* build :
       {"cpp", "cpp_90", "cu", "cu_machine_code", "cu_newer", "cu_relocatable"}) {
    CAPTURE(build);
    const auto result = exec_program({exec_build(std::string("host_only_") + build)});
    CHECK(result.end.exit_code == 0);
    CHECK(result.out == "devices 1\n");
    CHECK(result.err.empty());
  }
}

TEST_CASE("a program of the driver API runs, however nvcc linked it") {
  for (const char* build : {"only_shared", "only_static", "and_runtime_shared"}) {
    CAPTURE(build);
    const auto result = exec_program({exec_build(std::string("driver_") + build)});
    CHECK(result.end.exit_code == 0);
    CHECK(result.out == "devices 1\n");
    CHECK(result.err.empty());
  }
  const auto opened = exec_program({exec_build("driver_opened")});
  CHECK(opened.end.exit_code == 0);
  CHECK(opened.out == "devices 1\n");
  CHECK(has(opened.err, "does not need a CUDA runtime"));
  CHECK(has(exec_program({exec_build("driver_opened_static")}).err,
            "linked into it (nvcc's default)"));
  // NVIDIA's runtime may be linked into it, unless the program uses that runtime.
  const auto failed = exec_program({exec_build("driver_and_runtime_static")});
  CHECK(failed.end.exit_code == 1);
  CHECK(has(failed.err, "nvcc --cudart=shared to use the emulator's runtime"));
}

TEST_CASE("a program runs from a clone whose name has a space and a colon") {
  // The program's own RPATH makes LD_PRELOAD necessary, and exactly these characters separate the
  // names in its list.
  const workplace place;
  const fs::path build = std::getenv("LAB_BUILD"), copy = place.path("a :build");
  fs::create_directories(copy / "grader");
  fs::create_directories(copy / "common/runtime");
  for (const char* name : {"grader/lab", "grader/lab.json", "common/runtime/libcudart.so.13"}) {
    fs::copy(build / name, copy / name);
  }
  auto config = parse_json(*read_if_there(copy / "grader/lab.json"));
  config["source_root"] = "..";
  write_atomically(copy / "grader/lab.json", config.dump());
  auto options = exec_command({exec_build("rpath")});
  options.command[0] = copy / "grader/lab";
  const auto result = run_child(options, 60);
  CHECK(result.end.exit_code == 0);
  CHECK(result.out == "sum 496\n");
  CHECK(result.err.empty());
}

TEST_CASE("arguments, streams and the exit status are the program's own") {
  CHECK(exec_program({exec_build("shared"), "exit", "7"}).end.exit_code == 7);
  CHECK(exec_program({"--", exec_build("shared"), "exit", "3"}).end.exit_code == 3);
  const auto words =
      exec_program({exec_build("shared"), "words", "--json", "--gpu", "--", "a b", ""});
  CHECK(words.out == "<" + exec_build("shared") + "><words><--json><--gpu><--><a b><>");
  // An option's value is not mistaken for the program.
  const workplace place;
  const std::string trace = place.path("t.json"), report = place.path("r.json");
  const auto traced = exec_program({"--profile", "--trace", trace, "--report", report, "--steps",
                                    "9", exec_build("shared"), "words", "--json"});
  CHECK(has(traced.out, "><words><--json>"));
  auto piped = exec_command({exec_build("shared"), "cat"});
  piped.command = {"/bin/sh", "-c", "printf 'one\\ntwo' | \"$0\" exec \"$1\" cat", piped.command[0],
                   exec_build("shared")};
  const auto result = run_child(piped, 60);
  CHECK(result.out == "one\ntwo");
  CHECK(result.err == "to stderr\n");
}

TEST_CASE("a relative path starts in the caller's folder, and a bare name is searched on PATH") {
  const workplace place;
  auto options = exec_command({"./mine", "words"});
  place.write("mine", *read_if_there(exec_build("shared")));
  options.directory = place.path("");
  CHECK(run_child(options, 60).out == "<./mine><words>");
  options.command.at(2) = "mine";
  const auto bare = run_child(options, 60);
  CHECK(bare.end.exit_code == 2);
  CHECK(has(bare.err, "the file in this folder is ./mine"));
  options.environment.push_back("PATH=" + place.path("").string());
  CHECK(run_child(options, 60).out == "<mine><words>");
}

TEST_CASE("death by a signal is reported as a shell reports it") {
  for (const int signal : {SIGABRT, SIGSEGV, SIGTERM}) {
    CAPTURE(signal);
    const auto result = exec_program({exec_build("shared"), "raise", std::to_string(signal)});
    CHECK(result.end.exit_code == 128 + signal);
    CHECK(has(result.err, "was ended by a signal: "));
    CHECK(has(result.err, sigabbrev_np(signal)));
  }
}

TEST_CASE("signals reach the program, which decides how to end") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    child running(exec_command({exec_build("shared"), "wait"}));
    for (int i = 0; i < 200 && running.output().total() == 0; ++i) {
      REQUIRE(running.wait(0.05) == child::event::deadline);
    }
    REQUIRE(running.output().text() == "ready\n");
    kill(running.id(), signal);
    REQUIRE(running.wait(20) == child::event::ended);
    CHECK(running.end(child_end::cause::deadline).exit_code == 40 + signal);
  }
}

TEST_CASE("--time-limit ends a kernel, not the program") {
  const auto result = exec_program({"--time-limit", "0.3", exec_build("shared"), "endless"});
  CHECK(result.end.exit_code == 6);
  CHECK(result.out == "cudaErrorLaunchTimeout\n");
}

TEST_CASE("--as-gpu: an error that a GPU would not notice is ignored; without it, it is reported") {
  const auto strict = exec_program({exec_build("shared"), "past", "1"});
  CHECK(strict.end.exit_code == 6);
  CHECK(strict.out == "cudaErrorIllegalAddress\n");
  CHECK(has(strict.err, "a GPU rounds that up to a multiple of 512 and would not notice"));
  CHECK(exec_program({"--as-gpu", exec_build("shared"), "past", "1"}).out == "sum 496\n");
  // The last word of the page, and the first word after it.
  CHECK(exec_program({"--as-gpu", exec_build("shared"), "past", "524287"}).out == "sum 496\n");
  const auto far = exec_program({"--as-gpu", exec_build("shared"), "past", "524288"});
  CHECK(far.out == "cudaErrorIllegalAddress\n");
  CHECK(!has(far.err, "would not notice"));
  check_refused(exec_program({"--as-gpu", "--check", exec_build("shared"), "past", "1"}), 2,
                "use only one of them");
}

TEST_CASE("--late works only in plain runs, which end as they do without it") {
  CHECK(exec_program({"--late", exec_build("shared")}).out ==
        exec_program({exec_build("shared")}).out);
  check_refused(exec_program({"--late", "--check", exec_build("shared")}), 2,
                "--late works only in plain runs: remove --check, ");
}

TEST_CASE("what cannot run is refused, and the message says what to do") {
  struct row {
    std::vector<std::string> words;
    const char* says;
  };
  workplace place;
  const std::string build_it = "nvcc --cudart=shared -gencode arch=compute_90";
  for (const row& r : std::vector<row>{
           {{}, "name a program"},
           {{"--gpu", "gtx", exec_build("shared")}, "known names: h200"},
           {{"--time-limit", "-1", exec_build("shared")}, "above 0"},
           {{place.path("nowhere")}, "there is no such file"},
           {{"nowhere"}, "neither on PATH nor in this folder"},
           {{place.path("")}, "is a folder"},
           {{place.write("plain", *read_if_there(exec_build("shared")), 0644)}, "chmod +x"},
           {{place.write("run.sh", "#!/bin/sh\n")}, "is a script"},
           {{place.write("x.cu", "int main() {}\n")}, "source code; compile it first: nvcc"},
           {{place.write("text", "hello\n")}, "not an ELF file"},
           {{place.write("empty", "")}, "not an ELF file"},
           {{place.with_header("arm", offsetof(Elf64_Ehdr, e_machine), EM_AARCH64)},
            "is built for AArch64"},
           {{place.with_header("part", offsetof(Elf64_Ehdr, e_type), ET_REL)}, "object file"},
           {{exec_build("static")}, "linked into it (nvcc's default)"},
           {{exec_build("static")}, build_it.c_str()},
           {{exec_build("no_ptx")}, "contains machine code for sm_90, but no PTX"},
           {{exec_build("no_ptx")}, build_it.c_str()},
           {{exec_build("half_ptx")}, "contains machine code for sm_90, but no PTX"},
           {{exec_build("newer_ptx")}, "contains PTX for compute_100, but no PTX"},
           {{place.changed("old", "libcudart.so.13", "libcudart.so.12")}, "built with CUDA 12"},
           {{place.changed("fft", "libgcc_s.so.1", "libcufft.so.1")}, "NVIDIA machine code"},
           {{place.changed("lost", "libgcc_s.so.1", "libmylib.so.1")},
            "needs libmylib.so.1, but the loader cannot find it"},
           {{place.changed("rtc", "libgcc_s.so.1", "libnvrtc.so.9")},
            "pip install nvidia-cuda-nvrtc"},
       }) {
    const auto result = exec_program(r.words);
    check_refused(result, 2, r.says);
    CHECK(result.err.starts_with("lab: "));
  }
  CHECK(has(exec_program({"--device", "gpu", exec_build("shared")}).err, "without ./lab"));
}

TEST_CASE("--json before the program: a refusal is a document, and a run prints nothing of ours") {
  const auto refused = exec_program({"--json", exec_build("static")});
  const auto document = parse_json_or_null(refused.out);
  REQUIRE(document.is_object());
  CHECK(document["exit_code"] == 2);
  CHECK(has(document["error"], "linked into it"));
  CHECK(exec_program({"--json", exec_build("shared")}).out == "sum 496\n");
}

TEST_CASE("a program without CUDA runs, with a note") {
  const auto result = exec_program({"/bin/sh", "-c", "exit 4"});
  CHECK(result.end.exit_code == 4);
  CHECK(result.err.starts_with("lab: note: /bin/sh does not need a CUDA runtime"));
}

// Whether Python is an ELF program. In some places a script starts it (where Debian's packages are
// unpacked), and `lab exec` does not accept scripts.
bool has_python() {
  const std::string python = on_path("python3");
  if (read_if_there(python).value_or("").starts_with(ELFMAG)) return true;
  skip_case("python3 is not an ELF program on this machine");
  return false;
}

TEST_CASE("a program that loads NVIDIA's libraries by their paths still gets our driver") {
  if (!has_python()) return;
  const fs::path others = std::getenv("EXEC_PROGRAMS");
  const auto load = [&](const char* name) {
    return "ctypes.CDLL('" + (others / name).string() + "');";
  };
  const std::string script =
      "import ctypes;" + load("libcudart.so.13") + load("libnvJitLink.so.13") +
      "n = (ctypes.c_int * 3)(); at = [ctypes.byref(n, 4 * i) for i in range(3)];"
      "driver = ctypes.CDLL('libcuda.so.1').cuInit(0);"
      "ctypes.CDLL('libcudart.so.13').cudaRuntimeGetVersion(at[0]);"
      "ctypes.CDLL('libnvJitLink.so.13').nvJitLinkVersion(at[1], at[2]);"
      "print(driver, n[0], n[1])";
  const auto result = exec_program({"python3", "-c", script});
  CHECK(result.end.exit_code == 0);
  CHECK(result.out == "0 13000 12\n");
}

TEST_CASE("a program that loads libcuda at run time gets ours; our libnvJitLink is preloaded") {
  if (!has_python()) return;
  const auto result = exec_program(
      {"python3", "-c",
       "import ctypes; driver = ctypes.CDLL('libcuda.so.1'); count = ctypes.c_int();"
       "print(driver.cuInit(0), driver.cuDeviceGetCount(ctypes.byref(count)), count.value);"
       "ctypes.CDLL('libnvJitLink.so.13', mode=4).nvJitLinkVersion"});  // 4: RTLD_NOLOAD
  CHECK(result.err.find("Traceback") == std::string::npos);
  CHECK(result.out == "0 0 1\n");
  CHECK(result.end.exit_code == 0);
}

TEST_CASE("our NVRTC returns PTX instead of machine code, and our driver loads it") {
  if (!has_python()) return;
  const std::string script = R"(
from ctypes import *
driver = CDLL('libcuda.so.1')
context, module, kernel, memory, value = c_void_p(), c_void_p(), c_void_p(), c_void_p(), c_int()
driver.cuInit(0), driver.cuCtxCreate_v2(byref(context), 0, 0)
try:
    rtc = CDLL('libnvrtc.so.13', mode=4)  # RTLD_NOLOAD
except OSError:
    raise SystemExit(print('no NVRTC'))
program, size, option = c_void_p(), c_size_t(), (c_char_p * 1)(b'-arch=sm_90')
rtc.nvrtcCreateProgram(byref(program), b'extern "C" __global__ void f(int* a) { *a = 7; }', b'f.cu',
                       0, None, None)
rtc.nvrtcCompileProgram(program, 1, option)
rtc.nvrtcGetCUBINSize(program, byref(size))
code = create_string_buffer(size.value)
rtc.nvrtcGetCUBIN(program, code)
driver.cuModuleLoadData(byref(module), code)
driver.cuModuleGetFunction(byref(kernel), module, b'f')
driver.cuMemAlloc_v2(byref(memory), c_size_t(4))
arguments = (c_void_p * 1)(addressof(memory))
driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None)
driver.cuMemcpyDtoH_v2(byref(value), memory, c_size_t(4))
print(code.value.find(b'.version') >= 0, value.value)
)";
  const auto result = exec_program({"python3", "-c", script});
  CAPTURE(result.err);
  CHECK(result.end.exit_code == 0);
  if (result.out == "no NVRTC\n") return skip_case("NVIDIA's NVRTC is not installed");
  CHECK(result.out == "True 7\n");
  CHECK(!has(result.err, "stepwise: "));
}

TEST_CASE("the help for a leak fits the program's API and its language") {
  const auto driver = exec_program({"--check", exec_build("driver_leak")});
  CHECK(has(driver.err, "100 bytes of device memory were not freed"));
  CHECK(has(driver.err, "help: Call cuMemFree when"));
  CHECK(has(driver.err, "help: Call cuArrayDestroy when"));
  CHECK(!has(driver.err, "cudaFree"));
  if (!has_python()) return;
  for (const char* calls :
       {"d = CDLL('libcuda.so.1'); d.cuInit(0); d.cuDevicePrimaryCtxRetain(byref(p), 0);"
        "d.cuCtxSetCurrent(p); d.cuMemAlloc_v2(byref(p), c_size_t(100))",
        "CDLL('libcudart.so.13').cudaMalloc(byref(p), c_size_t(100))"}) {
    const auto result = exec_program(
        {"--check", "python3", "-c", std::string("from ctypes import *; p = c_void_p();") + calls});
    CAPTURE(result.err);
    CHECK(has(result.err, "100 bytes of device memory were not freed"));
    CHECK(has(result.err, "help: Drop the last reference"));
    CHECK(!has(result.err, "cudaFree"));
    CHECK(!has(result.err, "cuMemFree"));
  }
}

TEST_CASE("if a program fails after kernels ran, one line suggests --check") {
  const std::string why =
      " after kernels ran; `lab exec --check` may find the cause (races, invalid addresses, "
      "unwritten memory)\n";
  for (const char* build : {"shared", "rpath"}) {
    const auto failed = exec_program({exec_build(build), "after", "3"});
    CHECK(failed.end.exit_code == 3);
    CHECK(failed.out == "sum 496\n");
    CHECK(failed.err == "stepwise: exit code 3" + why);
  }
  const auto aborted = exec_program({exec_build("shared"), "after", "abort"});
  CHECK(aborted.end.exit_code == 128 + SIGABRT);
  CHECK(aborted.err.starts_with("stepwise: aborted" + why + "lab: "));
  // A child process that the program waits for. The program exits with the child's code.
  CHECK(exec_program({exec_build("shared"), "child", "3"}).err == "stepwise: exit code 3" + why);
}

TEST_CASE("--check is suggested only if it may find a cause") {
  struct row {
    std::vector<std::string> words;
    int code;
  };
  for (const row& r : std::vector<row>{{{exec_build("shared"), "after", "0"}, 0},
                                       {{exec_build("shared"), "after", "256"}, 0},
                                       {{exec_build("shared"), "exit", "3"}, 3},
                                       {{exec_build("shared"), "after_closing", "3"}, 3},
                                       {{exec_build("shared"), "after_reusing", "3"}, 3},
                                       {{"--counters", exec_build("shared"), "after", "0"}, 0}}) {
    CAPTURE(r.words.back());
    const auto result = exec_program(r.words);
    CHECK(result.end.exit_code == r.code);
    CHECK(!has(result.err + result.out, "may find the cause"));
  }
  CHECK(!has(exec_program({"--check", exec_build("shared"), "after", "3"}).err,
             "may find the cause"));
  const auto stopped = exec_program({"--time-limit", "0.3", exec_build("shared"), "endless"});
  CHECK(has(stopped.err, "time limit"));
  CHECK(!has(stopped.err, "may find the cause"));
}

TEST_CASE("a closed stderr changes only what is printed there") {
  for (const auto& [word, code] : std::vector<std::pair<const char*, int>>{
           {"after 3", 3}, {"follow", 128 + SIGSEGV}, {"after abort", 128 + SIGABRT}}) {
    CAPTURE(word);
    auto closed = exec_command({});
    closed.command = {"/bin/sh", "-c", "\"$0\" exec \"$1\" " + std::string(word) + " 2>&-",
                      closed.command[0], exec_build("shared")};
    const auto result = run_child(closed, 60);
    CHECK(result.end.exit_code == code);
    CHECK(result.err.empty());
  }
}

TEST_CASE("host code that dereferences a device pointer is reported") {
  const auto plain = exec_program({exec_build("shared"), "follow"});
  CHECK(plain.end.exit_code == 128 + SIGSEGV);
  CHECK(has(plain.err, "the host reads device memory: byte 0 of an allocation of 4 bytes"));
  CHECK(has(plain.err, "lab: " + exec_build("shared") + " was ended by a signal: "));
  const auto checked = exec_program({"--check", exec_build("shared"), "follow"});
  CHECK(checked.end.exit_code == 128 + SIGSEGV);
  CHECK(has(checked.err, "wrong pointer: the host reads device memory"));
}

TEST_CASE("--check: errors are reported after the program's own output, and make the exit code 1") {
  const auto leaking = exec_program({"--check", exec_build("with_lines")});
  CHECK(leaking.end.exit_code == 1);
  CHECK(leaking.out == "sum 496\n");
  CHECK(has(leaking.err, "memory leak: "));
  CHECK(has(leaking.err, "lab: 1 finding: 1 memory leak\n"));
  CHECK(exec_program({exec_build("with_lines")}).err.empty());
}

TEST_CASE("--check: without findings the exit code is the program's own") {
  const auto fine = exec_program({"--check", "--", exec_build("shared"), "exit", "0"});
  CHECK(fine.end.exit_code == 0);
  CHECK(has(fine.err, "lab: no findings\n"));
  CHECK(exec_program({"--check", exec_build("shared"), "exit", "7"}).end.exit_code == 7);
}

TEST_CASE("--check: another program can read the findings from a file") {
  const workplace place;
  const std::string file = place.path("findings.json");
  const auto result = exec_program({"--check", "--report", file, exec_build("shared")});
  CHECK(result.end.exit_code == 1);
  const auto report = parse_json(*read_if_there(file));
  CHECK(report["warnings"] == 1);
  CHECK(report["findings"][0]["kind"] == "leak");
  const std::string pipe = place.path("pipe");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& bad : std::vector<std::string>{place.path("."), file + "/report.json",
                                                         "/proc/report.json", pipe}) {
    CAPTURE(bad);
    const auto refused = exec_program({"--check", "--report", bad, exec_build("shared")});
    CHECK((refused.end.exit_code == 2 || refused.end.exit_code == 3));
    CHECK(refused.out.empty());  // the program did not run
    CHECK(has(refused.err, "cannot write " + bad.substr(0, bad.rfind('/'))));
  }
  check_refused(exec_program({"--report", file, exec_build("shared")}), 2, "--check");
}

TEST_CASE("--check: a kernel that the time limit ends is reported") {
  const auto result =
      exec_program({"--check", "--time-limit", "1", exec_build("with_lines"), "endless"});
  CHECK(result.end.exit_code == 6);
  CHECK(has(result.err, "unfinished kernel in wait_for_ever"));
}

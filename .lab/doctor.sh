# shellcheck shell=bash disable=SC2154
# ./lab doctor: what this machine has to set up, build and measure with, and what each missing thing
# would enable. Sourced by ../lab after machine.sh. Changes nothing. Where the program is built, its
# own rows (devices, CUDA's tools, memory) follow in the same form.

rows=()  # state, name, detail; state is ok, get (./lab brings it), none (optional) or lack
lacks=() # Debian packages that ./lab may not install itself
row() { rows+=("$1" "$2" "$3"); }

may_install() {
  command -v apt-get >/dev/null || return 1
  ((EUID == 0)) || { [[ -n ${CI:-} ]] && sudo -n true 2>/dev/null; }
}

package() { # NAME WHY PACKAGE...: a Debian package that set-up cannot do without
  local name=$1 why=$2
  shift 2
  if may_install; then row get "$name" "$why; ./lab setup installs $*"; else
    row lack "$name" "$why; install $*" && lacks+=("$@")
  fi
}

check_build_tools() {
  local version
  find_cxx || true
  version=$(cxx_version)
  if [[ -z $version ]]; then package 'C++ compiler' "no $cxx" g++
  elif version_at_least "$gxx_wanted" "$version"; then row ok 'C++ compiler' "$cxx $version"
  elif [[ -z ${CXX:-} ]] && command -v apt-get >/dev/null; then
    package 'C++ compiler' "$cxx $version is too old" "g++-$gxx_wanted"
  else row lack 'C++ compiler' "$(old_cxx "$version")"; fi
  if find_meson; then row ok Meson "$meson_version, Ninja $(ninja --version)"; else
    row get Meson './lab setup fetches Meson and Ninja from PyPI into .venv'
  fi
  if ! venv_needed; then row ok Python 'not needed any more'
  elif find_python; then
    row ok Python "$("$python" -V 2>&1 | cut -d' ' -f2) ($(command -v "$python"))"
  elif command -v python3 >/dev/null && ! version_at_least "$python_wanted" "$(python_version)"; then
    row lack Python "$(python_version); Meson needs $python_wanted or newer"
  else package Python 'none that is whole' python3; fi
}

check_nvcc() {
  local modules
  modules=$(module_hint cuda)
  if find_nvcc; then row ok nvcc "$(nvcc_version "$nvcc") ($nvcc)"; else
    row get nvcc "${nvcc_older:+$nvcc_older; }./lab setup fetches the CUDA 13 compiler (100 MB) from \
PyPI into .cuda${modules:+; or $modules}"
  fi
}

check_gpu() {
  local gpu
  gpu=$(nvidia_smi --query-gpu=name,compute_cap --format=csv,noheader)
  gpu=${gpu%%$'\n'*}
  if [[ -n $gpu ]]; then row ok GPU "$gpu"; else
    row none GPU 'none: the emulator serves; would enable: time, GB/s, speed goals'
  fi
}

# The C++ libraries: where build/ has them from, or would have them from.
check_libraries() {
  local name place i
  if [[ -r $build/common/libraries/libraries.txt ]]; then
    while IFS=: read -r name place; do row ok "$name" "${place# }"; done <"$build/common/libraries/libraries.txt"
    return
  fi
  load packages
  find_missing_libraries
  for ((i = 0; i < ${#library_headers[@]}; i += 2)); do
    name=${library_headers[i]}
    if [[ " ${missing_libraries[*]} " != *" $name "* ]]; then row ok "$name" 'this system'
    elif command -v apt-get >/dev/null; then row get "$name" "Debian's package"
    else row get "$name" "its sources, by Meson's wrap"; fi
  done
}

check_tool() { # NAME WHAT IT ENABLES
  local path
  if path=$(command -v "$1"); then row ok "$1" "$path"; else
    row none "$1" "none; would enable: $2"
  fi
}

check_slides() { # of ./lab dev slides and site alone: HTML from Markdown
  if [[ -d $build/slides/packages/markdown_it ]]; then row ok 'markdown-it-py' "$build/slides/packages"; else
    row none 'markdown-it-py' './lab dev slides and site fetch it and Pygments from PyPI when they are first used'
  fi
}

# The network is asked for only where something must be fetched.
check_network() {
  local wanted=() i
  for ((i = 0; i < ${#rows[@]}; i += 3)); do
    [[ ${rows[i]} != get ]] || wanted+=("${rows[i + 1]}")
  done
  if ((${#wanted[@]} == 0)); then row ok network 'not needed'; else
    row none network "needed once, for ${wanted[*]}"
  fi
}

check_place() {
  if slow_place; then
    row none place "$root is on a Windows disk, which is slow from WSL: clone into ~ instead"
  fi
}

complete_for() { # what the stamp's scopes are, in a student's words
  local scopes word
  read -r scopes <"$stamp"
  printf list
  for word in $scopes; do
    case $word in
      *program) ;;
      no-lab) printf ', exec' ;;
      first-*) [[ " $scopes " == *" ${word#first-} "* ]] || printf ', walk %s' "${word#first-}" ;;
      grade-*) [[ " $scopes " == *" ${word#grade-} "* ]] || printf ', grade %s' "${word#grade-}" ;;
      *) printf ', %s' "${word/limits-/limits }" ;;
    esac
  done
}

check_build() {
  local known_fingerprint # spares complete() three of them
  [[ -x $binary ]] || binary=$build/grader/lab-first
  # shellcheck disable=SC2034
  known_fingerprint=$(fingerprint)
  if complete all; then row ok build 'complete, with the tests'
  elif complete course; then row ok build 'complete; ./lab test builds the tests too'
  elif complete first-program; then row ok build "complete for $(complete_for); others build more"
  elif [[ -r $stamp ]]; then row get build 'older than the sources; the next command builds'
  elif [[ -e $build/build.ninja ]]; then row get build 'half done; the next command goes on'
  else row get build 'not begun; the next command sets up and builds'; fi
}

print_rows() {
  local i
  for ((i = 0; i < ${#rows[@]}; i += 3)); do printf '%-5s %-20s %s\n' "${rows[@]:i:3}"; done
}

print_json() { # only where the program, which has a --json of its own, is not built
  local i separator=''
  printf '{"built": false, "machine": ['
  for ((i = 0; i < ${#rows[@]}; i += 3)); do
    printf '%s\n  {"state": "%s", "name": "%s", "detail": "%s"}' "$separator" "${rows[i]}" \
      "${rows[i + 1]}" "$(json_text "${rows[i + 2]}")"
    separator=,
  done
  printf '\n]}\n'
}

doctor() { # ARGUMENTS of the command, "doctor" first
  local built=0 word
  [[ ! -x $binary ]] || built=1
  ((!built || !as_json)) || exec "$binary" "$@"
  for word; do
    [[ $word != @(doctor|--json|--no-color|--no-colour) ]] || continue
    ((!built)) || exec "$binary" "$@" # which knows the others, or says that there is no such one
    die 2 "doctor knows no \"$word\"; ./lab doctor --help shows what it knows"
  done
  check_build_tools
  { ((built)) && find_nvcc; } || check_nvcc
  check_libraries
  check_tool clang-format 'the test of the formatting'
  check_tool shellcheck 'the test of the shell scripts'
  check_tool chromium 'the slides as PDF, and what does not fit on them (./lab dev slides)'
  check_slides
  if ((!built)); then
    check_gpu
    check_tool bwrap 'grading files apart from this machine (package bubblewrap)'
    check_tool gdb 'stopping in a program by hand'
    check_tool compute-sanitizer "NVIDIA's memory and race checks, on a GPU"
    check_tool ncu 'hardware counters, on a GPU'
  fi
  check_network
  check_place
  check_build
  if ((as_json)); then print_json; else print_rows; fi
  ((!built)) || exec "$binary" "$@"
  [[ " ${rows[*]} " == *' lack '* ]] || return 0
  if ((!as_json && ${#lacks[@]} > 0)); then
    load packages
    ask_for_packages "${lacks[@]}"
  fi
  exit 3
}

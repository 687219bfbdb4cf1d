# shellcheck shell=bash disable=SC2034,SC2154
# What the machine has: the compiler, Python, Meson, Ninja, nvcc. Sourced by ../lab; finds only,
# changes nothing.

readonly venv=$root/.venv cuda=$root/.cuda
readonly meson_wanted=1.10 gxx_wanted=12 cuda_wanted=13.0
readonly cxx=${CXX:-g++}
meson=()  # the command, with its first arguments
python='' # for .venv
nvcc=''
missing=() # Debian packages

version_at_least() { # WANTED FOUND
  [[ -n $2 && $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n1) == "$1" ]]
}

cxx_version() { "$cxx" -dumpfullversion -dumpversion 2>/dev/null; }
nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.* V\([0-9.]*\)$/\1/p'; }

# Sets nvcc to a CUDA 13 compiler: on PATH, in CUDA_HOME, at the usual places, in .cuda.
find_nvcc() {
  local candidate
  for candidate in "$(command -v nvcc || true)" {"${CUDA_HOME:-}","${CUDA_PATH:-}"}/bin/nvcc \
    /usr/local/cuda{,-*}/bin/nvcc /opt/cuda/bin/nvcc "$cuda/bin/nvcc"; do
    [[ -x $candidate ]] || continue
    version_at_least "$cuda_wanted" "$(nvcc_version "$candidate")" && nvcc=$candidate && return
  done
  nvcc=''
  return 1
}

find_python() { # sets python to the first one that Meson runs on
  for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && return
  done
  python=''
  return 1
}

venv_whole() {
  [[ -e $venv/.complete ]] && PATH=$venv/bin:$PATH command -v ninja >/dev/null &&
    "$venv/bin/python" -m mesonbuild.mesonmain --version &>/dev/null
}

# Sets meson, and PATH so that Ninja is on it: the clone's own first, then the system's.
find_meson() {
  if venv_whole; then
    meson=("$venv/bin/python" -m mesonbuild.mesonmain)
    [[ :$PATH: == *":$venv/bin:"* ]] || PATH=$venv/bin:$PATH
  elif command -v ninja >/dev/null &&
    version_at_least "$meson_wanted" "$(meson --version 2>/dev/null || true)"; then
    meson=(meson)
  else
    return 1
  fi
}

# .venv is needed where Meson or Ninja is missing, and to fetch the CUDA compiler with its pip.
venv_needed() { ! find_meson || { ! find_nvcc && ! venv_whole; }; }

find_missing() { # sets missing to the Debian packages without which nothing can be set up
  missing=()
  command -v "$cxx" >/dev/null || missing+=(g++)
  venv_needed || return 0
  if ! find_python && command -v python3 >/dev/null; then
    die 3 "$(command -v python3) is $(python3 -V 2>&1), and Meson needs Python 3.10 or newer:" \
      "put a newer one on PATH, or a system-wide Meson >= $meson_wanted with Ninja"
  fi
  [[ -n $python ]] || missing+=(python3)
  [[ -n $python ]] && "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
}

can_build() { find_nvcc && find_meson && command -v "$cxx" >/dev/null; }

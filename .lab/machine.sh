# shellcheck shell=bash disable=SC2034,SC2154
# What the machine has: the compiler, Python, Meson, Ninja, nvcc. Sourced by ../lab; finds only,
# changes nothing.

readonly venv=$root/.venv cuda=$root/.cuda packages=$root/.packages
readonly meson_wanted=1.10 gxx_wanted=11 cuda_wanted=13.0 python_wanted=3.7
cxx=${CXX:-g++} # find_cxx may name another one
meson=()  # the command, with its first arguments
meson_version=''
python='' # for .venv
nvcc='' nvcc_older=''
missing=() # Debian packages

version_at_least() { # WANTED FOUND
  [[ -n $2 && $(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n1) == "$1" ]]
}

cxx_version() { "$cxx" -dumpfullversion -dumpversion 2>/dev/null || true; }
nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.* V\([0-9.]*\)$/\1/p'; }

# Sets cxx: what CXX names; else g++, or a newer one that lies beside it (Ubuntu 20.04's g++ is 9).
find_cxx() {
  local other
  version_at_least "$gxx_wanted" "$(cxx_version)" && return
  [[ -z ${CXX:-} ]] || return 1
  for other in g++-{15,14,13,12,11}; do
    ! command -v "$other" >/dev/null || { cxx=$other && return; }
  done
  return 1
}

# Sets nvcc to a CUDA 13 compiler: on PATH, where a toolkit's or a module's variables point, at the
# usual places, in .cuda. nvcc_older names one that is too old, for messages.
find_nvcc() {
  local folder candidate version
  nvcc_older=''
  for folder in "$(dirname -- "$(command -v nvcc || true)")" \
    {"${CUDA_HOME:-}","${CUDA_PATH:-}","${CUDA_ROOT:-}","${EBROOTCUDA:-}"}/bin \
    "${NVHPC_ROOT:-}/cuda/bin" "$machine"/usr/local/cuda{,-*}/bin "$machine/opt/cuda/bin" \
    "$cuda/bin"; do
    candidate=$folder/nvcc
    [[ -f $candidate && -x $candidate ]] || continue
    version=$(nvcc_version "$candidate")
    version_at_least "$cuda_wanted" "$version" && nvcc=$candidate && return
    [[ -n $nvcc_older ]] || nvcc_older="$candidate is CUDA ${version:-of unknown version}"
  done
  nvcc=''
  return 1
}

# A cluster with environment modules: what to load, for messages; nothing elsewhere.
module_hint() { # NAME
  [[ -n ${LMOD_CMD:-}${MODULESHOME:-} ]] || type module &>/dev/null || return 0
  printf '%s' "module avail $1; module load $1"
}

old_cxx() { # VERSION: what to say of a compiler that is too old
  local modules
  modules=$(module_hint gcc)
  printf '%s' "$(command -v "$cxx") is version $1; $gxx_wanted or newer is needed:" \
    " ${modules:-install g++-$gxx_wanted} (CXX names another one)"
}

# On a Windows disk, every file takes a way through the Windows kernel.
slow_place() {
  [[ $(stat -f -c %T -- "$root" 2>/dev/null) == v9fs || $root == /mnt/[a-z]/* ]] &&
    grep -qi microsoft "$machine/proc/version" 2>/dev/null
}

python_version() { python3 -V 2>/dev/null | cut -d' ' -f2 || true; }

# Sets python to the first one that Meson runs on, and that can make .venv and fetch pip for it
# (python3-minimal, say, cannot).
find_python() {
  local minor
  for python in python3 python3.{14,13,12,11,10,9,8,7}; do
    minor=${python_wanted#3.}
    "$python" -c "import sys, ssl, urllib.request, venv
sys.exit(sys.version_info < (3, $minor))" 2>/dev/null && return
  done
  python=''
  return 1
}

# Sets meson_version. Not `meson --version`, which reads all of Meson, for a second.
venv_whole() {
  [[ -e $venv/.complete ]] && PATH=$venv/bin:$PATH command -v ninja >/dev/null &&
    meson_version=$("$venv/bin/python" -c 'import mesonbuild.coredata as c; print(c.version)' \
      2>/dev/null)
}

# Sets meson, and PATH so that Ninja is on it: the clone's own first, then the system's.
find_meson() {
  ((${#meson[@]} == 0)) || return 0
  if venv_whole; then
    meson=("$venv/bin/python" -m mesonbuild.mesonmain)
    [[ :$PATH: == *":$venv/bin:"* ]] || PATH=$venv/bin:$PATH
  elif command -v ninja >/dev/null && meson_version=$(meson --version 2>/dev/null) &&
    version_at_least "$meson_wanted" "$meson_version"; then
    meson=(meson)
  else
    return 1
  fi
}

# .venv is needed where Meson or Ninja is missing, and to fetch the CUDA compiler with its pip.
venv_needed() { ! find_meson || { ! find_nvcc && ! venv_whole; }; }

find_missing() { # sets missing to the Debian packages without which nothing can be set up
  local version
  missing=()
  if ! find_cxx; then
    version=$(cxx_version)
    if [[ -z $version ]]; then missing+=(g++)
    elif [[ -z ${CXX:-} ]] && command -v apt-get >/dev/null; then missing+=("g++-$gxx_wanted")
    else die 3 "$(old_cxx "$version")"; fi
  fi
  venv_needed || return 0
  find_python && return
  version=$(python_version)
  if [[ -n $version ]] && ! version_at_least "$python_wanted" "$version"; then
    die 3 "$(command -v python3) is Python $version, and Meson needs $python_wanted or newer:" \
      "put a newer one on PATH, or a system-wide Meson >= $meson_wanted with Ninja"
  fi
  missing+=(python3)
}

can_build() { find_nvcc && find_meson && find_cxx; }

# shellcheck shell=bash disable=SC2154
# From nothing to a complete build/. Sourced by ../lab after machine.sh. Every step may be
# interrupted: what it makes counts only when it is whole, and the next start goes on from there.

readonly cuda_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
  nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85)
readonly config=$build/lab.config # what build/ was configured with

# pip runs from its wheel: installing it takes longer than all that it is needed for. No cache:
# nothing is written outside the clone.
find_pip() { # sets pip; fetches it where it is not there yet
  compgen -G "$venv/pip-*.whl" >/dev/null ||
    step 'fetching pip' "$venv/bin/python" "$root/.lab/fetch_wheels.py" "$venv" pip ||
    fail 'fetching pip from PyPI' 3 'is there a network?'
  pip=("$venv/bin/python" "$(printf '%s' "$venv"/pip-*.whl)/pip" --disable-pip-version-check --no-input
    --no-cache-dir --retries 2 install --progress-bar off --no-compile)
}

make_venv() {
  local pip
  rm -rf -- "$venv"
  meson=() # .venv's will serve
  step 'making .venv' "$python" -m venv --without-pip -- "$venv" || fail 'making .venv' 3
  wrap_venv_python
  step 'fetching Meson and Ninja from PyPI' \
    "$venv/bin/python" "$root/.lab/fetch_wheels.py" "$venv" meson ninja || {
    find_pip
    step 'fetching them with pip' "${pip[@]}" "meson>=$meson_wanted,<2" 'ninja>=1.10' ||
      fail 'fetching Meson and Ninja from PyPI' 3 'is there a network?'
  }
  touch -- "$venv/.complete" # without it, the next start makes the folder again
  find_meson || die 3 "Meson in $venv does not run; see $log"
}

make_cuda() { # from NVIDIA's wheels, made under another name until it is whole
  local part=$cuda.part modules pip
  find_pip
  [[ -z $nvcc_older ]] || say "$nvcc_older; the course needs $cuda_wanted or newer"
  modules=$(module_hint cuda)
  [[ -z $modules ]] || say "no CUDA 13 compiler is loaded ($modules); fetching one into .cuda instead"
  rm -rf -- "$part" "$cuda"
  mkdir -p -- "$part/tmp"
  # TMPDIR: pip unpacks on the clone's disk, not in /tmp, which may be small
  step 'fetching the CUDA 13 compiler from PyPI (100 MB)' env "TMPDIR=$part/tmp" "${pip[@]}" \
    --no-deps --target "$part" "${cuda_wheels[@]}" ||
    fail 'fetching the CUDA compiler from PyPI' 3 \
      "is there a network? A CUDA Toolkit 13 serves too${modules:+: $modules}"
  ln -s lib "$part/nvidia/cu13/lib64" # where nvcc looks
  ln -s libcudart.so.13 "$part/nvidia/cu13/lib/libcudart.so"
  mv -- "$part/nvidia/cu13" "$cuda"
  rm -rf -- "$part"
  find_nvcc || die 3 "the CUDA compiler in $cuda does not run on this machine ($(uname -m))"
}

meson_list() { # WORD...
  local words=() word
  for word; do
    word=${word//\\/\\\\}
    words+=("'${word//\'/\\\'}'")
  done
  local IFS=,
  printf '[%s]' "${words[*]}"
}

fail_configuring() { # the usual cause where the libraries' packages are missing has its own words
  tail -c +$((log_start + 1)) -- "$log" 2>/dev/null |
    grep 'is the internet available' >/dev/null || fail 'meson setup'
  fail 'meson setup' 3 'no network for the sources of the C++ libraries: install their packages, or fill a
     MESON_PACKAGE_CACHE_DIR; .lab/MACHINES.md says how'
}

# `meson setup`, unless build/ was set up at this place, with these tools and these options.
configure() {
  local extra=() key compiler=("$nvcc")
  archs=$(gpu_arch)
  if [[ -n $archs && $archs -ge 75 && $archs != "$ptx_arch" ]]; then archs=$ptx_arch,$archs; else
    archs=$ptx_arch
  fi
  read -ra extra <<<"${STEPWISE_SETUP_ARGS:-}"
  key=$(printf '%s\n' "$root" "$nvcc" "$cxx" "$archs" "${meson[*]}" "${extra[*]}")
  [[ ! -e $build/build.ninja || $(cat -- "$config" 2>/dev/null) != "$key" ]] || cpu_lacks || return 0
  rm -rf -- "$config" "$build"/{meson-private,meson-info,build.ninja}
  [[ $root == "${self%/*}" ]] || compiler=("$root/.lab/plain_nvcc" "$nvcc")
  { printf '[binaries]\ncuda = %s\n' "$(meson_list "${compiler[@]}")" >"$build/nvcc.ini"; } 2>/dev/null ||
    fail 'meson setup'
  step 'configuring build/' env "CXX=$cxx" "${meson[@]}" setup "$build" "$root" --native-file "$build/nvcc.ini" \
    "-Dgpu_arch=$archs" "-Dptx_arch=$ptx_arch" "-Dclone=$root" "${extra[@]}" || fail_configuring
  { printf '%s\n' "$key" >"$config"; } 2>/dev/null || fail 'meson setup'
}

lock() { # SCOPE: one set-up at a time; true when another one has meanwhile built enough
  local status stamped='' now told=''
  need_to_write "$root" "$build" "$venv" "$cuda"
  mkdir -p -- "$build" 2>/dev/null || { full_disk '' && die 3 "cannot write to $root"; }
  { exec 9>>"$build/lab.lock"; } 2>/dev/null || { full_disk '' && die 3 "cannot write to $build"; }
  command -v flock >/dev/null || return 1
  while status=0; flock -n 9 || status=$?; ((status == 1)); do # another status: no locks here
    ! { is_of_text && [[ -x $binary ]]; } || return 0
    now=$(stat -c %i -- "$stamp" 2>/dev/null || true)
    if [[ $now != "$stamped" ]]; then # it has built one more part
      stamped=$now
      ! complete "$1" || return 0
    fi
    [[ -n $told ]] || say 'another ./lab sets up or builds this clone; waiting for it'
    told=1
    sleep 0.5
  done
  [[ -n $told ]] && complete "$1"
}

set_up() { # SCOPE
  # shellcheck disable=SC2034 # read by build.sh
  local sources archs built=''
  local -x PYTHONDONTWRITEBYTECODE='' # Meson in .venv/ is compiled once, which makes its later starts faster
  ! lock "$1" || return 0
  trap interrupted INT TERM HUP PIPE
  { : >"$log"; } 2>/dev/null || { full_disk '' && die 3 "cannot write to $build"; }
  sources=$(fingerprint)
  [[ ! -r $stamp || $(sed -n 2p "$stamp") == "$sources" ]] ||
    say 'the sources changed since build/ was made'
  find_missing
  ((${#missing[@]} == 0)) || { install_packages && find_missing; }
  ((${#missing[@]} == 0)) || die 3 "still missing after the installation: ${missing[*]}; see $log"
  bring_libraries
  ! venv_needed || make_venv
  find_nvcc || make_cuda
  configure
  compile "$1"
  trap - INT TERM HUP PIPE
}

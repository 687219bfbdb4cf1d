# shellcheck shell=bash disable=SC2154
# From nothing to a complete build/. Sourced by ../lab after machine.sh. Every step may be
# interrupted: what it makes counts only when it is whole, and the next start goes on from there.

readonly cuda_wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88
  nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85)
readonly log=$build/lab.log
readonly config=$build/lab.config # what build/ was configured with
child=''                          # the running step
log_start=0                       # where its output begins in the log

interrupted() {
  trap '' INT TERM
  if [[ -n $child ]] && kill -TERM "$child" 2>/dev/null; then wait "$child" || true; fi
  [[ ! -t 2 ]] || printf '\n' >&2
  die 130 'interrupted; nothing is lost, the same command goes on from here'
}

# step LABEL COMMAND...: runs it; its output goes to the log, and a line says what runs, how far it
# is (Ninja's [12/304]) and for how long: rewritten on a terminal, else repeated every 10 s.
step() {
  local label=$1 began=$SECONDS next=$((SECONDS + 10)) status=0
  shift
  { printf '\n== %s\n%s\n' "$label" "$*" >>"$log"; } 2>/dev/null || fail "$label"
  log_start=$(stat -c %s -- "$log")
  [[ -t 2 ]] || say "$label"
  "$@" >>"$log" 2>&1 </dev/null 9>&- &
  child=$!
  while kill -0 "$child" 2>/dev/null; do
    if [[ -t 2 ]]; then
      printf '\r\033[Klab: %s%s (%d s)' "$label" "$(ninja_count)" $((SECONDS - began)) >&2
    elif ((SECONDS >= next)); then
      say "$label$(ninja_count) ($((SECONDS - began)) s)"
      next=$((SECONDS + 10))
    fi
    sleep 0.2
  done
  wait "$child" || status=$?
  child=''
  [[ ! -t 2 ]] || printf '\r\033[Klab: %s (%d s)\n' "$label" $((SECONDS - began)) >&2
  return "$status"
}

ninja_count() {
  tail -c 400 -- "$log" 2>/dev/null | sed -n 's/^\[\([0-9]*\/[0-9]*\)\].*/ \1/p' | tail -n1
}

# fail LABEL [CODE [HINT]]: ends with one message: the full disk where that is the cause, else what
# Ninja could not make and the first error in the step's output.
fail() {
  local label=$1 code=${2:-4} hint=${3:-} text first target bar=$'\n  | '
  text=$(tail -c +$((log_start + 1)) -- "$log" 2>/dev/null || true)
  full_disk "$text"
  target=$(grep -m1 '^FAILED: ' <<<"$text" || true)
  first=$(grep -nEm1 '(^|[^a-z])([Ee]rror|ERROR):|^E: |undefined reference|No module named' \
    <<<"$text" | cut -d: -f1 || true)
  if [[ -n $first ]]; then text=$(sed -n "${first},$((first + 4))p" <<<"$text"); else
    text=$(tail -n 5 <<<"$text")
  fi
  text=${target:+$target$'\n'}$text
  die "$code" "$label failed${hint:+ ($hint)}; all of it is in $log$bar${text//$'\n'/$bar}"
}

full_disk() { # ends when OUTPUT, or a disk without a free block, says that there was no room
  local folder room tightest='' least=999999999
  for folder in "$build" "$root" "${TMPDIR:-/tmp}"; do
    [[ -d $folder ]] || continue
    room=$(df -Pk -- "$folder" | awk 'NR == 2 { print $4 }')
    ((room >= least)) || { least=$room && tightest=$folder; }
  done
  ((least < 64)) || grep -qE 'No space left|Disk quota exceeded|Errno 28' <<<"$1" || return 0
  die 3 "the disk is full: $tightest lies on $(df -Ph -- "$tightest" |
    awk 'NR == 2 { printf "%s (mounted at %s), %s of %s free", $1, $6, $4, $2 }');" \
    'make room there and give the same command again, it goes on from here'
}

# No cache: nothing is written outside the clone.
readonly pip_install=(--disable-pip-version-check --no-input --no-cache-dir --retries 2 install
  --progress-bar off --no-compile)
readonly pip=("$venv/bin/python" -m pip "${pip_install[@]}")

make_venv() {
  local wheel
  rm -rf -- "$venv"
  if [[ $(command -v "$python") != "$packages"/* ]] && "$python" -c 'import ensurepip' 2>/dev/null; then
    step 'making .venv' "$python" -m venv -- "$venv" || fail 'making .venv' 3
    wrap_venv_python
  else # Debian's Python without python3-venv, or one whose wheels lie elsewhere
    step 'making .venv' "$python" -m venv --without-pip -- "$venv" || fail 'making .venv' 3
    wrap_venv_python
    step 'fetching pip from PyPI' "$python" "$root/.lab/fetch_pip.py" "$venv" ||
      fail 'fetching pip from PyPI' 3 'is there a network?'
    wheel=$(printf '%s' "$venv"/pip-*.whl)
    step 'installing pip into .venv' "$venv/bin/python" "$wheel/pip" "${pip_install[@]}" \
      --no-index "$wheel" || fail 'installing pip into .venv' 3
  fi
  step 'fetching Meson and Ninja from PyPI' "${pip[@]}" "meson>=$meson_wanted,<2" 'ninja>=1.10' ||
    fail 'fetching Meson and Ninja from PyPI' 3 'is there a network?'
  touch -- "$venv/.complete" # without it, the next start makes the folder anew
  find_meson || die 3 "Meson in $venv does not run; see $log"
}

make_cuda() { # from NVIDIA's wheels, made under another name until it is whole
  local part=$cuda.part modules
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

# `meson setup`, unless build/ was set up at this place, with these tools and these options.
configure() {
  local extra=() key compiler=("$nvcc")
  archs=$(gpu_arch)
  if [[ -n $archs && $archs -ge 75 && $archs != "$ptx_arch" ]]; then archs=$ptx_arch,$archs; else
    archs=$ptx_arch
  fi
  read -ra extra <<<"${STEPWISE_SETUP_ARGS:-}"
  key=$(printf '%s\n' "$root" "$nvcc" "$cxx" "$archs" "${meson[*]}" "${extra[*]}")
  [[ ! -e $build/build.ninja || $(cat -- "$config" 2>/dev/null) != "$key" ]] || return 0
  rm -rf -- "$config" "$build"/{meson-private,meson-info,build.ninja}
  [[ $root == "${self%/*}" ]] || compiler=("$root/.lab/plain_nvcc" "$nvcc")
  { printf '[binaries]\ncuda = %s\n' "$(meson_list "${compiler[@]}")" >"$build/nvcc.ini"; } 2>/dev/null ||
    fail 'meson setup'
  step 'configuring build/' env "CXX=$cxx" "${meson[@]}" setup "$build" "$root" --native-file "$build/nvcc.ini" \
    "-Dgpu_arch=$archs" "-Dptx_arch=$ptx_arch" "-Dclone=$root" "${extra[@]}" || fail 'meson setup'
  { printf '%s\n' "$key" >"$config"; } 2>/dev/null || fail 'meson setup'
}

compile() { # SCOPE: by Ninja, one job per core, but not more than one per 700 MB of free memory
  local targets jobs most
  case $1 in
    all) targets=(all meson-test-prereq) ;; # the latter: what only tests read
    course) targets=(course) ;;
    *) targets=("course-$1") ;;
  esac
  jobs=$(nproc)
  most=$(awk '/^MemAvailable/ { print int($2 / 700000) + 1 }' /proc/meminfo)
  step 'building' ninja -C "$build" -j $((jobs < most ? jobs : most)) "${targets[@]}" ||
    fail 'building'
}

lock() { # SCOPE: one set-up at a time; true when another one has meanwhile done the work
  local folder
  mkdir -p -- "$build" 2>/dev/null || { full_disk '' && die 3 "cannot write to $root"; }
  for folder in "$build" "$venv" "$cuda"; do
    [[ ! -e $folder || -w $folder ]] ||
      die 3 "cannot write to $folder, which belongs to $(stat -c %U -- "$folder")"
  done
  { exec 9>>"$build/lab.lock"; } 2>/dev/null || { full_disk '' && die 3 "cannot write to $build"; }
  if command -v flock >/dev/null && ! flock -n 9; then
    say 'another ./lab sets up or builds this clone; waiting for it'
    flock 9
    complete "$1"
    return
  fi
  return 1
}

# What is built when SCOPE has been built, in words that complete() looks for.
scopes_with() { # SCOPE
  local lab word
  if [[ $1 == all || $1 == course ]]; then
    printf '%s course no-lab' "$1"
    for lab in "$root"/labs/*/lab.toml; do
      lab=${lab%/lab.toml}
      printf ' %s' "${lab##*/}"
      [[ $1 != all ]] || printf ' limits-%s' "${lab##*/}"
    done
  else
    for word in no-lab "$1"; do
      [[ " $built " == *" $word "* ]] || built+=" $word"
    done
    printf '%s' "${built# }"
  fi
}

set_up() { # SCOPE
  local before archs built=''
  ! lock "$1" || return 0
  trap interrupted INT TERM
  { : >"$log"; } 2>/dev/null || { full_disk '' && die 3 "cannot write to $build"; }
  before=$(fingerprint)
  [[ ! -r $stamp || $(sed -n 2p "$stamp") == "$before" ]] ||
    say 'the sources changed since build/ was made'
  find_missing
  ((${#missing[@]} == 0)) || { install_packages && find_missing; }
  ((${#missing[@]} == 0)) || die 3 "still missing after the installation: ${missing[*]}; see $log"
  ! venv_needed || make_venv
  find_nvcc || make_cuda
  [[ ! -r $stamp || $(sed -n 2p "$stamp") != "$before" ]] || built=$(sed -n 1p "$stamp")
  rm -f -- "$stamp"
  configure
  compile "$1"
  { printf '%s\n' "$(scopes_with "$1")" "$before" "$(gpus_seen)" "$archs" >"$stamp"; } 2>/dev/null ||
    fail 'building'
  trap - INT TERM
}

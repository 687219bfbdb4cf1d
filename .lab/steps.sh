# shellcheck shell=bash disable=SC2154
# Steps that take long: each says on one line what runs, its output goes to the log, and whatever
# ends the launcher (Ctrl-C, a closed terminal, a reader that is gone, kill -9) ends it too. Sourced
# by ../lab.
#
# The lock, descriptor 9, is inherited by what a step runs, and so by Ninja and its compilers: as
# long as one of them lives, no other ./lab starts anything in this clone.

readonly log=$build/lab.log
child=''    # the process of the running step
log_start=0 # where the step's output begins in the log
tie=()      # a command's first words, which have the kernel end it with the launcher
! setpriv --pdeathsig TERM true 2>/dev/null || tie=(setpriv --pdeathsig TERM --)

interrupted() {
  trap '' INT TERM HUP PIPE
  if [[ -n $child ]] && kill -TERM "$child" 2>/dev/null; then wait "$child" || true; fi
  [[ ! -t 2 ]] || printf '\n' >&2 || true
  die 130 'interrupted; nothing is lost, the same command goes on from here'
}

# step LABEL COMMAND...: runs it; a line says what runs and for how long: rewritten on a terminal,
# else repeated every 10 s.
step() {
  local label=$1 status=0 began every next
  shift
  begin_step
  watch "$@" || status=$?
  end_step
  return "$status"
}

begin_step() { # of the caller's label; sets its began, every and next
  { printf '\n== %s\n' "$label" >>"$log"; } 2>/dev/null || fail "$label"
  log_start=$(stat -c %s -- "$log")
  every=10 began=$SECONDS
  if [[ -t 2 ]]; then every=1; else say "$label"; fi
  next=$((began + every))
}

watch() { # COMMAND...: runs it as a part of the step
  local status=0 tied=("${tie[@]}") line pause=0.03 # what ends at once is seen at once
  [[ $(type -t "$1") != function ]] || tied=()
  { printf '%s\n' "$*" >>"$log"; } 2>/dev/null || return
  "${tied[@]}" "$@" >>"$log" 2>&1 </dev/null &
  child=$!
  while kill -0 "$child" 2>/dev/null; do
    if ((SECONDS >= next)); then
      next=$((SECONDS + every))
      line="lab: $label$(how_far) ($((SECONDS - began)) s)"
      if [[ -t 2 ]]; then printf '\r\033[K%s' "${line:0:79}" >&2; else printf '%s\n' "$line" >&2; fi
    fi
    sleep "$pause"
    ((SECONDS < began + 2)) || pause=0.2
  done
  wait "$child" || status=$?
  child=''
  return "$status"
}

how_far() { [[ $label != building ]] || build_progress; }

end_step() { [[ ! -t 2 ]] || printf '\r\033[Klab: %s (%d s)\n' "$label" $((SECONDS - began)) >&2; }

# fail LABEL [CODE [HINT]]: ends with one message: the full disk where that is the cause, else what
# Ninja could not make and the first error in the step's output.
fail() {
  local label=$1 code=${2:-4} hint=${3:-} text first target bar=$'\n  | '
  text=$(tail -c +$((log_start + 1)) -- "$log" 2>/dev/null || true)
  full_disk "$text"
  target=$(grep -m1 '^FAILED: ' <<<"$text" || true)
  first=$(grep -nE '(^|[^a-z])([Ee]rror|ERROR):|^E: |undefined reference|No module named' \
    <<<"$text" | grep -vm1 '^[0-9]*:WARNING: ' | cut -d: -f1 || true)
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

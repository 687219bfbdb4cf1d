# shellcheck shell=bash disable=SC2034,SC2154
# Building a scope with Ninja, and the stamp that says what is whole. Sourced by ../lab after
# steps.sh.

readonly plan=$build/lab.plan # what Ninja has to do: seconds, 1 where they were measured, words

targets_of() { # SCOPE
  case $1 in
    program) printf grader/lab ;;
    all) printf 'all meson-test-prereq' ;; # the latter: what only tests read
    course) printf course ;;
    *) printf 'course-%s' "$1" ;;
  esac
}

labs() {
  local lab
  for lab in "$root"/labs/*/lab.toml; do
    lab=${lab%/lab.toml}
    printf '%s ' "${lab##*/}"
  done
}

# What is built one after the other for SCOPE, so that commands that need less can begin earlier.
# Where many compilers run at once, the end of each part would leave most of them idle.
parts_of() { # SCOPE JOBS
  local parts=''
  (($2 > 4)) || parts='program no-lab '
  case $1 in
    program) parts='' ;;
    no-lab) parts=${parts%no-lab } ;;
    all) (($2 > 4)) && parts='course ' || parts="$parts$(labs)course " ;;
    limits-*) parts+="${1#limits-} " ;;
  esac
  printf '%s' "$parts$1"
}

contained_in() { # SCOPE: the scopes that are whole when it is
  local lab
  printf 'program '
  case $1 in
    program | no-lab) ;;
    course | all)
      printf 'no-lab course %s' "$(labs)"
      [[ $1 != all ]] || for lab in $(labs); do printf 'limits-%s ' "$lab"; done
      ;;
    limits-*) printf 'no-lab %s ' "${1#limits-}" ;;
    *) printf 'no-lab ' ;;
  esac
  printf '%s' "$1"
}

# One job per core, but not more than one per 800 MB of free memory.
compile() { # SCOPE
  local label=building began every next jobs most part targets
  jobs=$(nproc)
  most=$(awk '/^MemAvailable/ { print int($2 / 800000) + 1 }' /proc/meminfo)
  ((jobs < most)) || jobs=$most
  keep_stamp
  # a server that outlives the build, which Meson uses where it is installed, must not have the lock
  ! command -v sccache >/dev/null || sccache --start-server >>"$log" 2>&1 9>&- || true
  begin_step
  export NINJA_STATUS='[%f/%t] '
  watch ninja -C "$build" build.ninja || fail 'building' # Meson, where its files changed
  read -ra targets <<<"$(targets_of "$1")"
  make_plan "${targets[@]}"
  for part in $(parts_of "$1" "$jobs"); do
    read -ra targets <<<"$(targets_of "$part")"
    watch ninja -C "$build" -j "$jobs" "${targets[@]}" || fail 'building'
    publish "$part"
  done
  end_step
}

# The stamp holds while the same is built again or more is built: each program is then what it was,
# or new and the same. It goes where programs of several kinds would be mixed.
keep_stamp() {
  if [[ $(sed -n '2p;4p' "$stamp" 2>/dev/null) == "$sources"$'\n'"$archs" ]]; then
    built=$(sed -n 1p "$stamp")
  else rm -f -- "$stamp"; fi
}

publish() { # SCOPE, which is whole; not where the sources changed while it was built
  local word
  [[ $(fingerprint) == "$sources" ]] || return 0
  for word in $(contained_in "$1"); do
    [[ " $built " == *" $word "* ]] || built+=" $word"
  done
  { printf '%s\n' "${built# }" "$sources" "$(gpus_seen)" "$archs" >"$stamp.new"; } 2>/dev/null ||
    fail 'building'
  mv -f -- "$stamp.new" "$stamp"
}

# Seconds from Ninja's log of an earlier build, else the usual ones of such a step.
make_plan() { # TARGET...
  local ninja_log=$build/.ninja_log
  [[ -r $ninja_log ]] || ninja_log=/dev/null
  ninja -C "$build" -n "$@" 2>/dev/null | awk -F'\t' -v OFS='\t' '
    FILENAME != "-" { if (NF > 3) took[$4] = ($2 - $1) / 1000; next }
    sub(/^\[[0-9]+\/[0-9]+\] /, "") {
      seconds = /^(Compiling|Precompiling)/ ? 8 : 0.1
      known = 0
      for (i = split($0, words, " "); i > 0; i--)
        if (words[i] in took) { seconds = took[words[i]]; known = 1 }
      print seconds, known, $0
    }' "$ninja_log" - >"$plan" || true
}

# How many steps are done, and how long the others will take: by their weights, at the pace so far,
# with which the former durations count for a tenth of the build; what runs is half done. At first
# nothing, if nothing is known.
build_progress() {
  [[ -s $plan ]] || return 0
  tail -c "+$log_start" -- "$log" | awk -F'\t' -v jobs="$jobs" -v elapsed=$((SECONDS - began)) '
    FILENAME != "-" { weight[$3] = $1; total += $1; known += $1 * $2; steps++; next }
    sub(/^\[[0-9]+\/[0-9]+\] /, "") && $0 in weight { done += weight[$0]; ends++; delete weight[$0] }
    END {
      printf " %d/%d", ends, steps
      known *= 0.1
      if (done + known < 0.04 * total) exit
      running = jobs * total / steps
      if (running > total - done) running = total - done
      done += running / 2
      left = (total - done) * (elapsed + known / jobs) / (done + known)
      if (left < 90) printf ", about %d s left", 10 * int(left / 10 + 1)
      else printf ", about %d min left", left / 60 + 0.5
    }' "$plan" -
}

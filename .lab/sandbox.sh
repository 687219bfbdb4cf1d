# shellcheck shell=bash disable=SC2154
# bubblewrap, which keeps graded files apart from this machine. Sourced by ../lab for the commands
# that grade. Where it may not be installed, or cannot be, they work without it and say so.

bring_sandbox() { # asks once
  local sudo asked=$build/bubblewrap.asked install
  ! command -v bwrap >/dev/null && [[ ! -e $asked ]] && command -v apt-get >/dev/null || return 0
  load machine
  load packages
  load steps
  sudo_command && : 2>/dev/null >"$asked" || return 0
  install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  say 'this machine has no bubblewrap, which keeps graded files apart from it'
  if ! step 'fetching the package lists' "${install[@]}" update ||
    ! step 'installing it' "${install[@]}" install --no-install-recommends bubblewrap; then
    say 'that failed; grading works without it, and says so'
  fi
}

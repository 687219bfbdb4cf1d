# shellcheck shell=bash disable=SC2034,SC2154
# A clone whose path other tools would misread. Sourced by ../lab.

# Where the clone's path is not plain, a link in a temporary folder replaces it in all that is
# built: root becomes that alias. Its random name is kept in build/alias; the program reads it, too,
# and makes it again where it is gone (grader/judge/installation.cpp).
name_place() { # commands that only read make no alias
  local part alias=''
  for part in $'\\' '|' ':' $'\n' $'\t'; do
    [[ $root != *"$part"* ]] || die 3 "the path of this clone has the character" \
      "$(printf %q "$part"), which the tools that build it misread: move the clone to a folder" \
      "without it ($(printf %q "$root"))"
  done
  [[ ! -r $root/build/alias ]] || IFS= read -r alias <"$root/build/alias" || true
  if ! is_alias "$alias"; then
    ((!asks_help)) && [[ $verb != doctor ]] || return 0
    ! is_of_text || [[ -n $verb && ! -x $binary ]] || return 0
    alias=$(new_alias "$alias") || die 3 "cannot write to ${TMPDIR:-/tmp}"
    need_to_write "$root" "$root/build"
    mkdir -p -- "$root/build" 2>/dev/null || die 3 "cannot write to $root"
    { printf '%s\n' "$alias" >"$root/build/alias"; } 2>/dev/null || die 3 "cannot write to $root"
  fi
  root=$alias
}

is_alias() { # PATH: a link to this clone that nobody else may change
  local owner
  [[ $1 == /*/clone && $1 -ef $root && -L $1 ]] || return 1
  owner=$(stat -c %u -- "${1%/clone}")
  [[ $owner == "$EUID" || $owner == "$(stat -c %u -- "$root")" ]]
}

new_alias() { # OLD: made again where its folder is gone
  local folder=${1%/clone} parent=${TMPDIR:-/tmp}
  if [[ $1 != /*/stepwise-??????/clone ]] || ! mkdir -- "$folder" 2>/dev/null; then
    [[ $parent == /* ]] && is_plain "$(readlink -f -- "$parent")" || parent=/tmp
    folder=$(mktemp -d -- "$parent/stepwise-XXXXXX") || return
  fi
  chmod 755 "$folder" && ln -s -- "$root" "$folder/clone" && printf '%s/clone' "$folder"
}

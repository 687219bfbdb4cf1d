# shellcheck shell=bash disable=SC2154
# What only the system's packages can bring: a C++ compiler and Python. Sourced by ../lab with
# setup.sh. As root (or in CI through sudo) they are installed; else a message says what to ask
# for, or has them unpacked into .packages/ by `./lab setup --unpack`, which needs no rights.
#
# .packages/root is what dpkg-deb unpacks, with links to the libraries that the system has;
# .packages/bin holds one script under many names, which runs the program of its name from there.
# Rejected: compilers from PyPI. The only well-kept one (zig's clang with libc++) is none that nvcc
# takes as host compiler; and a compiler from elsewhere would not match the system's C library.

# The C++ libraries: Debian's package, the header that shows it. Where it is missing or too old, Meson's
# wraps download the sources (subprojects/*.wrap).
readonly library_headers=(doctest-dev doctest/doctest.h libcli11-dev CLI/CLI.hpp
  nlohmann-json3-dev nlohmann/json.hpp libtomlplusplus-dev toml++/toml.h libfmt-dev fmt/format-inl.h
  libstb-dev stb/stb_image.h libzstd-dev zstd.h liblz4-dev lz4.h)
library_packages=()
for ((i = 0; i < ${#library_headers[@]}; i += 2)); do library_packages+=("${library_headers[i]}"); done
unset i
readonly library_packages
readonly unpacked_tools='(g\+\+|gcc|cpp)(-[0-9]+)?|python3|as|ld|ar|ranlib|nm|strip|objcopy|readelf|addr2line'

find_missing_libraries() { # sets missing_libraries to the packages whose headers are not found
  local i
  mapfile -t missing_libraries < <(
    for ((i = 0; i < ${#library_headers[@]}; i += 2)); do
      printf '#if !__has_include(<%s>)\n%s\n#endif\n' "${library_headers[i + 1]}" "${library_headers[i]}"
    done | "$cxx" -E -P -x c++ - 2>/dev/null | sed 's/ //g; /^$/d'
  )
}

sudo_command() { # sets sudo; false where packages may not be installed
  sudo=()
  ((EUID != 0)) || return 0
  [[ -n ${CI:-} ]] && sudo -n true 2>/dev/null && sudo=(sudo -n)
}

ask_for_packages() { # PACKAGE...
  local names="$*" modules
  modules=$(module_hint 'gcc python')
  [[ -z $modules ]] || die 3 "missing: $names. This machine has modules: $modules"
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    die 3 "missing: $names (Debian's names): install what this system calls them"
  fi
  die 3 "missing: $names. Install: sudo apt-get install $names"$'\n'"     or, without sudo:" \
    './lab setup --unpack --first puts them into .packages/ in this folder (300 MB), and nowhere' \
    'else, and builds what the first answer needs'
}

install_packages() {
  local sudo apt
  if ((unpack)); then
    unpack_packages
    return
  fi
  sudo_command || ask_for_packages "${missing[@]}"
  command -v apt-get >/dev/null || ask_for_packages "${missing[@]}"
  apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
  say "this machine has no ${missing[*]}"
  "${sudo[@]}" dpkg --configure -a >>"$log" 2>&1 || true # finishes an interrupted installation
  step 'fetching the package lists' "${apt[@]}" -o APT::Update::Error-Mode=any update ||
    fail 'apt-get update' 3 'is there a network?'
  step 'installing them and the libraries' "${apt[@]}" install \
    --no-install-recommends "${missing[@]}" "${library_packages[@]}" ||
    fail 'apt-get install' 3 'is there a network?'
}

# The libraries' packages: installed where that is allowed, else unpacked into .packages/, a few MB.
# Where neither can be done, Meson downloads their sources when it configures.
bring_libraries() {
  local sudo part=$packages.part
  find_missing_libraries
  ((${#missing_libraries[@]} != 0)) && command -v apt-get >/dev/null || return 0
  say "this machine has no ${missing_libraries[*]}"
  if sudo_command; then
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update >>"$log" 2>&1 || true
    step 'installing the libraries' "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -q -y install --no-install-recommends "${missing_libraries[@]}" && return
  elif command -v dpkg-deb >/dev/null; then
    fetch_archives "$part" 'fetching the libraries (4 MB)' "${missing_libraries[@]}" &&
      step 'unpacking them' unpack_archives "$part" && {
      mkdir -p -- "$packages"
      cp -a -- "$part/root" "$packages/"
      rm -rf -- "$part"
      use_packages
      return
    }
  fi
  say 'that failed; Meson downloads their sources instead'
}

# Into FOLDER/apt/archives, with all that they need and the system lacks. apt verifies the signatures
# as for an installation, but works in folders of its own.
fetch_archives() { # FOLDER LABEL PACKAGE...
  local part=$1 label=$2 apt
  shift 2
  rm -rf -- "$part"
  mkdir -p -- "$part"/{bin,root} "$part"/apt/{lists,archives}/partial
  apt=(apt-get -q -y -o "Dir::State::Lists=$part/apt/lists" -o "Dir::Cache=$part/apt"
    -o "Dir::Cache::Archives=$part/apt/archives" -o Debug::NoLocking=1)
  step 'fetching the package lists' "${apt[@]}" -o APT::Update::Error-Mode=any update &&
    step "$label" "${apt[@]}" install --download-only --no-install-recommends "$@"
}

# The missing packages and the libraries, made under another name until they are whole.
unpack_packages() {
  local part=$packages.part
  { command -v apt-get && command -v dpkg-deb; } >/dev/null || ask_for_packages "${missing[@]}"
  say "this machine has no ${missing[*]}; unpacking Debian's packages into $packages"
  fetch_archives "$part" 'fetching the packages (70 MB)' "${missing[@]}" "${library_packages[@]}" ||
    fail 'apt-get install' 3 'is there a network?'
  step 'unpacking them' unpack_archives "$part" || fail 'unpacking the packages' 3
  rm -rf -- "$packages" "$part/apt"
  mv -- "$part" "$packages"
  use_packages
}

unpack_archives() { # FOLDER with apt/archives and root
  local part=$1 triplet archive library tool
  local -A links=() # by name: /lib may be /usr/lib
  triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null) || triplet=$(uname -m)-linux-gnu
  for archive in "$part"/apt/archives/*.deb; do dpkg-deb -x "$archive" "$part/root" || return; done
  rm -rf -- "$part"/root/usr/share/{doc,man,info,locale}
  # One folder of libraries, as the system has, whatever a package calls it.
  mkdir -p -- "$part/root/usr/lib/$triplet"
  if [[ -d $part/root/lib && ! -L $part/root/lib ]]; then
    cp -a -- "$part/root/lib/." "$part/root/usr/lib/" && rm -rf -- "$part/root/lib"
  fi
  ln -sfn usr/lib "$part/root/lib"
  # What is linked here runs with the system's libraries, so those are what the linker must see.
  for library in "/lib/$triplet"/*.so.* "/usr/lib/$triplet"/*.so.*; do
    [[ ! -e $library || -e $part/root/usr/lib/$triplet/${library##*/} ]] ||
      links[${library##*/}]=$library
  done
  ((${#links[@]} == 0)) || ln -s -t "$part/root/usr/lib/$triplet" -- "${links[@]}" || return
  for library in libc.so.6 libm.so.6 libmvec.so.1 libstdc++.so.6 libgcc_s.so.1; do
    [[ ! -e /lib/$triplet/$library ]] || ln -sfn "/lib/$triplet/$library" "$part/root/usr/lib/$triplet/"
  done
  mkdir -p -- "$part/root/lib64"
  ln -sfn /lib64/ld-linux-x86-64.so.2 "$part/root/lib64/ld-linux-x86-64.so.2"
  write_tool "$triplet" >"$part/bin/.tool" && chmod +x "$part/bin/.tool" || return
  for tool in "$part"/root/usr/bin/*; do
    [[ ! ${tool##*/} =~ ^($unpacked_tools)$ ]] || ln -s .tool "$part/bin/${tool##*/}"
  done
}

write_tool() { # TRIPLET. The sysroot serves where the C library's headers came, too.
  cat <<END
#!/bin/bash
# Runs the program of this name from the packages that are unpacked in ../root.
here=\${BASH_SOURCE[0]%/*} name=\${BASH_SOURCE[0]##*/}
root=\${here%/*}/root
[[ ! \$name =~ ^(g\\+\\+|gcc|cpp) || ! -e \$root/usr/include/stdio.h ]] || set -- "--sysroot=\$root" "\$@"
export LD_LIBRARY_PATH=\$root/usr/lib/$1\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
exec "\$root/usr/bin/\$name" "\$@"
END
}

# A virtual environment's Python is a link to the unpacked one, which would not find its libraries.
wrap_venv_python() {
  local target libraries
  target=$(readlink -f -- "$venv/bin/python")
  [[ $target == "$packages"/* ]] || return 0
  libraries=("$packages"/root/usr/lib/*-linux-gnu)
  rm -f -- "$venv"/bin/python*
  cat >"$venv/bin/python" <<END
#!/bin/bash
export LD_LIBRARY_PATH=$(printf %q "${libraries[0]}")\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
exec -a "\$0" $(printf %q "$target") "\$@"
END
  chmod +x "$venv/bin/python"
  ln -s python "$venv/bin/python3"
}

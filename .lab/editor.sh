# shellcheck shell=bash disable=SC2154
# ./lab editor: files for editors, made for this clone and machine, which git ignores: .clangd for
# clangd (VS Code, Neovim, Emacs, ...), .vscode/ with tasks and a debugger's start. Sourced by ../lab
# after machine.sh. A file that is there and is not as it was written is yours, and stays.

editor_written=() editor_kept=()

# FILE: writes standard input. The last line of what is written holds the hash of the lines before.
write_for_editor() {
  local file=$1 mark=$2 text was sum
  text=$(cat)
  if [[ -e $file ]]; then
    was=$(sed '$d' "$file") sum=$(sed -n '$s/.* //p' "$file")
    if [[ $sum != "$(sha256sum <<<"$was" | cut -c1-16)" ]]; then
      editor_kept+=("${file#"$root"/}")
      return
    fi
  fi
  mkdir -p -- "${file%/*}"
  printf '%s\n%s\n' "$text" \
    "$mark by ./lab editor, which writes it again unless it was changed: $(sha256sum <<<"$text" | cut -c1-16)" \
    >"$file.part"
  mv -- "$file.part" "$file"
  editor_written+=("${file#"$root"/}")
}

# CUDA 13 has no texture_fetch_functions.h, which clang's own headers include: an empty one does.
write_clangd() { # FOLDER of the toolkit
  mkdir -p -- "$build/clangd"
  : >"$build/clangd/texture_fetch_functions.h"
  write_for_editor "$root/.clangd" '#' <<END
CompileFlags:
  CompilationDatabase: build
---
If:
  PathMatch: .*\\.cuh?
CompileFlags:
  Remove: ['-gencode', 'arch=*', '-arch=*', '--generate-code=*', '-Xcompiler=*', '--expt-*', '-lineinfo', '-G', '-cudart*', '-t*', '-Werror*']
  Add: ['-xcuda', '-Xclang', '-fcuda-allow-variadic-functions', '--cuda-gpu-arch=sm_80', '--cuda-path=$1',
        '-Wno-unknown-cuda-version', '-std=c++20', '-I$root', '-isystem$build/clangd', '-isystem$1/include/cccl']
END
}

# FOLDER NAMES [BACKGROUND]: lines that name a place by a file of that folder.
matcher() {
  printf '{"owner": "lab", "source": "lab",%s
       "fileLocation": ["autoDetect", "%s"],
       "pattern": {"regexp": "^\\\\s*(?:[A-Z]+\\\\s+)?(?:[A-Za-z].*?\\\\bat\\\\s+|at\\\\s+)?(%s\\\\.(?:cu|cuh|hpp)):(\\\\d+)(?::\\\\d+)?:?\\\\s*(.*)$",
                   "file": 1, "line": 2, "message": 3}}' "${3-}" "$1" "$2"
}

write_tasks() {
  local verb group starts ends tasks=''
  for verb in run check watch grade; do
    group='"test"' starts='' ends=''
    [[ $verb != run ]] || group='{"kind": "build", "isDefault": true}'
    if [[ $verb == watch ]]; then # it never ends: an answer is from its first line to its last
      group+=', "isBackground": true' starts=', save \\d+, ' ends='waiting for the next save'
      starts=" \"background\": {\"activeOnStart\": true, \"beginsPattern\": \"$starts\", \"endsPattern\": \"$ends\"},"
    fi
    # Findings have the file's own name, everything else a path from the root.
    tasks+="    {\"label\": \"lab $verb\", \"type\": \"shell\", \"group\": $group,
     \"command\": \"\${workspaceFolder}/lab\", \"args\": [\"$verb\", \"\${fileDirnameBasename}\"],
     \"options\": {\"cwd\": \"\${workspaceFolder}\", \"env\": {\"COLUMNS\": \"140\"}},
     \"problemMatcher\": [
      $(matcher "\${workspaceFolder}" '[^\\s:]*/[^\\s:/]+' "$starts"),
      $(matcher "\${fileDirname}" '[^\\s:/]+')]},
"
  done
  write_for_editor "$root/.vscode/tasks.json" '//' <<END
{
  // The lab of the open file: Ctrl+Shift+B runs it; "Run Task" has the others.
  "version": "2.0.0",
  "tasks": [
${tasks%,*}
  ]
}
END
}

# gdb stops in the host's code; kernels run on the emulator, in the same process.
write_launch() {
  write_for_editor "$root/.vscode/launch.json" '//' <<END
{
  "version": "0.2.0",
  "configurations": [
    {"name": "a step's program, on the emulator", "type": "cppdbg", "request": "launch",
     "program": "\${workspaceFolder}/build/solutions/\${fileDirnameBasename}-\${fileBasenameNoExtension}",
     "args": ["\${input:call}"], "cwd": "\${workspaceFolder}",
     "environment": [{"name": "LD_LIBRARY_PATH", "value": "\${workspaceFolder}/build/common/runtime"}],
     "MIMode": "gdb"}
  ],
  "inputs": [{"id": "call", "type": "promptString",
              "description": "the call file that ./lab env LAB names"}]
}
END
}

editor() {
  find_nvcc || true
  local toolkit=${nvcc%/bin/nvcc}
  if [[ -n $nvcc ]]; then write_clangd "$toolkit"; fi
  write_tasks
  write_launch
  if ((as_json)); then
    printf '{"written": ['
    local file comma=''
    for file in "${editor_written[@]}"; do printf '%s"%s"' "$comma" "$file" && comma=', '; done
    printf '], "kept": ['
    comma=''
    for file in "${editor_kept[@]}"; do printf '%s"%s"' "$comma" "$file" && comma=', '; done
    printf ']}\n'
    return
  fi
  ((!${#editor_written[@]})) || say "wrote ${editor_written[*]}"
  ((!${#editor_kept[@]})) || say "left as you changed them: ${editor_kept[*]}"
  [[ -n $nvcc ]] || say 'no .clangd: there is no nvcc yet; ./lab setup brings it'
  [[ -r $root/build/compile_commands.json ]] || say 'clangd knows the flags once ./lab setup has run'
}

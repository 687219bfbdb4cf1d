#!/usr/bin/env bash
# Gradescope runs this once, as root, when it makes the autograder's image: it installs what the
# course needs, builds it for one lab, and grades that lab's skeleton, which must be wrong.
set -euo pipefail
source=${AUTOGRADER:-/autograder}/source
lab=$(cat "$source/lab")
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -y install --no-install-recommends bubblewrap ca-certificates python3 util-linux

# The user who grades and runs submissions may not write results.
id -u grader >/dev/null 2>&1 || useradd --system --create-home grader
mkdir -p "$source/work"
cd "$source/stepwise"
grep -rlIm1 '^#!' . | xargs -d '\n' chmod +x # whatever unpacked the zip may have lost modes
CI=1 ./lab grade-all "labs/$lab" "$lab" --out "$source/work/skeleton" --one skeleton \
  --i-trust-these-files --jobs 1
./lab report "$source/work/skeleton" --format json | python3 -c '
import json, sys
verdict = json.load(sys.stdin)["entries"][0]["class"]
sys.exit(verdict in ("INFRA", "COMPILE", "PASS") and f"the verdict of the skeleton is {verdict}: this image cannot grade")'
rm -rf "$source/work"
# The image is kept, so what only building needs goes.
rm -rf .packages.part build/meson-private
chown -R grader build
if [[ -e $source/key ]]; then
  chown grader "$source/key"
  chmod 400 "$source/key"
fi

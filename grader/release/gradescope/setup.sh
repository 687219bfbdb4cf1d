#!/usr/bin/env bash
# Gradescope runs this script once, as root, when it builds the autograder's image. The script
# installs the packages that the course needs, builds the course for one lab, and grades that lab's
# skeleton, which must be wrong.
set -euo pipefail
source=${AUTOGRADER:-/autograder}/source
lab=$(cat "$source/lab")
export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -y install --no-install-recommends bubblewrap ca-certificates python3 util-linux

# Grading and submissions run as this user, who must not be able to write results.
id -u grader >/dev/null 2>&1 || useradd --system --create-home grader
mkdir -p "$source/work"
cd "$source/stepwise"
grep -rlIm1 '^#!' . | xargs -d '\n' chmod +x # unpacking the zip may have lost the modes
CI=1 ./lab grade-all "labs/$lab" "$lab" --out "$source/work/skeleton" --one skeleton \
  --i-trust-these-files --jobs 1
./lab report "$source/work/skeleton" --format json | python3 -c '
import json, sys
verdict = json.load(sys.stdin)["entries"][0]["class"]
sys.exit(verdict in ("INFRA", "COMPILE", "PASS") and f"the verdict of the skeleton is {verdict}: this image cannot grade")'
rm -rf "$source/work"
# Files that only the build needs would make the image larger.
rm -rf .packages.part build/meson-private
chown -R grader build
if [[ -e $source/key ]]; then
  chown grader "$source/key"
  chmod 400 "$source/key"
fi

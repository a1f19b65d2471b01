#!/usr/bin/env bash
# How fast `count` is: a million lines of a real access log, hashed, parsed and committed to SQLite, against
# awk '{c[$7]++}' on the same file, which stores nothing. Prints a Markdown table.
#
#   bench/count.sh [ROUNDS]        from the root of the repository, after ./run; 9 rounds if left out
#
# The programs take turns within each round, so that what else the machine does hits all of them alike.
# The target: at least as fast as the faster of mawk and gawk, and under 200 MB of memory.
set -euo pipefail
export LC_ALL=C
rounds=${1:-9}
splitcount=$PWD/build/release/splitcount
log=$PWD/examples/access.log
[[ -x $splitcount && -r $log ]] || { echo "count.sh: run it from the root of the repository, after ./run" >&2; exit 2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for ((i = 0; i < 100; i++)); do cat "$log"; done >"$folder/million.log"

run_mawk() { mawk '{c[$7]++}' "$folder/million.log"; }
run_gawk() { gawk '{c[$7]++}' "$folder/million.log"; }
run_splitcount() { "$splitcount" --db "$folder/count.db" count "$folder/million.log" --counter page_views --key target >"$folder/output" 2>&1; }

# In microseconds.
timed() {
  local begun=${EPOCHREALTIME/./}
  "$@" || { echo "count.sh: $* failed" >&2; cat "$folder/output" >&2; exit 1; }
  echo $((${EPOCHREALTIME/./} - begun))
}

programs=(splitcount)
for awk in mawk gawk; do command -v $awk >/dev/null && programs+=("$awk"); done
((${#programs[@]} > 1)) || { echo "count.sh: neither mawk nor gawk is installed" >&2; exit 2; }

for ((round = 0; round < rounds; round++)); do
  for program in "${programs[@]}"; do
    rm -f "$folder"/count.db*
    timed "run_$program" >>"$folder/$program.times"
  done
  run_splitcount
  timed run_splitcount >>"$folder/known.times"
done

counted=$("$splitcount" --db "$folder/count.db" --json total page_views | sed 's/.*"total": *\([0-9]*\).*/\1/')
[[ $counted == 1000000 ]] || { echo "count.sh: the total is $counted, not 1000000" >&2; exit 1; }

rm -f "$folder"/count.db*
python3 - "$folder" "$splitcount" "${programs[@]}" <<'PYTHON'
import os, resource, statistics, subprocess, sys
folder, splitcount, *programs = sys.argv[1:]

def times(name):
    with open(f"{folder}/{name}.times") as file:
        return [int(line) / 1e6 for line in file]

command = [splitcount, "--db", f"{folder}/count.db", "count", f"{folder}/million.log", "--counter", "page_views", "--key", "target"]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
memory_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
size_mb = os.path.getsize(f"{folder}/million.log") / 1e6

ours = times("splitcount")
print(f"1,000,000 lines, {size_mb:.0f} MB, {len(ours)} rounds in turn, {os.cpu_count()} cores, "
      f"load {os.getloadavg()[0]:.1f}; seconds\n")
print("| program | median | min | max | its time / ours, median of rounds |")
print("|---|---|---|---|---|")
ratios = {}
for name in programs + ["known"]:
    taken = times(name)
    ratios[name] = statistics.median(a / b for a, b in zip(taken, ours))
    shown = {"splitcount": "`splitcount count`, committed", "known": "`splitcount count`, file known"}.get(
        name, "`" + name + " '{c[$7]++}'`, nothing stored")
    print(f"| {shown} | {statistics.median(taken):.3f} | {min(taken):.3f} | {max(taken):.3f} | {ratios[name]:.2f} |")
faster = min((name for name in programs if name != "splitcount"), key=lambda name: statistics.median(times(name)))
print(f"\nTarget: 1.00 x the faster awk ({faster}); reached: {ratios[faster]:.2f} x. "
      f"Peak memory {memory_mb:.0f} MB; target: under 200 MB.")
PYTHON

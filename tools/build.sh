# The steps that ./run and ./test share. They stand in the repository's folder and set `log` before a step.
# A step says one line on standard error; what its programs print goes to the log, and is shown when they fail.

say() { printf '%s\n' "$*" >&2; }

# start_log FILE: begins a log, once nobody else builds here. The lock is held until file descriptor 9 is closed.
start_log() {
  log=$1
  mkdir -p build
  exec 9>build/lock
  if ! flock -n 9; then
    say "Waiting for another ./run or ./test in this folder"
    flock 9
  fi
  : >"$log"
}

# failed WHAT OFFSET: shows the log from that byte on, and ends.
failed() {
  tail -c "+$(($2 + 1))" "$log" >&2
  say "$1 failed; the whole output is in $PWD/$log"
  exit 1
}

# step WHAT COMMAND...
step() {
  local what=$1 offset
  shift
  offset=$(stat -c %s "$log")
  say "$what"
  "$@" >>"$log" 2>&1 </dev/null || failed "$what" "$offset"
}

# True where build/PRESET was configured here, and not elsewhere and then copied.
configured() {
  [ -f "build/$1/build.ninja" ] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "build/$1/CMakeCache.txt"
}

# configure PRESET [OPTION...]
configure() {
  local fresh=(--fresh)
  if configured "$1"; then fresh=(); fi
  step "Configuring build/$1" cmake "${fresh[@]}" --preset "$@"
}

# build PRESET [TARGET...]: where there is nothing to build it says nothing.
build() {
  local folder=build/$1 offset said= line
  shift
  offset=$(stat -c %s "$log")
  ninja -C "$folder" "$@" 2>&1 </dev/null | {
    while IFS= read -r line; do
      printf '%s\n' "$line" >>"$log"
      if [[ $line != \[[1-9]*/*\]* ]]; then continue; fi
      if [ -z "$said" ]; then say "Building $folder (the first time takes a few minutes)"; fi
      said=1
      if [ -t 2 ]; then printf '\r%s]\e[K' "${line%%]*}" >&2; fi
    done
    if [ -n "$said" ] && [ -t 2 ]; then printf '\r\e[K' >&2; fi
  } || failed "Building $folder" "$offset"
}

# The Debian packages this repository uses, and how they get onto the machine. Sourced by ./run and ./test.

packages_build=(
  g++                  # the compiler; brings libstdc++-12-dev, which clang uses too
  cmake                # the build is described in CMakeLists.txt
  ninja-build          # runs it
  ccache               # keeps what was compiled before
  pkg-config           # finds toml++ and xxHash
  libfmt-dev           # sentences and tables
  libexpected-dev      # tl::expected, the base of Result<T>
  libsqlite3-dev       # the embedded engine
  libpq-dev            # PostgreSQL's client
  zlib1g-dev           # .gz logs
  libssl-dev           # SHA-256, by which a counted file is known again
  libcli11-dev         # the command line
  nlohmann-json3-dev   # --json
  libtomlplusplus-dev  # splitcount.toml
  robin-map-dev        # the table that merges equal keys
  libxxhash-dev        # its hash
)

packages_test=(
  clang-14            # the second compiler
  libclang-rt-14-dev  # its sanitizers
  llvm-14             # llvm-symbolizer, so that a sanitizer's report names lines
  libgtest-dev        # unit tests
  libgmock-dev        # their matchers
  librapidcheck-dev   # property tests
  python3             # tools/check, the end-to-end tests, examples/any_language.py
  sqlite3             # counting from outside, as any other program would
)

# Those of the given packages that are not installed, one a line.
missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${Package}:${db:Status-Status} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    if [[ $installed != *" $package:installed "* ]]; then printf '%s\n' "$package"; fi
  done
}

# Installs those of the given packages that are missing. The package lists are fetched only where the installation
# does not succeed without, as on a machine that has none yet or old ones.
install_packages() {
  local missing
  if ! command -v dpkg-query >/dev/null; then
    say "This needs Debian 12, whose packages it installs; there is no dpkg-query here"
    exit 2
  fi
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    say "Packages are missing, and installing them needs root: apt-get install --no-install-recommends ${missing[*]}"
    exit 2
  fi
  step "Installing ${#missing[@]} Debian packages: ${missing[*]}" apt_install "${missing[@]}"
}

apt_install() {
  local options=(-y -q --no-install-recommends -o DPkg::Lock::Timeout=300)
  export DEBIAN_FRONTEND=noninteractive
  apt-get install "${options[@]}" "$@" || { apt-get update -q && apt-get install "${options[@]}" "$@"; }
}

# PostgreSQL 15 for tests that start servers of their own. Its package would make and start a cluster when it is
# installed, which nobody asked for; one that is there already stays as it is.
install_postgresql() {
  local settings=/etc/postgresql-common/createcluster.conf kept status=0
  if [ -x /usr/lib/postgresql/15/bin/postgres ]; then return; fi
  install_packages postgresql-common
  kept=$(mktemp)
  cp -p "$settings" "$kept"
  printf 'create_main_cluster = false\n' >>"$settings"
  (install_packages postgresql-15) || status=$?
  cp -p "$kept" "$settings"
  rm -f "$kept"
  return "$status"
}

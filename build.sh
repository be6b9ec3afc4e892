#!/usr/bin/env bash
# Builds, runs and tests Toolgate; `./build.sh help` says how.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf '%s\n' "$*"; }
warn() { printf 'build.sh: %s\n' "$*" >&2; }
die() { warn "$@"; exit 1; }
# Nobody knows what was meant: nothing is done.
refuse() { warn "$@; ./build.sh help says what there is"; exit 2; }

# NAME=VALUE behind a command is the environment's, as make has it.
command=${1:-help}
[ $# = 0 ] || shift
args=()
for arg; do
    case $arg in
    -h | --help) command=help ;;
    -*) [ "$command $arg" = "bench --write" ] \
        || refuse "no such option: $arg"
        args+=("$arg") ;;
    DESTDIR=* | PREFIX=* | MODULES_DIR=*)
        [ "$command" = install ] || refuse "$arg is for install"
        export "${arg?}" ;;
    NGINX_SRC=* | NGINX_BIN=* | TOOLGATE_BUILD=* | TOOLGATE_RUN_DIR=* \
        | TOOLGATE_MSGPACK=* | CC=* | CFLAGS=* | LDFLAGS=* | JOBS=* \
        | TEST_JOBS=*)
        export "${arg?}" ;;
    [A-Z]*=*) refuse "no such setting: ${arg%%=*}" ;;
    *) args+=("$arg") ;;
    esac
done
[ "$command" != help ] || args=()
set -- "${args[@]}"

TOP=$PWD
BUILD=${TOOLGATE_BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$TOP/$BUILD ;; esac
SAN=
SAN_LD=
SAN_RUNTIME=
TSAN=
COVERAGE=
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}
for name in JOBS TEST_JOBS; do
    [[ ${!name:-1} =~ ^[1-9][0-9]*$ ]] \
        || refuse "$name must be a positive number, not ${!name}"
done
CC=${CC:-gcc}

# Distributions put nginx into sbin, which users often do not have in PATH.
PATH=$PATH:/usr/sbin:/usr/local/sbin

help() {
    cat <<'END'
usage: ./build.sh COMMAND [ARGUMENTS] [NAME=VALUE...]

  deps         install the packages that building and testing need (apt)
  build [module]
               build everything into build/, or only the NGINX module
  run [CONF]   build, start a private NGINX in the foreground and print how to
               use and reload it; CONF is a file of tool and method blocks, or
               a whole nginx.conf (with `stream {`); by default a copy of
               docs/examples/demo.conf
  check        after a small change: build, run the unit and smoke tests, and
               lint the files that differ from main
  test         run the whole suite: san, and at the same time plain and tsan;
               prints the seconds of each stage at the end
  test [unit|integration|late [NAME...]] [clients|agents|plain|san|tsan]...
               run these tests only:
               unit         unit tests and fuzz corpora; NAME is the beginning
                            of a test's name, such as a folder: protocol_frame
               integration  tests with NGINX; NAME is the beginning of a file
                            name in t/integration: 510
               late         integration, with random delays before system
                            calls; TG_LATE=N: before one of N calls (12)
               clients      MCP clients and servers from npm
               agents       Claude Code, Codex and the Inspector from npm (900
                            MB), with a model of the tests; test alone does
                            not run them
               san          unit, integration and clients, built with the
                            other compiler: clang, or gcc if CC is clang;
                            under AddressSanitizer and UBSan
               plain        unit, the smoke tests, and the tests of integration
                            and clients that say so, without sanitizers
               tsan         tests with threads, under ThreadSanitizer
  test coverage
               measure the coverage of the folders without I/O by their unit
               tests; fails below 95 % of lines or 90 % of branches
  bench [--write] [speed|...]...
               measure Toolgate against a raw echo; print the tables of
               docs/performance.md or, with --write, update them
  fuzz [SECONDS] [TARGET...]
               search for inputs that break something, with clang's libFuzzer,
               60 seconds for each t/fuzz/fuzz_TARGET.c
  soak [SECONDS]
               run mixed traffic with reloads and kills for 600 seconds; fails
               if a request is lost or something keeps growing
  lint         check layering, formatting and scripts
  install      copy the build: programs, libtoolgate and headers below PREFIX
               (/usr/local), the module to MODULES_DIR
               (PREFIX/lib/nginx/modules), all below DESTDIR
  structure [DIR]
               print the lengths of functions and files, the share of
               comments and the circles of files, folder by folder; with DIR
               also those of another checkout
  clean        remove the build folder, if it is below this checkout
  help         this text

  fuzz-merge [TARGET...]
               add the inputs that fuzzing found interesting to the corpora
               in t/fuzz, as few as reach the same code
  format       apply .clang-format to the C sources

environment, or NAME=VALUE after the command:
  DESTDIR, PREFIX, MODULES_DIR  where `install` puts things
  NGINX_SRC=DIR    build the module against this NGINX source tree (1.22 or
                   newer) instead of the distribution's nginx-dev
  NGINX_BIN=FILE   the nginx that loads it; by default NGINX_SRC's own
                   objs/nginx, or the nginx in PATH
  TOOLGATE_BUILD=DIR    build folder instead of build/
  TOOLGATE_RUN_DIR=DIR  folder for `run` instead of build/run
  TOOLGATE_MSGPACK=no   build without msgpack-c, and so without traces
  CC, CFLAGS, LDFLAGS, JOBS, TEST_JOBS
END
}

for part in packages nginx tests fuzz lint run; do
    . "module/build/$part.sh"
done

# Several builds may be wanted at once, by people and by tests.
with_lock() {
    local dir top
    dir=$(realpath -m -- "$BUILD")/
    top=$(realpath -- "$TOP")
    case $dir in
    "$top"/ | "$top"/module/* | "$top"/t/* | "$top"/docs/* | "$top"/.git/*)
        refuse "will not build into $BUILD, where sources are" ;;
    esac
    mkdir -p "$BUILD"
    (
        flock 9
        "$@" 9>&-
    ) 9>"$BUILD/.lock"
}

call_make() {
    make -f module/build/programs.mk -j"$JOBS" B="${BUILD#"$TOP"/}" \
        SAN="$SAN" SAN_LD="$SAN_LD" TSAN="$TSAN" COVERAGE="$COVERAGE" \
        CC="$CC" "$@"
}

make_programs() { call_make "$@" | show_progress; }

# show_progress [FOR]: reads the commands that make prints and names each folder
# whose files are compiled, once.
show_progress() {
    local line word folder seen=" "
    while IFS= read -r line; do
        word=${line##*[[:space:]]}
        case $word in
        objs/*) continue ;;
        *.c) ;;
        *) continue ;;
        esac
        folder=${word#"$TOP"/}
        folder=${folder%/*}
        case $seen in *" $folder "*) continue ;; esac
        seen="$seen$folder "
        say "compiling $folder${1:+ for $1}"
    done
}

# NGINX's configure, make and sh see these paths without quotes.
check_paths() {
    local path breaking=$'[[:space:]"\'`\\\\$#;&|<>():]'
    for path in "$TOP" "$BUILD"; do
        # shellcheck disable=SC2053
        [[ $path != *$breaking* ]] || die "cannot build in \"$path\":" \
            "NGINX's build takes no path with a blank or one of" \
            "\"'\`\\\$#;&|<>(): in it; move the folder, or work through a" \
            "symbolic link that has none"
    done
}

# What the tests need to know about this build.
write_env() {
    local text
    text=$(printf '%s\n' "nginx_bin=$NGINX_BIN" \
        "nginx_version=$NGINX_VERSION" "stream_module=$STREAM_MODULE" \
        "module=$BUILD/ngx_stream_toolgate_module.so" "cc=$CC" "san=$SAN" \
        "san_ld=$SAN_LD" "san_runtime=$SAN_RUNTIME")
    [ "$text" = "$(cat "$BUILD/build.env" 2>/dev/null)" ] \
        || printf '%s\n' "$text" >"$BUILD/build.env"
}

# For clangd, which looks for it in build/: both builds' commands, printed anew
# when flags or files have changed.
write_commands() {
    local file=$BUILD/compile_commands.json
    if [ "$BUILD/flags.stamp" -ot "$file" ] \
        && [ "$BUILD/sources.stamp" -ot "$file" ] \
        && [ "$BUILD/nginx/toolgate.stamp" -ot "$file" ]
    then
        return 0
    fi
    {
        say "directory: $TOP"
        call_make -nB all unit replay
        say "directory: $BUILD/nginx"
        make_module -nB
    } | perl module/build/commands.pl >"$file"
}

# A folder that does not compile must not keep the others from being built.
build_all() {
    local status=0
    make_programs -k all || status=$?
    build_module
    write_env
    write_commands
    return $status
}

# build [module]: all of it, or what NGINX loads alone.
build() {
    check_paths
    say "building in $BUILD"
    require build
    find_nginx
    with_lock "build_${1:-all}"
}

LIBRARY=libtoolgate.so.1

# install_library WHERE PREFIX: the library, and what pkg-config says of it.
install_library() {
    local lib=$1/lib version
    version=$(sed -n 's/^#define TG_VERSION "\(.*\)"$/\1/p' \
        module/base/tg_base.h)
    install -d "$lib/pkgconfig"
    install -m 755 "$BUILD/$LIBRARY" "$lib/"
    ln -sf "$LIBRARY" "$lib/libtoolgate.so"
    install -m 644 "$BUILD/libtoolgate.a" "$lib/"
    cat >"$lib/pkgconfig/toolgate.pc" <<END
prefix=$2
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: toolgate
Description: The functions of a program, offered to agents as tools
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -ltoolgate
Libs.private: -luv -lpcre2-8 -lpthread -ldl
END
}

install_all() {
    local prefix=${PREFIX:-/usr/local} modules root=${DESTDIR:-} file
    local so=ngx_stream_toolgate_module.so
    # They go into configs, and another one would begin in this checkout.
    for file in DESTDIR PREFIX MODULES_DIR; do
        case ${!file:-/} in
        /*) ;;
        *) refuse "$file=${!file} must be a full path" ;;
        esac
    done
    modules=${MODULES_DIR:-$prefix/lib/nginx/modules}
    for file in $so toolgate toolgate-bridge toolgate-runner \
        "$LIBRARY" libtoolgate.a
    do
        [ -e "$BUILD/$file" ] || die "no $BUILD/$file: ./build.sh build first"
    done
    install -d "$root$prefix/bin" "$root$prefix/include" "$root$modules"
    for file in toolgate toolgate-bridge toolgate-runner; do
        install -m 755 "$BUILD/$file" "$root$prefix/bin/"
    done
    install -m 644 "$BUILD/$so" "$root$modules/"
    install -m 644 module/api/*.h "$root$prefix/include/"
    install_library "$root$prefix" "$prefix"
    find_nginx
    say "installed; at the top of nginx.conf:"
    [ -z "$STREAM_MODULE" ] || say "    load_module $STREAM_MODULE;"
    say "    load_module $modules/$so;"
    say "and in the server block with the tools:"
    say "    tool_runner $prefix/bin/toolgate-runner;"
    # The module's own message for tool_trace.
    if grep -q "made without msgpack-c" "$BUILD/$so" \
        && [ "${TOOLGATE_MSGPACK:-}" != no ]
    then
        say "installed without traces; $MSGPACK_HINT"
    fi
}

# Another checkout is built, too, but nothing is written there.
structure() {
    local other=()
    build
    if [ $# != 0 ]; then
        [ -x "$1/build.sh" ] || die "no checkout of Toolgate: $1"
        other=("$1" "$BUILD/structure")
        say "building $1"
        TOOLGATE_BUILD=$BUILD/structure "$1/build.sh" build
    fi
    perl module/build/structure.pl "${other[@]}" "$TOP" "$BUILD"
}

# Nothing but what a build has left: rm asks nobody.
clean() {
    local dir top
    dir=$(realpath -m -- "$BUILD")
    top=$(realpath -m -- "$TOP")
    case $dir in
    "$top"/?*) ;;
    *)
        warn "will not remove $dir, which is not below $top:" \
            "remove it by hand, if that is meant"
        exit 2
        ;;
    esac
    [ -e "$dir" ] || return 0
    if [ ! -f "$dir/build.env" ] && [ ! -f "$dir/.lock" ]; then
        warn "will not remove $dir, in which nothing was built:" \
            "give TOOLGATE_BUILD=DIR the folder of a build"
        exit 2
    fi
    rm -rf -- "$dir"
}

# The most arguments that a command has.
case $command in
build | run | soak | structure) most=1 ;;
test | bench | fuzz | fuzz-merge) most=$# ;;
*) most=0 ;;
esac

case $command in
deps | build | check | run | test | soak | bench | fuzz | fuzz-merge | lint \
    | format | install | structure | clean)
    [ $# -le "$most" ] || refuse "$command does not take ${*:most + 1:1}"
    ;;
esac

case $command in
deps)
    require build test lint san
    say "nothing is missing"
    ;;
build)
    case ${1:-} in
    "" | module) build "$@" ;;
    *) refuse "build takes nothing or \"module\", not $1" ;;
    esac
    ;;
run) run "$@" ;;
check) run_tests check ;;
test) run_tests "$@" ;;
soak)
    [[ ${1:-1} =~ ^[1-9][0-9]*$ ]] || refuse "soak takes seconds, not $1"
    build
    TOOLGATE_BUILD=$BUILD perl -It/lib t/soak/soak.pl "$@"
    ;;
bench)
    for row; do
        [ "$row" = --write ] || [ -e "t/bench/rows/$row.pl" ] \
            || refuse "no such row of the bench: $row"
    done
    require bench
    build
    TOOLGATE_BUILD=$BUILD perl -It/lib t/bench/bench.pl "$@"
    ;;
fuzz) fuzz "$@" ;;
fuzz-merge) fuzz_merge "$@" ;;
lint) lint ;;
format) format ;;
install) install_all ;;
structure) structure "$@" ;;
clean) clean ;;
help | -h | --help) help ;;
*) refuse "no such command: $command" ;;
esac

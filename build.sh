#!/usr/bin/env bash
# Builds, runs and tests Toolgate; `./build.sh help` says how.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

TOP=$PWD
BUILD=${TOOLGATE_BUILD:-build}
case $BUILD in /*) ;; *) BUILD=$TOP/$BUILD ;; esac
SAN=${TOOLGATE_SAN:-}
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 2)}
CC=${CC:-gcc}

# Distributions put nginx into sbin, which users often do not have in PATH.
PATH=$PATH:/usr/sbin:/usr/local/sbin

say() { printf '%s\n' "$*"; }
warn() { printf 'build.sh: %s\n' "$*" >&2; }
die() { warn "$@"; exit 1; }

help() {
    cat <<'END'
usage: ./build.sh COMMAND

  deps         install the packages that building and testing need (apt)
  build        build everything into build/
  run [CONF]   build, start a private NGINX with tools, and say how to use it;
               CONF is a file of tool and method blocks, or a complete
               nginx.conf (it has a `stream {`); default docs/examples/demo.conf
  test [unit|integration|clients|san]...
               run these tests; without a name all of them, san included
  lint         check layering, formatting, source lists and scripts
  format       apply .clang-format to the C sources
  sources      write the source lists in `config` anew from the folders
  install      copy what was built: DESTDIR=, PREFIX=/usr/local, MODULES_DIR=
  clean        remove build/
  help         this text

environment:
  NGINX_SRC=DIR    build the module against this NGINX source tree (1.22 or
                   newer) instead of the distribution's nginx-dev
  NGINX_BIN=FILE   the nginx that loads it; by default NGINX_SRC's own
                   objs/nginx, or the nginx in PATH
  TOOLGATE_BUILD   another build folder than build/
  TOOLGATE_RUN_DIR another folder for `run` than build/run
  CC, CFLAGS, LDFLAGS, JOBS
END
}

# --- packages -------------------------------------------------------------

has_header() {
    echo "#include <$1>" | "$CC" -E -x c - >/dev/null 2>&1
}

nginx_has_dynamic_stream() {
    nginx -V 2>&1 | grep -q -- '--with-stream=dynamic'
}

# Prints the packages that are missing for: build, test or lint.
missing_for() {
    local header package
    command -v "$CC" >/dev/null || { [ "$CC" = gcc ] && say gcc; }
    command -v make >/dev/null || say make
    command -v perl >/dev/null || say perl
    if command -v "$CC" >/dev/null; then
        while read -r header package; do
            has_header "$header" || say "$package"
        done <<'END'
stdlib.h libc6-dev
uv.h libuv1-dev
json-c/json.h libjson-c-dev
END
        printf '#define PCRE2_CODE_UNIT_WIDTH 8\n#include <pcre2.h>\n' \
            | "$CC" -E -x c - >/dev/null 2>&1 || say libpcre2-dev
    else
        say "libuv1-dev libjson-c-dev libpcre2-dev"
    fi
    if [ -z "${NGINX_SRC:-}" ]; then
        [ -e /usr/share/nginx/src/configure ] || say nginx-dev
    fi
    if [ -z "${NGINX_SRC:-}${NGINX_BIN:-}" ]; then
        if ! command -v nginx >/dev/null; then
            say "nginx libnginx-mod-stream"
        elif nginx_has_dynamic_stream \
            && ! [ -e /usr/lib/nginx/modules/ngx_stream_module.so ]
        then
            say libnginx-mod-stream
        fi
    fi
    case $1 in
    test)
        has_header CUnit/Basic.h || say libcunit1-dev
        command -v prove >/dev/null || say perl
        command -v node >/dev/null || say nodejs
        command -v npm >/dev/null || say npm
        ;;
    lint)
        command -v clang-format >/dev/null || say clang-format
        command -v cppcheck >/dev/null || say cppcheck
        ;;
    esac
}

# Installing Debian's nginx starts it and enables it at boot.  Neither is
# wanted here: a policy for the time of the installation prevents the first,
# disabling the second.  A policy-rc.d that is there already is left alone.
apt_install() {
    local sudo=() policy=/usr/sbin/policy-rc.d had_nginx=yes status=0
    [ "$(id -u)" = 0 ] || sudo=(sudo -n)

    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq \
        || warn "apt-get update failed, trying with the lists at hand"
    command -v nginx >/dev/null || had_nginx=
    if [ -z "$had_nginx" ] && ! [ -e $policy ]; then
        printf '#!/bin/sh\ncase "$1" in nginx) exit 101 ;; esac\nexit 0\n' \
            | "${sudo[@]}" install -m 755 /dev/stdin $policy
        trap '"${sudo[@]}" rm -f $policy' EXIT
    fi
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@" || status=$?
    if [ -z "$had_nginx" ]; then
        if [ "$(trap -p EXIT)" ]; then
            "${sudo[@]}" rm -f $policy
            trap - EXIT
        fi
        if command -v systemctl >/dev/null && [ -d /run/systemd/system ]; then
            "${sudo[@]}" systemctl disable --quiet nginx 2>/dev/null || true
        fi
    fi
    return $status
}

# Makes sure of the packages for what is to be done.
require() {
    local packages
    packages=$(for what in "$@"; do missing_for "$what"; done \
        | tr ' ' '\n' | sort -u | tr '\n' ' ')
    packages=${packages% }
    [ -n "$packages" ] || return 0

    command -v apt-get >/dev/null \
        || die "these are missing (Debian package names): $packages"
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        warn "these packages are missing; install them with"
        die "    sudo apt-get install --no-install-recommends $packages"
    fi
    say "installing: $packages"
    # shellcheck disable=SC2086
    apt_install $packages || die "apt-get could not install: $packages"
}

# --- NGINX ----------------------------------------------------------------

# Sets NGINX_SRC, NGINX_BIN, NGINX_VERSION, NGINX_ARGS and STREAM_MODULE.
find_nginx() {
    local info dir version=
    if [ -n "${NGINX_SRC:-}" ]; then
        NGINX_SRC=$(cd "$NGINX_SRC" 2>/dev/null && pwd) \
            || die "NGINX_SRC is not a folder: $NGINX_SRC"
        if [ -z "${NGINX_BIN:-}" ] && [ -x "$NGINX_SRC/objs/nginx" ]; then
            NGINX_BIN=$NGINX_SRC/objs/nginx
        fi
    else
        NGINX_SRC=/usr/share/nginx/src
    fi
    NGINX_BIN=$(command -v "${NGINX_BIN:-nginx}") \
        || die "no nginx: run ./build.sh deps, or set NGINX_BIN=FILE"
    case $NGINX_BIN in /*) ;; *) NGINX_BIN=$TOP/$NGINX_BIN ;; esac
    [ -e "$NGINX_SRC/src/core/nginx.h" ] \
        || die "$NGINX_SRC is no NGINX source tree: it has no src/core/nginx.h"

    info=$("$NGINX_BIN" -V 2>&1) || die "$NGINX_BIN -V failed: $info"
    NGINX_VERSION=$(sed -n 's|^nginx version: [^/]*/\([0-9.]*\).*|\1|p' \
        <<<"$info")
    NGINX_ARGS=$(sed -n 's/^configure arguments: //p' <<<"$info")
    version=$(sed -n 's/^#define NGINX_VERSION *"\([^"]*\)".*/\1/p' \
        "$NGINX_SRC/src/core/nginx.h")
    [ "$version" = "$NGINX_VERSION" ] || die \
        "$NGINX_SRC is NGINX $version but $NGINX_BIN is $NGINX_VERSION:" \
        "a module loads only into the version it was built for;" \
        "set NGINX_SRC and NGINX_BIN to a matching pair"
    case $NGINX_VERSION in
    0.*|1.[0-9].*|1.1[0-9].*|1.2[01].*)
        die "NGINX $NGINX_VERSION is too old, 1.22 is the oldest" ;;
    esac

    STREAM_MODULE=
    case " $NGINX_ARGS " in
    *" --with-stream=dynamic "*)
        dir=$(sed -n 's/.*--modules-path=\([^ ]*\).*/\1/p' <<<"$NGINX_ARGS")
        for dir in "$(dirname "$NGINX_BIN")" "$dir" \
            "$(dirname "$NGINX_BIN")/../modules"
        do
            if [ -e "$dir/ngx_stream_module.so" ]; then
                STREAM_MODULE=$(cd "$dir" && pwd)/ngx_stream_module.so
                break
            fi
        done
        [ -n "$STREAM_MODULE" ] \
            || die "$NGINX_BIN needs ngx_stream_module.so and it is nowhere;" \
                "on Debian: apt-get install libnginx-mod-stream"
        ;;
    *" --with-stream "*) ;;
    *) die "$NGINX_BIN was built without the stream module" ;;
    esac
}

# The binary's own configure arguments, reduced to those that a module must
# share with it (they are in its signature) and that need no extra library.
nginx_configure_args() {
    local arg compat=
    case " $NGINX_ARGS " in *" --with-compat "*) compat=yes ;; esac
    sed "s/='[^']*'//g" <<<"$NGINX_ARGS" | tr ' ' '\n' | while read -r arg; do
        case $arg in
        --with-*=* | --with-cc-opt | --with-ld-opt | --with-stream* \
            | --with-mail* | --with-google* | --with-cpp_test*) ;;
        --with-http_*ssl* | --with-http_v[23]*)
            [ -n "$compat" ] || say "$arg" ;;
        --with-http_xslt* | --with-http_image* | --with-http_geoip* \
            | --with-http_perl*) ;;
        --with-* | --without-*) say "$arg" ;;
        esac
    done
}

module_cc_opt() {
    local san="-O1 -fno-omit-frame-pointer -fsanitize=address,undefined"
    if [ -n "$SAN" ]; then
        say "-g $san -fno-sanitize-recover=all"
    else
        say "-g -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2"
    fi
}

# NGINX's configure writes into the folder that it is run in and wants to be
# run in its own; a folder of symbolic links satisfies it and keeps the
# source tree, which may be read-only or somebody's, as it was.
configure_module() {
    local dir=$BUILD/nginx configure=configure stamp want
    local ld="-Wl,-z,relro -Wl,-z,now -Wl,--version-script=$BUILD/module.map"
    [ -e "$NGINX_SRC/configure" ] || configure=auto/configure
    [ -z "$SAN" ] || ld="$ld -fsanitize=address,undefined"

    printf '{ global: ngx_modules; ngx_module_names; %s\n' \
        'ngx_module_order; local: *; };' >"$BUILD/module.map"
    stamp=$dir/toolgate.stamp
    want=$(
        say "$NGINX_SRC $NGINX_BIN $NGINX_VERSION $NGINX_ARGS"
        say "$CC ${CFLAGS:-} ${LDFLAGS:-} $(module_cc_opt) $ld"
        cat config
    )
    if [ -e "$stamp" ] && [ "$want" = "$(cat "$stamp")" ]; then
        return
    fi

    say "configuring the module for NGINX $NGINX_VERSION"
    rm -rf "$dir"
    mkdir -p "$dir"
    local file
    for file in "$NGINX_SRC"/*; do
        case ${file##*/} in objs | Makefile) ;; *) ln -s "$file" "$dir/" ;; esac
    done
    # The C files' own dependency files replace ADDON_DEPS below, which would
    # rebuild everything for every header.
    # shellcheck disable=SC2046
    if ! (cd "$dir" && "./$configure" --builddir=objs --with-cc="$CC" \
        $(nginx_configure_args) --with-stream \
        --with-cc-opt="$(module_cc_opt) -Wextra -Wno-unused-parameter \
            -MMD -MP ${CFLAGS:-}" \
        --with-ld-opt="$ld ${LDFLAGS:-}" \
        --add-dynamic-module="$TOP") >"$dir/configure.log" 2>&1
    then
        tail -n 20 "$dir/configure.log" >&2
        die "NGINX's configure failed, see $dir/configure.log"
    fi
    printf '%s\n' "$want" >"$stamp"
}

build_module() {
    local so=ngx_stream_toolgate_module.so undefined
    compgen -G 'module/nginx/*.c' >/dev/null || return 0
    case $TOP in *[[:space:]]*)
        die "NGINX cannot build a module below a path with spaces: $TOP" ;;
    esac
    configure_module
    printf -- '-include $(wildcard objs/addon/*/*.d objs/*_modules.d)\n' \
        >"$BUILD/nginx/deps.mk"
    make -s -C "$BUILD/nginx" -j"$JOBS" -f objs/Makefile -f deps.mk \
        ADDON_DEPS=objs/ngx_auto_config.h modules
    # The dynamic linker would find these out only in front of the user.
    undefined=$(nm -D --undefined-only "$BUILD/nginx/objs/$so" \
        | awk '$2 ~ /^tg_/ || $2 ~ /toolgate/ { print "    " $2 }')
    [ -z "$undefined" ] || die "the module misses these functions" \
        "(is a file missing in config? ./build.sh sources):"$'\n'"$undefined"
    cmp -s "$BUILD/nginx/objs/$so" "$BUILD/$so" \
        || install -m 644 "$BUILD/nginx/objs/$so" "$BUILD/$so"
}

# What the tests need to know about the NGINX that was built for.
write_env() {
    local text
    text=$(printf '%s\n' "nginx_bin=$NGINX_BIN" \
        "nginx_version=$NGINX_VERSION" "stream_module=$STREAM_MODULE" \
        "module=$BUILD/ngx_stream_toolgate_module.so" "san=$SAN")
    [ "$text" = "$(cat "$BUILD/build.env" 2>/dev/null)" ] \
        || printf '%s\n' "$text" >"$BUILD/build.env"
}

with_lock() {
    mkdir -p "$BUILD"
    (flock 9 && "$@" 9>&-) 9>"$BUILD/.lock"
}

make_companions() {
    make -s -f module/build.mk -j"$JOBS" B="${BUILD#"$TOP"/}" SAN="$SAN" \
        CC="$CC" "$@"
}

build_all() {
    make_companions all
    build_module
    write_env
}

build() {
    require build
    find_nginx
    with_lock build_all
}

# --- tests ----------------------------------------------------------------

test_san_env() {
    export ASAN_OPTIONS="halt_on_error=1:exitcode=99"
    export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
}

# CUnit's summary is the verdict; an exit status says more only by crashing.
test_unit() {
    local test log failed=0 status
    with_lock make_companions all unit
    for test in t/unit/test_*.c; do
        [ -e "$test" ] || { say "no unit tests"; return 0; }
        test=$(basename "$test" .c)
        log=$BUILD/unit/$test.log
        say "--- $test"
        status=0
        timeout 300 "$BUILD/unit/$test" >"$log" 2>&1 || status=$?
        cat "$log"
        if [ $status != 0 ] || ! awk '
            /^ *(suites|tests|asserts) / {
                seen++
                if ($(NF - 1) + 0 > 0 && $1 != "suites") bad = 1
                if ($1 == "tests" && $3 == 0) bad = 1
            }
            END { exit !(seen == 3 && !bad) }' "$log"
        then
            warn "$test failed (exit status $status)"
            failed=1
        fi
    done
    [ $failed = 0 ]
}

run_prove() {
    compgen -G "$1/*.t" >/dev/null || { say "no tests in $1"; return 0; }
    TOOLGATE_BUILD=$BUILD prove -j"${TEST_JOBS:-4}" -It/lib "$1"
}

test_integration() { run_prove t/integration; }

test_clients() {
    local dir=t/clients lock
    [ -e $dir/package-lock.json ] || { say "no tests in $dir"; return 0; }
    lock=$dir/node_modules/.package-lock.json
    if ! [ -e $lock ] || [ $dir/package-lock.json -nt $lock ]; then
        (cd $dir && npm ci --no-audit --no-fund --loglevel=error) \
            || die "npm ci failed in $dir"
    fi
    run_prove $dir
}

test_san() {
    BUILD=$BUILD/san
    SAN=1
    test_san_env
    with_lock build_all
    test_unit
    test_integration
    test_clients
}

run_tests() {
    local what status
    [ $# != 0 ] || set -- unit integration clients san
    for what in "$@"; do
        case $what in
        unit | integration | clients | san) ;;
        *) die "no such tests: $what (unit, integration, clients, san)" ;;
        esac
    done
    require build test
    find_nginx
    with_lock build_all
    for what in "$@"; do
        say "=== $what"
        # A subshell: san changes where things are.  No `||` after it: that
        # would switch -e off in all that it runs.
        set +e
        (set -e; test_"$what")
        status=$?
        set -e
        [ $status = 0 ] || die "$what tests failed"
    done
}

# --- the rest -------------------------------------------------------------

sources() {
    perl t/lint/sources.pl --write
}

clean() {
    case $BUILD in
    "$TOP"/?*) rm -rf "$BUILD" ;;
    *) die "will not remove $BUILD, which is not below $TOP" ;;
    esac
}

command=${1:-help}
[ $# = 0 ] || shift
case $command in
deps) require build test lint && say "nothing is missing" ;;
build) build ;;
test) run_tests "$@" ;;
sources) sources ;;
clean) clean ;;
help | -h | --help) help ;;
*)
    warn "no such command: $command"
    help >&2
    exit 2
    ;;
esac

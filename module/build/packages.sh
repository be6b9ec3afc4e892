# Finding and installing packages; sourced by build.sh.

has_header() {
    echo "#include <$1>" | "$CC" -E -x c - >/dev/null 2>&1
}

# How to get traces, on one line.
MSGPACK_HINT="for tool_trace and toolgate trace: apt-get install\
 libmsgpack-dev, then ./build.sh build and install again"

# For traces; a build that may not install it goes without them.
has_msgpack() {
    [ "${TOOLGATE_MSGPACK:-}" != no ] && has_header msgpack.h
}

# Prints the packages of clang and of its runtime libraries.
clang_packages() {
    local version
    if command -v clang >/dev/null; then
        version=$(clang -dumpversion)
        say "libclang-rt-${version%%.*}-dev"
        return
    fi
    version=$(apt-cache depends clang 2>/dev/null \
        | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' || :)
    # A release without this metapackage may be known to apt.
    [ -z "$version" ] || apt-cache show libclang-rt-dev >/dev/null 2>&1 \
        || { say "clang libclang-rt-$version-dev"; return; }
    say "clang libclang-rt-dev"
}

# Prints the path of the program that finds functions for clang's sanitizers.
clang_symbolizer() {
    local version
    version=$(clang -dumpversion 2>/dev/null || :)
    command -v llvm-symbolizer "llvm-symbolizer-${version%%.*}" | head -n 1 || :
}

# Prints the path of AddressSanitizer as a shared library, or only a name.
clang_asan_runtime() {
    clang -print-file-name="libclang_rt.asan-$(uname -m).so" 2>/dev/null || :
}

# The server, which Debian keeps out of PATH.
has_postgres() {
    local file
    for file in /usr/lib/postgresql/*/bin/postgres; do
        [ -x "$file" ] && return
    done
    command -v postgres >/dev/null
}

nginx_has_dynamic_stream() {
    case $(nginx -V 2>&1) in *--with-stream=dynamic*) return 0 ;; esac
    return 1
}

# Prints the packages that are missing for: build, test, agents, bench, san,
# fuzz or lint.
missing_for() {
    local header package program
    command -v "$CC" >/dev/null || say gcc
    command -v make >/dev/null || say make
    command -v perl >/dev/null || say perl
    if command -v "$CC" >/dev/null; then
        while read -r header package; do
            has_header "$header" || say "$package"
        done <<'END'
stdlib.h libc6-dev
uv.h libuv1-dev
json-c/json.h libjson-c-dev
curl/curl.h libcurl4-openssl-dev
openssl/ssl.h libssl-dev
sqlite3.h libsqlite3-dev
postgresql/libpq-fe.h libpq-dev
END
        printf '#define PCRE2_CODE_UNIT_WIDTH 8\n#include <pcre2.h>\n' \
            | "$CC" -E -x c - >/dev/null 2>&1 || say libpcre2-dev
    else
        say "libuv1-dev libjson-c-dev libpcre2-dev libcurl4-openssl-dev \
            libssl-dev libsqlite3-dev libpq-dev"
    fi
    [ "${TOOLGATE_MSGPACK:-}" = no ] || has_header msgpack.h \
        || say libmsgpack-dev
    has_header yaml.h || say libyaml-dev
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
        command -v openssl >/dev/null || say openssl
        command -v promtool >/dev/null || say prometheus
        /usr/bin/python3 -c 'import msgpack' 2>/dev/null \
            || say python3-msgpack
        has_postgres || say postgresql
        # Programs of users that are built with the library.
        command -v g++ >/dev/null || say g++
        command -v pkg-config >/dev/null || say pkg-config
        command -v python3 >/dev/null || say python3
        # What docs/authoring.md and the cookbook make tools of, and what
        # looks at the types of the package for Python.
        while read -r program package; do
            command -v "$program" >/dev/null || say "$package"
        done <<'END'
git git
rg ripgrep
sqlite3 sqlite3
curl curl
jq jq
identify imagemagick
ps procps
ss iproute2
mypy mypy
pyflakes3 pyflakes3
shellcheck shellcheck
END
        ;;
    san)
        if [[ $CC = *clang* ]]; then
            command -v gcc >/dev/null || say gcc
        else
            [ -e "$(clang_asan_runtime)" ] || clang_packages
            [ -n "$(clang_symbolizer)" ] || say llvm
        fi
        ;;
    agents)
        command -v tmux >/dev/null || say tmux
        ;;
    bench)
        # What validation is compared with, and what that is written in.
        command -v g++ >/dev/null || say g++
        [ -e /usr/include/simdjson.h ] || say libsimdjson-dev
        # MCP servers of other people.
        command -v node >/dev/null || say nodejs
        command -v npm >/dev/null || say npm
        ;;
    fuzz)
        fuzz_find_clang || clang_packages
        ;;
    lint)
        command -v clang-format >/dev/null || say clang-format
        command -v clang-tidy >/dev/null || say clang-tidy
        command -v cppcheck >/dev/null || say cppcheck
        ;;
    esac
}

# Installing Debian's nginx, prometheus or postgresql starts it and enables it
# at boot.  Neither is wanted here: a policy for the time of the installation
# prevents the first, disabling the second.  A policy-rc.d that is there already
# is left alone, and so is what was installed before.
POLICY=/usr/sbin/policy-rc.d
SUDO=()

remove_policy() {
    "${SUDO[@]}" rm -f "$POLICY"
    trap - EXIT
}

# A mirror may be busy for a moment, or somebody else installing something.
apt_try() {
    local try
    for try in 1 2 3; do
        [ "$try" = 1 ] || sleep 5
        "${SUDO[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get -o DPkg::Lock::Timeout=120 "$@" && return
    done
    return 1
}

apt_install() {
    local new= service has_policy= status=0
    [ "$(id -u)" = 0 ] || SUDO=(sudo -n)
    for service in nginx prometheus; do
        command -v $service >/dev/null || new="$new $service"
    done
    has_postgres || new="$new postgresql"

    apt_try update -qq \
        || warn "apt-get update failed, trying with the lists at hand"
    if [ -n "$new" ] && ! [ -e "$POLICY" ]; then
        has_policy=yes
        trap remove_policy EXIT
        {
            echo '#!/bin/sh'
            for service in $new; do
                echo "case \" \$* \" in *\" $service \"* |" \
                    "*\" $service.service \"*) exit 101; esac"
            done
            echo 'exit 0'
        } | "${SUDO[@]}" install -m 755 /dev/stdin "$POLICY"
    fi
    apt_try install -y --no-install-recommends "$@" || status=$?
    [ -z "$has_policy" ] || remove_policy
    if [ -d /run/systemd/system ]; then
        for service in $new; do
            "${SUDO[@]}" systemctl disable --quiet $service 2>/dev/null || true
        done
    fi
    return $status
}

can_install() {
    command -v apt-get >/dev/null \
        && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }
}

# Makes sure of the packages for what is to be done.
require() {
    local packages
    packages=$(for what in "$@"; do missing_for "$what"; done \
        | tr ' ' '\n' | sort -u | tr '\n' ' ')
    packages=${packages% }
    [ -n "$packages" ] || return 0
    # Traces and skills are left out of a build without their packages.
    case "$* $packages" in
    "build libmsgpack-dev" | "build libyaml-dev" \
        | "build libmsgpack-dev libyaml-dev")
        can_install || return 0 ;;
    esac

    command -v apt-get >/dev/null \
        || die "these are missing (Debian package names): $packages"
    if ! can_install; then
        warn "these packages are missing; install them with"
        die "    sudo apt-get install --no-install-recommends $packages"
    fi
    say "installing: $packages"
    # shellcheck disable=SC2086
    apt_install $packages || die "apt-get could not install: $packages"
}

# Building the module against an NGINX; sourced by build.sh.

# NAME/VERSION of the server that a source tree is of: Angie counts its own,
# OpenResty adds a number.
nginx_of_source() {
    local file=nginx
    [ ! -e "$1/src/core/angie.h" ] || file=angie
    printf '#include "%s/src/core/%s.h"\n%s_VER\n' "$1" $file ${file^^} \
        | "$CC" -E -P - | tr -d '" \n'
}

# Sets NGINX_SRC, NGINX_BIN, NGINX_VERSION, NGINX_ARGS and STREAM_MODULE.
find_nginx() {
    local info dir source binary
    if [ -n "${NGINX_SRC:-}" ]; then
        [ -d "$NGINX_SRC" ] || die "NGINX_SRC is not a folder: $NGINX_SRC"
        NGINX_SRC=$(cd "$NGINX_SRC" && pwd)
        if [ -z "${NGINX_BIN:-}" ] && [ -x "$NGINX_SRC/objs/nginx" ]; then
            NGINX_BIN=$NGINX_SRC/objs/nginx
        fi
    else
        NGINX_SRC=/usr/share/nginx/src
    fi
    [ -z "${NGINX_BIN:-}" ] || command -v "$NGINX_BIN" >/dev/null \
        || die "NGINX_BIN is no program: $NGINX_BIN"
    NGINX_BIN=$(command -v "${NGINX_BIN:-nginx}") \
        || die "no nginx to load the module: run ./build.sh deps," \
            "or set NGINX_BIN to the file of one"
    case $NGINX_BIN in /*) ;; *) NGINX_BIN=$TOP/$NGINX_BIN ;; esac
    [ -e "$NGINX_SRC/src/core/nginx.h" ] \
        || die "$NGINX_SRC is no NGINX source tree: it has no src/core/nginx.h"

    info=$("$NGINX_BIN" -V 2>&1) || die "$NGINX_BIN -V failed: $info"
    binary=$(sed -n 's/^[^ ]* version: \([^ ]*\).*/\1/p' <<<"$info" | head -n 1)
    source=$(nginx_of_source "$NGINX_SRC")
    NGINX_ARGS=$(sed -n 's/^configure arguments: //p' <<<"$info")
    NGINX_VERSION=$(sed -n 's/^#define NGINX_VERSION *"\([^"]*\)".*/\1/p' \
        "$NGINX_SRC/src/core/nginx.h")
    # Who only gives it another name has not changed it.
    [ "$source" = "$binary" ] || { [ "${source#*/}" = "${binary#*/}" ] \
        && [[ $source$binary != *Angie/* ]]; } || die \
        "$NGINX_SRC is $source but $NGINX_BIN is ${binary:-of no version}:" \
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
# share with it (they are in its signature) and that need no extra library, and
# TLS for streams, which backends may need.
nginx_configure_args() {
    local arg compat=
    case " $NGINX_ARGS " in *" --with-compat "*) compat=yes ;; esac
    sed "s/='[^']*'//g" <<<"$NGINX_ARGS" | tr ' ' '\n' | while read -r arg; do
        case $arg in
        --with-stream_ssl_module) say "$arg" ;;
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
    if [ -n "$SAN" ]; then
        say "-g1 -O1 -fno-omit-frame-pointer $SAN -fno-sanitize-recover=all"
    else
        # What hardens it comes from `config`, for all who use that.  Nobody
        # replaces a function of the module's, so that calls may be inlined.
        say "-g -O2 -fno-semantic-interposition -fno-plt -ffunction-sections"
    fi
}

# NGINX's configure writes into the folder that it is run in and wants to be
# run in its own; a folder of symbolic links satisfies it and keeps the
# source tree, which may be read-only or somebody's, as it was.
configure_module() {
    local dir=$BUILD/nginx configure=configure stamp want
    local ld="-Wl,--version-script=$BUILD/module.map" core=
    ld="$ld -Wl,-T,$TOP/module/build/call.ld"
    [ -e "$NGINX_SRC/configure" ] || configure=auto/configure
    # Under sanitizers, the objects of the programs are good enough.
    [ -z "$SAN" ] || ld="$ld $SAN $SAN_LD" core=$BUILD/libcore.a

    printf '{ global: ngx_modules; ngx_module_names; %s\n' \
        'ngx_module_order; local: *; };' >"$BUILD/module.map"
    stamp=$dir/toolgate.stamp
    want=$(
        say "$NGINX_SRC $NGINX_BIN $NGINX_VERSION $NGINX_ARGS"
        say "$CC ${CFLAGS:-} ${LDFLAGS:-} $(module_cc_opt) $ld"
        ! has_msgpack || say msgpack
        cat config module/build/hardening.sh module/build/call.ld
        # The makefile that configure writes lists these.
        eval "$(grep '^TOOLGATE_FOLDERS=' config)"
        (cd module && find $TOOLGATE_FOLDERS -name '*.c' | sort)
    )
    if [ -e "$stamp" ] && [ "$want" = "$(cat "$stamp")" ]; then
        return
    fi

    say "configuring the module for NGINX $NGINX_VERSION"
    has_msgpack || say "building without traces, which need msgpack-c;" \
        "$MSGPACK_HINT"
    rm -rf "$dir"
    mkdir -p "$dir"
    local file
    for file in "$NGINX_SRC"/*; do
        case ${file##*/} in objs | Makefile) ;; *) ln -s "$file" "$dir/" ;; esac
    done
    # The C files' own dependency files replace ADDON_DEPS below, which would
    # rebuild everything for every header.
    # shellcheck disable=SC2046
    if ! (cd "$dir" && TOOLGATE_CORE=$core \
        "./$configure" --builddir=objs --with-cc="$CC" \
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

make_module() {
    make -C "$BUILD/nginx" -j"$JOBS" -f objs/Makefile -f deps.mk \
        ADDON_DEPS=objs/ngx_auto_config.h modules "$@"
}

build_module() {
    local so=ngx_stream_toolgate_module.so undefined
    configure_module
    {
        say '-include $(wildcard objs/addon/*/*.d objs/*_modules.d)'
        [ -z "$SAN" ] || say "objs/$so: $BUILD/libcore.a"
    } >"$BUILD/nginx/deps.mk"
    make_module | show_progress NGINX
    # The dynamic linker would find these out only in front of the user.
    undefined=$(nm -D --undefined-only "$BUILD/nginx/objs/$so" \
        | awk '$2 ~ /^tg_/ || $2 ~ /toolgate/ { print "    " $2 }')
    [ -z "$undefined" ] || die "the module misses these functions" \
        "(is a folder missing in config?):"$'\n'"$undefined"
    cmp -s "$BUILD/nginx/objs/$so" "$BUILD/$so" \
        || install -m 644 "$BUILD/nginx/objs/$so" "$BUILD/$so"
}

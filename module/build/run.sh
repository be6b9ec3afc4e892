# ./build.sh run: a private NGINX in the foreground; sourced by build.sh.

# A socket's path has 107 bytes at most, and NGINX and the runner put longer
# names beside it for a moment: the folder must be well below that.
LONGEST_RUN_DIR=70

# Is directive $1 in file $2 (a comment does not count)?
has_directive() {
    grep -Eq "^[[:space:]]*$1([[:space:]{;]|\$)" "$2"
}

# The user that the workers and the tools run as.  NGINX started by root
# would take nobody, who may neither enter a home folder nor be of use in a
# demo: `sudo ./build.sh run` means who called sudo; plain root (a container,
# as a rule) stays root.
run_user() {
    [ "$(id -u)" = 0 ] || return 0
    say "${SUDO_USER:-root}"
}

# Writes the nginx.conf around file $1: tool blocks, or a whole nginx.conf
# that only lacks what makes it private.
write_run_conf() {
    local conf=$1 user
    user=$(run_user)
    say "# Written by ./build.sh run at each start: edit $conf instead."
    if ! grep -Eq '^[[:space:]]*load_module.*toolgate' "$conf"; then
        if [ -n "$STREAM_MODULE" ] \
            && ! grep -Eq '^[[:space:]]*load_module.*ngx_stream_module' "$conf"
        then
            say "load_module $STREAM_MODULE;"
        fi
        say "load_module $BUILD/ngx_stream_toolgate_module.so;"
    fi
    if [ -n "$user" ] && ! has_directive user "$conf"; then
        say "user $user $(id -gn "$user");"
    fi
    has_directive daemon "$conf" || say "daemon off;"
    has_directive pid "$conf" || say "pid nginx.pid;"
    has_directive worker_processes "$conf" || say "worker_processes 2;"
    has_directive error_log "$conf" \
        || say "error_log error.log info; error_log stderr warn;"
    has_directive events "$conf" || say "events { }"
    if has_directive stream "$conf"; then
        say "include \"$conf\";"
        return
    fi
    cat <<END
stream {
    server {
        listen "unix:$RUN_SOCKET";${user:+
        tool_socket_owner $user;}
        tool_runner "$BUILD/toolgate-runner";
        tool_state_dir "$RUN_DIR/state";
        include "$conf";
    }
}
END
}

# Sets RUN_DIR, RUN_CONF and RUN_SOCKET.
prepare_run() {
    local pid
    RUN_CONF=${1:-}
    RUN_DIR=${TOOLGATE_RUN_DIR:-$BUILD/run}
    case $RUN_DIR in /*) ;; *) RUN_DIR=$TOP/$RUN_DIR ;; esac
    if [ ${#RUN_DIR} -gt $LONGEST_RUN_DIR ]; then
        warn "$RUN_DIR is too long for a socket's path, taking a short one"
        RUN_DIR=$(mktemp -d /tmp/toolgate.XXXXXX)
        RUN_DIR_IS_TEMP=yes
    fi
    mkdir -p "$RUN_DIR/state"
    chmod 700 "$RUN_DIR/state"
    [ -z "$(run_user)" ] || chown "$(run_user)" "$RUN_DIR/state"

    pid=$(cat "$RUN_DIR/nginx.pid" 2>/dev/null) || pid=
    if [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; then
        die "it runs already, as process $pid, in $RUN_DIR;" \
            "for a second one set TOOLGATE_RUN_DIR"
    fi

    if [ -z "$RUN_CONF" ]; then
        # A copy, so that trying things out does not change the repository.
        RUN_CONF=$RUN_DIR/tools.conf
        [ -e "$RUN_CONF" ] || cp docs/examples/demo.conf "$RUN_CONF"
    fi
    RUN_SOCKET=$RUN_DIR/tools.sock
    if has_directive stream "$RUN_CONF"; then
        RUN_SOCKET=$(sed -n 's/^[^#]*listen  *unix:\([^; ]*\).*/\1/p' \
            "$RUN_CONF" | head -n 1)
        [ -n "$RUN_SOCKET" ] || die "$RUN_CONF listens on no unix: socket"
    fi
    write_run_conf "$RUN_CONF" >"$RUN_DIR/nginx.conf"
    write_run_reload >"$RUN_DIR/reload"
}

# Writes a script that reloads the config from any terminal and folder; its
# path is shorter than the command.
write_run_reload() {
    say "#!/bin/sh"
    say "# Written by ./build.sh run: has NGINX read its config again."
    say "exec $(printf '%q ' "$NGINX_BIN" -p "$RUN_DIR/" -c nginx.conf \
        -e error.log -s reload)"
}

# Processes of the runner that belong to RUN_DIR, by their command line.
run_runners() {
    local file args arg
    for file in /proc/[0-9]*/cmdline; do
        args=()
        mapfile -d '' -t args 2>/dev/null <"$file" || continue
        case ${args[0]:-} in */toolgate-runner | toolgate-runner) ;;
        *) continue ;;
        esac
        for arg in "${args[@]}"; do
            case $arg in "$RUN_DIR"/*)
                file=${file%/cmdline}
                say "${file##*/}"
                break
                ;;
            esac
        done
    done
}

# The runner outlives NGINX for a while by design, but not this demo.
stop_run() {
    local pids tries=0
    kill -TERM "$NGINX_PID" 2>/dev/null || true
    wait "$NGINX_PID" 2>/dev/null || true
    pids=$(run_runners)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill -TERM $pids 2>/dev/null || true
    while [ -n "$(run_runners)" ] && [ $tries -lt 50 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    [ -z "${RUN_DIR_IS_TEMP:-}" ] || rm -rf "$RUN_DIR"
}

# Prints a list under its title, unless it is empty.
print_run_list() {
    [ -z "$2" ] || printf '\n%s:\n\n%s\n' "$1" "$2"
}

print_run() {
    local cli=$BUILD/toolgate call="NAME key=value" sock conf reload
    local prompts resources prompt uri
    # What is to be pasted must survive a space in a path.
    sock=$(printf %q "$RUN_SOCKET")
    conf=$(printf %q "$RUN_CONF")
    reload=$(printf %q "$RUN_DIR/reload")
    prompts=$("$cli" prompts --socket "$RUN_SOCKET" 2>/dev/null) || prompts=
    resources=$("$cli" resources --socket "$RUN_SOCKET" 2>/dev/null) \
        || resources=
    # The first prompt with its required arguments, and the first resource.
    prompt=$(sed -n '1s/ \[.*//; 1p' <<<"$prompts")
    uri=$(sed -n 's/^\([^ {]*:[^ {]*\) .*/\1/p' <<<"$resources" | head -n 1)
    cat <<END

Toolgate answers on $RUN_SOCKET

END
    "$cli" list --socket "$RUN_SOCKET"
    print_run_list Prompts "$prompts"
    print_run_list Resources "$resources"
    if has_directive "tool word_count" "$RUN_CONF"; then
        call="word_count text='one two three'"
    fi
    cat <<END

Call a tool from another terminal:
    $cli call --socket $sock $call
${prompt:+
Print a prompt:
    $cli prompt --socket $sock $prompt
}${uri:+
Read a resource:
    $cli read --socket $sock $(printf %q "$uri")
}
Give all of these to an agent:
    claude mcp add toolgate -- $BUILD/toolgate-bridge $sock
    codex mcp add toolgate -- $BUILD/toolgate-bridge $sock

To change the tools, edit $conf, then run
    sh $reload

The log is $RUN_DIR/error.log.  Ctrl-C stops everything.
END
}

run() {
    local conf=${1:-} tries=0 status=0 stopping=
    if [ -n "$conf" ]; then
        # Relative to where the user is, not to this script.
        case $conf in /*) ;; *) conf=$OLDPWD/$conf ;; esac
        [ -r "$conf" ] || die "cannot read $conf"
        [ ! -d "$conf" ] || die "$conf is a folder; name a file of tools in it"
    fi
    build
    prepare_run "$conf"
    "$NGINX_BIN" -p "$RUN_DIR/" -e error.log -c nginx.conf &
    NGINX_PID=$!
    trap stop_run EXIT
    # Between two looks at it `wait` would not hear of a signal.
    trap 'stopping=yes; kill -TERM "$NGINX_PID" 2>/dev/null || true' \
        INT TERM HUP
    until "$BUILD/toolgate" ping --socket "$RUN_SOCKET" >/dev/null 2>&1; do
        [ -z "$stopping" ] || exit 0
        kill -0 "$NGINX_PID" 2>/dev/null \
            || die "NGINX did not start, see above and $RUN_DIR/error.log"
        tries=$((tries + 1))
        [ $tries -lt 100 ] || die "$RUN_SOCKET does not answer," \
            "see $RUN_DIR/error.log"
        sleep 0.1
    done
    print_run
    while [ -z "$stopping" ] && kill -0 "$NGINX_PID" 2>/dev/null; do
        wait "$NGINX_PID" || status=$?
    done
    [ -n "$stopping" ] || die "NGINX ended (status $status)"
    trap - EXIT
    stop_run
    say
    say "stopped"
}

# Running the tests; sourced by build.sh.

test_san_env() {
    export ASAN_OPTIONS="halt_on_error=1:exitcode=99"
    export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
}

unit_run() {
    local program=$BUILD/unit/$1 status=0
    timeout -k 5 600 "$program" >"$program.log" 2>&1 || status=$?
    echo $status >"$program.status"
}

# test_unit_programs NAME...: those that were built.
test_unit_programs() {
    local test log failed= status
    # Those that wait for programs most of their time leave room for others.
    rm -f "$BUILD"/unit/*.status
    export BUILD
    export -f unit_run
    printf '%s\n' "$@" \
        | xargs -P "${TEST_JOBS:-4}" -n 1 bash -c 'unit_run "$1"' unit
    for test; do
        log=$BUILD/unit/$test.log
        say "--- $test"
        status=$(cat "$BUILD/unit/$test.status")
        cat "$log"
        if [ $status != 0 ] || ! awk '
            /^ *(suites|tests|asserts) / {
                seen++
                if ($(NF - 1) + 0 > 0) bad = 1
                if ($1 == "tests" && $3 == 0) bad = 1
            }
            END { exit !(seen == 3 && !bad) }' "$log"
        then
            warn "$test failed (exit status $status)"
            failed="$failed $test"
        fi
    done
    # Where it stands in what was printed is far above.
    [ -z "$failed" ] || warn "failed:$failed"
    [ -z "$failed" ]
}

# test_unit [ROOM...].  A program passes when it exits with 0 and CUnit's
# summary says that tests ran and none failed: either alone can be forgotten
# or cut short.
test_unit() {
    local test tests=() failed= room
    if [ $# = 0 ]; then
        with_lock make_rooms all unit replay
        set -- ""
    else
        with_lock make_rooms core
    fi
    for room in "$@"; do
        for test in t/unit/test_$room*.c; do
            [ -e "$test" ] || { say "no unit tests"; return 0; }
            tests+=("$(basename "$test" .c)")
        done
    done
    test_unit_programs "${tests[@]}" || failed=" unit"
    replay_corpora "$@" || failed="$failed fuzz"
    [ -z "$failed" ] || warn "failed:$failed"
    [ -z "$failed" ]
}

# replay_corpora ROOM...: runs the fuzz targets on their corpora.
replay_corpora() {
    local target failed=0 status
    for target in $(fuzz_targets "$@"); do
        say "--- fuzz $target"
        status=0
        timeout -k 5 300 "$BUILD/fuzz/$target" "t/fuzz/$target.corpus" \
            || status=$?
        if [ $status != 0 ]; then
            warn "the corpus of $target failed (exit status $status)"
            failed=1
        fi
    done
    return $failed
}

prove_files() {
    TOOLGATE_BUILD=$BUILD prove -j"${TEST_JOBS:-4}" -e module/build/test.sh \
        "$@" 9>&2
}

run_prove() {
    compgen -G "$1/*.t" >/dev/null || { say "no tests in $1"; return 0; }
    # Thousands of connections at once are one of the tests.
    ulimit -S -n 8192 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
    # Each failed test leaves here what it knows, see Toolgate::Test.
    rm -rf "$BUILD/failed"
    mkdir -p "$BUILD/failed"
    local status=0 file files
    # The longest have the highest numbers: nobody waits for them at the end.
    mapfile -t files < <(printf '%s\n' "$1"/*.t | sort -r)
    prove_files "${files[@]}" || status=$?
    [ $status != 0 ] || return 0
    for file in "$BUILD"/failed/*.txt; do
        [ -e "$file" ] || continue
        warn "what $(basename "$file" .txt) said:"
        sed 's/^/    /' "$file" >&2
    done
    return $status
}

# The registry may be busy for a moment.
npm_install() {
    local try
    for try in 1 2 3; do
        npm ci --no-audit --no-fund --loglevel=error && return
        warn "npm ci failed ($try)"
        sleep $((try * 3))
    done
    return 1
}

test_integration() { run_prove t/integration; }

test_clients() {
    local dir=t/clients lock
    [ -e $dir/package-lock.json ] || { say "no tests in $dir"; return 0; }
    lock=$dir/node_modules/.package-lock.json
    if ! [ -e $lock ] || [ $dir/package-lock.json -nt $lock ]; then
        (cd $dir && npm_install) \
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

# The library, and what its threads share, under ThreadSanitizer.
test_tsan() {
    BUILD=$BUILD/tsan
    TSAN=1
    export TSAN_OPTIONS="halt_on_error=1:exitcode=66"
    with_lock make_rooms threads
    write_env
    test_unit_programs test_threading_pending_call || return 1
    # All but what is about files that are installed.
    prove_files t/integration/87[0-57-9]-host-*.t t/integration/88[025]-*.t
}

# What gcc accepts, clang must, and the other way round.
test_clang() {
    case $CC in *clang*) CC=gcc ;; *) CC=clang ;; esac
    BUILD=$BUILD/other
    with_lock build_all
    test_unit || return 1
    prove_files t/integration/002-smoke.t t/integration/400-transcripts.t
}

# What waits for events passes, however late everybody is.
test_late() {
    LD_PRELOAD=$BUILD/faults/tg_late.so run_prove t/integration
}

# How much of core its tests reach.
test_coverage() {
    BUILD=$BUILD/coverage
    COVERAGE=1
    command -v gcov >/dev/null || die "no gcov; it comes with gcc"
    # What ran before counts no more.
    mkdir -p "$BUILD"
    find "$BUILD" -name '*.gcda' -delete
    test_unit base schema protocol catalog rule spec >"$BUILD/log" 2>&1 \
        || { cat "$BUILD/log"; die "coverage is of tests that pass"; }
    perl module/build/coverage.pl "$BUILD/obj" 95 90 \
        module/base module/schema module/protocol module/catalog \
        module/rule module/spec
}

run_tests() {
    local what status
    [ $# != 0 ] || set -- unit integration clients san tsan clang
    for what in "$@"; do
        case $what in
        unit | integration | clients | san | tsan | clang | late | coverage) ;;
        *) refuse "no such tests: $what (unit, integration, clients, san," \
            "tsan, clang, late, coverage)" ;;
        esac
    done
    require build test
    [[ " $* " != *" clang "* ]] || require clang
    find_nginx
    # These build their own.
    case $* in san | tsan | clang | coverage) ;; *) with_lock build_all ;; esac
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

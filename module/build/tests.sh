# Running the tests; sourced by build.sh.

# use_sanitizers: sets CC to the other compiler, because each must accept what
# the other one does; SAN and SAN_LD to its options and those of the linker; and
# SAN_RUNTIME to the libraries that programs without sanitizers must preload.
use_sanitizers() {
    SAN=-fsanitize=address,undefined
    export ASAN_OPTIONS="halt_on_error=1:exitcode=99"
    export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
    case $CC in
    *clang*)
        CC=gcc
        SAN_RUNTIME=$($CC -print-file-name=libasan.so)
        SAN_RUNTIME+=:$($CC -print-file-name=libubsan.so)
        ;;
    *)
        CC=clang
        # Shared, as gcc's is: NGINX and the module must have one runtime.
        SAN+=" -shared-libasan"
        # One constructor registers the globals of all files.
        SAN+=" -fsanitize-address-globals-dead-stripping -fdata-sections"
        SAN_RUNTIME=$(clang_asan_runtime)
        # Clang's checks of globals need the module's own ngx_modules.
        SAN_LD=-Wl,-Bsymbolic,-rpath,${SAN_RUNTIME%/*}
        # A runner that NGINX starts has no PATH to find it.
        ASAN_OPTIONS+=:external_symbolizer_path=$(clang_symbolizer)
        ;;
    esac
}

unit_run() {
    local program=$BUILD/unit/$1 status=0
    # As in prove.pl.
    [ -z "${TEST_SLOTS:-}" ] || read -r _ <&8
    timeout -k 5 600 "$program" >"$program.log" 2>&1 8<&- || status=$?
    [ -z "${TEST_SLOTS:-}" ] || echo >&8
    echo $status >"$program.status"
}

# test_unit_programs NAME...: those that were built.
test_unit_programs() {
    local test log failed= status
    # Many wait for programs most of their time.
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

# test_unit [NAME...]: runs the unit tests and replays the fuzz corpora whose
# names begin with NAME, by default all.  A program passes when it exits with 0
# and CUnit's summary says that tests ran and none failed: either alone can be
# forgotten or cut short.
test_unit() {
    local test tests=() corpora failed= name dir=${BUILD#"$TOP"/}
    for name in "${@:-}"; do
        for test in t/unit/test_"$name"*.c; do
            [ ! -e "$test" ] || tests+=("$(basename "$test" .c)")
        done
    done
    mapfile -t corpora < <(fuzz_targets "$@")
    [ ${#tests[@]}${#corpora[@]} != 00 ] || die "no unit test is named $*"
    case " ${corpora[*]}" in
    *" nginx_"*) with_lock configure_module ;; # for NGINX's headers
    esac
    stage "build unit tests" with_lock make_programs \
        "${tests[@]/#/$dir/unit/}" "${corpora[@]/#/$dir/fuzz/}"
    stage "unit tests" test_unit_programs "${tests[@]}" || failed=" unit"
    stage "fuzz corpora" replay_corpora "${corpora[@]}" \
        || failed="$failed fuzz"
    [ -z "$failed" ] || warn "failed:$failed"
    [ -z "$failed" ]
}

# replay_corpora TARGET...: runs the fuzz targets on their corpora.
replay_corpora() {
    local target failed=0 status
    for target; do
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
    TOOLGATE_BUILD=$BUILD perl module/build/prove.pl --timer \
        -j"${TEST_JOBS:-4}" "$@" 9>&2
}

# run_prove FILE...: runs the tests and repeats what failed tests said.
run_prove() {
    # One of the tests opens thousands of connections at once.
    ulimit -S -n 8192 2>/dev/null || ulimit -S -n "$(ulimit -H -n)"
    # Each failed test leaves its diagnostics here, see Toolgate::Test.
    rm -rf "$BUILD/failed"
    mkdir -p "$BUILD/failed"
    local status=0 file files
    # The longest begin: nobody waits for them at the end.
    mapfile -t files < <(printf '%s\n' "$@" | sort -ru \
        | awk -v longest='clients|/(81[0-4]|853|490|4[78]0|211)-' '
            $0 ~ longest { print; next }
            { rest = rest $0 "\n" }
            END { printf "%s", rest }')
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

# test_integration [NAME...]: those whose file names begin with NAME, or all.
test_integration() {
    local name file files=()
    for name in "${@:-}"; do
        name=${name#t/integration/}
        for file in t/integration/"${name%.t}"*.t; do
            [ -e "$file" ] || die "no integration test is named $name"
            files+=("$file")
        done
    done
    stage "integration tests" run_prove "${files[@]}"
}

# install_clients [DIR]: packages from npm.
install_clients() {
    local dir=${1:-t/clients} lock
    lock=$dir/node_modules/.package-lock.json
    if ! [ -e $lock ] || [ $dir/package-lock.json -nt $lock ]; then
        (cd $dir && npm_install) \
            || die "npm ci failed in $dir"
    fi
}

test_clients() {
    install_clients
    stage "clients" run_prove t/clients/*.t
}

test_agents() {
    install_clients t/agents
    stage "agents" run_prove t/agents/*.t
}

test_san() {
    BUILD=$BUILD/san
    use_sanitizers
    local files missing=^$
    stage build with_lock build_all
    test_unit
    # The other tests run even if the registry is down.
    (install_clients) || missing=^t/clients/
    mapfile -t files < <(integration_tests -L only | grep -v "$missing")
    stage "integration tests and clients" run_prove "${files[@]}"
    [ "$missing" = ^$ ] || die "the tests of clients could not run"
}

# integration_tests -l|-L WORD: prints those with, or without, the option
# plain_WORD of Toolgate::Test, and so those of clients.  What is not plain_only
# runs under sanitizers.
integration_tests() {
    grep "$1E" "^[^#]*\<plain_($2)\> *=>" t/integration/*.t t/clients/*.t
}

# The quick answer after a change.
test_check() {
    test_unit
    stage "smoke tests" prove_files "${SMOKE[@]}"
    stage lint lint_changed
}

# What the suite runs without sanitizers: the unit tests, because optimized
# code differs; smoke tests; and each test that says so.
test_plain() {
    local files
    test_unit
    mapfile -t files < <(integration_tests -l "only|too")
    stage "integration tests" run_prove "${SMOKE[@]}" "${files[@]}"
}

SMOKE=(t/integration/002-smoke.t t/integration/400-transcripts.t)

# The library, and what its threads share, under ThreadSanitizer.
test_tsan() {
    BUILD=$BUILD/tsan
    TSAN=1
    export TSAN_OPTIONS="halt_on_error=1:exitcode=66"
    stage build with_lock make_programs threads
    write_env
    stage "unit tests" test_unit_programs test_threading_pending_call
    # All but what is about files that are installed.  A race needs fewer calls
    # than a leak.
    TOOLGATE_TEST_CALLS=${TOOLGATE_TEST_CALLS:-300} \
        stage "integration tests" prove_files \
        t/integration/87[0-57-9]-host-*.t t/integration/88[025]-*.t
}

# What waits for events passes, however late everybody is.
test_late() {
    export LD_PRELOAD=$BUILD/faults/tg_late.so
    test_integration "$@"
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

TEST_KINDS=(unit integration clients agents plain san tsan late coverage check)

# stage NAME COMMAND...: runs it and adds its times to those that the run ends
# with.
stage() {
    local name=$1 TIMEFORMAT
    shift
    TIMEFORMAT="stage: $KIND, $name: %0R s, processors %0U s + %0S s"
    { time "$@" 2>&3 3>&-; } 3>&2 2>>"$STAGES"
}

is_test_kind() { [[ " ${TEST_KINDS[*]} " == *" $1 "* ]]; }

# run_kind KIND [NAME...]: sets FAILED if they failed.  Never call it where
# the shell ignores -e, such as before `||`.
run_kind() {
    local status
    KIND=$1
    say "=== $*"
    shift
    # A subshell: san changes where things are.  No `||` after it: that would
    # switch -e off in all that it runs.
    set +e
    (set -e; test_"$KIND" "$@")
    status=$?
    set -e
    [ $status = 0 ] || { FAILED=1; warn "$KIND tests failed"; }
}

# run_tests [KIND [NAME...]]...
run_tests() {
    local what kinds=() FAILED=
    [ $# != 0 ] || { run_suite; return; }
    STAGES=$BUILD/stages.$$
    for what; do
        if is_test_kind "$what"; then
            kinds+=("$what")
        else
            case ${kinds[*]: -1} in
            unit* | integration* | late*)
                kinds[-1]="${kinds[-1]} ${what#test_}" ;;
            *) refuse "no such tests: $what (${TEST_KINDS[*]})" ;;
            esac
        fi
    done
    require build test
    [[ " $* " != *" san "* ]] || require san
    [[ " $* " != *" check "* ]] || require lint
    [[ " $* " != *" agents "* ]] || require agents
    find_nginx
    mkdir -p "$BUILD"
    # Some build their own, or only what they need.
    case "$*" in
    san | tsan | coverage | unit\ ?*) ;;
    *) KIND=$1 stage build with_lock build_all ;;
    esac
    for what in "${kinds[@]}"; do
        # shellcheck disable=SC2086
        run_kind $what
        [ -z "$FAILED" ] || break
    done
    cat "$STAGES" 2>/dev/null || :
    rm -f "$STAGES"
    [ -z "$FAILED" ]
}

# suite_part KINDS: runs them, and prints the kinds before each line.
suite_part() {
    # shellcheck disable=SC2086
    TOOLGATE_BUILD=$BUILD TEST_JOBS=$TEST_SLOTS ./build.sh test $1 2>&1 \
        | sed -u "s/^/${1%% *}: /" | tee "$BUILD/suite.${1%% *}"
}

# All that a change must pass, in two parts at once, because tests wait much of
# their time.
run_suite() {
    local status=0 part slots
    require build test san
    check_paths
    mkdir -p "$BUILD"
    # Both parts share these slots, and the last one has all; see prove.pl.
    export BUILD TEST_SLOTS=${TEST_JOBS:-8}
    slots=$(mktemp -u "$BUILD/slots.XXXXXX")
    mkfifo "$slots"
    exec 8<>"$slots"
    rm -f "$slots"
    printf '%*s' "$TEST_SLOTS" '' | tr ' ' '\n' >&8
    export -f suite_part
    printf '%s\n' san "plain tsan" \
        | xargs -P 2 -I {} bash -o pipefail -c 'suite_part "$1"' suite {} \
        || status=1
    sed -n 's/^[a-z]*: \(stage: \)/\1/p' "$BUILD"/suite.*
    # What failed comes last: a machine may keep no more of the log than that.
    [ $status = 0 ] || for part in "$BUILD"/suite.*; do
        ! grep -q ': build\.sh: .* failed' "$part" || tail -n 150 "$part" >&2
    done
    return $status
}

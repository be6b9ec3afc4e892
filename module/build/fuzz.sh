# Fuzzing; sourced by build.sh.
#
# A target is t/fuzz/fuzz_TARGET.c; its corpus is t/fuzz/TARGET.corpus, packed
# by corpus.pl, its dictionary t/fuzz/TARGET.dict.

# A message of a line or two reaches everything.
FUZZ_MAX_LEN=4096

# fuzz_targets [FOLDER...]
fuzz_targets() {
    local file folder
    for folder in "${@:-}"; do
        for file in t/fuzz/fuzz_$folder*.c; do
            [ -e "$file" ] || continue
            file=${file##*/fuzz_}
            say "${file%.c}"
        done
    done
}

# The first clang that has libFuzzer.
fuzz_find_clang() {
    local clang
    for clang in clang clang-14 clang-15 clang-16 clang-17 clang-18 clang-19; do
        if command -v $clang >/dev/null && fuzz_is_libfuzzer $clang; then
            CC=$clang
            return 0
        fi
    done
    return 1
}

fuzz_is_libfuzzer() {
    echo 'int LLVMFuzzerTestOneInput(const char *p, long n);
          int LLVMFuzzerTestOneInput(const char *p, long n) { return 0; }' \
        | "$1" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null \
            >/dev/null 2>&1
}

# fuzz_unpack TARGET: unpacks its corpus into build/fuzz/seeds/TARGET.
fuzz_unpack() {
    rm -rf "$BUILD/seeds/$1"
    mkdir -p "$BUILD/seeds/$1" "$BUILD/corpus/$1"
    perl module/build/corpus.pl unpack "t/fuzz/$1.corpus" "$BUILD/seeds/$1"
}

# fuzz_pack TARGET: packs build/fuzz/seeds/TARGET as its corpus.
fuzz_pack() {
    perl module/build/corpus.pl pack "t/fuzz/$1.corpus" "$BUILD/seeds/$1"
}

# fuzz_one TARGET SECONDS: new inputs stay in build/fuzz/corpus/TARGET, a
# finding is added to the corpus and so becomes a test.
fuzz_one() {
    local target=$1 seconds=$2 status=0 dict=() found
    local own=$BUILD/corpus/$target log=$BUILD/log/$target
    mkdir -p "$BUILD/log" "$BUILD/found/$target"
    fuzz_unpack "$target"
    [ ! -e "t/fuzz/$target.dict" ] || dict=("-dict=t/fuzz/$target.dict")
    "$BUILD/fuzz/$target" -max_total_time="$seconds" \
        -max_len=$FUZZ_MAX_LEN -timeout=60 -report_slow_units=60 \
        -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$BUILD/found/$target/" \
        "${dict[@]}" "$own" "$BUILD/seeds/$target" >"$log" 2>&1 </dev/null \
        || status=$?
    say "$target: $(awk '/number_of_executed_units/ { n = $2 }
        /^Done/ { s = $(NF - 1) }
        END { print n + 0 " runs in " s + 0 " s" }' "$log")"
    [ $status != 0 ] || return 0

    grep -E -m 20 'this does not hold|ERROR|SUMMARY|runtime error|^    #' \
        "$log" || tail -20 "$log"
    for found in "$BUILD/found/$target"/*; do
        [ -e "$found" ] || continue
        mv "$found" "$BUILD/seeds/$target/"
        warn "$target: a finding: ${found##*/} in t/fuzz/$target.corpus"
    done
    fuzz_pack "$target"
    warn "$target: see $log"
    return 1
}

fuzz_check_targets() {
    local target
    for target; do
        [ -e "t/fuzz/fuzz_$target.c" ] || refuse "no such target: $target"
    done
}

# All targets, of which some need NGINX's headers as the module has them.
fuzz_build() {
    find_nginx
    BUILD=$BUILD/fuzz
    with_lock configure_module
    with_lock make_programs FUZZ=1 replay
}

# fuzz [SECONDS] [TARGET...]
fuzz() {
    local seconds=60 target failed=0
    case ${1:-} in
    [0-9]*)
        seconds=$1
        shift
        ;;
    esac
    fuzz_check_targets "$@"
    require build fuzz
    fuzz_find_clang || die "no clang with libFuzzer"
    # shellcheck disable=SC2046
    [ $# != 0 ] || set -- $(fuzz_targets)
    fuzz_build
    for target; do
        fuzz_one "$target" "$seconds" || failed=1
    done
    [ $failed = 0 ]
}

# fuzz_merge [TARGET...]: reduces each corpus, with the inputs that fuzzing
# found, to the smallest one that reaches as much code.  Inputs with a name,
# such as findings, are never dropped.
fuzz_merge() {
    local target new seeds
    fuzz_check_targets "$@"
    require build fuzz
    fuzz_find_clang || die "no clang with libFuzzer"
    # shellcheck disable=SC2046
    [ $# != 0 ] || set -- $(fuzz_targets)
    fuzz_build
    for target; do
        new=$BUILD/merged/$target seeds=$BUILD/seeds/$target
        rm -rf "$new"
        mkdir -p "$new"
        fuzz_unpack "$target"
        "$BUILD/fuzz/$target" -set_cover_merge=1 -use_counters=0 \
            -max_len=$FUZZ_MAX_LEN "$new" "$seeds" "$BUILD/corpus/$target" \
            >"$BUILD/log.merge" 2>&1 || die "see $BUILD/log.merge"
        find "$seeds" -type f -regextype egrep -regex '.*/[0-9a-f]{40}' -delete
        cp "$new"/* "$seeds/"
        fuzz_pack "$target"
        say "$target: $(wc -l <"t/fuzz/$target.corpus") inputs"
    done
}

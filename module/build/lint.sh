# ./build.sh lint and format; sourced by build.sh.

c_files() {
    find module t -name node_modules -prune -o -name '*.[ch]' -print | sort
}

format() {
    c_files | xargs -r clang-format -i
}

# Every check runs, and says what is wrong, before the verdict.
lint() {
    local failed=0 file
    require lint
    perl t/lint/check.pl || failed=1
    perl t/lint/sources.pl || failed=1

    c_files | xargs -r clang-format --dry-run -Werror \
        || { failed=1; warn "./build.sh format puts this right"; }

    for file in build.sh module/build/*.sh; do
        bash -n "$file" || failed=1
    done
    sh -n config && sh -n .ci/run || failed=1

    for file in t/lib/Toolgate/*.pm t/lint/*.pl t/integration/*.t \
        t/clients/*.t
    do
        [ -e "$file" ] || continue
        perl -c -It/lib "$file" 2>&1 | grep -v ' syntax OK$' && failed=1
    done

    lint_cppcheck || failed=1
    lint_globals || failed=1
    [ $failed = 0 ] || die "lint found something"
    say "lint found nothing"
}

# The NGINX room is left to the compiler: cppcheck would have to see all of
# NGINX's configured headers to say anything true about it.
lint_cppcheck() {
    local room rooms=()
    for room in core regex uv bridge runner client; do
        compgen -G "module/$room/*.c" >/dev/null && rooms+=("module/$room")
    done
    [ ${#rooms[@]} != 0 ] || return 0
    mkdir -p "$BUILD/cppcheck"
    cppcheck --quiet --error-exitcode=1 --std=c11 -j "$JOBS" -Imodule \
        --cppcheck-build-dir="$BUILD/cppcheck" \
        --enable=warning,portability --inline-suppr \
        --suppress=missingInclude --suppress=unmatchedSuppression \
        "${rooms[@]}"
}

# "No globals" is a promise of core that only the object files can show.
lint_globals() {
    local globals
    [ -e "$BUILD/libcore.a" ] || return 0
    globals=$(objdump -t "$BUILD/libcore.a" | awk '
        $4 ~ /^(\.data|\.bss|\*COM\*)/ && $4 !~ /^\.data\.rel\.ro/ \
            && $3 ~ /O/ { print "    " $NF }
        $3 ~ /^(\.data|\.bss)/ && $3 !~ /^\.data\.rel\.ro/ && $2 ~ /O/')
    [ -z "$globals" ] || { say "core has globals:"; say "$globals"; return 1; }
}

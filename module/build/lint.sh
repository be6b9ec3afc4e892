# ./build.sh lint and format; sourced by build.sh.

c_files() {
    find module t -name node_modules -prune -o -name '*.[ch]' -print | sort
}

format() {
    c_files | xargs -r clang-format -i
}

# lint_text FILE...: the format of C files, the syntax of scripts.
lint_text() {
    local failed=0 file
    for file; do
        case $file in
        *.[ch])
            clang-format --dry-run -Werror "$file" \
                || { failed=1; warn "./build.sh format puts this right"; } ;;
        *.sh) bash -n "$file" || failed=1 ;;
        config | .ci/run) sh -n "$file" || failed=1 ;;
        *.t | *.p[lm])
            perl -c -It/lib "$file" 2>&1 | grep -v ' syntax OK$' \
                && failed=1 ;;
        esac
    done
    return $failed
}

# Prints the files that differ from main, or are not committed.
changed_files() {
    local base
    base=$(git merge-base HEAD origin/main 2>/dev/null \
        || git merge-base HEAD main 2>/dev/null || echo HEAD)
    {
        git diff --name-only --diff-filter=d "$base"
        git ls-files -o --exclude-standard
    } | sort -u
}

lint_changed() {
    local failed=0 files file
    mapfile -t files < <(changed_files)
    [ ${#files[@]} != 0 ] || return 0
    perl t/lint/check.pl "${files[@]}" || failed=1
    lint_text "${files[@]}" || failed=1
    for file in "${files[@]}"; do
        case $file in module/*.c) tidy_file "$file" || failed=1 ;; esac
    done
    [ $failed = 0 ]
}

# Every check runs before the verdict.
lint() {
    local failed=0 scripts
    require lint
    perl t/lint/check.pl || failed=1
    c_files | xargs -r clang-format --dry-run -Werror \
        || { failed=1; warn "./build.sh format puts this right"; }
    mapfile -t scripts < <(git ls-files -co --exclude-standard -- build.sh \
        config .ci module/build t | grep -v '\.[ch]$')
    lint_text "${scripts[@]}" || failed=1

    find_nginx
    with_lock build_all
    perl t/lint/abi.pl "$BUILD" || failed=1
    lint_cppcheck || failed=1
    lint_tidy || failed=1
    lint_globals || failed=1
    lint_circles || failed=1
    [ $failed = 0 ] || die "lint found something"
    say "lint found nothing"
}

# What module/nginx includes, as NGINX's configure has found it.
nginx_includes() {
    local dir
    for dir in src/core src/event src/event/modules src/os/unix objs \
        src/stream
    do
        say "-I$BUILD/nginx/$dir"
    done
}

cppcheck_folders() {
    local name=$1
    shift
    mkdir -p "$BUILD/cppcheck/$name"
    cppcheck --quiet --error-exitcode=1 --std=c11 -j "$JOBS" -Imodule \
        --cppcheck-build-dir="$BUILD/cppcheck/$name" \
        --enable=warning,portability --inline-suppr \
        --suppress=missingInclude --suppress=unmatchedSuppression "$@"
}

lint_cppcheck() {
    local status=0 queue
    # The only header of the system whose macros are loops.
    queue=$($CC -E -x c - <<<'#include <sys/queue.h>' \
        | sed -n 's/^# 1 "\(.*queue\.h\)".*/\1/p')
    cppcheck_folders programs --include="$queue" \
        module/{base,schema,protocol,catalog,rule,spec,threading,transport} \
        module/{bridge,runner,tasks,cli,lib} \
        || status=1
    # One configuration, that of this NGINX: not all that it might have been.
    # shellcheck disable=SC2046
    cppcheck_folders nginx --max-configs=1 --suppress="*:$BUILD/nginx/*" \
        --suppress="*:$NGINX_SRC/*" $(nginx_includes) module/nginx \
        || status=1
    return $status
}

# What is checked and what not stands in .clang-tidy.  A file that was found
# clean is looked at again when it, a header or the list has changed.
tidy_file() {
    local file=$1 stamp=$BUILD/tidy/$1.ok args=(-std=gnu11 -D_GNU_SOURCE)
    case $file in
    module/schema/pcre2/*) ;;
    module/base/* | module/schema/* | module/protocol/* | module/catalog/* \
        | module/rule/* | module/spec/*)
        args=(-std=c11)
        ;;
    # shellcheck disable=SC2207
    module/nginx/*) args+=($(nginx_includes)) ;;
    esac
    if [ "$stamp" -nt "$file" ] && [ "$stamp" -nt .clang-tidy ] \
        && [ -z "$(find module -name '*.h' -newer "$stamp")" ]
    then
        return 0
    fi
    mkdir -p "${stamp%/*}"
    # It counts on stderr what it does not show.
    clang-tidy --quiet "$file" -- -Imodule "${args[@]}" 2>/dev/null \
        || return 1
    touch "$stamp"
}

lint_tidy() {
    export BUILD
    export -f tidy_file nginx_includes say
    find module -name '*.c' | sort \
        | xargs -r -P "$JOBS" -n 1 bash -c 'tidy_file "$1"' tidy
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

# Files that need each other in a circle are one file that is too long.  Folders
# without such circles join this list.
FOLDERS_WITHOUT_CIRCLES=(bridge catalog cli lib nginx protocol rule runner
    threading transport)

lint_circles() {
    perl module/build/structure.pl --circles "$TOP" "$BUILD" \
        "${FOLDERS_WITHOUT_CIRCLES[@]}"
}

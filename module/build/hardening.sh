#!/bin/sh
# Prints the flags that harden what a compiler makes, those of them that it
# knows: of the compiler (`cc`) or the linker (`ld`).  One list for all ways
# to build: programs.mk, build.sh and NGINX's own configure (`config`).
#
#   sh hardening.sh CC cc|ld

takes() {
    echo 'int main(void) { return 0; }' | $CC -O2 -Werror "$@" \
        -x c -c -o /dev/null - 2>/dev/null
}

# Whatever the C library says of a level that it does not have is an error.
fortify() {
    echo '#include <string.h>' | $CC -O2 -Werror -U_FORTIFY_SOURCE \
        "-D_FORTIFY_SOURCE=$1" -x c -E -o /dev/null - 2>/dev/null
}

CC=$1

case $2 in
cc)
    for flag in -fstack-protector-strong -fstack-clash-protection; do
        takes "$flag" && flags="$flags $flag"
    done
    # Where calls and jumps may land: x86, arm64.
    for flag in -fcf-protection -mbranch-protection=standard; do
        takes "$flag" && flags="$flags $flag" && break
    done
    for level in 3 2; do
        fortify $level || continue
        flags="$flags -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$level"
        break
    done
    ;;
ld)
    flags=" -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack"
    ;;
*)
    exit 2
    ;;
esac

echo "${flags# }"

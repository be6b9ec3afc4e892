package Toolgate::Native;

# Builds native handlers as their authors do: with a compiler, the one public
# header, and nothing else of ours.

use strict;
use warnings;

use Carp qw(croak);

use Toolgate::Util;

# A source, by its name in the checkout or its full path, as a shared object;
# flags may follow.
sub build {
    my ($class, $source, $object, @flags) = @_;
    $source = "$TOP/$source" if $source !~ m{^/};
    # What a library does wrong is seen, too.
    push @flags, '-fsanitize=address,undefined' if $BUILD_ENV{san};
    my ($status, $out, $err) = run_command({ timeout => 300 },
        $ENV{CC} // 'gcc', qw(-std=gnu11 -Wall -Wextra -Werror -shared -fPIC
            -O2 -g -pthread),
        @flags, "-I$TOP/module/api", '-o', $object, $source);
    croak "$source: $out$err" if $status;
    return $object;
}

# The tests' own, t/libraries/probe.c, which says that it is of this version.
sub probe {
    my ($class, $object, $version) = @_;
    return $class->build('t/libraries/probe.c', $object,
        qq(-DPROBE_VERSION="$version"));
}

1;

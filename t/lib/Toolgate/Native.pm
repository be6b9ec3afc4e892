package Toolgate::Native;

# Builds native handlers as their authors do: with a compiler and the one public
# header.

use strict;
use warnings;

use Carp qw(croak);

use Toolgate::Util;

# Builds a shared object from a source, by its name or full path; with flags.
sub build {
    my ($class, $source, $object, @flags) = @_;
    $source = "$TOP/$source" if $source !~ m{^/};
    # Errors in a library are detected as well.
    push @flags, split / /, $BUILD_ENV{san};
    my ($status, $out, $err) = run_command({ timeout => 300 },
        $BUILD_ENV{cc}, qw(-std=gnu11 -Wall -Wextra -Werror -shared -fPIC
            -O2 -g -pthread),
        @flags, "-I$TOP/module/api", '-o', $object, $source);
    croak "$source: $out$err" if $status;
    return $object;
}

# Builds the tests' own, t/libraries/probe.c, with a version.
sub probe {
    my ($class, $object, $version) = @_;
    return $class->build('t/libraries/probe.c', $object,
        qq(-DPROBE_VERSION="$version"));
}

1;

package Toolgate::Trace;

# Traces of frames, read by `toolgate trace` and by another reader.

use strict;
use warnings;

use Carp qw(croak);
use Exporter qw(import);

use Toolgate::Client;
use Toolgate::Util;

our @EXPORT = qw(frames records has_msgpack);

# Debian's python3-msgpack is for Debian's Python.
my $python = '/usr/bin/python3';
my $reader = <<'END';
import json, msgpack, sys
with open(sys.argv[1], "rb") as trace:
    for record in msgpack.Unpacker(trace):
        if "body" in record:
            record["body"] = record["body"].decode("utf-8", "replace")
        print(json.dumps(record))
END

# Checks whether this build can write and read traces.
sub has_msgpack {
    my ($status, $out, $err) =
        run_command({}, "$BUILD/toolgate", 'trace', '/dev/null');
    return $err !~ /without msgpack-c/;
}

# Returns the frames of a file, by `toolgate trace --json`.
sub frames {
    my ($path, @args) = @_;
    my ($status, $out, $err) =
        run_command({}, "$BUILD/toolgate", 'trace', $path, '--json', @args);
    croak "toolgate trace: $err" if $status != 0;
    return map { Toolgate::Client->decode($_) } split /\n/, $out;
}

# Returns the records by another reader, or undef if there is none.
sub records {
    my ($path) = @_;
    my ($status, $out, $err) = run_command({}, $python, '-c', $reader, $path);
    return if $err =~ /ModuleNotFoundError|No such file/;
    croak "python3: $err" if $status != 0;
    return [ map { Toolgate::Client->decode($_) } split /\n/, $out ];
}

1;

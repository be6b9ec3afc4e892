#!/usr/bin/perl
# The arithmetic of the JSON-RPC 2.0 examples: params on stdin, positional or
# named; NGINX's config could not write it down, for it has `$` in it.

use strict;
use warnings;
use JSON::PP qw(decode_json);

my $params = decode_json(do { local $/; <STDIN> });
my ($first, @more) =
    ref $params eq 'HASH' ? @$params{qw(minuend subtrahend)} : @$params;
for my $n (@more) {
    $first += $ARGV[0] eq 'sum' ? $n : -$n;
}
print "$first\n";

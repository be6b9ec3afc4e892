#!/usr/bin/perl
# Compares the lists in `config` with the rooms that the module is made of;
# with --write, writes them.

use strict;
use warnings;

my $write = @ARGV && $ARGV[0] eq '--write';

sub slurp {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!\n";
    local $/;
    return scalar <$fh>;
}

sub list {
    my ($name, $ext, @rooms) = @_;
    my $text = qq($name=" \\\n);
    my @globs = map {"module/$_/*.$ext module/$_/*/*.$ext"} @rooms;
    for my $file (map { sort glob } @globs) {
        (my $short = $file) =~ s{^module/}{};
        $text .= "    \$TOOLGATE_DIR/$short \\\n";
    }
    return qq($text"\n);
}

my @module = qw(base schema protocol catalog rule threading api nginx);
my %want = (
    TOOLGATE_DEPS => list('TOOLGATE_DEPS', 'h', @module),
    TOOLGATE_SRCS => list('TOOLGATE_SRCS', 'c', @module),
);

my $old = slurp('config');
my $new = $old;
for my $name (sort keys %want) {
    $new =~ s/^$name=" \\\n.*?^"\n/$want{$name}/ms
        or die "config: no list $name\n";
}
exit 0 if $new eq $old;

if (!$write) {
    print "config: its lists differ from the folders; ./build.sh sources\n";
    exit 1;
}

open my $fh, '>', 'config.new' or die "config.new: $!\n";
print $fh $new;
close $fh or die "config.new: $!\n";
rename 'config.new', 'config' or die "config: $!\n";
print "config: lists written\n";

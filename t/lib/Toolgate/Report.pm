package Toolgate::Report;

# What a person wants to know of a test that failed, in a log of a machine
# that cannot be asked any more: the last words of its clients, of NGINX and
# of the programs.

use strict;
use warnings;

use Toolgate::Client;
use Toolgate::Util;

# The last lines of each file that something was written to.
sub lines {
    my @told = Toolgate::Client::conversations();
    for my $dir (map { $_->dir } @_) {
        for my $file (glob "$dir/*.log $dir/stderr.* $dir/output") {
            my @lines = split /\n/, slurp($file) // '';
            splice @lines, 0, -30 if @lines > 30;
            push @told, join "\n", "the end of $file:", @lines if @lines;
        }
    }
    return @told;
}

sub show {
    Test::More::diag($_) for lines(@_);
}

# Keeps it in the build folder, for the end of the run of all tests.
sub keep {
    my ($servers, @more) = @_;
    my $builder = Test::More->builder;
    return if $builder->is_passing && !@more;
    my ($name) = $0 =~ m{(?:^|/)t/\w+/([^/]+)\.t$};
    return if !defined $name || !-d "$BUILD/failed";
    my @failed = map {"not ok: $_->{name}"}
        grep { !$_->{ok} } $builder->details;
    open my $fh, '>>', "$BUILD/failed/$name.txt" or return;
    print $fh map {"$_\n"} @failed, @more, lines(@$servers);
}

1;

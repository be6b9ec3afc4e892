#!/usr/bin/perl
# ./build.sh structure: how long functions and files are, how much of them is
# comment, and which files need each other in a circle, folder by folder.
#
#   structure.pl TREE BUILD [TREE BUILD]       the table; of two: before > now
#   structure.pl --circles TREE BUILD FOLDER...
#       fails if one of these has any beyond one of its subfolders
#
# A function is as long as its lines from its name to its closing brace.  A
# file needs another when its object lacks a symbol that the other's has; a
# circle is a set of files that all need each other, be it by way of others
# of them (a strongly connected component).  What NGINX knows a module by is
# not counted: to find a place in the config by it is to need nobody's code.

use strict;
use warnings;

use List::Util qw(max min sum0);

my $long_function = 60;
my $long_file     = 600;

# The files of a folder, those in its folders included.
sub files {
    my ($tree, $folder, $kind) = @_;
    my $dir = "$tree/module/$folder";
    my @files = glob "$dir/*.$kind $dir/*/*.$kind";
    return @files;
}

# Lines of a file, those of them that are comment, lengths of its functions.
sub measure {
    my ($path) = @_;
    open my $fh, '<', $path or die "$path: $!\n";
    my ($comments, $is_comment, $start, $is_body, %length) = (0, 0);
    while (my $text = <$fh>) {
        $is_comment = 1 if $text =~ m{^\s*/\*};
        $comments += $is_comment;
        if (!$is_comment) {
            $start = "$.:$1" if $text =~ /^(\w+)\(/;
            $is_body = 1 if defined $start && $text =~ /^\{/;
            if ($text =~ /^\}/ || (!$is_body && $text =~ /;$/)) {
                $length{$start} = $. - (split /:/, $start)[0] + 1 if $is_body;
                ($start, $is_body) = ();
            }
        }
        $is_comment = 0 if $text =~ m{\*/};
    }
    return { lines => $., comments => $comments, functions => \%length };
}

# --- circles ---

# The object of a source: a program's, or one that NGINX's makefile made.
sub object {
    my ($tree, $build, $source) = @_;
    my ($path) = $source =~ m{^\Q$tree\E/(.*)\.c$};
    my ($folder, $name) = $path =~ m{([^/]+)/([^/]+)$};
    return $path =~ m{^module/nginx/}
        ? "$build/nginx/objs/addon/$folder/$name.o"
        : "$build/obj/$path.o";
}

# Which files of a folder need which; undef when they have not been built.
my %needs_of;

sub needs {
    my ($tree, $build, $folder) = @_;
    return $needs_of{$build}{$folder} if exists $needs_of{$build}{$folder};
    return $needs_of{$build}{$folder} = find_needs($tree, $build, $folder);
}

sub find_needs {
    my ($tree, $build, $folder) = @_;
    my (%needs, %has, %lacks);
    for my $source (files($tree, $folder, 'c')) {
        my $object = object($tree, $build, $source);
        return undef if !-e $object;
        my ($name) = $source =~ m{/module/\Q$folder\E/(.*)\.c$};
        $needs{$name} = {};
        for (`nm -P -g '$object'`) {
            my ($symbol, $type) = split ' ';
            next if $symbol =~ /_module$/;
            if ($type eq 'U') {
                push @{ $lacks{$name} }, $symbol;
            } else {
                $has{$symbol} = $name;
            }
        }
    }
    for my $name (keys %lacks) {
        my @from = grep {defined} map { $has{$_} } @{ $lacks{$name} };
        $needs{$name}{$_} = 1 for grep { $_ ne $name } @from;
    }
    return \%needs;
}

# All files that one reaches.
sub reached {
    my ($needs, $from) = @_;
    my %seen;
    my @todo = keys %{ $needs->{$from} };
    while (defined(my $name = pop @todo)) {
        push @todo, keys %{ $needs->{$name} } if !$seen{$name}++;
    }
    return \%seen;
}

# Circles, the largest first: lists of files.
sub circles {
    my ($needs) = @_;
    my %reached = map { $_ => reached($needs, $_) } keys %$needs;
    my (%done, @circles);
    for my $name (sort keys %$needs) {
        next if $done{$name} || !$reached{$name}{$name};
        my @circle = grep { $reached{$name}{$_} && $reached{$_}{$name} }
            sort keys %$needs;
        @done{@circle} = (1) x @circle;
        push @circles, \@circle;
    }
    return sort { @$b <=> @$a || $a->[0] cmp $b->[0] } @circles;
}

# --- the table ---

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return @sorted ? $sorted[ @sorted / 2 ] : 0;
}

my @columns = qw(files lines comment median longest >600 functions median
    longest >60 circles files);

# A folder, or several together, as one row of numbers.
sub row {
    my ($tree, $build, @folders) = @_;
    my (@measures, @circles, $is_missing);
    for my $folder (@folders) {
        push @measures, map { measure($_) } files($tree, $folder, '[ch]');
        my $needs = needs($tree, $build, $folder);
        $is_missing = 1 if !$needs;
        push @circles, circles($needs) if $needs;
    }
    return undef if !@measures;
    my @lines = map { $_->{lines} } @measures;
    my @functions = map { values %{ $_->{functions} } } @measures;
    return [
        scalar @lines, sum0(@lines),
        sprintf('%.0f%%',
            100 * sum0(map { $_->{comments} } @measures) / sum0(@lines)),
        median(@lines),
        max(@lines),
        scalar(grep { $_ > $long_file } @lines),
        scalar @functions,
        median(@functions),
        max(0, @functions),
        scalar(grep { $_ > $long_function } @functions),
        $is_missing
        ? ('?', '?')
        : (scalar @circles, sum0(map { scalar @$_ } @circles)),
    ];
}

sub folders {
    my ($tree) = @_;
    my @folders = glob "$tree/module/*";
    return grep { files($tree, $_, '[ch]') } map {s{.*/}{}r} @folders;
}

sub print_table {
    my (@trees) = @_;
    my %folders = map { map { $_ => 1 } folders($_->[0]) } @trees;
    my @rows = ([ 'folder', @columns ]);
    for my $folder (sort(keys %folders), 'all') {
        my @cells =
            map { row(@$_, $folder eq 'all' ? folders($_->[0]) : $folder) }
            @trees;
        push @rows, [
            $folder,
            map {
                my $i = $_;
                my @of = map { $_ ? $_->[$i] : '-' } @cells;
                @of > 1 && $of[0] eq $of[1] ? $of[0] : join ' > ', @of;
            } 0 .. $#columns
        ];
    }
    my @width = map { my $i = $_; max map { length $_->[$i] } @rows }
        0 .. @columns;
    my $at = 0;
    print ' ' x $width[0], '  of files', ' ' x sum0(@width[ 1 .. 6 ], 3),
        'of functions', ' ' x sum0(@width[ 7 .. 10 ], -4), "circles\n";
    for my $row (@rows) {
        print join('  ', sprintf('%-*s', $width[0], $row->[0]),
            map { sprintf '%*s', $width[$_], $row->[$_] } 1 .. @columns), "\n";
    }
}

my $is_lint = @ARGV && $ARGV[0] eq '--circles';

sub print_circles {
    my ($tree, $build, @folders) = @_;
    my $n = 0;
    for my $folder (@folders) {
        my $needs = needs($tree, $build, $folder)
            // die "structure: $folder has not been built: ./build.sh build\n";
        for my $circle (circles($needs)) {
            my %in = map { m{(.*/)} ? ($1 => 1) : ('' => 1) } @$circle;
            next if $is_lint && keys %in == 1 && !$in{''};
            $n++;
            print "module/$folder: a circle of ", scalar @$circle, " files:\n";
            for my $name (@$circle) {
                my @to = grep { $needs->{$name}{$_} } @$circle;
                print "    $name needs @to\n";
            }
        }
    }
    return $n;
}

if ($is_lint) {
    exit(print_circles(@ARGV[ 1 .. $#ARGV ]) ? 1 : 0);
}
my @trees;
push @trees, [ splice @ARGV, 0, 2 ] while @ARGV > 1;
print_table(@trees);
for my $tree (@trees) {
    print "\n$tree->[0]:\n";
    for my $folder (folders($tree->[0])) {
        print_circles(@$tree, $folder) if needs(@$tree, $folder);
    }
    for my $folder (folders($tree->[0])) {
        for my $file (files($tree->[0], $folder, '[ch]')) {
            my $length = measure($file)->{functions};
            for (sort grep { $length->{$_} > $long_function } keys %$length) {
                my ($line, $name) = split /:/;
                print "$file:$line: $name has $length->{$_} lines\n";
            }
        }
    }
}

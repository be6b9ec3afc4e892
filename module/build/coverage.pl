# How much of some folders their tests reach: reads what gcov says of their
# objects, prints a table and what is left, and fails below the bounds.
#
#   perl module/build/coverage.pl OBJECTS LINES BRANCHES FOLDER...
use strict;
use warnings;
use Cwd qw(abs_path);
use JSON::PP;

my ($objects, $min_lines, $min_branches, @folders) = @ARGV;
my $ours = join '|', map {quotemeta} @folders;
my $top = abs_path('.');
my (%lines, %branches);

# A header is compiled into many objects: its counts are added up.
sub take {
    my ($file, $line) = @_;
    my $n = $line->{line_number};
    $lines{$file}{$n} += $line->{count};
    my $i = 0;
    $branches{$file}{$n}[$i++] += $_->{count} for @{ $line->{branches} };
}

for my $notes (sort map { glob "$objects/$_/*.gcno" } @folders) {
    open my $gcov, '-|', 'gcov', '-b', '-c', '--json-format', '--stdout',
        $notes or die "gcov: $!\n";
    my $text = do { local $/; <$gcov> };
    close $gcov or die "gcov failed for $notes\n";
    for my $file (@{ decode_json($text)->{files} }) {
        my $name = $file->{file};
        $name =~ s{^\Q$top\E/}{};
        next if $name !~ m{^(?:$ours)/};
        take($name, $_) for @{ $file->{lines} };
    }
}
die "nothing was measured in $objects\n" if !%lines;

sub percent {
    my ($part, $all) = @_;
    return $all ? 100 * $part / $all : 100;
}

my @sum = (0, 0, 0, 0);
my (@left_lines, @left_branches);
printf "%-28s %15s %17s\n", '', 'lines', 'branches';
for my $file (sort keys %lines) {
    my @one = (0, 0, 0, 0);
    my (@no_line, @no_branch);
    for my $n (sort { $a <=> $b } keys %{ $lines{$file} }) {
        $one[0] += $lines{$file}{$n} != 0;
        $one[1]++;
        push @no_line, $n if !$lines{$file}{$n};
        my @taken = @{ $branches{$file}{$n} // [] };
        $one[2] += grep { $_ } @taken;
        $one[3] += @taken;
        push @no_branch, $n if $lines{$file}{$n} && grep { !$_ } @taken;
    }
    $sum[$_] += $one[$_] for 0 .. 3;
    (my $short = $file) =~ s{.*/}{};
    printf "%-28s %5d/%-5d %3d %% %5d/%-5d %3d %%\n", $short, @one[0, 1],
        percent(@one[0, 1]), @one[2, 3], percent(@one[2, 3]);
    push @left_lines, map { "    $file:$_" } @no_line;
    push @left_branches, map { "    $file:$_" } @no_branch;
}

print "lines that nothing reaches:\n", map { "$_\n" } @left_lines;
print "branches that are never taken, of lines that are reached:\n",
    map { "$_\n" } @left_branches;
my @percent = (percent(@sum[0, 1]), percent(@sum[2, 3]));
printf "%s: %d of %d lines, %.1f %% (at least %d %%); "
    . "%d of %d branches, %.1f %% (at least %d %%)\n",
    "all folders", @sum[0, 1], $percent[0], $min_lines, @sum[2, 3], $percent[1],
    $min_branches;
exit 1 if $percent[0] < $min_lines || $percent[1] < $min_branches;

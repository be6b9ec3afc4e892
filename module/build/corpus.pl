#!/usr/bin/perl
# Converts the corpus of a fuzz target between its file in t/fuzz and a folder
# with a file for each input, as libFuzzer has it:
#
#   corpus.pl unpack FILE FOLDER
#   corpus.pl pack FILE FOLDER
#
# Each line of the packed file is NAME, a tab and an input, escaped as by
# t/fuzz/replay.c.  libFuzzer names an input by its SHA-1: then NAME is empty.

use strict;
use warnings;

use Digest::SHA qw(sha1_hex);
use File::Glob qw(bsd_glob);

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!\n";
    local $/;
    return <$in> // '';
}

sub spew {
    my ($path, $bytes) = @_;
    open my $out, '>:raw', $path or die "$path: $!\n";
    print {$out} $bytes;
    close $out or die "$path: $!\n";
    return;
}

# A space at the end of a line would not be seen.
sub escape {
    my ($bytes) = @_;
    my %short = ("\n" => '\n', '\\' => '\\\\');
    return $bytes =~ s{([^ -\[\]-~]|\ \z)}
        {$short{$1} // sprintf '\x%02x', ord $1}egrx;
}

sub unescape {
    my ($text) = @_;
    return $text =~ s{\\(?:x(..)|(.))}
        {defined $1 ? chr hex $1 : $2 eq 'n' ? "\n" : $2}egrx;
}

sub unpack_corpus {
    my ($file, $folder) = @_;
    for my $line (-e $file ? split /\n/, slurp($file) : ()) {
        my ($name, $input) = $line =~ /^([\w.-]*)\t(.*)$/
            or die "$file: not an input: $line\n";
        $input = unescape($input);
        $name  = sha1_hex($input) if $name eq '';
        spew("$folder/$name", $input);
    }
    return;
}

# Of two equal inputs, the one with a name remains.
sub pack_corpus {
    my ($file, $folder) = @_;
    my %name;
    for my $path (bsd_glob "$folder/*") {
        my $input = slurp($path);
        my $name  = $path =~ s{.*/}{}r;
        $name{$input} ||= $name eq sha1_hex($input) ? '' : $name;
    }
    spew($file, join '',
        sort map { "$name{$_}\t" . escape($_) . "\n" } keys %name);
    return;
}

my %command = (pack => \&pack_corpus, unpack => \&unpack_corpus);
my ($command, @paths) = @ARGV;
die "usage: $0 pack|unpack FILE FOLDER\n"
    if @paths != 2 || !$command{$command};
$command{$command}->(@paths);

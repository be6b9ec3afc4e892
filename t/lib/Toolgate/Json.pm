package Toolgate::Json;

# Decodes JSON as JSON::PP does, with big numbers, but several times as fast.
# JSON::PP itself decodes, or refuses, what is not plain: text that is not
# ASCII, fractions, large integers, \u escapes, deep nesting, and errors.

use strict;
use warnings;

use JSON::PP ();

use constant MAX_DEPTH => 90;

my $json = JSON::PP->new->utf8->canonical->allow_nonref->allow_bignum;
my %escaped = (
    '"' => '"', '\\' => '\\', '/' => '/', b => "\b", f => "\f", n => "\n",
    r => "\r", t => "\t",
);
my %literal = (
    true  => $JSON::PP::true,
    false => $JSON::PP::false,
    null  => undef,
);

sub decode {
    my ($text) = @_;
    if (defined $text && !ref $text && $text !~ /[^\x00-\x7f]/) {
        my $value;
        return $value if eval {
            $value = value($text, 0);
            $text =~ /\G[ \t\r\n]*\z/gc;
        };
    }
    return $json->decode($text);
}

# These parse at pos of their argument, and die if JSON::PP has to do it.

sub value {
    my $depth = $_[1] + 1;
    die "too deep\n" if $depth > MAX_DEPTH;
    $_[0] =~ /\G[ \t\r\n]*/gc;
    return string($_[0]) if $_[0] =~ /\G"/gc;
    if ($_[0] =~ /\G\{[ \t\r\n]*/gc) {
        my %object;
        return \%object if $_[0] =~ /\G\}/gc;
        do {
            $_[0] =~ /\G[ \t\r\n]*"/gc or die "no name\n";
            my $name = string($_[0]);
            $_[0] =~ /\G[ \t\r\n]*:/gc or die "no colon\n";
            $object{$name} = value($_[0], $depth);
        } while $_[0] =~ /\G[ \t\r\n]*,/gc;
        return \%object if $_[0] =~ /\G[ \t\r\n]*\}/gc;
    } elsif ($_[0] =~ /\G\[[ \t\r\n]*/gc) {
        my @array;
        return \@array if $_[0] =~ /\G\]/gc;
        do {
            push @array, value($_[0], $depth);
        } while $_[0] =~ /\G[ \t\r\n]*,/gc;
        return \@array if $_[0] =~ /\G[ \t\r\n]*\]/gc;
    } elsif ($_[0] =~ /\G(-?(?:0|[1-9][0-9]{0,14}))(?![0-9.eE])/gc) {
        return 0 + $1;
    } elsif ($_[0] =~ /\G(true|false|null)(?![a-zA-Z0-9_])/gc) {
        return $literal{$1};
    }
    die "not plain\n";
}

# After the opening quote.
sub string {
    return $1 if $_[0] =~ /\G([^"\\\x00-\x1f]*)"/gc;
    my $string = '';
    while ($_[0] =~ /\G(?:([^"\\\x00-\x1f]+)|\\(["\\\/bfnrt]))/gc) {
        $string .= defined $1 ? $1 : $escaped{$2};
    }
    return $string if $_[0] =~ /\G"/gc;
    die "not plain\n";
}

1;

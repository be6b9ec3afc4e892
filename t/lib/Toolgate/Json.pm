package Toolgate::Json;

# Encodes and decodes JSON as JSON::PP does, with big numbers, but several times
# as fast. JSON::PP itself handles strings to escape, large numbers, fractions
# that are not exact, surrogates, deep nesting, and errors.

use strict;
use warnings;
no warnings qw(numeric recursion);

use JSON::PP ();

use constant MAX_DEPTH => 90;

my $json = JSON::PP->new->utf8->canonical->allow_nonref->allow_bignum;
my %escaped = (
    '"' => '"', '\\' => '\\', '/' => '/', b => "\b", f => "\f", n => "\n",
    r => "\r", t => "\t",
);
my $plain = '[ !#-\[\]-\x7f]';
my %literal = (
    true  => $JSON::PP::true,
    false => $JSON::PP::false,
    null  => undef,
);

sub encode {
    my ($value) = @_;
    my $type = ref $value;
    return '{' . join(',', map { quote($_) . ':' . encode($value->{$_}) }
            sort keys %$value) . '}'
        if $type eq 'HASH';
    return '[' . join(',', map { encode($_) } @$value) . ']'
        if $type eq 'ARRAY';
    return $json->encode($value) if $type;
    return 'null' if !defined $value;
    # Only for a number, & is not that of strings; 0 + changes how it prints.
    my $number = $value;
    return $value if !utf8::is_utf8($number) && length((my $no = '') & $number)
        && 0 + $number eq $number;
    return quote($value);
}

sub quote {
    return $_[0] =~ /[^ !#-\[\]-~]/ ? $json->encode("$_[0]") : qq("$_[0]");
}

sub decode {
    my ($text) = @_;
    # JSON::PP tells surrogates and what is above them from UTF-8.
    if (defined $text && !ref $text && utf8::downgrade($text, 1)
        && $text !~ /[\xed\xf4-\xff]/)
    {
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
    return string($_[0]) if $_[0] =~ /\G[ \t\r\n]*"/gc;
    if ($_[0] =~ /\G[ \t\r\n]*\{[ \t\r\n]*/gc) {
        my %object;
        return \%object if $_[0] =~ /\G\}/gc;
        do {
            $_[0] =~ /\G[ \t\r\n]*"/gc or die "no name\n";
            # Most names, and many values, are plain.
            my ($name, $string);
            if ($_[0] =~ /\G($plain*+)":(?:"($plain*+)")?/gco) {
                ($name, $string) = ($1, $2);
            } else {
                $name = string($_[0]);
                $_[0] =~ /\G[ \t\r\n]*:/gc or die "no colon\n";
            }
            $object{$name} = $string // value($_[0], $depth);
        } while $_[0] =~ /\G[ \t\r\n]*,/gc;
        return \%object if $_[0] =~ /\G[ \t\r\n]*\}/gc;
    } elsif ($_[0] =~ /\G[ \t\r\n]*\[[ \t\r\n]*/gc) {
        my @array;
        return \@array if $_[0] =~ /\G\]/gc;
        do {
            push @array, value($_[0], $depth);
        } while $_[0] =~ /\G[ \t\r\n]*,/gc;
        return \@array if $_[0] =~ /\G[ \t\r\n]*\]/gc;
    } elsif ($_[0]
        =~ /\G[ \t\r\n]*(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)(?![0-9.eE])/gc)
    {
        my $number = 0 + $1;
        return $number eq $1 ? $number : $json->decode("$1");
    } elsif ($_[0] =~ /\G[ \t\r\n]*(true|false|null)(?![a-zA-Z0-9_])/gc) {
        return $literal{$1};
    }
    die "not plain\n";
}

# After the opening quote.
sub string {
    return $1 if $_[0] =~ /\G($plain*+)"/gco;
    my $string = '';
    while ($_[0] =~ /\G(?:([^"\\\x00-\x1f]+)|\\(?:(["\\\/bfnrt])
        |u(?![dD][89a-fA-F])([0-9a-fA-F]{4})))/gcx)
    {
        my $char;
        utf8::encode($char = chr hex $3) if defined $3;
        $string .= $1 // $char // $escaped{$2};
    }
    $_[0] =~ /\G"/gc && utf8::decode($string) or die "not plain\n";
    return $string;
}

1;

package Toolgate::Cookbook;

# Tests a cookbook of docs/examples, with the test's folders instead of the
# reader's. A tool whose program is missing here is loaded with another one, and
# its calls are skipped.

use strict;
use warnings;

use Carp qw(croak);
use Test::More ();
use Toolgate::Measure;
use Toolgate::Util;

# Where Toolgate searches programs.
my @PATH = qw(/usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin);

# Options: replace ([[text, other text], …]), absent ({tool => why}).
sub new {
    my ($class, $tg, $file, %option) = @_;
    my $path = Toolgate::Test::top() . "/docs/examples/$file";
    my $text = slurp($path) // croak "$path: $!";
    my $self = bless { tg => $tg, file => $file, called => {},
        absent => { %{ $option{absent} // {} } } }, $class;
    for (@{ $option{replace} // [] }) {
        my ($from, $to) = @$_;
        $text =~ s/\Q$from\E/$to/g or croak "$path: there is no $from";
    }
    $text =~ s/^(tool (\w+) \{\n.*?^\}\n)/$self->tool($2, $1)/gmse;
    $self->{conf} = $text;
    return $self;
}

sub tool {
    my ($self, $name, $block) = @_;
    $self->{tools}{$name} = $block;
    my ($program) = $block =~ /^    exec +(\S+?);?\s/m or return $block;
    return $block if grep { -x "$_/$program" } @PATH;
    $self->{absent}{$name} //= "$program is not here";
    $block =~ s/^(    exec +)\Q$program\E\b/$1true/m;
    return $block;
}

# Loads it without any complaint.
sub start {
    my ($self) = @_;
    my ($status, $out) = $self->{tg}->test_conf($self->{conf});
    Test::More::is($status, 0, "$self->{file} loads")
        or Test::More::diag($out);
    Test::More::unlike($out, qr/\[(?:warn|error)\]/, 'without complaints');
    $self->{tg}->conf($self->{conf})->start;
    $self->{client} = $self->{tg}->connect;
    return $self;
}

# Returns the text of a result, with "ERROR: " before a failure.
sub call {
    my ($self, $tool, %arg) = @_;
    $self->{called}{$tool} = 1;
    my $reply = $self->{client}->call_tool($tool, \%arg);
    my $result = $reply->{result} // croak "$tool: $reply->{error}{message}";
    my $text = join '', map { $_->{text} // $_->{type} }
        @{ $result->{content} };
    $self->{result} = $result;
    return $result->{isError} ? "ERROR: $text" : $text;
}

sub result { return $_[0]{result} }

# recipe(TOOL, CODE): runs CODE, unless the tool cannot be called here.
sub recipe {
    my ($self, $tool, $code) = @_;
    croak "no such tool: $tool" if !$self->{tools}{$tool};
    my $why = $self->{absent}{$tool};
    if (defined $why) {
        $self->{called}{$tool} = 1;
      SKIP: { Test::More::skip("$tool: $why", 1) }
        return;
    }
    $code->();
}

# Checks that every tool was tested.
sub is_done {
    my ($self) = @_;
    Test::More::is(
        join(' ', grep { !$self->{called}{$_} } sort keys %{ $self->{tools} }),
        '', 'each tool was called');
    my @open = grep { $self->{tools}{$_} !~ /"additionalProperties":false/ }
        sort keys %{ $self->{tools} };
    Test::More::is("@open", '', 'each schema is closed');
    return scalar keys %{ $self->{tools} };
}

1;

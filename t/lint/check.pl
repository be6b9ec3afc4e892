#!/usr/bin/perl
# The rules about sources that neither a compiler nor clang-format knows:
# which room may include what, and the shape of the files.

use strict;
use warnings;

# Of C11, what the rooms without I/O may use: no clock, no signals, no
# threads, no locale.
my @c11 = map {"$_.h"} qw(
    assert ctype errno float inttypes limits math stdalign stdarg stdbool
    stddef stdint stdio stdlib stdnoreturn string
);
my %c11 = map { $_ => 1 } @c11;
# The compiler's own, behind an #ifdef: vector instructions.
$c11{$_} = 1 for qw(emmintrin.h immintrin.h arm_neon.h);

# Room => the rooms whose headers it may include besides its own, and whether
# a header in angle brackets is allowed.  A POSIX header is one that belongs
# to none of the libraries below.
my $library = qr{^(?:ngx_|uv\.h|uv/|json-c/|curl/|openssl/|sqlite3|postgresql/|
    pcre2|CUnit)}x;
my %room = (
    base   => { rooms => [], system => sub { $c11{ $_[0] } } },
    schema => { rooms => ['base'], system => sub { $c11{ $_[0] } } },
    core   => { rooms => ['base'], system => sub { $c11{ $_[0] } } },
    rule   =>
        { rooms => [qw(base schema)], system => sub { $c11{ $_[0] } } },
    tool => {
        rooms  => [qw(base schema core)],
        system => sub { $c11{ $_[0] } },
    },
    api  => { rooms => [], system => sub { $c11{ $_[0] } } },
    uv => {
        rooms  => [qw(base core)],
        system => libraries(qr/^(?:uv\.h$|openssl\/)/),
    },
    regex =>
        { rooms => [qw(base schema)], system => libraries(qr/^pcre2/) },
    thread => { rooms => [qw(base core)], system => libraries(qr/^$/) },
    nginx => {
        rooms  => [qw(base schema core rule tool api regex thread)],
        system => libraries(qr/^ngx_/),
    },
    bridge => {
        rooms  => [qw(base schema core uv)],
        system => libraries(qr/^uv\.h/),
    },
    runner => {
        rooms  => [qw(base schema core rule uv regex)],
        system => libraries(qr{^(?:uv\.h|curl/|sqlite3\.h|postgresql/)}),
    },
    library => {
        rooms  => [qw(base schema core tool thread api regex uv)],
        system => libraries(qr/^uv\.h/),
    },
    client => {
        rooms  => [qw(base schema core uv regex)],
        system => libraries(qr/^(?:uv\.h|json-c\/)/),
    },
);

# The same for the folders of a room.  What lies in none of them puts the whole
# together, and has what all of them share.
my %folder = (
    'nginx/conf'        => [],
    'nginx/log'         => [qw(conf)],
    'nginx/sched'       => [],
    'nginx/line'        => [qw(sched)],
    'nginx/share'       => [],
    'nginx/call'        => [qw(conf line log sched share)],
    'nginx/native'      => [qw(sched)],
    'nginx/handlers'    => [qw(conf call line share native)],
    'nginx/stream'      => [qw(call log sched share)],
    'nginx/mcp'         => [qw(conf line call sched stream)],
    'nginx/move'        => [qw(call share stream)],
    'nginx/listen'      => [qw(call log move share)],
    'runner/spill'      => [],
    'runner/program'    => [qw(spill)],
    'runner/exec'       => [qw(program spill)],
    'runner/http'       => [qw(spill)],
    'runner/mcp'        => [qw(program http spill)],
    'runner/left'       => [qw(spill)],
    'runner/place'      => [],
    'runner/store'      => [],
    'runner/task'       => [qw(exec store automation)],
    'runner/automation' => [qw(task http)],
);
# NGINX itself decides what of the system it wants; see ngx_config.h.
sub libraries {
    my ($allowed) = @_;
    return sub { $_[0] !~ $library || $_[0] =~ $allowed };
}

# I/O, clocks and state that would make core more than a function of its
# arguments, without a header telling.
my $impure = qr/\b(?:f?printf|puts|fopen|fwrite|fread|getenv|system|rand|
    srand|exit|abort|strtok|strerror|setlocale)\s*\(/x;

# libuv's pool has four threads.  In the runner they are for the task stores:
# a client's work goes to runner/tg_threads.h.
my $pool = qr/\buv_(?:queue_work|getaddrinfo|getnameinfo|fs_\w+)\s*\(/;

# One dialect, with a bound of steps: regex/tg_regex.h.
my $unbounded = qr/\breg(?:comp|exec)\s*\(/;

my $wrong = 0;

# Functions, where their names begin a line.
my %defined;

sub complain {
    my ($file, $line, $what) = @_;
    print "$file:$line: $what\n";
    $wrong = 1;
}

sub check_include {
    my ($file, $line, $bracket, $name) = @_;
    my ($room) = $file =~ m{^module/(\w+)/} or return;
    my $rule = $room{$room}
        or return complain($file, $line, "room $room has no rule");
    if ($bracket eq '<') {
        complain($file, $line, "$room must not include <$name>")
            if !$rule->{system}->($name);
        return;
    }
    my ($other) = $name =~ m{^(\w+)/};
    if (!defined $other) {
        complain($file, $line, qq(write "ROOM/$name"));
    } elsif ($other ne $room && !grep { $_ eq $other } @{ $rule->{rooms} }) {
        complain($file, $line, "$room must not include $name");
    } elsif ("$file $name" =~ m{^module/(\w+/(\w+))/\S+ \w+/(\w+)/}) {
        my $rule = $folder{$1}
            or return complain($file, $line, "folder $1 has no rule");
        complain($file, $line, "$1 must not include $name")
            if $2 ne $3 && !grep { $_ eq $3 } @$rule;
    }
}

sub check_file {
    my ($file) = @_;
    my $is_c = $file =~ /\.[ch]$/;
    my $tabs = $file =~ /\.mk$/;
    my $is_pure = $file =~ m{^module/(?:base|schema|core|rule|tool)/};
    open my $fh, '<:encoding(UTF-8)', $file or die "$file: $!\n";
    my $has_pool = $file !~ m{^module/runner/(?!store/)};
    my $comment = 0;
    while (my $text = <$fh>) {
        chomp $text;
        complain($file, $., 'a tab') if !$tabs && $text =~ /\t/;
        complain($file, $., 'blanks at the end') if $text =~ /\s$/;
        complain($file, $., length($text) . ' columns')
            if length $text > 80 && $text !~ /"https?:/;
        next if !$is_c;
        check_include($file, $., $1, $2)
            if $text =~ /^\s*#\s*include\s*([<"])([^>"]+)/;
        $comment = 1 if $text =~ m{/\*};
        $defined{$1} = 1 if $text =~ /^(\w+)\(/;
        complain($file, $., "a room without I/O must not call $&")
            if $is_pure && !$comment && $text =~ $impure;
        complain($file, $., "the runner's pool is for the task stores: $&")
            if !$has_pool && !$comment && $text =~ $pool;
        complain($file, $., "regular expressions are those of regex/: $&")
            if $file =~ /^module/ && !$comment && $text =~ $unbounded;
        $comment = 0 if $text =~ m{\*/};
    }
    complain($file, $., "$. lines, 600 are too many") if $. >= 600;
    close $fh;
}

# What stands together in the module must be there.
sub check_order {
    my ($file) = @_;
    open my $fh, '<', $file or die "$file: $!\n";
    while (my $text = <$fh>) {
        complain($file, $., "there is no function $1")
            if $text =~ /[*][(]\.text\.(\w+) / && !$defined{$1};
    }
}

my $list = 'git ls-files -co --exclude-standard -- module t config build.sh';
for my $file (sort split /\n/, `$list`) {
    next if !-f $file;
    check_file($file)
        if $file =~ /\.(?:[ch]|sh|mk|pl|pm|t)$/ || $file eq 'config';
}
check_order('module/build/call.ld');
exit $wrong;

#!/usr/bin/perl
# check.pl [FILE...]: checks which folder may include what, and the shape of the
# files. With names of files, only their errors are printed.

use strict;
use warnings;

# Headers of C11 that folders without I/O may use: no clock, signals, threads
# or locale.
my @c11 = map {"$_.h"} qw(
    assert ctype errno float inttypes limits math stdalign stdarg stdbool
    stddef stdint stdio stdlib stdnoreturn string
);
my %c11 = map { $_ => 1 } @c11;
# The compiler's vector instructions, behind an #ifdef.
$c11{$_} = 1 for qw(emmintrin.h immintrin.h arm_neon.h);

# Folder => folders whose headers it may include besides its own, and which
# headers in angle brackets. POSIX headers are those of no library below.
my $library = qr{^(?:ngx_|uv\.h|uv/|json-c/|curl/|openssl/|sqlite3|postgresql/|
    pcre2|CUnit)}x;
my %folder = (
    base   => { folders => [], system => sub { $c11{ $_[0] } } },
    # PCRE2 is for schema/pcre2 alone.
    schema => {
        folders => ['base'],
        system  => sub {
            $c11{ $_[0] } || "$_[1] $_[0]" =~ m{^module/schema/pcre2/.* pcre2};
        },
    },
    protocol => {
        folders => [qw(base schema catalog)],
        system  => sub { $c11{ $_[0] } },
    },
    catalog =>
        { folders => [qw(base schema)], system => sub { $c11{ $_[0] } } },
    rule =>
        { folders => [qw(base schema spec)], system => sub { $c11{ $_[0] } } },
    spec => { folders => ['base'], system => sub { $c11{ $_[0] } } },
    api  => { folders => [], system => sub { $c11{ $_[0] } } },
    transport => {
        folders => [qw(base protocol catalog)],
        system  => libraries(qr/^(?:uv\.h$|openssl\/)/),
    },
    threading => {
        folders => [qw(base protocol catalog)],
        system  => libraries(qr/^$/),
    },
    nginx => {
        folders => [qw(base schema protocol catalog rule spec api threading)],
        system  => libraries(qr/^ngx_/),
    },
    bridge => {
        folders => [qw(base schema protocol catalog transport)],
        system  => libraries(qr/^uv\.h/),
    },
    runner => {
        folders => [qw(base schema protocol catalog rule spec transport tasks)],
        system  => libraries(qr{^(?:uv\.h|curl/)}),
    },
    tasks => {
        folders =>
            [qw(base schema protocol catalog rule spec transport runner)],
        system  => libraries(qr{^(?:uv\.h|sqlite3\.h|postgresql/)}),
    },
    lib => {
        folders => [qw(base schema protocol catalog threading api transport)],
        system  => libraries(qr/^uv\.h/),
    },
    cli => {
        folders => [qw(base schema protocol catalog transport lib)],
        system  => libraries(qr/^(?:uv\.h|json-c\/)/),
    },
);

# Subfolder => other subfolders whose headers it may include. Files in no
# subfolder are shared by all, or connect them.
my %subfolder = (
    'base/simd'          => [],
    'schema/pcre2'       => [],
    'nginx/config'       => [],
    'nginx/logging'      => [qw(config shm)],
    'nginx/sched'        => [],
    'nginx/upstream'     => [qw(sched)],
    'nginx/runner_setup' => [qw(sched upstream)],
    'nginx/shm'          => [],
    'nginx/call'         => [qw(config upstream logging sched shm)],
    'nginx/native'       => [qw(sched)],
    'nginx/handlers'     => [qw(config call upstream shm native)],
    'nginx/subscription' => [qw(config call sched upstream)],
    'nginx/session'      => [qw(call logging sched shm subscription)],
    'nginx/imports' => [qw(config upstream call sched subscription session)],
    'nginx/handoff'      => [qw(call sched shm session)],
    'nginx/listener'     => [qw(call logging handoff shm)],
    'nginx/http'         => [qw(config call handlers session shm)],
    'runner/main' => [qw(jobs process exec http mcp files output logging)],
    'runner/logging'     => [],
    'runner/jobs'        => [qw(logging)],
    'runner/output'      => [qw(jobs logging)],
    'runner/process'     => [qw(jobs output logging)],
    'runner/files'       => [qw(jobs output logging)],
    'runner/exec'        => [qw(jobs process output logging)],
    'runner/http'        => [qw(jobs output logging)],
    'runner/mcp'         => [qw(jobs process http output logging)],
    'tasks/store'        => [],
    'tasks/engine'       => [qw(store automation watch webhook)],
    'tasks/automation'   => [qw(engine store watch webhook)],
    'tasks/watch'        => [],
    'tasks/webhook'      => [qw(automation)],
);
# NGINX includes system headers itself; see ngx_config.h.
sub libraries {
    my ($allowed) = @_;
    return sub { $_[0] !~ $library || $_[0] =~ $allowed };
}

# I/O, clocks and state, which no include would reveal.
my $impure = qr/\b(?:f?printf|puts|fopen|fwrite|fread|getenv|system|rand|
    srand|exit|abort|strtok|strerror|setlocale)\s*\(/x;

# libuv's four threads are for the task stores; the work of clients uses
# runner/jobs/tg_thread_pool.h.
my $pool = qr/\buv_(?:queue_work|getaddrinfo|getnameinfo|fs_\w+)\s*\(/;

# One dialect, with a bound of steps: schema/pcre2/tg_pcre2.h.
my $unbounded = qr/\breg(?:comp|exec)\s*\(/;

my $wrong = 0;

# Functions, where their names begin a line.
my %defined;

my %only = map { $_ => 1 } @ARGV;

sub complain {
    my ($file, $line, $what) = @_;
    return if %only && !$only{$file};
    print "$file:$line: $what\n";
    $wrong = 1;
}

sub check_include {
    my ($file, $line, $bracket, $name) = @_;
    my ($folder) = $file =~ m{^module/(\w+)/} or return;
    my $rule = $folder{$folder}
        or return complain($file, $line, "folder $folder has no rule");
    if ($bracket eq '<') {
        complain($file, $line, "$folder must not include <$name>")
            if !$rule->{system}->($name, $file);
        return;
    }
    my ($other) = $name =~ m{^(\w+)/};
    complain($file, $line, "$name is for its own folder")
        if $name =~ m{^(.*)/\w+_impl\.h$} && $file !~ m{^module/\Q$1\E/};
    # Public headers are installed in one folder.
    return if $folder eq 'api' && !defined $other;
    if (!defined $other) {
        complain($file, $line, qq(write "FOLDER/$name"));
    } elsif ($other ne $folder
        && !grep { $_ eq $other } @{ $rule->{folders} })
    {
        complain($file, $line, "$folder must not include $name");
    } elsif ($folder eq 'runner' && $other eq 'tasks'
        && $name ne 'tasks/tg_tasks.h')
    {
        complain($file, $line, "$folder may include tasks/tg_tasks.h only");
    } elsif ("$file $name" =~ m{^module/((\w+)/(\w+))/\S+ \2/(\w+)/}) {
        my $rule = $subfolder{$1}
            or return complain($file, $line, "folder $1 has no rule");
        complain($file, $line, "$1 must not include $name")
            if $3 ne $4 && !grep { $_ eq $4 } @$rule;
    }
}

sub check_file {
    my ($file) = @_;
    my $is_c = $file =~ /\.[ch]$/;
    my $tabs = $file =~ /\.mk$/;
    my $is_pure =
        $file =~ m{^module/(?:base|schema|protocol|catalog|rule|spec)/};
    open my $fh, '<:encoding(UTF-8)', $file or die "$file: $!\n";
    my $has_pool = $file !~ m{^module/(?:runner|tasks/(?!store/))};
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
        complain($file, $., "a folder without I/O must not call $&")
            if $is_pure && !$comment && $text =~ $impure;
        complain($file, $., "the runner's pool is for the task stores: $&")
            if !$has_pool && !$comment && $text =~ $pool;
        complain($file, $., "use schema/pcre2/ for regular expressions: $&")
            if $file =~ /^module/ && !$comment && $text =~ $unbounded;
        $comment = 0 if $text =~ m{\*/};
    }
    complain($file, $., "$. lines, 600 are too many") if $. >= 600;
    close $fh;
}

# Functions in the linker script must exist.
sub check_order {
    my ($file) = @_;
    open my $fh, '<', $file or die "$file: $!\n";
    while (my $text = <$fh>) {
        complain($file, $., "there is no function $1")
            if $text =~ /[*][(]\.text\.(\w+) / && !$defined{$1};
    }
}

# Packed by module/build/corpus.pl: sorted, each input once.
sub check_corpus {
    my ($file) = @_;
    my $last = '';
    open my $fh, '<', $file or die "$file: $!\n";
    while (my $text = <$fh>) {
        complain($file, $., 'not an input')
            if $text !~ /^[\w.-]*\t(?:[ -\[\]-~]|\\(?:n|\\|x[\da-f]{2}))*$/;
        complain($file, $., 'not sorted') if $text le $last;
        $last = $text;
    }
}

# What a test uses without loading it is there in the suite, where
# module/build/prove.pl may have loaded it, but not when the test runs alone.
sub check_modules {
    my ($file) = @_;
    my %loaded = map { $_ => 1 }
        qw(Client Guard Json Measure Process Report Test Util);
    open my $fh, '<', $file or die "$file: $!\n";
    while (my $text = <$fh>) {
        $loaded{$1} = 1 if $text =~ /^\s*use Toolgate::(\w+)/;
        $loaded{$_} = 1
            for map {split} $text =~ /^use Toolgate::Test qw\((.*?)\)/;
        for my $module ($text =~ /\bToolgate::(\w+)(?:->|::)/g) {
            complain($file, $., "Toolgate::$module is not loaded here")
                if !$loaded{$module};
        }
    }
}

my $list = 'git ls-files -co --exclude-standard -- module t config build.sh';
for my $file (sort split /\n/, `$list`) {
    next if !-f $file;
    check_file($file)
        if $file =~ /\.(?:[ch]|sh|mk|pl|pm|t)$/ || $file eq 'config';
    check_modules($file) if $file =~ /\.t$/;
    check_corpus($file) if $file =~ /\.corpus$/;
}
check_order('module/build/call.ld');
exit $wrong;

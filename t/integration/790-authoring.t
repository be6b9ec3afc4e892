#!/usr/bin/perl
# Runs docs/authoring.md: each of its configs is loaded in turn, each command
# and dialogue after it has the printed result. 791 tests the start and reload
# of its server.

use Toolgate::Test;

use File::Path qw(make_path);
use File::Basename qw(dirname);

my $page = 'docs/authoring.md';
my $text = slurp(Toolgate::Test::top() . "/$page") // die "$page: $!\n";
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;

# Replaces the readers' user and paths by those of the test.
my ($user, $group) = @$tg{qw(user group)};

sub localize {
    my ($config) = @_;
    $config =~ s{/tmp/demo\b}{$dir}g;
    $config =~ s{\bann\b}{$user}g;
    $config =~ s{\bgid=dev\b}{gid=$group}g;
    return $config;
}

sub write_file {
    my ($name, $content) = @_;
    make_path(dirname("$dir/$name"));
    $tg->file($name, localize($content), $name =~ m{/bin/} ? 0755 : 0644);
}

sub load {
    my ($name, $config) = @_;
    $config = localize($config);
    my ($status, $out) = $tg->test_conf($config);
    is $status, 0, "$name loads" or diag $out;
    unlike $out, qr/\[(?:warn|error)\](?!.* has no "description")/,
        'without complaints';
    $tg->master_pid ? $tg->reload($config) : $tg->conf($config)->start;

    # Another server's tools exist once they are listed.
    for my $server ($config =~ /^mcp_server (\w+)/mg) {
        wait_for { ($tg->cli('list'))[1] =~ /^${server}_/m } "tools of $server";
    }
}

# "$ COMMAND", and its output; "…" replaces what differs each time, such as the
# key of a large output, which is that of the last one.
my ($kept, %called) = ('');
sub play_console {
    my ($name, $console) = @_;
    for (split /^(?=\$ )/m, $console) {
        my ($command, $expected) = /^\$ toolgate ([^\n]*)\n(.*)\z/s
            or die "$name: $_\n";
        my @words = map {tr{'}{}dr} $command =~ /((?:'[^']*'|[^ '])+)/g;
        s{^output=\K\d+\xe2\x80\xa6$}{$kept}, $_ = localize($_) for @words;
        my ($status, $out, $err) = $tg->cli(@words);
        ($kept) = $out =~ /\{"output":"(\w+)"/ if $out =~ /\{"output":"/;
        my $at = ($words[1] // '') eq '-o' ? 3 : 1;
        $called{ $words[$at] // '' } = 1;
        my $said = $out . $err;
        my $pattern = join '.*', map {quotemeta} split /\xe2\x80\xa6/,
            localize($expected);
        s/\n+\z// for $said;
        $pattern =~ s/\\\n\z//;
        like $said, qr/\A$pattern\z/, "$name: $command";
        my $no = $err =~ /^toolgate: unknown argument / ? 2 : 1;
        is $status, $err ne '' ? $no : 0, 'with the exit status for it';
    }
}

sub play_dialogue {
    my ($name, $dialogue) = @_;
    my $client = $tg->connect;
    for (split /\n/, $dialogue) {
        my ($way, $message) = /^([<>]) (.*)$/ or die "$name: $_\n";
        $client->send_line($message), next if $way eq '>';
        is_deeply $client->recv_json, $client->decode($message),
            "$name: $message";
    }
    ok $client->is_silent(0.05), "$name: and nothing more";
}

my %played;
while ($text =~ /^```(\S*)(?: (\S+))?\n(.*?)^```$/msg) {
    my ($kind, $file, $content) = ($1, $2, $3);
    my $name = "$page:" . (1 + (substr($text, 0, $-[0]) =~ tr/\n//));
    $played{$kind}++;
    if (defined $file) {
        write_file($file, $content);
    } elsif ($kind eq 'shell') {
        next if $content !~ /^mkdir /;
        my ($status) = run_command({}, '/bin/sh', '-e', '-c',
            localize($content));
        is $status, 0, "$name: what it starts from";
    } elsif ($kind eq 'nginx') {
        load($name, $content);
    } elsif ($kind eq 'console') {
        play_console($name, $content);
    } elsif ($kind eq 'dialogue') {
        play_dialogue($name, $content);
    } else {
        fail "$name: unknown kind of block";
    }
}
cmp_ok $played{nginx}, '>=', 8, 'each step was loaded';
cmp_ok $played{console}, '>=', 8, 'and tried';

is join(' ', grep { !$called{$_} } qw(git_status git_log git_diff search
    run_tests query picture build_log toolgate_output)), '',
    'the eight of every day among them';
my $picture = slurp("$dir/small.png") // '';
is join(' ', unpack 'x a3 x12 N N', $picture), 'PNG 32 21', 'the picture, too';

# Its links work.
my %markdown = ($page => $text);
(my $prose = $text) =~ s/^```.*?^```//msg;
my $links = 0;
while ($prose =~ /\]\(([^)]*)\)/g) {
    my ($path, $anchor) = split /#/, $1, 2;
    my $target = length $path ? "docs/$path" : $page;
    my $there = $markdown{$target}
        //= slurp(Toolgate::Test::top() . "/$target") // '';
    my %anchor = map { (s/[^\w\- ]//gr =~ tr/ A-Z/\-a-z/r) => 1 }
        $there =~ /^#+ (.*)$/mg;
    $links++;
    next if $there ne '' && (!defined $anchor || $anchor{$anchor});
    fail "$page: $1 leads somewhere";
}
cmp_ok $links, '>', 10, 'it has links';

done_testing;

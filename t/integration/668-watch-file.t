#!/usr/bin/perl
# Subscriptions to files: `watch file`, over reloads and a restart of the
# runner; mistakes in `watch`.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $folder = $tg->dir . '/notes';
mkdir $folder or die $!;
$tg->file("notes/$_", '1') for qw(a.txt b.txt);
my $body = <<"END";
resource n:a { file $folder/a.txt; }
resource n:off { file $folder/a.txt; watch off; }
resource_template "t:{name}" { file \$tool_arg_name; root $folder; }
resource_files $folder uri=f:/;
END
$tg->conf($body, workers => 2)->start;

my @clients = map { Toolgate::Way->new('legacy', $tg->connect)->client } 1 .. 2;
my @uris = qw(n:a t:a.txt f:/a.txt f:/new.txt n:off);
my $fds = sub {
    return scalar grep { (readlink // '') =~ /inotify/ }
        map { glob "/proc/$_/fd/*" } $tg->runner_pids;
};

for my $client (@clients) {
    is_deeply $client->rpc('resources/subscribe', { uri => $_ })->{result}, {},
        "subscribed to $_" for @uris;
}
wait_for { $fds->() } 'the runner to watch';

# Writes a file until all clients got an update of each URI.
sub updates {
    my ($file, $content, @expected) = @_;
    for my $client (@clients) {
        my %got;
        my $n = 0;
        wait_for {
            $tg->file("notes/$file", $content . $n++);
            $got{ $client->recv_json->{params}{uri} } = 1
                while !$client->is_silent(0.2);
            return !grep { !$got{$_} } @expected;
        } "updates of $file";
        ok !$got{'n:off'}, 'none of a resource that is not watched';
    }
    return 1;
}

my @a = qw(n:a t:a.txt f:/a.txt);
ok updates('a.txt', 'x', @a), 'a change of a file';
ok updates('new.txt', 'x', 'f:/new.txt'), 'a file that was not there';
$tg->reload($body);
ok updates('a.txt', 'y', @a), 'a change after a reload';

$tg->allow_log(qr/runner/);
kill KILL => $tg->runner_pids;
ok updates('a.txt', 'z', @a), 'a change after the runner was killed';

for my $client (@clients) {
    $client->rpc('resources/unsubscribe', { uri => $_ }) for @uris;
}
# Clients that are connected listen to changes of the list of files.
$_->close for @clients;
wait_for { !$fds->() } 'the runner to watch nothing';

for my $mistake (
    [
        'no file', qr/has "watch file", but no "file"; write "watch every/,
        "resource n:x { watch file; exec true;\n} #!"
    ],
    [
        'a constant',
        qr/has "watch every=", for which toolgate-runner must answer/,
        "resource n:x { watch every=5s; return x;\n} #!"
    ],
    [
        'too often', qr/invalid "every=10ms" in "watch"; write "file", "every/,
        "resource n:x { exec true;\n watch every=10ms; #!\n}"
    ],
    [
        'a wrong word', qr/invalid "on" in "watch"/,
        "resource n:x { exec true;\n watch on; #!\n}"
    ],
    [
        'a prompt', qr/"watch" has no effect in a prompt/,
        "prompt x { return x;\n watch off; #!\n}"
    ],
    [
        'watched twice', qr/"watch" directive is duplicate/,
        "resource n:x { exec true; watch off;\n watch off; #!\n}"
    ],
) {
    my ($name, $pattern, $text) = @$mistake;
    conf_fails($tg, $text, $pattern, $name);
}
done_testing;

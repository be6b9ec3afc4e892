#!/usr/bin/perl
# Changes of skills: one list_changed for a new skill, a changed file and a
# removed skill; `updated` for those who subscribed to a file.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $p = 'io.modelcontextprotocol';
my %modern = ("$p/protocolVersion" => '2026-07-28',
    "$p/clientCapabilities" => {});

sub skill {
    my ($name, $text) = @_;
    mkdir "$dir/skills/$name";
    $tg->file("skills/$name/SKILL.md",
        "---\nname: $name\ndescription: $text\n---\n");
}

mkdir "$dir/skills" or die $!;
skill('one', 'One.');
$tg->conf("skills $dir/skills;")->start;

# The inotify descriptors of the runner.
sub watchers {
    my $n = 0;
    for my $pid ($tg->runner_pids) {
        $n += grep { (readlink($_) // '') eq 'anon_inode:inotify' }
            glob "/proc/$pid/fd/*";
    }
    return $n;
}

my $reader = $tg->connect;

sub skills {
    return join ' ', map { $_->{frontmatter}{description} } @{
        $reader->rpc('skills/list', { _meta => \%modern })->{result}{skills} };
}

is skills(), 'One.', 'one skill';
is watchers(), 0, 'nothing is watched while nobody listens';

my $client = $tg->connect;
$client->send_line({ jsonrpc => '2.0', id => 'l',
    method => 'subscriptions/listen', params => { _meta => \%modern,
        notifications => { resourcesListChanged => \1 } } });
is $client->recv_json->{method}, 'notifications/subscriptions/acknowledged',
    'a client listens';
wait_for { watchers() != 0 } 'the runner watches';

my $changed = 'notifications/resources/list_changed';
skill('two', 'Two.');
is $client->recv_json->{method}, $changed, 'a new skill';
is skills(), 'One. Two.', 'is listed';

skill('one', 'First.');
is $client->recv_json->{method}, $changed, 'a changed description';
is skills(), 'First. Two.', 'is listed';

$tg->file('skills/two/notes.txt', 'a');
is $client->recv_json->{method}, $changed, 'a new file of a skill';
$tg->file('skills/two/notes.txt', 'ab');
is $client->recv_json->{method}, $changed, 'a changed file of a skill';
is $reader->rpc('skills/get', { uri => 'skill://two/SKILL.md',
    _meta => \%modern })->{result}{skill}{resources}[1]{size}, 2,
    'has its new size';

unlink "$dir/skills/one/SKILL.md" or die $!;
is $client->recv_json->{method}, $changed, 'a skill that has gone';
is skills(), 'Two.', 'is not listed';
$client->close;
wait_for { watchers() == 0 } 'nothing is watched while nobody listens';

# --- subscriptions to a file ---

my $other = $tg->connect;
my $uri = 'skill://two/notes.txt';
$other->send_line({ jsonrpc => '2.0', id => 'l',
    method => 'subscriptions/listen', params => { _meta => \%modern,
        notifications => { resourceSubscriptions => [$uri] } } });
is_deeply $other->recv_json->{params}{notifications},
    { resourceSubscriptions => [$uri] }, 'a subscription to a file';
wait_for { watchers() != 0 } 'the runner watches the file';
$tg->file('skills/two/notes.txt', 'abc');
my $update = $other->recv_json;
is $update->{method}, 'notifications/resources/updated', 'a change';
is $update->{params}{uri}, $uri, 'of the file';

done_testing;

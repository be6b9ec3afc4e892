#!/usr/bin/perl
# Changes of the files of `resource_files`: one list_changed for those who
# listen, and nothing is watched while nobody does.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $p = 'io.modelcontextprotocol';
my %modern = ("$p/protocolVersion" => '2026-07-28',
    "$p/clientCapabilities" => {});
my $changed = 'notifications/resources/list_changed';

mkdir "$dir/$_" or die $! for qw(notes notes/sub);
$tg->file('notes/a.txt', 'a');
$tg->conf(<<"END")->start;
resource_files $dir/notes uri=notes:/// match=*.txt recursive;
END

# The inotify descriptors of the runner.
sub watchers {
    my $n = 0;
    for my $pid ($tg->runner_pids) {
        $n += grep { (readlink($_) // '') eq 'anon_inode:inotify' }
            glob "/proc/$pid/fd/*";
    }
    return $n;
}

my $legacy = $tg->connect;
$legacy->rpc('initialize', { protocolVersion => '2025-06-18',
    capabilities => {}, clientInfo => { name => 't', version => '1' } });
$legacy->send_line({ jsonrpc => '2.0',
    method => 'notifications/initialized' });
is @{ $legacy->rpc('resources/list')->{result}{resources} }, 1, 'one file';
wait_for { watchers() != 0 } 'the runner watches';

$tg->file('notes/b.txt', 'b');
is $legacy->recv_json->{method}, $changed, 'a new file';
is @{ $legacy->rpc('resources/list')->{result}{resources} }, 2, 'is listed';

# A modern client that listens is notified, too; a burst is one change.
my $modern = $tg->connect;
$modern->send_line({ jsonrpc => '2.0', id => 'l',
    method => 'subscriptions/listen', params => { _meta => \%modern,
        notifications => { resourcesListChanged => \1 } } });
is $modern->recv_json->{method}, 'notifications/subscriptions/acknowledged',
    'a modern client listens';
$tg->file("notes/sub/$_.txt", '') for 1 .. 100;
is $modern->recv_json->{method}, $changed, 'new files in a subfolder';
is $legacy->recv_json->{method}, $changed, 'for both';
is @{ $legacy->rpc('resources/list')->{result}{resources} }, 102, 'are listed';

unlink "$dir/notes/a.txt" or die $!;
is $modern->recv_json->{method}, $changed, 'a removed file';
$legacy->recv_json;

# The folder is removed and made again.
rename "$dir/notes", "$dir/gone" or die $!;
is $modern->recv_json->{method}, $changed, 'a folder that has gone';
$legacy->recv_json;
mkdir "$dir/notes" or die $!;
$tg->file('notes/again.txt', '');
is $modern->recv_json->{method}, $changed, 'a folder that is there again';

$legacy->close;
$modern->close;
wait_for { watchers() == 0 } 'nothing is watched while nobody listens';

done_testing;

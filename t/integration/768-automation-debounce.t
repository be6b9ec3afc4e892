#!/usr/bin/perl
# Rules about files with debounce: immediate events are reported at once, while
# another rule still waits; and a folder that is removed and created again.

use Toolgate::Test;

my $json = JSON::PP->new->canonical;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $root = "$dir/src";
mkdir $root or die;
my $conf = join '', 'task_agent done { exec true; default; } task_methods on;',
    map {
        "automation $_->[0] { trigger file $root debounce=$_->[1];"
            . ' notify "{{payload}}"; }'
    } [ now => 0 ], [ soon => '1s' ], [ late => '1h' ];
$tg->conf($conf)->start;
my $c = $tg->connect;
my $hears = $tg->connect;
$hears->rpc('ping');

sub files {
    return $c->result_of('daemon.status')->{subsystems}{file_watcher};
}
sub told {
    my ($rule) = @_;
    return $json->decode($hears->recv_where(sub {
        return ($_[0]{method} // '') eq 'automation.notify'
            && $_[0]{params}{ruleId} eq $rule;
    }, 60, "rule $rule")->{params}{message});
}

# Reads events of this number of files. Returns the number of messages.
sub told_of {
    my ($rule, $n) = @_;
    my ($count, $pieces) = (0, 0);
    while ($count < $n) {
        $count += told($rule)->{count};
        $pieces++;
    }
    is $count, $n, "$rule: $n files";
    return $pieces;
}
wait_for { files()->{ready} } 'files to be watched';

# --- many at once: a folder that comes with all that is in it

mkdir "$dir/staged" or die;
$tg->file("staged/$_", $_) for 1 .. 50;
rename "$dir/staged", "$root/staged" or die;
is told_of('soon', 50), 1, 'files that appear together are reported together';
told_of('now', 50);

# --- one that waits long, and is asked to go on waiting

$tg->file('src/one', 'x');
is told('now')->{path}, "$root/one", 'a rule without debounce fires';
is told('soon')->{path}, "$root/one", 'then the rule with a short debounce';
my %fired = map { $_->{ruleId} => 1 }
    @{ $c->result_of('automation.status')->{recentExecutions} };
is_deeply [ sort keys %fired ], [qw(now soon)],
    "the rule with an hour's debounce has not fired";

# --- what came and went

$tg->file('src/brief', 'x');
unlink "$root/brief" or die;
$tg->file('src/last', 'x');
my %event;
until ($event{"$root/last"}) {
    $event{ $_->{path} } = $_->{event} for @{ told('soon')->{files} };
}
is $event{"$root/last"}, 'create',
    'a file that was created meanwhile is reported';
ok !$event{"$root/brief"} || $event{"$root/brief"} eq 'delete',
    'a file that was removed meanwhile is not reported as created';

# --- its folder, removed and made again

system('rm', '-r', $root) == 0 or die;
%event = ();
until (keys %event >= 52) {
    $event{ $_->{path} } = $_->{event} for @{ told('soon')->{files} };
}
is_deeply [ grep { $event{$_} ne 'delete' } keys %event ], [],
    'its folder is removed: all of its files are';
wait_for { files()->{missing} == 3 } 'the folder to be missed';
mkdir $root or die;
wait_for { files()->{missing} == 0 } 'the folder to be found again';
$tg->file('src/again', 'x');
%event = ();
until ($event{"$root/again"}) {
    $event{ $_->{path} } = $_->{event} for @{ told('soon')->{files} };
}
is $event{"$root/again"}, 'create', 'made again it is watched again';

done_testing;

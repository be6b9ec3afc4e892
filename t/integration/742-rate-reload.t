#!/usr/bin/perl
# Accounts of rates survive reloads, changes of the config and a worker's end;
# calls in the old config's workers count, too.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $body = 'tool a { rate 1r/m burst=%d; return ok; }'
    . 'tool b { rate 1r/m; return ok; }'
    . 'tool slow { rate 1r/m burst=9; exec sh -c '
    . '"until [ -e %%DIR%%/go ]; do sleep 0.02; done"; timeout 1h; }';
my $conf = sub { my ($n) = @_; return $body =~ s/%d/$n/r };

sub text {
    my ($tool, $client) = @_;
    return ($client // $tg->connect)->call_tool($tool)
        ->{result}{content}[0]{text};
}

my $refused = qr/^This tool may be called no more often/;
$tg->conf($conf->(5))->start;
is text('a'), 'ok', 'before' for 1 .. 3;

# The same config again.
$tg->reload;
is text('a'), 'ok', 'after a reload' for 1 .. 2;
$tg->reload;
is text('a'), 'ok', 'the sixth after another';
like text('a'), $refused, 'the seventh is one too many';

# A larger burst takes effect at once, earlier calls still count.
$tg->reload($conf->(7));
is text('a'), 'ok', 'two more' for 1 .. 2;
like text('a'), qr/burst=7/, 'and no third';
$tg->reload($conf->(2));
like text('a'), qr/burst=2/, 'a smaller one, too';

# A tool is removed and restored; a new one starts at 0.
is text('b'), 'ok', 'b';
$tg->reload('tool c { rate 1r/m; return ok; }');
is text('c'), 'ok', 'a new tool';
like text('c'), $refused, 'has its own account';
$tg->reload('tool c { return ok; } tool z { rate 1r/s; return ok; }');
is text('c'), 'ok', 'without a rate' for 1 .. 3;
$tg->reload($conf->(2) . 'tool c { rate 1r/m; return ok; }');
like text($_), $refused, "$_ remembers" for qw(a b c);

# A config that does not load changes nothing.
$tg->reload_fails('tool a { rate 0r/s; return ok; }');
like text('a'), qr/burst=2/, 'a config with a mistake';

# An old worker, which still runs a call, and a new one count together.
my $old = $tg->connect;
my $id = $old->request('tools/call', { name => 'slow' });
wait_for { $tg->runner_pids } 'the program';
$tg->reload($conf->(2) . 'tool d { rate 1r/m burst=1; return ok; }');
is text('d'), 'ok', 'the new config';
$tg->file('go', '');
is $old->reply($id)->{result}{isError}, JSON::PP::false, 'the old call ends';

# The account is in shared memory: a killed worker loses nothing.
$tg->kill_workers(($tg->worker_pids)[0]);
is text('d'), 'ok', 'the second call';
like text('d', client_of($tg, $_)), $refused, 'and no third, in any worker'
    for $tg->worker_pids;

done_testing;

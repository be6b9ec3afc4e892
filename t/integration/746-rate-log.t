#!/usr/bin/perl
# Log lines about rates, and their levels; and dry_run: excess calls are counted
# and logged, but served.

use Toolgate::Test qw(Listed Way);

my $tg = Toolgate::Test->new(workers => 1);
my $far = Toolgate::Listed->new($tg, 'far')->list('echo');
$tg->conf(<<"END")->start;
tool plain { description d; rate 1r/m burst=1; return ok; }
tool quiet { description d; rate 1r/m log_level=info; return ok; }
tool dry { description d; rate 1r/m dry_run log_level=warn; return ok; }
method dry { rate 1r/m dry_run; return 1; }
mcp_server far {
    exec @{[ $far->command ]};
    rate 1r/m dry_run log_level=notice;
    tool echo { rate 1r/m burst=1 dry_run; }
}
END
my $client = $tg->connect;
wait_for { Toolgate::Way->new('legacy', $tg->connect)->list =~ /far_echo/ }
    'the list';

sub called { return text_of($client->call_tool(@_)) }

# Returns the log lines about limits meanwhile: level and text.
sub logged {
    my ($do) = @_;
    my $from = -s $tg->dir . '/error.log';
    $do->();
    my $line = qr/\[(\w+)\] .*?((?:dry run: )?call of .*?\))/;
    return [ map { $_ =~ $line ? "$1: $2" : () }
        split /\n/, $tg->log($from) ];
}

is_deeply logged(sub { called('plain') for 1, 2 }), [], 'as often as allowed';
is_deeply logged(sub { like called('plain'), qr/no more often/, 'once more' }),
    ['error: call of "plain" failed: busy (rate)'], 'is an error';
is called('quiet'), 'ok', 'another one';
is_deeply logged(sub { like called('quiet'), qr/no more often/, 'once more' }),
    ['info: call of "quiet" failed: busy (rate)'], 'at its level';

is_deeply logged(sub { is called('dry'), 'ok', 'a call' }), [], 'dry: one';
is_deeply logged(sub { is called('dry'), 'ok', 'all take place' for 1, 2 }),
    [ ('warn: dry run: call of "dry" would fail: busy (rate)') x 2 ],
    'and those too many are logged';
is $client->rpc('dry')->{result}, 1, 'a method has a rate of its own'
    for 1, 2;

# Two limits of one call: each counts separately.
sub far { return $client->call_tool('far_echo', { text => 'x' }) }
is_deeply logged(sub { is text_of(far()), 'x', 'of an MCP server' }), [],
    'none of them is too many';
my $block = 'notice: dry run: call of "far_echo" would fail: '
    . 'busy (mcp_server_rate)';
is_deeply logged(sub { is text_of(far()), 'x', 'the second' }), [$block],
    'that is too many for the block';
is_deeply logged(sub { is text_of(far()), 'x', 'the third' }), [
    'error: dry run: call of "far_echo" would fail: busy (rate)',
    $block,
], 'that is too many for both';

# A limit with dry_run does not return the calls of another one.
$tg->reload(<<'END');
tool_rate 1r/m burst=2;
tool_server_name again;
tool both { description d; rate 1r/m dry_run; return ok; }
method now { return 1; }
END
wait_for { $client->rpc('now')->{result} } 'the new config';
$client->rpc('now');
is called('both'), 'ok', 'the last one of the server';
is_deeply logged(sub { like called('both'), qr/tool_rate/, 'one too many' }), [
    'error: dry run: call of "both" would fail: busy (rate)',
    'error: call of "both" failed: busy (tool_rate)',
], 'for the server, and for the tool';

# A server inherits a limit with its parameters.
$tg->reload(<<'END', stream => 'tool_rate 1r/m dry_run log_level=notice;');
tool_server_name third;
method third { return 1; }
END
wait_for { $client->rpc('third')->{result} } 'the third config';
is_deeply logged(sub { is $client->rpc('third')->{result}, 1, 'a call' }),
    ['notice: dry run: call of "third" would fail: busy (tool_rate)'],
    'only logged';

done_testing;

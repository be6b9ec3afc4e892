package Toolgate::Hostile;

# A server with hostile and well-behaved clients: whatever the former do, each
# call of the latter is answered, and nothing is left behind.

use strict;
use warnings;

use Toolgate::Attacker;
use Toolgate::Attacks;
use Toolgate::Measure;
use Toolgate::Util;

our $TOOLS = <<'END';
tool echo { return $tool_arg_text; }
tool run { exec cat; stdin $tool_arg_text; }
tool strict {
    input_schema '{"type":"object","properties":{"text":{"type":"string"}},
                   "required":["text"],"additionalProperties":false}';
    return strict;
}
END

# One worker, which all clients share. Options: head (directives of the server),
# and those of conf().
sub new {
    my ($class, %option) = @_;
    my $tg = Toolgate::Test->new(workers => 1);
    my $head = delete $option{head} // '';
    $tg->conf("tool_idle_timeout off frame=600s;\n$head\n$TOOLS", %option)
        ->start;
    my $self = bless { tg => $tg, calls => 0 }, $class;
    ($self->{worker}) = $tg->worker_pids;
    $self->{good} = { map { $_ => $tg->connect } qw(jsonrpc relay ipc) };
    # After some calls, the worker has all memory that it keeps.
    $self->call for 1 .. $option{calls} // 30;
    $self->{rss} = rss_kb($self->{worker});
    $self->{fds} = fd_count($self->{worker});
    return $self;
}

sub tg { return $_[0]{tg} }
sub worker { return $_[0]{worker} }

# Makes one well-behaved call, in each dialect by turns, some of a program; dies
# if the answer is wrong.
sub call {
    my ($self) = @_;
    my $n = ++$self->{calls};
    my $dialect = (qw(jsonrpc relay ipc))[ $n % 3 ];
    my $client = $self->{good}{$dialect};
    my $tool = $n % 10 ? 'echo' : 'run';
    $client->send_raw(
        Toolgate::Attacks::call_of($dialect, $n, $tool,
            qq({"text":"good$n."})));
    Toolgate::Attacks::is_text(Toolgate::Attacks::answer($client, $dialect),
        $dialect eq 'ipc' ? "good$n." : "$n good$n.",
        "$dialect, one who behaves");
}

sub attack {
    my ($self, $name, %option) = @_;
    my $attacker =
        Toolgate::Attacker->start($name, $self->{tg}->socket_path, %option);
    push @{ $self->{attackers} }, $attacker;
    return $attacker;
}

# Calls until all attackers have ended. Returns the number of calls.
sub serve {
    my ($self) = @_;
    my $from = $self->{calls};
    my $peak = $self->{peak} // 0;
    while (1) {
        $self->call for 1 .. 5;
        my $rss = rss_kb($self->{worker});
        $peak = $rss if $rss > $peak;
        last if !grep { !defined $_->ended } @{ $self->{attackers} };
    }
    $self->{peak} = $peak;
    return $self->{calls} - $from;
}

# Runs attack (name, options), serve and look. Options: memory, the allowed
# growth of the worker in KiB.
sub run {
    my ($self, $attacks, %option) = @_;
    $self->attack(@$_) for @$attacks;
    my $calls = $self->serve;
    Test::More::cmp_ok($calls, '>=', 5, 'who behaves was served');
    Test::More::diag("$calls calls meanwhile");
    for my $attacker (@{ $self->{attackers} }) {
        Test::More::is($attacker->ended, 'done',
            "$attacker->{name}: answered as the contract says");
    }
    $self->look(%option);
}

# Checks that nothing has grown, nobody has died, and all are served.
sub look {
    my ($self, %option) = @_;
    my ($tg, $worker) = @$self{qw(tg worker)};
    wait_for { fd_count($worker) <= $self->{fds} } 'the worker to let go';
    Test::More::is(fd_count($worker), $self->{fds}, 'no descriptor is left');
    my $grown = ($self->{peak} // 0) - $self->{rss};
    Test::More::diag("the worker grew by $grown KiB at most");
    memory_below $grown, $option{memory} // 65_536,
        'nor did memory grow beyond its bound';
    Test::More::is_deeply([ $tg->worker_pids ], [$worker],
        'the worker is the same');
    $self->call for 1 .. 30;
    for my $dialect (qw(jsonrpc relay ipc)) {
        Toolgate::Attacks::check($tg->connect, $dialect, 'a new client');
    }
    Test::More::pass('old clients and new ones are served');
}

1;

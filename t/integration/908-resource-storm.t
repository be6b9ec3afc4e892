#!/usr/bin/perl
# A storm of reloads with clients of both eras that read resources, templates
# and prompts all the time and listen to changes of the lists: each request is
# answered once, never by an older config than the one before, and each reload
# is announced once to each client.

use Toolgate::Test;

use IO::Select;

use constant {
    CLIENTS => 8,
    RUNNING => 4,
};

my $reloads = $ENV{TOOLGATE_STORM_RELOADS} // 20;
my $tg = Toolgate::Test->new;

sub body {
    my ($n) = @_;
    return <<"END";
resource note:///now { description "Version $n."; return "$n now"; }
resource_template "note:///{x}" { name note; return "$n \$tool_arg_x"; }
prompt now { description "Version $n."; return "$n prompt"; }
prompt then { description "Says when."; exec echo "$n program"; }
END
}

# What a client asks, and what it is told beside the number of the config.
my @asked = (
    [ 'resources/read', { uri => 'note:///now' }, 'now' ],
    [ 'resources/read', { uri => 'note:///a%20b' }, 'a b' ],
    [ 'prompts/get', { name => 'now' }, 'prompt' ],
    [ 'prompts/get', { name => 'then' }, 'program' ],
);

my (@clients, @faults, $answers);
my $generation = 1;
my $is_over;

sub ask {
    my ($client) = @_;
    my $i = int rand @asked;
    my ($method, $params) = @{ $asked[$i] };
    my $id = $client->{tg}->request($method,
        { %$params, $client->{is_modern} ? (_meta => modern_meta()) : () });
    $client->{running}{$id} = $i;
}

sub take_answer {
    my ($client, $message) = @_;
    my $i = delete $client->{running}{ $message->{id} };
    my $result = $message->{result};
    my $text = $result->{contents}
        ? $result->{contents}[0]{text}
        : $result->{messages}[0]{content}{text};
    my ($n, $what) = ($text // '') =~ /^(\d+) (.*?)\n?$/;
    if (!defined $i || !defined $n || $what ne $asked[$i][2]) {
        push @faults, Toolgate::Json::encode($message);
        return;
    }
    $answers++;
    # A program may have been started before the last reload.
    return if $what eq 'program' && $n <= $generation;
    push @faults, "config $n after $client->{seen}, of $generation"
        if $n < $client->{seen} || $n > $generation;
    $client->{seen} = $n;
}

sub take {
    my ($client, $message) = @_;
    if (!$message->{method}) {
        take_answer($client, $message);
    } elsif ($message->{method} =~ m{^notifications/(\w+)/list_changed$}) {
        push @faults, "$1: changed " . ($client->{told}{$1} + 1) . ' times'
            if ++$client->{told}{$1} >= $generation;
    } else {
        push @faults, Toolgate::Json::encode($message);
    }
}

# Serves all clients for a moment.
sub serve {
    my %of = map { fileno $_->{tg}{in} => $_ } @clients;
    for my $client (@clients) {
        ask($client)
            while !$is_over && keys %{ $client->{running} } < RUNNING;
    }
    my $select = IO::Select->new(map { $_->{tg}{in} } @clients);
    for my $in ($select->can_read(0.1)) {
        my $client = $of{ fileno $in };
        take($client, $client->{tg}->recv_json);
        take($client, $client->{tg}->recv_json)
            while $client->{tg}->buffered =~ /\n/;
    }
}

sub serve_until {
    my ($what, $is_so) = @_;
    my $deadline = time + $Toolgate::Client::TIMEOUT;
    while (grep { !$is_so->($_) } @clients) {
        die "$what: not in time\n" if time > $deadline;
        serve();
    }
}

$tg->conf(body(1))->start;
for my $i (1 .. CLIENTS) {
    my $client = {
        tg        => $tg->connect,
        is_modern => $i % 2,
        seen      => 1,
        running   => {},
        told      => { prompts => 0, resources => 0 },
    };
    push @clients, $client;
    if ($client->{is_modern}) {
        $client->{tg}->request('subscriptions/listen', {
            notifications => {
                promptsListChanged   => JSON::PP::true,
                resourcesListChanged => JSON::PP::true,
            },
            _meta => modern_meta(),
        });
        $client->{tg}->notification(
            'notifications/subscriptions/acknowledged');
    } else {
        $client->{tg}->rpc('initialize', {
            protocolVersion => '2025-11-25',
            capabilities    => {},
            clientInfo      => { name => 'storm', version => 1 },
        });
    }
}

while ($generation <= $reloads) {
    $tg->conf(body(++$generation));
    $tg->signal_reload('HUP');
    serve_until("the notices of reload $generation", sub {
        my ($client) = @_;
        return !grep { $_ < $generation - 1 } values %{ $client->{told} };
    });
}
$is_over = 1;
serve_until('the last answers', sub { !%{ $_[0]{running} } });
ok !(grep { !$_->{tg}->is_silent(0.2) } @clients), 'nothing comes twice';
is_deeply \@faults, [], "all right: $answers answers, $reloads reloads";
is_deeply [ map { $_->{told} } @clients ],
    [ ({ prompts => $reloads, resources => $reloads }) x CLIENTS ],
    'each reload was announced once to each client';

done_testing;

package Toolgate::ResourceStorm;

# Clients of both eras that read, list and complete all the time, and that
# subscribe to files and, with `imports`, to a resource of an MCP server, while
# the config, the binary or the workers change:
#
#   my $storm = Toolgate::ResourceStorm->new($tg, imports => 1);
#   $tg->conf($storm->body)->start;
#   $storm->start(8);
#   $tg->conf($storm->next_body);
#   $tg->signal_reload('HUP');
#   $storm->change;                  # a file and the imported resource
#   $storm->settle('reload 1');      # until each client has read the change
#   $storm->finish;
#   is_deeply [ $storm->faults ], [];
#
# Each request must be answered once, never by an older config than the one
# before, and a read never has content from before its request. A client learns
# of a change only by the notification of a resource, after which it reads it.
# Of a file, no client may be notified more often than it has changed.

use strict;
use warnings;

use Carp qw(croak);
use IO::Select;

use Toolgate::Json;
use Toolgate::Util;

# Requests of a client at once.
use constant RUNNING => 3;

# What clients ask: a text that begins with the number of the config, or a list
# with an entry that has it in its description.
my @asked = (
    [ 'resources/read', { uri => 'note:///now' }, 'now' ],
    [ 'resources/read', { uri => 'note:///a%20b' }, 'a b' ],
    [ 'prompts/get', { name => 'now' }, 'prompt' ],
    [ 'prompts/get', { name => 'then' }, 'program' ],
    [ 'prompts/list', {}, 'list' ],
    [ 'resources/list', {}, 'list' ],
    [ 'resources/templates/list', {}, 'list' ],
    [
        'completion/complete',
        {
            ref      => { type => 'ref/prompt', name => 'now' },
            argument => { name => 'x', value => '' },
        },
        'value'
    ],
);

# Options: imports (see above), lossy (connections may be lost; clients then
# connect again).
sub new {
    my ($class, $tg, %option) = @_;
    my $seed = $ENV{TOOLGATE_STORM_SEED} // int rand 1 << 31;
    srand $seed;
    Test::More::diag("TOOLGATE_STORM_SEED=$seed");
    my $dir = $tg->dir;
    mkdir "$dir/files" or croak $!;
    my $self = bless {
        tg         => $tg,
        %option,
        files      => [qw(f:one d:/one.txt)],
        imported   => [ $option{imports} ? 'x:one' : () ],
        generation => 1,
        version    => 1,     # of the content of all watched resources
        clients    => [],
        faults     => [],
        answers    => 0,
        updates    => 0,
        joined     => 0,
    }, $class;
    $self->write_content;
    return $self;
}

sub generation { return $_[0]{generation} }
sub faults { return @{ $_[0]{faults} } }
sub joined { return $_[0]{joined} }
sub clients { return @{ $_[0]{clients} } }
sub watched { return (@{ $_[0]{files} }, @{ $_[0]{imported} }) }

sub story {
    my ($self) = @_;
    return "$self->{generation} configs, $self->{version} versions, "
        . "$self->{answers} answers, $self->{updates} updates, "
        . "$self->{joined} connections";
}

sub fault {
    my ($self, $client, $what) = @_;
    $what = Toolgate::Json::encode($what) if ref $what;
    push @{ $self->{faults} }, "$client->{name}: $what";
}

# --- the server ---

sub body {
    my ($self) = @_;
    my $n = $self->{generation};
    my $dir = $self->{tg}->dir;
    my $text = <<"END";
resource note:///now { description "Version $n."; return "$n now"; }
resource_template "note:///{x}" {
    name note; description "Version $n."; return "$n \$tool_arg_x";
}
prompt now {
    description "Version $n."; argument x; complete x "$n value";
    complete_rate 10000r/s burst=10000;
    return "$n prompt";
}
prompt then { description "Says when."; exec echo "$n program"; }
resource f:one { file $dir/files/one.txt; }
resource_files $dir/files uri=d:/;
END
    return $text if !$self->{imports};
    my $server = Toolgate::Test::top() . '/t/servers/mcp.pl';
    return $text
        . "mcp_server imp { exec $^X $server modern kinds=$dir/imp.kinds; }\n";
}

sub next_body {
    my ($self) = @_;
    $self->{generation}++;
    return $self->body;
}

# Replaces a file at once.
sub replace {
    my ($self, $name, $text) = @_;
    my $new = $self->{tg}->file('new', $text);
    rename $new, $self->{tg}->dir . "/$name" or croak "$name: $!";
}

sub write_content {
    my ($self) = @_;
    my $v = $self->{version};
    $self->replace('files/one.txt', $v);
    $self->replace(
        'imp.kinds',
        Toolgate::Json::encode({
            prompts   => [],
            resources => [ { uri => 'x:one', name => 'one' } ],
            contents  => { 'x:one' => [ { uri => 'x:one', text => "$v" } ] },
        }));
}

# Changes all watched resources.
sub change {
    my ($self) = @_;
    $self->{version}++;
    $self->write_content;
    return if !$self->{imports};
    # A call that is lost with its worker may not have been made.
    for (1 .. 100) {
        my $reply = eval {
            $self->{control} //= $self->{tg}->connect;
            $self->{control}->call_tool('imp_announce', { uri => 'x:one' });
        };
        return if $reply && $reply->{result} && !$reply->{result}{isError};
        croak 'announce: ' . ($@ || Toolgate::Json::encode($reply))
            if !$self->{lossy};
        undef $self->{control};
    }
    croak 'the MCP server cannot be called';
}

# --- clients ---

sub start {
    my ($self, $count) = @_;
    $self->join_in($_) for 1 .. $count;
}

sub join_in {
    my ($self, $number) = @_;
    my $client = {
        number    => $number,
        name      => 'client ' . ++$self->{joined},
        is_modern => $number % 2,
        seen      => 0,
        running   => {},
        known     => {},
        updates   => {},
        told      => { tools => 0, prompts => 0, resources => 0 },
    };
    for (1 .. 100) {
        last if eval { $self->greet($client); 1 };
        croak $@ if !$self->{lossy};
    }
    push @{ $self->{clients} }, $client;
    # What it has after its subscription, it is told of changes from here on.
    $self->ask_content($client, $_) for $self->watched;
}

sub greet {
    my ($self, $client) = @_;
    my $tg = $client->{tg} = $self->{tg}->connect;
    my @uris = $self->watched;
    $client->{since} = $self->{version};
    if ($client->{is_modern}) {
        my %wanted = (
            promptsListChanged    => JSON::PP::true,
            resourcesListChanged  => JSON::PP::true,
            resourceSubscriptions => \@uris,
        );
        $client->{listen} = $tg->request('subscriptions/listen',
            { notifications => \%wanted, _meta => modern_meta() });
        my $got = $tg->notification('notifications/subscriptions/acknowledged');
        my $honoured =
            $got->{params}{notifications}{resourceSubscriptions} // [];
        $self->fault($client, $got)
            if join(' ', sort @$honoured) ne join(' ', sort @uris);
        return;
    }
    $tg->result_of(
        'initialize',
        protocolVersion => '2025-11-25',
        capabilities    => {},
        clientInfo      => { name => 'storm', version => 1 });
    $tg->result_of('resources/subscribe', uri => $_) for @uris;
}

sub ask {
    my ($self, $client, $method, $params, $is) = @_;
    my @meta = $client->{is_modern} ? (_meta => modern_meta()) : ();
    my $id = $client->{tg}->request($method, { %$params, @meta });
    $client->{running}{$id} = { %$is, version => $self->{version} };
}

sub ask_something {
    my ($self, $client) = @_;
    my ($method, $params, $what) = @{ $asked[ int rand @asked ] };
    $self->ask($client, $method, $params, { what => $what });
}

# Reads a watched resource of which the client was notified.
sub ask_content {
    my ($self, $client, $uri) = @_;
    $self->ask($client, 'resources/read', { uri => $uri }, { uri => $uri });
}

# Returns the text of a result, with the number of the config first.
sub text_in {
    my ($result, $what) = @_;
    if ($what eq 'list') {
        my ($list) = grep { ref eq 'ARRAY' } values %$result;
        my ($entry) = grep { ($_->{description} // '') =~ /^Version/ } @$list;
        return ($entry->{description} // '') =~ /(\d+)/ ? "$1 list" : '';
    }
    return $result->{contents} ? $result->{contents}[0]{text}
        : $result->{completion} ? $result->{completion}{values}[0]
        : $result->{messages}[0]{content}{text};
}

sub take_answer {
    my ($self, $client, $message) = @_;
    my $asked = delete $client->{running}{ $message->{id} };
    my $result = $message->{result};
    return $self->fault($client, $message) if !$asked || !$result;
    $self->{answers}++;
    my ($n, $what) = (text_in($result, $asked->{what} // '') // '')
        =~ /^(\d+) ?(.*?)\n?$/;
    return $self->fault($client, $message)
        if !defined $n || $what ne ($asked->{what} // '');
    if ($asked->{uri}) {
        $self->fault($client, "$asked->{uri}: version $n, not $asked->{version}"
                . " to $self->{version}")
            if $n < $asked->{version} || $n > $self->{version};
        my $known = \$client->{known}{ $asked->{uri} };
        $$known = $n if $n > ($$known // 0);
        return;
    }
    # A program may have been started before the last reload.
    return if $what eq 'program' && $n <= $self->{generation};
    $self->fault($client, "config $n after $client->{seen}, of "
            . $self->{generation})
        if $n < $client->{seen} || $n > $self->{generation};
    $client->{seen} = $n;
}

sub take {
    my ($self, $client, $message) = @_;
    my ($method, $params) = @$message{qw(method params)};
    if (!$method) {
        $self->take_answer($client, $message);
    } elsif ($method =~ m{^notifications/(\w+)/list_changed$}) {
        $client->{told}{$1}++;
    } elsif ($method eq 'notifications/resources/updated') {
        my $uri = $params->{uri};
        my $id = $params->{_meta}{'io.modelcontextprotocol/subscriptionId'};
        $self->{updates}++;
        $client->{updates}{$uri}++;
        $self->fault($client, $message)
            if ($id // 0) ne ($client->{listen} // 0)
            || !grep { $_ eq $uri } $self->watched;
        $self->ask_content($client, $uri);
    } else {
        $self->fault($client, $message);
    }
}

# Receives what a client has. Returns 0 if the connection is lost.
sub receive {
    my ($self, $client) = @_;
    my $tg = $client->{tg};
    my @messages;
    my $is_whole = eval {
        push @messages, $tg->recv_json;
        push @messages, $tg->recv_json while $tg->buffered =~ /\n/;
        1;
    };
    croak $@ if !$is_whole && !($self->{lossy} && $@ =~ /end of file|reset/);
    $self->take($client, $_) for @messages;
    return $is_whole;
}

# Serves all clients for a moment.
sub serve {
    my ($self) = @_;
    my %lost;
    local $SIG{PIPE} = 'IGNORE';
    my %of = map { fileno $_->{tg}{in} => $_ } $self->clients;
    if (!$self->{is_over}) {
        for my $client ($self->clients) {
            eval {
                $self->ask_something($client)
                    while keys %{ $client->{running} } < RUNNING;
                1;
            } or $lost{ $client->{name} } = $client;
        }
    }
    my $select = IO::Select->new(map { $_->{tg}{in} } $self->clients);
    for my $in ($select->can_read(0.1)) {
        my $client = $of{ fileno $in };
        my $is_well = eval { $self->receive($client) };
        croak $@ if $@ && !$self->{lossy};
        $lost{ $client->{name} } = $client if !$is_well;
    }
    return if !%lost;
    croak 'lost: ' . join ' ', sort keys %lost if !$self->{lossy};
    $self->{clients} = [ grep { !$lost{ $_->{name} } } $self->clients ];
    $_->{tg}->close, $self->join_in($_->{number}) for values %lost;
}

sub serve_until {
    my ($self, $what, $condition) = @_;
    my $deadline = time + $Toolgate::Client::TIMEOUT;
    while (!$condition->()) {
        croak join "\n", "$what: not in time", $self->faults, $self->state
            if time > $deadline;
        $self->serve;
    }
}

# Describes what is missing.
sub state {
    my ($self) = @_;
    return map {
        my $client = $_;
        "$client->{name}: knows " . join ', ',
            map { "$_ " . ($client->{known}{$_} // 'not') } $self->watched;
    } $self->clients;
}

# Serves until all clients have read the last version of each resource.
sub settle {
    my ($self, $what) = @_;
    $self->serve_until("the updates of $what", sub {
        for my $client ($self->clients) {
            return 0 if grep {
                ($client->{known}{$_} // 0) < $self->{version}
            } $self->watched;
        }
        return 1;
    });
}

# Receives what still comes until no client has an open request.
sub finish {
    my ($self) = @_;
    $self->settle('the end');
    $self->{is_over} = 1;
    my @late = $self->clients;
    while (@late) {
        $self->serve_until('the last answers',
            sub { return !grep { %{ $_->{running} } } $self->clients });
        @late = grep { !$_->{tg}->is_silent(0.2) } $self->clients;
        $self->receive($_) for @late;
    }
    for my $client ($self->clients) {
        for my $uri (@{ $self->{files} }) {
            # A change right before the subscription may be reported, too:
            # the clock of files has ticks of some milliseconds.
            my $changes = $self->{version} - $client->{since} + 1;
            my $updates = $client->{updates}{$uri} // 0;
            $self->fault($client, "$updates updates of $uri, $changes changes")
                if $updates > $changes;
        }
    }
    Test::More::diag($self->story);
}

1;

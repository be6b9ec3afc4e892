#!/usr/bin/perl
# An MCP server for tests: on stdin and stdout, or with `listen PATH` on a Unix
# socket, `listen PORT` on 127.0.0.1.  It ends with its input, or when nobody
# has said anything for five minutes (idle=SECONDS).
#
#   mcp.pl [legacy|modern] [BEHAVIOUR[=VALUE]]...
#
# What it does otherwise than a good one: mute, exit, slow_start, chatter,
# flood, twice, notes (it answers notifications), texts (of ids and tokens),
# strict (it ends when it hears something before initialize),
# leaves (it exits after each call),
# huge, changing, pages, no_list, bad_list, deaf_term, by_client, names (a file
# with more of them), marks (arguments that have a header).
# list=FILE has what it lists instead, as JSON; what it is told goes to
# log=FILE, a line each behind its pid.
#
# kinds=FILE: it has prompts and resources, too. The file is an object with
# prompts, resources, resourceTemplates, contents (by URI), results (by method,
# instead of the usual ones), waits (by method: it answers when that file
# exists), and capabilities, which it declares besides.
#
# raw=FILE: what it writes instead of empty contents, byte for byte.
# logs: it declares logging, and has the tools log and levels.

use strict;
use warnings;

use IO::Handle;
use IO::Select;
use JSON::PP ();
use Time::HiRes qw(time);

my $json = JSON::PP->new->canonical->allow_nonref;
my $MODERN = '2026-07-28';
my $era = 'legacy';
my %is = (listen => undef);
my @names = qw(echo hang slow die grow ask pid where env fds spawn error bad
    deep input kinds cancelled);
my @kinds_names = qw(announce subscribed);
my @levels;
my (%held, %sleeping, @cancelled, %asked, $next_id, $nlists, $count, $listener);
my ($in, $out) = (\*STDIN, \*STDOUT);

while (@ARGV) {
    my $arg = shift @ARGV;
    if ($arg =~ /^(?:legacy|modern)$/) {
        $era = $arg;
    } elsif ($arg eq 'listen') {
        $is{listen} = shift @ARGV;
    } else {
        my ($name, $value) = split /=/, $arg, 2;
        $is{$name} = $value // 1;
    }
}

sub put {
    my ($message) = @_;
    my $line = $json->encode({ jsonrpc => '2.0', %$message });
    $line =~ s/"contents":\[\]/'"contents":' . slurp($is{raw})/e if $is{raw};
    print {$out} "$line\n";
    $out->flush;
}

sub notify {
    my ($method, $params) = @_;
    put({ method => $method, params => $params // {} });
}

sub reply {
    my ($id, $result) = @_;
    $id = "$id" if $is{texts};
    put({ id => 987654, result => {} }) if $is{twice};
    print {$out} "not JSON at all\n\x01\x02\n" if $is{chatter};
    $result->{resultType} //= 'complete' if $era eq 'modern';
    put({ id => $id, result => $result });
    put({ id => $id, result => $result }) if $is{twice};
}

sub fail {
    my ($id, $code, $message, @data) = @_;
    put({ id => $id, error => { code => $code, message => $message,
        @data ? (data => $data[0]) : () } });
}

sub text {
    my ($text) = @_;
    return { content => [ { type => 'text', text => "$text" } ] };
}

# --- the list

sub named {
    my @more;
    push @more, 'ask_user'
        if $is{by_client} && $is{client}{capabilities}{elicitation};
    if ($is{names} && open my $fh, '<', $is{names}) {
        chomp(my @lines = <$fh>);
        push @more, @lines;
    }
    push @more, @kinds_names if $is{kinds};
    push @more, qw(log levels) if $is{logs};
    return (@names, @more);
}

sub slurp {
    my ($file) = @_;
    open my $fh, '<', $file or return;
    local $/;
    return scalar <$fh>;
}

sub tools {
    my $list = $is{list} && slurp($is{list});
    return @{ $json->decode($list) } if $list;
    my @all = map { { name => $_, description => "The tool $_.",
        inputSchema => { type => 'object' } } } named();
    push @all, map { { name => "tool_$_", description => 'x' x 900,
        inputSchema => { type => 'object' } } } 1 .. $is{huge} if $is{huge};
    push @all, { name => 'echo_mark', inputSchema => { type => 'object',
        properties => { region => { type => 'string',
            'x-mcp-header' => 'Region' } } } } if $is{marks};
    return @all;
}

sub list {
    my ($id, $params) = @_;
    return if $is{no_list};
    return reply($id, { tools => 'none' }) if $is{bad_list};
    if ($is{changing} && $is{changing}-- > 0) {
        push @names, 'more' . ++$nlists;
        notify('notifications/tools/list_changed');
    }
    my @all = tools();
    my %more = $era eq 'modern' ? (ttlMs => 0, cacheScope => 'private') : ();
    if ($is{pages}) {
        my $from = $params->{cursor} // 0;
        my $next = $from + $is{pages};
        $more{nextCursor} = "$next" if $next < @all;
        @all = grep {$_} @all[ $from .. $next - 1 ];
    }
    reply($id, { tools => \@all, %more });
}

# --- prompts and resources

my (%listens, %subscribed);

sub kinds {
    return $is{kinds} ? $json->decode(slurp($is{kinds})) : {};
}

sub capabilities {
    my $yes = JSON::PP::true;
    my %always = (tools => { listChanged => $yes },
        $is{logs} ? (logging => {}) : ());
    return \%always if !$is{kinds};
    return { %always,
        prompts => { listChanged => $yes },
        resources => { listChanged => $yes, subscribe => $yes },
        completions => {}, %{ kinds()->{capabilities} // {} } };
}

# Notifies a modern client on the streams that want it, and a legacy one.
sub announce {
    my ($method, $wish, $params) = @_;
    return notify($method, $params) if $era eq 'legacy';
    for my $id (sort keys %listens) {
        next if !$wish->($listens{$id});
        notify($method, { %{ $params // {} }, _meta => {
            'io.modelcontextprotocol/subscriptionId' => $id + 0 } });
    }
}

# The URI may be that of a part of a resource, or only begin like one.
sub announce_updated {
    my ($uri) = @_;
    return if $era eq 'legacy' && !grep { !index $uri, $_ } keys %subscribed;
    announce('notifications/resources/updated', sub {
        return grep { !index $uri, $_ } @{ $_[0]{resourceSubscriptions} // [] };
    }, { uri => $uri });
}

sub list_kind {
    my ($id, $member) = @_;
    my %more = $era eq 'modern' ? (ttlMs => 0, cacheScope => 'private') : ();
    reply($id, { $member => kinds()->{$member} // [], %more });
}

my %method = (
    'prompts/list' => sub { list_kind($_[0], 'prompts') },
    'resources/list' => sub { list_kind($_[0], 'resources') },
    'resources/templates/list' =>
        sub { list_kind($_[0], 'resourceTemplates') },
    'prompts/get' => sub {
        my ($id, $params) = @_;
        return fail($id, -32602, "no prompt $params->{name}", { my => 'data' })
            if !grep { ($_->{name} // '') eq $params->{name} }
                @{ kinds()->{prompts} };
        reply($id, { description => 'It is filled in.', messages => [ {
            role => 'user', content => { type => 'text',
                text => $json->encode($params) } } ] });
    },
    'resources/read' => sub {
        my ($id, $params) = @_;
        my $contents = kinds()->{contents}{ $params->{uri} };
        return fail($id, $era eq 'modern' ? -32602 : -32002, 'no resource',
            { uri => $params->{uri}, why => 'gone' }) if !$contents;
        reply($id, { contents => $contents, $era eq 'modern'
            ? (ttlMs => 5000, cacheScope => 'public') : () });
    },
    'completion/complete' => sub {
        my ($id, $params) = @_;
        reply($id, { completion => { values =>
            [ $json->encode($params->{ref}), $params->{argument}{value} ],
            total => 2, hasMore => JSON::PP::false } });
    },
    'resources/subscribe' => sub {
        $subscribed{ $_[1]{uri} } = 1;
        reply($_[0], {});
    },
    'logging/setLevel' => sub {
        push @levels, $_[1]{level};
        reply($_[0], {});
    },
    'resources/unsubscribe' => sub {
        delete $subscribed{ $_[1]{uri} };
        reply($_[0], {});
    },
);

# --- calls

# Asks its client, one thing after the other, and answers with all answers.
sub ask_next {
    my ($ask) = @_;
    my $method = shift @{ $ask->{methods} };
    return reply($ask->{id}, { %{ text('asked') },
        structuredContent => { answers => $ask->{answers} } })
        if !defined $method;
    my $id = 'ask-' . ++$next_id;
    $asked{$id} = $ask;
    put({ id => $id, method => $method, params => {} });
}

sub spawn {
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    require POSIX;
    POSIX::setsid();
    $SIG{TERM} = 'IGNORE';
    close $_ for $in, $out;
    sleep 1000;
    POSIX::_exit(0);
}

my %tool = (
    # Of a storm, which names them.
    (map { $_ => sub { reply($_[0], text("gen-any $_[1]{arguments}{n}")) } }
        qw(run nap)),
    echo => sub {
        my ($id, $params) = @_;
        reply($id, { %{ text($params->{arguments}{text} // 'echo') },
            structuredContent => $params, _meta => { 'x/y' => 1 } });
    },
    params => sub { reply($_[0], text($json->encode($_[1]))) },
    result => sub { reply($_[0], $_[1]{arguments}{result}) },
    big    => sub { reply($_[0], text('x' x $_[1]{arguments}{size})) },
    count  => sub { reply($_[0], text(++$count)) },
    sleep  => sub {
        my ($id, $params) = @_;
        my $arguments = $params->{arguments};
        $sleeping{$id} = { id => $id, until => time + $arguments->{s},
            text => $arguments->{text} // 'slept' };
        my $token = $params->{_meta}{progressToken} // return;
        notify('notifications/progress', { progressToken => $token,
            progress => 1, total => 2, message => 'asleep' });
    },
    set_tools => sub {
        my ($id, $params) = @_;
        open my $fh, '>', "$is{list}.new" or die "$is{list}: $!";
        print {$fh} $json->encode($params->{arguments}{tools});
        close $fh;
        rename "$is{list}.new", $is{list} or die "$is{list}: $!";
        notify('notifications/tools/list_changed');
        reply($id, text('set'));
    },
    hang => sub { $held{ $_[0] } = $_[1] },
    slow => sub {
        my ($id, $params) = @_;
        my $token = $params->{_meta}{progressToken};
        notify('notifications/progress', { progressToken => $token,
            progress => $_, total => 3, message => "step $_" }) for 1 .. 3;
        notify('notifications/progress', { progressToken => 987654,
            progress => 50 });
        if (my $until = $params->{arguments}{until}) {
            select undef, undef, undef, 0.02 until -e $until;
        }
        reply($id, text('slow'));
    },
    die => sub {
        my ($id, $params) = @_;
        print STDERR "dying \e[31mnow\e[0m\n";
        kill KILL => $$ if $params->{arguments}{signal};
        require POSIX;
        POSIX::_exit(3);
    },
    grow => sub {
        push @names, $_[1]{arguments}{name};
        notify('notifications/tools/list_changed');
        reply($_[0], text('grown'));
    },
    ask => sub {
        my ($id, $params) = @_;
        if (my $until = $params->{arguments}{until}) {
            select undef, undef, undef, 0.02 until -e $until;
            unlink $until;
        }
        ask_next({ id => $id, answers => [],
            methods => [ @{ $params->{arguments}{methods} } ] });
    },
    pid   => sub { reply($_[0], text($$)) },
    # Reports a change of the resource `uri`, or of the lists of a `kind`.
    announce => sub {
        my ($id, $params) = @_;
        my $arguments = $params->{arguments};
        my $kind = $arguments->{kind};
        announce_updated($arguments->{uri}) if $arguments->{uri};
        announce("notifications/$kind/list_changed",
            sub { $_[0]{"${kind}ListChanged"} }) if $kind;
        reply($id, text('announced'));
    },
    subscribed => sub {
        my @uris = map { @{ $_->{resourceSubscriptions} // [] } }
            values %listens;
        reply($_[0], text(join ' ', sort @uris, keys %subscribed));
    },
    # Logs messages, whatever its client wants; with `hang`, the call stays.
    log => sub {
        my ($id, $params) = @_;
        my $arguments = $params->{arguments};
        my $meta = $params->{_meta} // {};
        my $level = $meta->{'io.modelcontextprotocol/logLevel'};
        push @levels, $level if defined $level;
        for my $said (@{ $arguments->{messages} // [] }) {
            my %about = (%$said, $arguments->{anonymous} ? ()
                : (_meta => { of => $meta->{progressToken} }));
            notify('notifications/message', \%about)
                for 1 .. $arguments->{times} // 1;
        }
        return $held{$id} = $params if $arguments->{hang};
        reply($id, text('logged'));
    },
    levels => sub { reply($_[0], text(join ' ', splice @levels)) },
    where => sub { require POSIX; reply($_[0], text(POSIX::getcwd())) },
    env   => sub {
        reply($_[0], text(join "\n", map {"$_=$ENV{$_}"} sort keys %ENV));
    },
    fds => sub {
        opendir my $dir, '/proc/self/fd' or die "/proc/self/fd: $!";
        reply($_[0], text(join ' ', sort grep {/\d/} readdir $dir));
    },
    spawn => sub { reply($_[0], text(spawn())) },
    error => sub {
        my ($id, $params) = @_;
        my $as = $params->{arguments}{error}
            // { code => -32603, message => "it \"failed\"\n" };
        my @data = exists $as->{data} ? $as->{data} : ();
        fail($id, @$as{qw(code message)}, @data);
    },
    bad   => sub { reply($_[0], { nothing => 1 }) },
    deep  => sub {
        my $deep = '[' x 124 . ']' x 124;
        print {$out} qq({"jsonrpc":"2.0","id":$_[0],"result":{"content":[],)
            . qq("structuredContent":{"x":$deep}}}\n);
        $out->flush;
    },
    input => sub {
        my ($id, $params) = @_;
        return reply($id, { %{ text('answered') },
            structuredContent => $params })
            if $params->{inputResponses};
        reply($id, { resultType => 'input_required',
            requestState => 'opaque "state"',
            inputRequests => { name => { method => 'elicitation/create',
                params => { message => 'Who?' } } } });
    },
    kinds => sub {
        reply($_[0], { isError => JSON::PP::true, content => [
            { type => 'text', text => 'a', annotations => { priority => 1 } },
            { type => 'image', data => 'AA==', mimeType => 'image/png' },
            { type => 'audio', data => 'AA==', mimeType => 'audio/wav' },
            { type => 'resource_link', uri => 'x:y', name => 'y' },
            { type => 'resource', resource => { uri => 'x:y', text => 'z' } },
        ], structuredContent => { a => [ 1, 2.50, undef ] } });
    },
    cancelled => sub {
        reply($_[0], { %{ text(scalar @cancelled) },
            structuredContent => { ids => \@cancelled,
                held => [ sort { $a <=> $b } keys %held ] } });
    },
);

# --- input

sub initialize {
    my ($id, $params) = @_;
    return fail($id, -32601, 'Method not found') if $era eq 'modern';
    return fail($id, -32000, "go\x07 away") if $is{refuse};
    $is{client} = $params;
    reply($id, { protocolVersion => '2025-06-18',
        capabilities => capabilities(),
        serverInfo => { name => 'stand-in', version => '1' } });
}

sub hear {
    my ($line) = @_;
    if ($is{log}) {
        open my $fh, '>>', $is{log} or die "$is{log}: $!";
        syswrite $fh, "$$ $line\n";
    }
    my $message = eval { $json->decode($line) } or return;
    my ($id, $method) = @$message{qw(id method)};
    my $params = $message->{params} // {};
    return if $is{mute};
    exit 1 if $is{strict} && !$is{client} && ($method // '') ne 'initialize';
    $_ = "$_" for $is{texts} ? $params->{_meta}{progressToken} // () : ();
    if (!defined $method) {
        my $ask = delete $asked{ $id // '' } or return;
        push @{ $ask->{answers} }, $message->{error} // $message->{result};
        return ask_next($ask);
    }
    fail($id, -32601, 'Method not found') if $is{notes} && !defined $id;
    if ($method eq 'notifications/cancelled') {
        push @cancelled, $params->{requestId};
        delete $_->{ $params->{requestId} } for \%held, \%sleeping, \%listens;
        return;
    }
    return if !defined $id;
    return initialize($id, $params) if $method eq 'initialize';
    if ($method eq 'server/discover') {
        return fail($id, -32601, 'Method not found') if $era ne 'modern';
        return reply($id, { supportedVersions => [$MODERN], ttlMs => 0,
            cacheScope => 'private',
            capabilities => capabilities() });
    }
    if ($method eq 'subscriptions/listen') {
        $listens{$id} = $params->{notifications};
        return;
    }
    return list($id, $params) if $method eq 'tools/list';
    return $method{$method}->($id, $params)
        if $is{logs} && $method eq 'logging/setLevel';
    if ($is{kinds} && ($method{$method} || kinds()->{results}{$method})) {
        my $result = kinds()->{results}{$method};
        if (my $path = kinds()->{waits}{$method}) {
            open my $fh, '>', "$path.begun" or die "$path: $!";
            select undef, undef, undef, 0.02 until -e $path;
        }
        return $result ? reply($id, $result) : $method{$method}->($id, $params);
    }
    return fail($id, -32601, 'Method not found') if $method ne 'tools/call';
    my $tool = $tool{ $params->{name} } // sub { reply($_[0], text('?')) };
    $tool->($id, $params);
    exit 0 if $is{leaves};
}

# Until there is something to read, or nobody has said anything for long.
sub wait_for_input {
    my ($select) = @_;
    while (1) {
        my ($next) = sort { $a <=> $b } map { $_->{until} } values %sleeping;
        my $wait = defined $next ? $next - time : $is{idle} // 300;
        return 1 if $select->can_read($wait > 0 ? $wait : 0);
        return 0 if !defined $next;
        for my $call (grep { $_->{until} <= time } values %sleeping) {
            delete $sleeping{ $call->{id} };
            reply($call->{id}, text($call->{text}));
        }
    }
}

sub serve {
    my ($buffer, $select) = ('', IO::Select->new($in));
    while (wait_for_input($select)) {
        sysread $in, $buffer, 65536, length $buffer or last;
        hear($1) while $buffer =~ s/^([^\n]*)\n//;
    }
}

$SIG{PIPE} = 'IGNORE';
$SIG{TERM} = 'IGNORE' if $is{deaf_term};
if ($is{exit}) {
    print STDERR "cannot start: \e]0;x\a$is{exit}\n";
    exit 7;
}
if (my $file = $is{once}) {
    open my $fh, '>>', $file or die "$file: $!";
    print {$fh} "$$\n";
    close $fh;
}
select undef, undef, undef, 0.02 until !$is{until} || -e $is{until};
print STDERR "line $_ of many\n" for 1 .. $is{flood} // 0;
print STDERR "ready\n" if $is{hello};
if ($is{listen}) {
    require IO::Socket::INET;
    require IO::Socket::UNIX;
    $listener = $is{listen} =~ m{/}
        ? IO::Socket::UNIX->new(Local => $is{listen}, Listen => 5)
        : IO::Socket::INET->new(LocalAddr => '127.0.0.1',
            LocalPort => $is{listen}, Listen => 5, ReuseAddr => 1);
    die "listen: $!" if !$listener;
    while (IO::Select->new($listener)->can_read($is{idle} // 300)) {
        $in = $out = $listener->accept or last;
        serve();
        close $in;
    }
} else {
    serve();
}
sleep 1000 if $is{deaf_end};

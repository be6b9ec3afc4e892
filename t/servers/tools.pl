#!/usr/bin/perl
# A stand-in for an MCP server on stdio, of the legacy era, or with --modern of
# the modern one.  What it lists is in a file (--list), or what it is made of;
# what it is told goes to another (--log), a line each.  It answers other
# requests while `sleep` sleeps, and ends with its stdin.

use strict;
use warnings;

use Cwd ();
use Getopt::Long qw(GetOptions);
use JSON::PP ();
use Time::HiRes ();

my %option = (page => 0);
GetOptions(\%option, 'modern', 'list=s', 'log=s', 'page=i', 'greet=s')
    or die "usage\n";
$| = 1;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $meta = 'io.modelcontextprotocol';
my (%sleeping, $count, $listen);

my %does = (
    echo => sub { text($_[0]{text} // '') },
    count => sub { text(++$count) },
    pid => sub { text($$) },
    cwd => sub { text(Cwd::getcwd()) },
    env => sub { text($ENV{ $_[0]{name} } // '') },
    params => sub { text($json->encode($_[1])) },
    result => sub { $_[0]{result} },
    big => sub { text('x' x $_[0]{size}) },
    say => sub { print STDERR "$_[0]{text}\n"; text('said') },
    die => sub { print STDERR "last words\n"; exit 3 },
    set_tools => sub {
        store($option{list}, $json->encode($_[0]{tools}));
        send_message({
            method => 'notifications/tools/list_changed',
            defined $listen
            ? (params => { _meta => { "$meta/subscriptionId" => $listen } })
            : (),
        });
        text('set');
    },
    ask => \&ask,
);

sub text { return { content => [ { type => 'text', text => "$_[0]" } ] } }

# Asks first, and answers with what it was told.
sub ask {
    my ($arguments, $params) = @_;
    return text($json->encode([ @$params{qw(inputResponses requestState)} ]))
        if $params->{inputResponses};
    return {
        resultType    => 'input_required',
        requestState  => 'opaque "state"',
        inputRequests => {
            who => {
                method => 'elicitation/create',
                params => {
                    message         => 'Who?',
                    requestedSchema => { type => 'object', properties => {} },
                },
            },
        },
    };
}

sub store {
    my ($path, $text) = @_;
    open my $fh, '>', "$path.new" or die "$path: $!\n";
    print $fh $text;
    close $fh;
    rename "$path.new", $path or die "$path: $!\n";
}

sub send_message {
    print $json->encode({ jsonrpc => '2.0', %{ $_[0] } }), "\n";
}

sub answer {
    my ($id, $result) = @_;
    $result->{resultType} //= 'complete' if $option{modern};
    send_message({ id => $id, result => $result });
}

sub refuse {
    my ($id, $code, $message) = @_;
    send_message({
        id    => $id,
        error => { code => $code, message => $message },
    });
}

sub tools {
    my ($cursor) = @_;
    my $list;
    if ($option{list} && open my $fh, '<', $option{list}) {
        local $/;
        $list = $json->decode(scalar <$fh>);
    } else {
        $list = [ map {
            { name => $_, inputSchema => { type => 'object' } }
        } sort 'sleep', keys %does ];
    }
    return { tools => $list } if !$option{page};
    my $from = $cursor // 0;
    my $to = $from + $option{page};
    return { tools => [ @$list[ $from .. $#$list ] ] } if $to > $#$list;
    return { tools => [ @$list[ $from .. $to - 1 ] ], nextCursor => "$to" };
}

sub call {
    my ($id, $params) = @_;
    my ($name, $arguments) = ($params->{name}, $params->{arguments} // {});
    if ($name eq 'sleep') {
        $sleeping{$id} = {
            id    => $id,
            until => Time::HiRes::time() + $arguments->{s},
            text  => $arguments->{text} // 'slept',
        };
        my $token = $params->{_meta}{progressToken};
        send_message({
            method => 'notifications/progress',
            params => {
                progressToken => $token,
                progress      => 1,
                total         => 2,
                message       => 'asleep',
            },
        }) if defined $token;
        return;
    }
    return refuse($id, -32602, "no tool $name") if !$does{$name};
    answer($id, $does{$name}->($arguments, $params));
}

my %serves = (
    initialize => sub {
        my ($id, $params) = @_;
        return refuse($id, -32601, 'only modern') if $option{modern};
        answer($id, {
            protocolVersion => $params->{protocolVersion},
            capabilities    => { tools => { listChanged => JSON::PP::true } },
            serverInfo      => { name => 'stand-in', version => '1' },
        });
    },
    'server/discover' => sub {
        my ($id) = @_;
        return refuse($id, -32601, 'only legacy') if !$option{modern};
        answer($id, {
            supportedVersions => ['2026-07-28'],
            capabilities      => { tools => { listChanged => JSON::PP::true } },
            ttlMs             => 0,
            cacheScope        => 'private',
        });
    },
    ping => sub { answer($_[0], {}) },
    'tools/list' => sub {
        my ($id, $params) = @_;
        answer($id, {
            %{ tools($params->{cursor}) },
            $option{modern} ? (ttlMs => 0, cacheScope => 'private') : (),
        });
    },
    'tools/call' => \&call,
    'subscriptions/listen' => sub {
        my ($id) = @_;
        $listen = $id;
        send_message({
            method => 'notifications/subscriptions/acknowledged',
            params => {
                _meta         => { "$meta/subscriptionId" => $id },
                notifications => { toolsListChanged => JSON::PP::true },
            },
        });
    },
    'notifications/cancelled' => sub {
        my (undef, $params) = @_;
        delete $sleeping{ $params->{requestId} };
    },
);

sub serve {
    my ($line) = @_;
    if ($option{log}) {
        open my $fh, '>>', $option{log} or die "$option{log}: $!\n";
        syswrite $fh, "$$ $line\n";
    }
    my $message = $json->decode($line);
    my $method = $message->{method} // return;
    my $serve = $serves{$method};
    if ($serve) {
        $serve->($message->{id}, $message->{params} // {});
    } elsif (defined $message->{id}) {
        refuse($message->{id}, -32601, "no method $method");
    }
}

sub wake {
    my $now = Time::HiRes::time();
    for my $call (grep { $_->{until} <= $now } values %sleeping) {
        delete $sleeping{ $call->{id} };
        answer($call->{id}, text($call->{text}));
    }
}

my $in = '';
while (1) {
    my ($next) = sort { $a <=> $b } map { $_->{until} } values %sleeping;
    my $ready = '';
    vec($ready, fileno(STDIN), 1) = 1;
    my $wait = defined $next ? $next - Time::HiRes::time() : undef;
    $wait = 0 if defined $wait && $wait < 0;
    my $n = select $ready, undef, undef, $wait;
    if ($n > 0) {
        sysread STDIN, $in, 65536, length $in or last;
        serve($1) while $in =~ s/\A([^\n]*)\n//;
    }
    wake();
}

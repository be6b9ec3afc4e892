#!/usr/bin/perl
# Two viewers with different rules: after a reload each is notified of the lists
# that have changed for it, and of no other, in both eras.

use Toolgate::Test qw(User Way);

plan(skip_all => 'only root can connect as another user')
    if !Toolgate::User::is_possible();

my $nobody = getpwnam 'nobody';
my $nogroup = (getpwnam 'nobody')[3];
my $tg = Toolgate::Test->new;

my %only = (
    all    => '',
    root   => 'allow uid=root; deny all;',
    nobody => 'allow uid=nobody; deny all;',
);
my $version = 1;

# For each viewer and for all: the version of each kind.
my %now = map { $_ => { prompt => 1, resource => 1, template => 1 } }
    keys %only;

sub body {
    my $body = "tool_socket_mode 0666;\n";
    for my $who (sort keys %only) {
        my %v = %{ $now{$who} };
        $body .= <<"END";
prompt p_$who { description "$v{prompt}"; $only{$who} return 1; }
resource r:$who { description "$v{resource}"; $only{$who} return 1; }
resource_template "t:$who/{x}" {
    description "$v{template}"; $only{$who} return 1;
}
END
    }
    return $body;
}
$tg->conf(body())->start;

my %viewers;
for my $era (qw(legacy modern)) {
    $viewers{"$era root"} = Toolgate::Way->new($era, $tg->connect);
    $viewers{"$era nobody"} = Toolgate::Way->new($era,
        Toolgate::User::as($nobody, [$nogroup], sub { $tg->connect }));
}
for my $name (sort keys %viewers) {
    my $way = $viewers{$name};
    my ($who) = $name =~ /(\w+)$/;
    $way->client->request('subscriptions/listen', $way->params({
        notifications => {
            promptsListChanged   => JSON::PP::true,
            resourcesListChanged => JSON::PP::true,
        },
    })), $way->client->notification('notifications/subscriptions/acknowledged')
        if $way->name eq 'modern';
    is_deeply [ map { $_->{name} } @{ $way->client->rpc('prompts/list',
        $way->params({}))->{result}{prompts} } ], [ sort 'p_all', "p_$who" ],
        "$name: its prompts";
}

# Returns the lists of which a client was notified before a response.
sub told {
    my ($way) = @_;
    my $ping = $way->client->request('tools/list', $way->params({}));
    my @told;
    while (1) {
        my $message = $way->client->recv_json;
        return join ' ', sort @told if ($message->{id} // '') eq $ping;
        push @told, $1
            if ($message->{method} // '') =~ m{^notifications/(\w+)/list_ch};
    }
}

for my $who (qw(root nobody all)) {
    for my $kind (qw(prompt resource template)) {
        $now{$who}{$kind}++;
        $tg->reload(body());
        my $list = $kind eq 'prompt' ? 'prompts' : 'resources';
        for my $name (sort keys %viewers) {
            my $way = $viewers{$name};
            my $is_its = $who eq 'all' || $name =~ /\b$who$/;
            $way->client->notification("notifications/$list/list_changed")
                if $is_its;
            is told($way), '', "a ${kind} for $who: $name is notified of "
                . ($is_its ? "$list, once" : 'nothing');
        }
    }
}

# What one viewer loses is gained by the other one.
@only{qw(root nobody)} = @only{qw(nobody root)};
$tg->reload(body());
for my $name (sort keys %viewers) {
    my $way = $viewers{$name};
    $way->client->notification("notifications/$_/list_changed")
        for qw(prompts resources);
    is told($way), '', "changed rules: $name is notified of each list once";
}
done_testing;

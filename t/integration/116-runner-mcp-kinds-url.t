#!/usr/bin/perl
# Lists of all kinds and subscriptions of an MCP server over HTTP, in both eras.

use Toolgate::Test qw(Runner McpServer McpWeb);

my $tg = Toolgate::Test->new;
my $runner = Toolgate::Runner->start($tg, foreground => 1);
my $c = $runner->connect;
my %file = (
    prompts => [ { name => 'review' } ],
    resources => [ { uri => 'x:a', name => 'a' } ],
    contents => { 'x:a' => [ { uri => 'x:a', text => "\x{e9}" } ] },
);

sub lay_down {
    my $path = $tg->file('kinds.new', $c->encode(\%file));
    rename $path, $tg->dir . '/kinds.json' or die "$path: $!";
}

sub notified {
    my ($method, $key, $wanted) = @_;
    return $c->recv_where(
        sub {
            my ($m) = @_;
            return ($m->{method} // '') eq $method
                && $m->{params}{key} eq $key && $wanted->($m->{params});
        },
        undef,
        $method
    )->{params};
}

sub prompt_of {
    my ($params) = @_;
    return ($params->{prompts}[0] // {})->{name} // '';
}

for my $era (qw(legacy modern)) {
    $file{prompts} = [ { name => 'review' } ];
    lay_down();
    my $web = Toolgate::McpWeb->new($tg, $era, '--',
        'kinds=' . $tg->dir . '/kinds.json');
    my ($key) = watch($c, url => $web->url);
    my $got = notified('mcp_list', $key, sub { prompt_of($_[0]) eq 'review' });
    is_deeply $got->{resources}, $file{resources}, "$era: the lists";
    my $result = $c->rpc('mcp_call', { tool => 't', key => $key,
        method => 'resources/read', arguments => { uri => 'x:a' } })->{result};
    is_deeply $result->{result}{contents}, $file{contents}{'x:a'},
        'a resource';
    my ($read) = $web->requests('resources/read');
    is $read->{headers}{'mcp-name'}, $era eq 'modern' ? 'x:a' : undef,
        'with the header of its era';

    # The server's own view of what it is asked to report.
    my $subscribed = sub {
        my ($uris) = @_;
        wait_for {
            text_of_call($c->reply(call($c, $key, 'subscribed'))) eq $uris
        } "the subscriptions '$uris'";
    };
    state_of($c, $key, 'ready');
    $subscribed->('');
    $c->rpc('mcp_subscribe', { key => $key, uri => $_ }) for 'x:a', 'x:b';
    $subscribed->('x:a x:b');
    wait_for {
        call($c, $key, 'announce', arguments => { uri => 'x:b' });
        grep { ($_->{method} // '') eq 'mcp_updated' } @{ $c->{aside} },
            $c->recv_json;
    } 'a change over the stream';
    $c->rpc('mcp_unsubscribe', { key => $key, uri => 'x:b' });
    $subscribed->('x:a');
    $c->rpc('mcp_unsubscribe', { key => $key, uri => 'x:a' });
    $subscribed->('');

    $file{prompts} = [ { name => 'later' } ];
    lay_down();
    call($c, $key, 'announce', arguments => { kind => 'prompts' });
    notified('mcp_list', $key, sub { prompt_of($_[0]) eq 'later' });
    ok 1, 'a changed list';
}

done_testing;

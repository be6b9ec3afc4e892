#!/usr/bin/perl
# Completions of MCP servers have at most 100 values, as MCP demands.

use Toolgate::Test;

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my %servers = (
    many => { values => [ map {"v$_"} 1 .. 150 ], total => 150 },
    few  => { values => [ map {"v$_"} 1 .. 100 ], hasMore => JSON::PP::false },
);
$tg->conf(join "\n", map {
    my $kinds = $tg->file("$_.kinds", $json->encode({
        prompts => [ { name => 'review', arguments => [ { name => 'a' } ] } ],
        results => { 'completion/complete' => {
            completion => $servers{$_}, _meta => { x => 1 } } } }));
    "mcp_server $_ { exec $^X $top/t/servers/mcp.pl legacy kinds=$kinds; }";
} sort keys %servers)->start;
my $c = $tg->connect;
wait_for { 2 == @{ $c->rpc('prompts/list')->{result}{prompts} // [] } }
'the prompts';

for my $era (qw(legacy modern)) {
    my $complete = sub {
        return $c->rpc('completion/complete', {
            ref => { type => 'ref/prompt', name => "$_[0]_review" },
            argument => { name => 'a', value => '' },
            $era eq 'modern' ? (_meta => modern_meta()) : () })->{result};
    };
    my $result = $complete->('many');
    is_deeply $result->{completion}, { values => [ map {"v$_"} 1 .. 100 ],
        total => 150, hasMore => JSON::PP::true },
        "$era: the first 100 values, and that there are more";
    is $result->{_meta}{x}, 1, 'with the other members';
    is_deeply $complete->('few')->{completion}, $servers{few},
        '100 values stay as they are';
}

done_testing;

#!/usr/bin/perl
# tool_rate: one rate for all tools and methods of a server, each server with
# its own, besides those of tools.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $tools = 'tool a { return ok; } tool b { return ok; } method m { return 1; }'
    . 'tool own { rate 1r/m burst=1; return ok; }';
my @rates = ('tool_rate 1r/m burst=3;', '', 'tool_rate 1r/s;');
my $n = 0;
my $conf = join '',
    map {"server { listen unix:%%DIR%%/" . $n++ . ".sock; $_\n$tools }\n"}
    @rates;
$tg->conf($conf, server => 0, stream => 'tool_rate 1r/m burst=1;');
$tg->start(socket => $tg->dir . '/1.sock');

my @c = map { $tg->connect($tg->dir . "/$_.sock") } 0 .. 2;
my @other = map { $tg->connect($tg->dir . "/$_.sock") } 0 .. 2;

sub text { return text_of($_[0]->call_tool($_[1])) }

my $refused = qr{^The\ tools\ of\ this\ server\ may\ be\ called\ no\ more
    \ often\ than\ 1r/m\ \(tool_rate\ 1r/m,\ burst=3\);\ call\ again\ in\ \d}x;
is text($c[0], 'a'), 'ok', 'the first';
is text($other[0], 'b'), 'ok', 'the second, of another tool';
is $c[0]->rpc('m')->{result}, 1, 'the third, a method';
is text($other[0], 'own'), 'ok', 'the fourth, with a rate of its own';
like text($c[0], $_), $refused, "$_ is the fifth" for qw(a b own);
my $error = $other[0]->rpc('m')->{error};
is $error->{code}, -32603, 'and so is the method';
like $error->{message}, $refused, 'the same error';

# A server without one has that of stream, with its own account.
is text($c[1], 'a'), 'ok', 'another server';
is text($other[1], 'a'), 'ok', 'to its second call';
like text($c[1], 'b'), qr{tool_rate 1r/m, burst=1}, 'and no further';

# Both apply; a call that the server rejects does not count for the tool.
sub wait_text {
    my ($client, $tool) = @_;
    my $text;
    wait_for { ($text = text($client, $tool)) !~ /^The tools of/ }
        'the server to take a call';
    return $text;
}
my $refusals = 0;
for my $round (1 .. 3) {
    is wait_text($c[2], 'a'), 'ok', "round $round";
    $refusals++ if text($c[2], 'own') =~ /^The tools of/;
}
cmp_ok $refusals, '>', 0, 'refused by the server';
my @own = map { wait_text($c[2], 'own') } 1 .. 3;
my $served = grep { $_ eq 'ok' } @own;
is $served + 3 - $refusals, 2, 'the tool has had its two calls, no less'
    or diag join "\n", @own;
like $own[2], qr{^This tool .*\(rate 1r/m, burst=1\)}, 'and no more';

done_testing;

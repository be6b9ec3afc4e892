#!/usr/bin/perl
# A rejected call in each dialect: its limit, the value, and when it may be
# repeated.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new(workers => 1);
my $tools = join '',
    map {"tool $_ { rate 1r/m burst=1; return ok; }"} @Toolgate::Way::ALL;
$tg->conf("method m { rate 1r/m; return 1; }\n$tools")->start;

my %kind = (
    legacy => 'result',
    modern => 'result',
    relay  => 'result',
    ipc    => 'BlockingIOError',
);
for my $way (Toolgate::Way->all($tg)) {
    my $name = $way->name;
    is $way->call($name)->{text}, 'ok', "call $_, $name" for 1 .. 2;
    my $answer = $way->call($name);
    is Toolgate::Way::kind($answer), $kind{$name}, "one too many, $name";
    like $answer->{text}, qr{^This\ tool\ may\ be\ called\ no\ more\ often\ than
        \ 1r/m\ \(rate\ 1r/m,\ burst=1\);
        \ call\ again\ in\ \d+\.\d{3}\ s\.$}x, "and why, $name";
    if ($answer->{result}) {
        is_deeply $answer->{result}{content},
            [ { type => 'text', text => $answer->{text} } ],
            "a result like any other, $name";
        is $answer->{result}{resultType},
            $name eq 'modern' ? 'complete' : undef, "of its era, $name";
    }

    # The connection continues, and pipelined calls are answered one by one.
    my @ids = map { $way->start($name) } 1 .. 3;
    ok $way->finish($_)->{is_error}, "refused again, $name" for @ids;
}

my $c = $tg->connect;
is $c->rpc('m')->{result}, 1, 'a method';
my $error = $c->rpc('m')->{error};
is $error->{code}, -32603, 'one too many';
like $error->{message}, qr{^This .* \(rate 1r/m, burst=0\); call again in \d},
    'and why';

# A batch: each of its calls counts.
$c->send_line('[{"jsonrpc":"2.0","id":1,"method":"m"},'
        . '{"jsonrpc":"2.0","method":"m"},'
        . '{"jsonrpc":"2.0","id":2,"method":"m"}]');
is_deeply [ map { "$_->{id} $_->{error}{code}" } @{ $c->recv_json } ],
    [ '1 -32603', '2 -32603' ], 'in a batch';

# As with limit_req, the error log has a line for each, and nothing else.
my @lines = $tg->log =~ /\[(?:warn|error|crit)\] (?!.* has no "desc)(.*)/g;
is scalar(@lines), 4 * @Toolgate::Way::ALL + 4, 'a line for each refusal';
is scalar(grep { !/ call of "\w+" failed: busy \(rate\)/ } @lines), 0,
    'which says what it was';

done_testing;

#!/usr/bin/perl
# A client that floods a worker waits for others: a light client is served
# before the end of the flood, although the flood came first.

use Toolgate::Test qw(Attacks Hostile), plain_too => 'it measures memory';

# As many steps as a frame has, with few bytes.
my $hostile = Toolgate::Hostile->new(head => <<'END');
tool fork {
    input_schema '{"type":"object","properties":{"x":{"$ref":"#/$defs/fork"}},
        "$defs":{"fork":{"anyOf":[
            {"type":"array","items":{"$ref":"#/$defs/fork"},"maxItems":0},
            {"type":"array","items":{"$ref":"#/$defs/fork"},"maxItems":0}]}}}';
    return fork;
}
END
my $tg = $hostile->tg;
my @all = map { $tg->connect } 1 .. 4;
# They are relay clients: each frame of an unknown kind is logged.
Toolgate::Attacks::check($_, 'relay', 'before') for @all;
my $light = pop @all;
my $from = $tg->log_size;

# A stopped worker finds all input in one iteration: the flood first, because it
# came first.
my $frame = '{"kind":"x"}' . "\n";
my @sent = stopped(
    sub {
        my @sent = map { int($_->send_some($frame x 20_000)) } @all;
        $light->send_raw($frame);
        return @sent;
    },
    $hostile->worker);
for my $i (0 .. $#all) {
    my $part = $sent[$i] % length $frame;
    $all[$i]->send_raw(substr $frame, $part) if $part;
    Toolgate::Attacks::check($all[$i], 'relay', 'after the flood');
}
Toolgate::Attacks::check($light, 'relay', 'who is light');
diag "a flood of @sent bytes";

my @order = $tg->log($from) =~ /\*(\d+) relay frame of an unexpected type/g;
my %count;
$count{$_}++ for @order;
my ($alone) = grep { $count{$_} == 1 } keys %count;
ok defined $alone, 'each frame was served';
my ($at) = grep { $order[$_] == $alone } 0 .. $#order;
cmp_ok $at, '<', @order / 2, 'the light one in the middle of the flood';
is scalar(grep { $count{$_} > 1 } keys %count), 3, 'three flooded';
my $first = $order[0];
my ($last) = grep { $order[$_] == $first } reverse 0 .. $#order;
cmp_ok $last, '>', $count{$first} + 1, 'who floods takes turns with others';

$_->close for @all, $light;

# A batch is divided, too: each of its requests is logged.
my ($greedy, $other) = map { $tg->connect } 1 .. 2;
$_->rpc('ping') for $greedy, $other;
my $twice = '{"jsonrpc":"2.0","method":"x","method":"y"}';
$from = $tg->log_size;
stopped(
    sub {
        $greedy->send_raw('[' . join(',', ($twice) x 1000) . "]\n");
        $other->send_raw("$twice\n");
    },
    $hostile->worker);
$_->rpc('ping') for $greedy, $other;
@order = $tg->log($from) =~ /\*(\d+) invalid notification dropped/g;
%count = ();
$count{$_}++ for @order;
is "@{[ sort { $a <=> $b } values %count ]}", '1 1000', 'each was served';
($at) = grep { $count{ $order[$_] } == 1 } 0 .. $#order;
cmp_ok $at, '<', @order / 2, 'the light one in the middle of the batch';
$_->close for $greedy, $other;

# A call with a long validation ends its time slice, before further input.
($greedy, $other) = map { $tg->connect } 1 .. 2;
$_->rpc('ping') for $greedy, $other;
my $costly = Toolgate::Attacks::call_of('jsonrpc', 1, 'fork',
    '{"x":' . '[' x 60 . ']' x 60 . '}');
$from = $tg->log_size;
stopped(
    sub {
        $greedy->send_raw("$costly$twice\n" x 3);
        $other->send_raw("$twice\n");
    },
    $hostile->worker);
$_->recv_line for ($greedy) x 3;
$_->rpc('ping') for $greedy, $other;
@order = $tg->log($from) =~ /\*(\d+) invalid notification dropped/g;
%count = ();
$count{$_}++ for @order;
is "@{[ sort { $a <=> $b } values %count ]}", '1 3', 'each was served';
is $count{ $order[0] }, 1, 'the light one before the second of the greedy one';
$_->close for $greedy, $other;

# A continuing flood: each of its calls is answered once.
my $calls = Toolgate::Test::is_san() ? 4000 : 40_000;
$hostile->run([ map { [ flood => calls => $calls ] } 1 .. 3 ]);

done_testing;

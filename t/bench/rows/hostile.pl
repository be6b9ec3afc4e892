# A client that behaves, beside others that do not: its median, against the
# one that it has alone, or beside a process that only takes time; and the
# longest that it waits for one costly frame.  The attackers share the processor
# of the load generator, at the lowest priority, and whom a processor that is
# not idle has to be interrupted for waits longer: what they cost it is not the
# server's.

use strict;
use warnings;

use List::Util qw(max min);
use Time::HiRes qw(time);

use Toolgate::Attacker;
use Toolgate::Hostile;

my $many = 1_000_000;
my @attacks = (
    [ '1,000 clients that send a byte per second', 'trickle',
        connections => 1000, pace => 1 ],
    [ '60 clients that never read', 'deaf', connections => 60 ],
    [ 'clients that close one direction',       'half',    rounds => $many ],
    [ 'clients that send binary garbage', 'garbage', rounds => $many ],
    [ 'messages of 10 MB of brackets',  'deep',    rounds => $many ],
    [ 'objects with a million keys',     'keys',    rounds => $many ],
    [ 'request ids of 1 MB',        'ids',     rounds => $many ],
    [ 'connecting and disconnecting', 'churn',  rounds => $many ],
    [ 'nearly all connections in use', 'exhaust', most => 4000 ],
    [ '48 incomplete messages of 9 MB', 'hoard', connections => 48 ],
    [ 'a flood of calls', 'flood', calls => 1000 * $many ],
);

# Tools whose arguments are costly to check.
my $costly = <<'END';
tool fork {
    input_schema '{"type":"object","properties":{"x":{"$ref":"#/$defs/fork"}},
        "$defs":{"fork":{"anyOf":[
            {"type":"array","items":{"$ref":"#/$defs/fork"},"maxItems":0},
            {"type":"array","items":{"$ref":"#/$defs/fork"},"maxItems":0},
            {"type":"null"}]}}}';
    return fork;
}
tool words {
    input_schema '{"type":"object",
                   "properties":{"x":{"pattern":"^(\\\\w+\\\\s?)*$"}}}';
    return words;
}
tool search {
    input_schema '{"type":"object","properties":{"x":{"pattern":"x*[yz]"}}}';
    return search;
}
tool unique {
    input_schema '{"type":"object","properties":{"x":{"uniqueItems":true}}}';
    return unique;
}
tool letters {
    input_schema '{"type":"object","properties":{"x":{"items":
        {"enum":["a","b","c","d","e","f","g","h"]}}}}';
    return letters;
}
tool result {
    output_schema '{"type":"object","properties":{"x":{"uniqueItems":true}}}';
    output json;
    return $tool_json_x;
}
tool numbers {
    input_schema '{"type":"object","properties":{"x":{"$ref":"#/$defs/list"}},
        "$defs":{"list":{"anyOf":[{"type":"number","minimum":0},
            {"type":"array","items":{"$ref":"#/$defs/list"}}]}}}';
    return numbers;
}
END

# A schema that applies one rule a hundred times.
sub hundred {
    my ($name, $rule) = @_;
    return "tool $name { return $name; input_schema '{\"type\":\"object\","
        . '"properties":{"x":{"allOf":[' . join(',', ($rule) x 100)
        . "]}}}'; }\n";
}
$costly .= hundred(length => '{"minLength":5000000}')
    . hundred(member => '{"properties":{"b":{"type":"null"}}}');

sub call {
    my ($tool, $x) = @_;
    return Toolgate::Attacks::call_of('jsonrpc', 1, $tool, qq({"x":$x}));
}

sub batch {
    my ($n, $call) = @_;
    chomp $call;
    return '[' . join(',', ($call) x $n) . "]\n";
}

sub list {
    my ($n, $format) = @_;
    return '[' . join(',', map { $format =~ s/%d/$_/r } 1 .. $n) . ']';
}

my $mb = 1_000_000;
my $nested = '[' x 60 . ']' x 60;
my $words = '"' . 'ab ' x 20 . '!"';
my $k = join ',', map {qq("k$_":1)} 1 .. 1000;
my $back = join ',', map {qq("k$_":1)} reverse 1 .. 1000;
my $big = '"x":"' . 'x' x (4.5 * $mb) . '"';

my $arrays = '{'
    . join(',', map { sprintf '"%06x":[1]', $_ } 1 .. 740_000) . '}';
my $initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":'
    . '{"protocolVersion":"2025-03-26","clientInfo":{"name":"a","version":"1"},'
    . '"capabilities":{'
    . join(',', map { sprintf '"%06x":1', $_ } 1 .. 900_000) . "}}}\n";

# How long others wait at most: one frame after the other, at most 50 ms; and
# many small ones at once, 5 ms.
my @frames = (
    [ '60 levels of `anyOf`, 1 MB', 50,
        call(fork => '[' x 60 . '1,' x ($mb / 2) . '1' . ']' x 60) ],
    [ 'pattern `^(\w+\s?)*$`, 10 MB', 50,
        call(words => '"' . 'ab ' x (3.3 * $mb) . '!"') ],
    [ 'pattern `x*[yz]`, 10 MB', 50,
        call(search => '"' . 'x' x (9.9 * $mb) . '"') ],
    [ '`uniqueItems`, 262,144 numbers', 50,
        call(unique => '[' . join(',', 1 .. 262_144) . ']') ],
    [ '`uniqueItems`, 250,000 objects, 5 MB', 50,
        call(unique => list(250_000, '{"a":[%d],"b":1}')) ],
    [ '`uniqueItems`, 250,000 nested objects, 5 MB', 50,
        call(unique => list(250_000, '[[[[{"a":%d}]]]]')) ],
    [ '`uniqueItems`, 100,000 valid records', 50,
        call(unique => list(100_000, '{"id":%d,"kind":"abc","n":12.5}')) ],
    [ '`uniqueItems` in a result, 250,000 objects', 50,
        call(result => '{"x":' . list(250_000, '{"a":[%d]}') . '}') ],
    [ '`enum` of 8 letters, 2,450,000 strings', 50,
        call(letters => list(2_450_000, '"h"')) ],
    [ '`enum` of 8 letters, 1,080,000 escaped strings', 50,
        call(letters => list(1_080_000, '"\\u0068"')) ],
    [ '740,000 arguments with small arrays', 50,
        Toolgate::Attacks::call_of('jsonrpc', 1, 'unique', $arrays) ],
    [ 'a batch of 3,200,000 messages', 50, '[' . '{},' x 3_200_000 . "{}]\n" ],
    [ '`initialize` with 900,000 capabilities', 50,
        $initialize ],
    [ '`uniqueItems`, 2 objects in different order, 9 MB', 50,
        call(unique => "[{$big,$k},{$back,$big}]") ],
    [ 'a list of 5,000,000 numbers', 50,
        call(numbers => '[' . '1,' x (4.9 * $mb) . '1]') ],
    [ '100 levels, only the last number is invalid, 10 MB', 50,
        call(numbers => '[' x 100 . '1234567890123,' x (0.7 * $mb) . '-1'
                . ']' x 100) ],
    [ '100 rules for a string of 10 MB', 50,
        call(length => '"' . 'é' x (4.9 * $mb) . '"') ],
    [ '100 rules beside 10 MB of quotes', 50,
        call(member => '{"a":"' . '\\"' x (4.9 * $mb) . '","b":null}') ],
    [ 'a batch of 1,000 calls, pattern `^(\w+\s?)*$`', 50,
        batch(1000, call(words => $words)) ],
    [ 'a batch of 1,000 calls, 60 levels of `anyOf`', 50,
        batch(1000, call(fork => $nested)) ],
    [ 'many small calls, pattern `^(\w+\s?)*$`', 5, call(words => $words), 20 ],
    [ 'many small calls, 60 levels of `anyOf`', 5, call(fork => $nested), 20 ],
    [ 'many small valid calls', 5, call(unique => '[1]'), 20 ],
);

sub attacker {
    my ($bench, $tool, $what, @options) = @_;
    return Toolgate::Attacker->start(
        $what, $tool->{socket}, @options,
        idle => 1,
        cpu  => $bench->{client});
}

# For some time: the longest wait of a client for an answer to a ping.
sub longest {
    my ($bench, $tool) = @_;
    my $client = Toolgate::Client->connect($tool->{socket});
    my $longest = 0;
    my $end = time + $bench->{ms} / 1000;
    for (my $from = time; $from < $end; $from = time) {
        $client->rpc('ping');
        my $took = time - $from;
        $longest = $took if $took > $longest;
    }
    return $longest;
}

# Where this process runs from now on: a client that has to wait for the
# processor of a busy server waits for the kernel, not for the server.
sub run_on {
    my ($cpus) = @_;
    system("taskset -pc $cpus $$ >/dev/null") == 0 or die "taskset failed\n";
    return;
}

# Of several times the shortest: what else the machine does only adds to it,
# and each time has seen the frame more than once.
sub waits {
    my ($bench) = @_;
    my $tool = $bench->toolgate($Toolgate::Hostile::TOOLS . $costly);
    run_on($bench->{client});
    print "\n| frame | bytes | longest wait | at most |\n";
    my %group;
    for my $frame (@frames) {
        my ($name, $most, $bytes, $answers) = @$frame;
        my @waited;
        for (1 .. $bench->{pairs}) {
            my $attacker = attacker(
                $bench, $tool, 'repeat',
                bytes   => $bytes x ($answers // 1),
                answers => $answers // 1,
                rounds  => $many);
            $attacker->line;
            my ($longest, $seen) = (0, 0);
            while ($seen < 3) {
                $longest = max($longest, longest($bench, $tool));
                my $ended = $attacker->ended;
                die "$name: $ended\n" if defined $ended;
                $seen = () = $attacker->{said}->buffered =~ /answered/g;
            }
            push @waited, $longest;
            $attacker->stop;
        }
        my $waited = 1000 * min(@waited);
        printf "| %s | %d | %.1f ms | %d ms |\n", $name, length $bytes, $waited,
            $most;
        push @{ $group{$most} }, [ $waited, $name ];
    }
    $bench->table('The longest wait beside expensive frames',
        'frames', 'longest wait', 'with', 'at most');
    for my $most (sort { $b <=> $a } keys %group) {
        my @slowest = sort { $b->[0] <=> $a->[0] } @{ $group{$most} };
        my ($waited, $name) = @{ $slowest[0] };
        $bench->line([ scalar @slowest, sprintf('%.1f ms', $waited), $name ],
            value   => $waited,
            at_most => $most,
            unit    => 'ms');
    }
    run_on(join ',', $bench->{server}, $bench->{client});
    $bench->end($tool);
}

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;

    $bench->table('Hostile clients', 'hostile clients',
        'server time for them', 'median latency without', 'with them',
        'ratio', 'at most');

    for my $attack (@attacks) {
        my ($name, $what, @options) = @$attack;
        my $tool = $bench->toolgate(
            "tool_idle_timeout off frame=1h;\ntool_send_timeout 1h;\n"
                . $Toolgate::Hostile::TOOLS,
            # The load generator is a new client: some are left for it.
            $what eq 'exhaust' ? (connections => 4096) : ());
        # These hold something, and say when they do; others are never idle.
        my $holds = $what =~ /^(?:trickle|exhaust|hoard)$/;
        my (@usual, @busy);
        my ($alone, $beside, $ratio) = $bench->pairs(
            sub {
                my $spinner;
                $spinner = attacker($bench, $tool, 'spin') if !$holds;
                my $figure = $bench->load($tool);
                $spinner->stop if !$holds;
                push @usual, $figure->{cpu};
                return $figure->{p50};
            },
            sub {
                my $attacker = attacker($bench, $tool, $what, @options);
                $attacker->line if $holds;
                my $figure = $bench->load($tool);
                push @busy, 1 - $usual[-1] / ($figure->{cpu} || 1);
                my $ended = $attacker->ended;
                die "$name: $ended\n" if defined $ended;
                $attacker->stop;
                return $figure->{p50};
            });
        # Of the CPU time of its worker, what the calls do not explain.
        my $busy = Toolgate::Bench::median(@busy);
        $bench->line([
                $name, sprintf('%.0f %%', 100 * ($busy > 0 ? $busy : 0)),
                $us->($alone), $us->($beside), sprintf '%.2f', $ratio
            ],
            value   => $ratio,
            at_most => 2);
        $bench->end($tool);
    }
    waits($bench);
};

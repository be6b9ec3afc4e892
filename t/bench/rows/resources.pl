# What it costs to read a resource, and to list many, beside a tool that returns
# as many bytes.

use strict;
use warnings;

return sub {
    my ($bench) = @_;
    my $us = \&Toolgate::Bench::us;
    my $tool = $bench->toolgate($Toolgate::Bench::ECHO);
    $bench->table('Resources', 'what, median', 'tool with `return`',
        'resource', 'ratio', 'at most');

    # Compares loads: sizes of the tool's text, options of the resource's.
    my $compare = sub {
        my ($what, $at_most, $size, $server, %load) = @_;
        my ($return, $resource, $ratio) = $bench->pairs(
            sub { $bench->load($tool, size => $size)->{p50} },
            sub { $bench->load($server, %load)->{p50} });
        $bench->line(
            [ $what, $us->($return), $us->($resource), sprintf '%.2f', $ratio ],
            value   => $ratio,
            at_most => $at_most);
    };

    my $text = 'x' x 64;
    my $server = $bench->toolgate(
        "resource note:///echo { mime text/plain; return $text; }");
    $compare->('`return` of 64 bytes', 1.2, 64, $server,
        dialect => 'read', reply => $text);
    $bench->end($server);

    for my $case ([ '4 KB', 4096, 4 ], [ '1 MB', 1_000_000, 4 ]) {
        my ($words, $size, $at_most) = @$case;
        $server = $bench->toolgate('tool unused { description x; return x; }');
        my $path = $server->{tg}->file('read.txt', 'x' x $size);
        $server->{tg}->reload(<<"END");
resource note:///echo { mime text/plain; file $path; max_output 2m; }
END
        $server->{pids} = [ $server->{tg}->worker_pids ];
        $compare->("`file` of $words", $at_most, $size, $server,
            dialect => 'read', reply => "\@$path");
        $bench->end($server);
    }

    $server = $bench->toolgate(join '',
        map {"resource note:///$_ { description Number-$_; return $_; }\n"}
            1 .. 1000);
    my $client = $server->{tg}->connect;
    $client->request('resources/list', {});
    my ($list) = $client->recv_line =~ /"resources":\[(.*)\]\}\}$/;
    my $path = $server->{tg}->file('list.txt', $list);
    $compare->('a list of 1,000 resources', 1.5, length $list, $server,
        dialect => 'list', reply => "\@$path");
    $bench->end($_) for $server, $tool;
};

#!/usr/bin/perl
# Tools with `task`: errors of nginx -t.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $on = 'task_methods on;';
my $exec = 'description "It."; exec true;';
my $long = 'x' x 60;
for my $case (
    [ "tool a { $exec task; }",
        qr/its tasks; add "task_methods on" or "task_tools on" to its server/ ],
    [ "task_agent s { exec true; } tool a { $exec task required; }",
        qr/tool "a" has "task", but clients have no way/ ],
    [ "$on tool a { description a; return hi; task; }",
        qr/tool "a" has "task" but no "exec": only programs can run/ ],
    [ "$on tool a { description a; pass unix:/tmp/none; task required; }",
        qr/tool "a" has "task" but no "exec": only programs/ ],
    [ "$on tool a { description a; http GET http://127.0.0.1:9/; task; }",
        qr/tool "a" has "task" but no "exec": only programs/ ],
    [ "$on method a.b { exec true; task; }",
        qr/"a\.b" is a method, but "task" is for tools only; remove it/ ],
    [ qq($on tool a { $exec task; output json;
            output_schema '{"type":"object"}'; }),
        qr/tool "a" has "task" and an "output_schema", which the answer/ ],
    [ "$on tool $long { $exec task; }",
        qr/has "task", so its name may have at most 59 characters;/ ],
    [ "$on tool a { $exec task always; }",
        qr/"always" in "task"; write "task optional" or "task required"/ ],
    [ "$on tool a { $exec task required retry=101; }",
        qr/invalid parameter "retry=101" in "task"; .*to "retry=100"/ ],
    [ "$on tool a { $exec task retry=1 required; }",
        qr/invalid parameter "retry=1"/ ],
    [ "$on tool a { $exec task; task; }", qr/"task" directive is duplicate/ ],
    [ "$on " . join(' ', map {"tool a$_ { $exec task; }"} 1 .. 65),
        qr/more than 64 "task_agent" blocks and tools with "task" in a/ ],
    [ $on, qr/has no "task_agent"; add one, or add "task" to a tool/ ],
) {
    conf_fails($tg, @$case);
}
for my $good ("$on tool a { $exec task; }",
    "task_tools on; tool a { $exec task optional retry=3; }",
    "$on tool a { $exec task retry=0; }",
    "$on " . join(' ', map {"tool a$_ { $exec task; }"} 1 .. 64))
{
    my ($rc, $out) = $tg->test_conf($good);
    is $rc, 0, 'taken: ' . substr $good, 0, 60 or diag $out;
}

done_testing;

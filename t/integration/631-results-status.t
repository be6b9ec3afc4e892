#!/usr/bin/perl
# `success` lists the statuses that are no error, a result's _meta has the
# status, and `stderr` says what happens with it.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
$tg->file('notes', "one\ntwo\n");
$tg->file('say', <<'END', 0755);
#!/bin/sh
printf 'out\n'
printf 'err\n' >&2
exit $1
END
$tg->file('whole', <<'END', 0755);
#!/bin/sh
echo '{"content":[],"_meta":{"a":1}}'
exit 3
END
my $status = 'toolgate/exitStatus';
$tg->conf(<<"END")->start;
tool grep   { exec grep \$tool_arg_what $dir/notes; success 0 1; }
tool odd    { exec $dir/say \$tool_arg_n; success 7; stderr append; }
tool plain  { exec $dir/say \$tool_arg_n; }
tool drop   { exec $dir/say \$tool_arg_n; stderr drop; }
tool error  { exec $dir/say \$tool_arg_n; stderr error; }
tool append { exec $dir/say \$tool_arg_n; stderr append; }
tool report { exec sh -c "echo report >&2"; stderr append; }
tool much   { exec head -c 100 /dev/zero; max_output 99; stderr append; }
tool loud   { exec sh -c "head -c 60 /dev/zero; head -c 60 /dev/zero >&2";
              max_output 100; stderr append; }
tool whole  { exec $dir/whole; output result; success 3; }
method grep { exec grep one $dir/no; success 2; output text; }
END

my ($legacy, $modern, $relay, $ipc) = my @ways = Toolgate::Way->all($tg);
for my $way (@ways) {
    my $name = $way->name;
    my $found = $way->call('grep', { what => 'two' });
    is $found->{text}, "two\n", "found, $name";
    my $none = $way->call('grep', { what => 'three' });
    is $none->{text}, '', "nothing found, $name";
    ok !$none->{is_error}, "which is no error, $name";
    my $bad = $way->call('grep', { what => '[' });
    like $bad->{text}, qr/^grep exited with status 2: .*grep: /,
        "another status is one, $name";
    next if $name eq 'ipc';
    is $found->{result}{_meta}{$status}, 0, "0 is reported, $name";
    is $none->{result}{_meta}{$status}, 1, "1 is reported, $name";
    is $bad->{result}{_meta}{$status}, 2, "2 is reported, $name";
    ok $bad->{result}{isError}, "as an error, $name";

    # Elsewhere it is in the message of a failure.
    for my $n (0, 3) {
        ok !exists(
            ($way->call('plain', { n => $n })->{result}{_meta} // {})->{$status}
        ), "no word of $n, $name";
    }
    my $whole = $way->call('whole')->{result};
    is $whole->{_meta}{$status}, 3, "a whole result has it, too, $name";
    is $whole->{_meta}{a}, 1, "beside its own, $name";
}
ok $modern->call('grep', { what => 'one' })->{result}{_meta}
    {'io.modelcontextprotocol/serverInfo'}, 'beside what MCP wants there';

sub said { return $legacy->call($_[0], { n => $_[1] // 0 })->{text} }
is said('odd', 7), "out\n[stderr]\nerr\n", 'a status alone';
like said('odd', 0), qr/^odd exited with status 0\n/,
    '0 is an error where it is not named';
is said('plain'), "out\n", 'stderr is no result';
is said('error'), "out\n", 'which is the default';
is said('error', 1), "error exited with status 1\n[stderr]\nerr\n[stdout]\nout",
    'but a failure reports it';
is said('drop'), "out\n", 'dropped';
is said('drop', 1), "drop exited with status 1\n[stdout]\nout",
    'of a failure, too';
is said('append'), "out\n[stderr]\nerr\n", 'appended';
is said('append', 1),
    "append exited with status 1\n[stderr]\nerr\n[stdout]\nout",
    'a failure has both as ever';
is said('report'), "report\n", 'alone it needs no mark';
like said('much'), qr/^much printed more than 99 bytes/, 'bounded';
like said('loud'), qr/^loud printed more than 100 bytes/, 'together';

is $tg->connect->rpc('grep')->{result}, '', 'a method has its statuses, too';

done_testing;

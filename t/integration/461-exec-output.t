#!/usr/bin/perl
# A program's output and exit status in each dialect.

use Toolgate::Test;

use Time::HiRes qw(time);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
# Does what its arguments say: out TEXT, err TEXT, exit N, kill N, nap N.
$tg->file('do', <<'END', 0755);
#!/usr/bin/perl
$| = 1;
while (@ARGV) {
    my ($what, $how) = splice @ARGV, 0, 2;
    $how =~ s/\\x(..)/chr hex $1/ge;
    print STDOUT $how if $what eq 'out';
    print STDERR $how if $what eq 'err';
    print STDOUT 'y' x $how if $what eq 'much';
    print STDERR 'e' x $how if $what eq 'moan';
    exit $how if $what eq 'exit';
    kill $how => $$ if $what eq 'kill';
    select undef, undef, undef, $how if $what eq 'nap';
    if ($what eq 'leave' && !fork) {
        open STDERR, '>&', \*STDOUT;
        exec 'sleep', $how;
    }
}
END

# Name, actions, directives, and expected result: a text, or the type of failure
# and its message.
my @cases = (
    [ 'out', q{out 'a\n' out "b\n"}, '', "a\nb\n" ],
    [ 'both', 'err noise out voice', '', 'voice' ],
    [ 'silent', 'exit 0', '', '' ],
    [ 'fits', 'much 1048576', '', 'y' x 1048576 ],
    [ 'errmuch', 'moan 5000000 out fine', '', 'fine' ],
    [ 'leave', 'leave 3604 out left', '', 'left' ],
    [
        'err', q{out partly err 'oh\nno\n\n' exit 3}, '',
        program => qr/^err\ exited\ with\ status\ 3\n\[stderr\]\noh\nno\n
                      \[stdout\]\npartly$/x
    ],
    [
        'mute', 'exit 255', '',
        program => qr/^mute exited with status 255 and wrote nothing to stderr/
    ],
    [
        'moan', q{moan 100000 err ' end' exit 1}, '',
        program => qr/^moan exited with status 1: \x{2026} e{4000,4096} end$/
    ],
    [
        'latin', q{err 'caf\xe9' exit 1}, '',
        program => qr/^latin exited with status 1: caf\x{fffd}$/
    ],
    [
        'term', 'err why kill 15', '',
        program => qr/^term was killed by signal 15 \(SIGTERM\): why$/
    ],
    [
        'kill', 'kill 9', '',
        program =>
            qr/^kill was killed by signal 9 \(SIGKILL\) and wrote nothing/
    ],
    [ 'segv', 'kill 11', '', program => qr/ by signal 11 \(SIGSEGV\)/ ],
    [ 'real', 'kill 40', '', program => qr/^real was killed by signal 40 and/ ],
    [
        'much', 'much 1048577', '',
        output => qr/1048576 bytes.*max_output.*ask for less\.$/
    ],
    [ 'endless', 'much 50000000 nap 3600', '', output => qr/max_output/ ],
    [
        'small', 'much 100', 'max_output 99;', output => qr/more than 99 bytes/
    ],
    [ 'noutf8', q{out 'ok\xff'}, '', output => qr/UTF-8.*offset 2/ ],
    [ 'cut', q{out '\xe2\x82'}, '', output => qr/UTF-8.*offset 0/ ],
    [
        'late', 'out begun err more nap 3600', 'timeout 300ms;',
        timeout => qr/did not finish within 300 ms.*timeout.*ask for less\.$/
    ],
    [
        'nojson', q{out '{a}'}, 'output json;',
        output => qr/^nojson: .*not one valid JSON value\. It is: \{a\}$/
    ],
    [
        'twojson', q{out '1 2'}, 'output json;',
        output => qr/not one valid JSON value/
    ],
    [
        'nofile', undef, '',
        program => qr/could not be started:.*nofile: No such file/
    ],
);
my %exception = (
    program => 'CalledProcessError',
    output  => 'ValueError',
    timeout => 'TimeoutError',
);

my $conf = '';
$tg->file('nofile', "#!/bin/sh\n", 0755);
for my $case (@cases) {
    my ($name, $does, $option) = @$case;
    my $program = defined $does ? "$dir/do $does" : "$dir/nofile";
    $conf .= "tool $name { exec $program; $option }\n";
    $option = "output text; $option" if $option !~ /output json/;
    $conf .= "method $name { exec $program; $option }\n";
}
$tg->conf(<<"END")->start;
$conf
tool json { exec $dir/do out '\\n {"a" : [1, 2]} \\n'; output json; }
tool list { exec $dir/do out '[1]'; output json; }
tool result {
    exec   $dir/do out '{"content":[{"type":"text","text":"t"}],'
                   out '"isError":true}';
    output result;
}
tool noresult { exec $dir/do out '{"content":{}}'; output result; }
method json { exec $dir/do out '\\n {"a" : [1, 2]} \\n'; }
method none { exec $dir/do; }
END
unlink "$dir/nofile";

my $mcp = $tg->connect;
my $rpc = $tg->connect;
my $ipc = $tg->connect;
my $relay = $tg->connect;

sub relay_call {
    my ($name) = @_;
    $relay->send_line({
        kind   => 'mcp_request',
        id     => 1,
        method => 'tools/call',
        params => { name => $name, arguments => {} },
    });
    return $relay->recv_json;
}

sub is_text {
    my ($got, $wanted, $name) = @_;
    ok $got eq $wanted, $name or diag substr $got, 0, 300;
}

for my $case (@cases) {
    my ($name, undef, undef, @wanted) = @$case;
    my $tool = $mcp->call_tool($name);
    my $method = $rpc->rpc($name);
    my $python = $ipc->ipc_call($name);
    # relay has no frames of more than 1 MiB.
    my $relayed = $name eq 'fits' ? undef : relay_call($name);
    if (@wanted == 1) {
        is_text(text_of($tool), $wanted[0], "$name: a tool");
        ok !$tool->{result}{isError}, "$name: no error";
        is_text($method->{result}, $wanted[0], "$name: a method");
        is_text(text_of($python), $wanted[0], "$name: ipc");
        is_text(text_of($relayed), $wanted[0], "$name: relay") if $relayed;
        next;
    }
    my ($failure, $pattern) = @wanted;
    like text_of($tool), $pattern, "$name: a tool";
    ok $tool->{result}{isError}, "$name: an error of the tool";
    is $method->{error}{code}, -32603, "$name: an error of a method";
    like $method->{error}{message}, $pattern, "$name: a method";
    is $python->{error}{type}, $exception{$failure}, "$name: an ipc error";
    like $python->{error}{message}, $pattern, "$name: ipc";
    like text_of($relayed), $pattern, "$name: relay";
    ok $relayed->{result}{isError}, "$name: an error of the tool in relay";
}

# --- JSON and whole results -----------------------------------------------

my $result = $mcp->call_tool('json')->{result};
is_deeply $result->{structuredContent}, { a => [ 1, 2 ] }, 'json: structured';
is $result->{content}[0]{text}, '{"a":[1,2]}', 'json: as text, compact';
$result = $mcp->call_tool('list')->{result};
is $result->{content}[0]{text}, '[1]', 'json: a list as text';
ok !exists $result->{structuredContent}, 'json: only objects are structured';
is_deeply $rpc->rpc('json')->{result}, { a => [ 1, 2 ] }, 'json: of a method';
like $rpc->rpc('none')->{error}{message}, qr/not one valid JSON/,
    'json: nothing is no value';
my $said = {
    content => [ { type => 'text', text => 't' } ],
    isError => JSON::PP::true,
};
is_deeply $mcp->call_tool('result')->{result}, $said, 'a result as it is';
is_deeply $ipc->ipc_call('result')->{error},
    { message => 't', type => 'IPCToolExecutionError' }, 'a result in ipc';
like text_of($mcp->call_tool('noresult')), qr/not a tool result.*"content"/,
    'what is no result';

# --- nothing is left ------------------------------------------------------

wait_for { !grep { !m{^nginx|/toolgate-runner } } values %{ $tg->processes } }
    'all programs to end';
pass 'nothing that they started is left';

# A deadline is enforced, and what still runs is ended.
my $start = time;
$mcp->call_tool('late');
cmp_ok time - $start, '>=', 0.29, 'a deadline: not too early';

done_testing;

#!/usr/bin/perl
# toolgate trace: a line for each frame, selected ones, as text and JSON; files
# that are cut anywhere; and a file that grows, is replaced or emptied while it
# is followed.

use Toolgate::Test qw(Trace);

plan(skip_all => 'built without msgpack-c') if !has_msgpack();

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $path = "$dir/a.trace";
$tg->conf("tool_trace a.trace body=60;\ntool hi { return \$tool_arg_n; }")
    ->start;
my $client = $tg->connect;
$client->send_line('{"id":1,"method":"ping","jsonrpc":"2.0"}');
$client->recv_line;
$client->send_line("no\e[31m \x{c3}message");
$client->recv_line;
my $long = $tg->connect;
$long->ipc_call('hi', { n => 'x' x 100 });
$tg->stop;
my $whole = slurp($path);

sub trace {
    my (@args) = @_;
    my ($status, $out, $err) = $tg->cli('trace', @args);
    return ($status, $out, $err);
}

# --- lines ----------------------------------------------------------------

my ($status, $out, $err) = trace($path);
is "$status $err", '0 ', 'it reads it';
my @lines = split /\n/, $out;
my $time = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}/;
my @want = (
    qr/ in  jsonrpc 40 \{"id":1,"method":"ping","jsonrpc":"2\.0"\}\z/,
    qr/ out jsonrpc \d+ \{"jsonrpc":"2\.0","id":1,.*\.\.\.\z/,
    qr/ in  jsonrpc 16 no\\u001b\[31m \\ufffdmessage\z/,
    qr/ out jsonrpc \d+ \{"jsonrpc":"2\.0",.*\.\.\.\z/,
    qr/ in  ipc \d+ \{.{59}\.\.\.\z/,
    qr/ out ipc \d+ \{.{59}\.\.\.\z/,
);
is scalar @lines, @want, 'a line for each frame';
for my $i (0 .. $#want) {
    like $lines[$i], qr/\A$time \*\d+ $$ /, "whose, and when: $i";
    like $lines[$i], $want[$i], 'and what';
}
my @json = frames($path);
is $json[2]{body}, "no\e[31m \x{fffd}message", 'in JSON it is one text';
is_deeply [ sort keys %{ $json[0] } ],
    [qw(body client connection dialect direction size time worker)],
    'with these members';

# --- filters --------------------------------------------------------------

my ($rpc, $ipc) = map { $json[$_]{connection} } 0, 4;
for my $row (
    [ [ '--in' ],                      0, 2, 4 ],
    [ [ '--out' ],                     1, 3, 5 ],
    [ [ '--dialect', 'ipc' ],          4, 5 ],
    [ [ '--dialect', 'relay' ] ],
    [ [ "--connection=$rpc", '--in' ], 0, 2 ],
    [ [ "--connection=$ipc" ],         4, 5 ],
    [ [ "--client=$$" ],               0 .. 5 ],
    [ [ '--client=1' ] ],
    [ [ '--match', '"id":1' ],         0, 1 ],
    [ [ '--match', 'xxxxx', '--in' ],  4 ],
    [ [ '--match', 'yyyyy' ] ],
) {
    my ($args, @numbers) = @$row;
    is_deeply [ frames($path, @$args) ], [ @json[@numbers] ], "@$args";
}

# --- files that are cut ---------------------------------------------------

# The ends of records.
my @ends;
for my $length (1 .. length $whole) {
    my $cut = $tg->file('cut.trace', substr $whole, 0, $length);
    my ($rc, $lines, $said) = trace($cut);
    my $n = () = $lines =~ /\n/g;
    push @ends, $length if $n > @ends;
    die "$length bytes: $rc $n $said\n"
        if $rc != 0 || $n != @ends
        || ($said ne '') != ($n == 0 || $length > $ends[-1]);
}
is scalar @ends, 6, 'cut anywhere, it has what is whole';
is $ends[-1], length $whole, 'to the end';

# Half a record, as a full disk leaves it, before whole ones; and without its
# beginning.
for my $at ($ends[0] - 1, $ends[0] - 30, $ends[1] + 1, 1, $ends[3] + 90) {
    my $begun = scalar grep { $_ <= $at } @ends;
    my $cut = $tg->file('cut.trace', substr($whole, 0, $at) . $whole);
    is_deeply [ frames($cut) ], [ @json[ 0 .. $begun - 1 ], @json ],
        "half a record between others: $at";
    my $rest = $tg->file('rest.trace', substr $whole, $at);
    my $left = scalar grep { $_ >= $at } @ends;
    is scalar(frames($rest)), $left - 1, 'the rest of one at its beginning';
}
(undef, undef, $err) = $tg->cli('trace', 'x', '--dialect', 'json');
like $err, qr/--dialect must be ipc, jsonrpc, .*not "json"/,
    'there is no such one';
($status, $out, $err) = trace($tg->file('cut.trace', "$whole$whole\x85"));
like $err, qr/: 1 byte of \S+cut\.trace is not part of a complete record/,
    'it says so';

my ($rc, $text) = run_command({ stdin => $whole }, "$BUILD/toolgate", 'trace',
    '-');
is $text =~ tr/\n//, 6, 'from standard input';

# --- unknown calls --------------------------------------------------------

for my $row (
    [ qr/trace which file\?/ ],
    [ qr/trace takes one argument/, $path, $path ],
    [ qr/cannot open .*: No such file/, "$dir/none" ],
    [ qr/cannot read .*: Is a directory/, $dir ],
    [ qr/is not a trace; tool_trace/, "$dir/error.log" ],
    [ qr/--connection must be a positive integer, not "x"/,
        $path, '--connection', 'x' ],
    [ qr/--client must be a positive integer, not "0"/, $path, '--client=0' ],
    [ qr/either --in or --out/, $path, '--in', '--out' ],
    [ qr/trace does not take --socket/, $path, '--socket', 'x' ],
) {
    my ($message, @args) = @$row;
    ($status, $out, $err) = trace(@args);
    is $status, 2, "refused: @args";
    like $err, $message, 'and said why';
}
is scalar(frames($tg->file('empty.trace', ''))), 0, 'an empty one is fine';
($status, $out, $err) = $tg->cli('config', 'claude', '--write',
    '-f', "$dir/mcp.json");
is $status, 0, '-f of another command is what it was' or diag $err;

# --- one that grows -------------------------------------------------------

my $growing = $tg->file('growing.trace', $whole);

sub add {
    my ($bytes) = @_;
    open my $fh, '>>', $growing or die "$growing: $!";
    print $fh $bytes;
    close $fh or die "$growing: $!";
}
my $follow = $tg->spawn({}, "$BUILD/toolgate", 'trace', $growing, '-f');

# Waits until it has printed this number of lines in all.
my $printed = 0;

sub prints {
    my ($count, $what) = @_;
    $printed += $count;
    wait_for {
        $follow->fill(time + 0.1);
        return $follow->buffered =~ tr/\n// == $printed;
    } $what;
    pass $what;
}
prints(6, 'what was there');
add(substr $whole, 0, $ends[1] + 20);
prints(2, 'what is new and whole');
add(substr $whole, $ends[1] + 20);
prints(4, 'and the rest of it');
rename $growing, "$growing.1" or die "rename: $!";
open my $old, '>>', "$growing.1" or die "growing.1: $!";
$tg->file('growing.trace', substr $whole, 0, $ends[0]);
prints(1, 'of another file of its name');
print $old $whole;
close $old or die "growing.1: $!";
prints(6, 'of the one before, too');
add(substr $whole, $ends[0]);
prints(5, 'and of the new one');
truncate $growing, 0 or die "truncate: $!";
wait_for { -s $growing == 0 } 'it to be empty';
add(substr $whole, 0, $ends[0]);
prints(1, 'of one that was emptied');
kill INT => $follow->pid;
is $follow->wait_exit & 127, 2, 'until Ctrl-C';

$follow = $tg->spawn({}, "$BUILD/toolgate", 'trace', $growing, '--follow');
$printed = 0;
prints(1, 'with --follow');
close $follow->{in};
wait_for { add($whole); !is_alive($follow->pid) }
    'the follower without a reader to exit';
is $follow->wait_exit >> 8, 141, 'it ends';

done_testing;

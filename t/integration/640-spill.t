#!/usr/bin/perl
# An output that is too large for a response is stored: the result has its
# beginning, end, size and lines, and toolgate_output reads all of it.

use Toolgate::Test qw(Tls Way);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $all = join '', map {"line $_ of many, na\x{c3}\x{af}ve\n"} 1 .. 5000;
$tg->file('all', $all);
$tg->file('fails', "#!/bin/sh\ncat $dir/all\necho why >&2\nexit 1\n", 0755);
$tg->file('both', "#!/bin/sh\ncat $dir/all\necho late >&2\n", 0755);
my $conf = <<"END";
listen 127.0.0.1:PORT;
listen unix:%%SOCKET%%;
tool many    { exec cat $dir/all; max_output 4k spill; }
tool fits    { exec head -c 4096 $dir/all; max_output 4k spill; }
tool shown   { exec cat $dir/all; preview 100; }
tool fails   { exec $dir/fails; max_output 4k spill; }
tool both    { exec $dir/both; max_output 4k spill; stderr append; }
tool little  { exec echo hi; preview 1k; }
tool mixed   { exec $dir/mixed; max_output 4k spill; stderr append; }
tool open    { exec $dir/open; max_output 4k spill; stderr append; }
tool over    { exec head -c 600000 /dev/zero; max_output 4k spill; }
END
my $port = free_port();
$tg->file('mixed', "#!/bin/sh\nhead -c 3000 $dir/all\n"
    . "sleep 0.2\nhead -c 3000 $dir/all >&2\n", 0755);
$tg->file('open', "#!/bin/sh\nhead -c 5001 /dev/zero | tr '\\0' x\n"
    . "echo late >&2\n", 0755);
$conf =~ s/PORT/$port/;
$tg->conf($conf)->start;
my ($legacy, $modern, $relay, $ipc) = my @ways = Toolgate::Way->all($tg);

sub files {
    my @files = glob $tg->state_dir . '/spill/*';
    return @files;
}

is $legacy->list,
    'many fits shown fails both little mixed open over toolgate_output',
    'the tool that reads comes with them';
is $legacy->call('little')->{text}, "hi\n", 'what fits is as ever';
is scalar(files()), 0, 'nothing is kept of that';

my $chars = $all;
utf8::decode($chars);
my $key;
for my $way (@ways) {
    my $name = $way->name;
    my $answer = $way->call('many');
    ok !$answer->{is_error}, "no error, $name";
    my $text = $answer->{text};
    my $size = length $all;
    like $text, qr/\Aline 1 of many/, "the beginning, $name";
    like $text, qr/line 5000 of many, na\x{ef}ve\n\z/, "the end, $name";
    like $text, qr/\[the whole output has $size bytes in 5000 lines;/,
        "its size and its lines, $name";
    unlike $text, qr/\x{fffd}/, "no half characters, $name";
    cmp_ok length $text, '<', 4096 + 400, "no more than that, $name";
    ($key) = $text =~ /toolgate_output reads the rest: \{"output":"(\w{32})"/;
    ok $key, "and its name, $name";

    # Lines from N on; all pages together have all lines.
    my ($got, $line) = ('', 1);
    for (1 .. 100) {
        my $page = $way->call('toolgate_output',
            { output => $key, line => $line, lines => 2000, bytes => 30000 });
        my @blocks = $page->{result} ? @{ $page->{result}{content} } : ();
        if ($name eq 'ipc') {
            my ($shown, $note) = $page->{text} =~ /\A(.*)\n(\[.*\])\z/s;
            @blocks = ({ text => $shown }, { text => $note });
        }
        $got .= $blocks[0]{text};
        $blocks[1]{text} =~ /continue with "line": (\d+)/ or last;
        $line = $1 + 0;
    }
    ok $got eq $chars, "all of it by its lines, $name"
        or diag length($got), ' of ', length $chars;
}

sub blocks {
    my ($reply) = @_;
    return map { $_->{text} } @{ $reply->{result}{content} };
}

# Bytes, and never half a character.
my ($got, $offset) = ('', 0);
for (1 .. 1000) {
    my ($page, $note) = blocks($legacy->call('toolgate_output',
        { output => $key, offset => $offset, bytes => 9973 }));
    $got .= $page;
    $note =~ /continue with "offset": (\d+)/ or last;
    $offset = $1 + 0;
}
ok $got eq $chars, 'all of it by its bytes';

# A pattern.
my ($page, $note) = blocks($legacy->call('toolgate_output',
    { output => $key, pattern => '^line 4?99[0-9] ' }));
is $page, join('', map {"$_:line $_ of many, na\x{ef}ve\n"} 990 .. 999,
    4990 .. 4999), 'the lines that match, with their numbers';
like $note, qr/^\[20 matching lines; no more matches\]$/, 'and how many';
($page, $note) = blocks($legacy->call('toolgate_output',
    { output => $key, pattern => 'line', lines => 3, line => 10 }));
is $page, join('', map {"$_:line $_ of many, na\x{ef}ve\n"} 10 .. 12),
    'some of them';
like $note, qr/continue the search with "line": 13\]/, 'and how it goes on';
for (
    [ '(' => qr/"pattern" is not a valid regular expression \(ECMA-262/ ],
    [ '[[:alpha:]]+' => qr/"pattern" is not a valid regular expression/ ],
    [ '((a{1,200}){1,200}){1,200}' => qr/too large/ ],
    )
{
    my $answer = $legacy->call('toolgate_output',
        { output => $key, pattern => $_->[0] });
    ok $answer->{is_error}, "$_->[0] is refused";
    like $answer->{text}, $_->[1], 'and it is said why';
}

# Beyond the end, and unknown outputs.
($page, $note) = blocks($legacy->call('toolgate_output',
    { output => $key, line => 6000 }));
is $page, '', 'nothing is behind the end';
like $note, qr/there are 5000 lines/, 'which is said';
my $answer = $legacy->call('toolgate_output', { output => '0' x 32 });
ok $answer->{is_error}, 'one that is not there';
like $answer->{text}, qr/There is no output "0{32}" for you.*Call the tool/,
    'what to do';
ok $legacy->call('toolgate_output', { output => '../many' })->{is_error},
    'no way out of the folder';

# Other users: a TCP client has no user.
my $socket = IO::Socket::INET->new("127.0.0.1:$port") or die "$port: $!\n";
my $tcp = Toolgate::Way->new('legacy',
    Toolgate::Client->over($socket, $socket, 'tcp'));
like $tcp->call('toolgate_output', { output => $key })->{text},
    qr/There is no output/, 'the same user alone has it';
$tcp->call('many')->{text} =~ /"output":"(\w+)"/;
my $theirs = $1;
like $legacy->call('toolgate_output', { output => $theirs })->{text},
    qr/There is no output/, 'both ways';
like $tcp->call('toolgate_output', { output => $theirs })->{text},
    qr/^line 1 /, 'who has no user has their own';

# Only its owner can read the file.
for my $file (files()) {
    is sprintf('%04o', (stat $file)[2] & 07777), '0600', 'mode 0600';
}
is sprintf('%04o', (stat $tg->state_dir . '/spill')[2] & 07777), '0700',
    'in a folder of ours';

# preview: the size that is shown.
$answer = $legacy->call('shown')->{text};
$answer =~ s/\[the whole output .*?\]\n//s or fail 'it is kept';
cmp_ok length $answer, '<=', 100, 'as much as preview says';
is $answer, join('', map {"line $_ of many, na\x{ef}ve\n"} 1, 2, 5000),
    'in whole lines';

# A program that fails, and one that reports on stderr.
$answer = $legacy->call('fails');
ok $answer->{is_error}, 'a failure is one';
like $answer->{text}, qr/^fails\ exited\ with\ status\ 1\n\[stderr\]\nwhy\n
    \[end\ of\ stdout\]\n.*line\ 5000\ of\ many.*\n
    \[stdout\ has\ \d+\ bytes\ in\ 5000\ lines;\ the\ tool\ toolgate_output/xs,
    'with the end of its output and the path of the whole';
like $legacy->call('both')->{text}, qr/\[stderr\]\nlate\n\z/,
    'stderr stands behind it';

like $legacy->call('open')->{text}, qr/x\n\[stderr\]\nlate\n\z/,
    'on a line of its own';
$answer = $legacy->call('mixed');
ok !$answer->{is_error}, 'both together are too large';
like $answer->{text}, qr/\[the whole output has 60\d\d bytes in /,
    'and are kept';

# It exists after a reload and with another runner, until it expires.
$tg->reload($conf);
like $legacy->call('toolgate_output', { output => $key })->{text},
    qr/^line 1 /, 'it is there after a reload';
kill KILL => $tg->runner_pids;
wait_for {
    $legacy->call('toolgate_output', { output => $key })->{text} =~ /^line 1 /
} 'it to be there with another runner';
pass 'it is there with another runner';

$tg->reload("tool_spill 1m time=1s;\n$conf");
$legacy = (Toolgate::Way->all($tg))[0];
my @before = files();
$legacy->call('many');
wait_for { files() <= @before } 'one to be gone in its time';
pass 'it is gone after its time';

# The quota is for all outputs: the oldest are removed.
$tg->reload("tool_output_store 1100k;\n$conf");
$legacy = (Toolgate::Way->all($tg))[0];
my @keys = map { $legacy->call('many')->{text} =~ /"output":"(\w+)"/ } 1 .. 3;
like $legacy->call('toolgate_output', { output => $key })->{text},
    qr/There is no output/, 'what is oldest goes';
like $legacy->call('toolgate_output', { output => $keys[-1] })->{text},
    qr/^line 1 /, 'what is newest stays';
my $sum = 0;
$sum += -s for files();
cmp_ok $sum, '<=', 1100 * 1024, 'all together are within the quota';

# Without space, or without permission, nothing is stored.
like $legacy->call('over')->{text},
    qr/^over printed more than 4096 bytes \(max_output\) and was stopped/,
    'one that is more than half the quota is the error that it was';
like $legacy->call('toolgate_output', { output => $_ })->{text},
    qr/^line 1 /, 'and takes nobody\'s place'
    for @keys;
$tg->reload("tool_spill off;\n$conf");
$legacy = (Toolgate::Way->all($tg))[0];
like $legacy->call('many')->{text}, qr/^many printed more than 4096 bytes/,
    'off, too';

done_testing;

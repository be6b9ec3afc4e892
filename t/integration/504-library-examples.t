#!/usr/bin/perl
# Runs docs/native.md and its examples: they are built with the command in their
# first lines and the installed header, loaded as described, and work.

use Toolgate::Test qw(Way);

use File::Path qw(make_path);

my $top = Toolgate::Test::top();
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
make_path("$dir/lib", "$dir/include");
my ($status, $out, $err) = run_command({}, 'install', '-m', '644',
    "$top/module/api/toolgate_handler.h", "$dir/include/");
is $status, 0, 'the header is where install puts it';

# Runs a shell command in the folder of libraries.
sub shell {
    my ($line) = @_;
    # The sanitizers check these libraries, too.
    $line =~ s/^gcc /$BUILD_ENV{cc} $BUILD_ENV{san} / if $BUILD_ENV{san};
    my ($status, $out, $err) = run_command({
            cwd     => "$dir/lib",
            timeout => 300,
            env     => { C_INCLUDE_PATH => "$dir/include" },
        },
        '/bin/sh', '-e', '-c', $line);
    is $status, 0, $line;
    is $out . $err, '', 'without a warning';
}

# --- the examples -------------------------------------------------------------

my $config = '';
for my $name (qw(text_stats primes)) {
    my $source = slurp("$top/docs/examples/$name.c");
    my ($head) = $source =~ m{\A/\*(.*?)\*/}s;
    $head =~ s/^ \* ?//mg;
    my ($line) = $head =~ /^ +(gcc .*)$/m;
    like $line, qr/^gcc -shared -fPIC .* \Q$name\E\.c$/, "$name: one line";
    system('cp', "$top/docs/examples/$name.c", "$dir/lib") == 0 or die 'cp';
    shell($line);
    my ($tool) = $head =~ /^( +tool .*^ +\})$/ms;
    $tool =~ s{library +}{library $dir/lib/};
    $config .= "$tool\n";
    # They use nothing of ours or NGINX's.
    my (undef, $symbols) = run_command({}, 'nm', '-D', '--undefined-only',
        "$dir/lib/$name.so");
    unlike $symbols, qr/toolgate|ngx_|\btg_/, "$name: linked against nothing";
}

for my $case (
    [ 'text_stats.so text_stats', 'it needs one argument, the text' ],
    [ 'primes.so primes 1 2', 'it needs one argument, a number' ],
) {
    my ($library, $message) = @$case;
    conf_fails($tg, "tool a { library lib/$library; }",
        qr/refuses: \Q$message\E/);
}

$tg->conf($config)->start;
my @ways = Toolgate::Way->all($tg);
for my $way (@ways) {
    my $name = $way->name;
    is $way->call('text_stats', { text => "na\x{ef}ve\n two\t\nw\x{1f642}" })
        ->{text}, '{"bytes":18,"characters":14,"words":3,"lines":2}',
        "$name: text_stats";
    is $way->call('text_stats', { text => '' })->{text},
        '{"bytes":0,"characters":0,"words":0,"lines":0}', "$name: of nothing";
    my %primes = (0 => 0, 2 => 0, 3 => 1, 100 => 25, 100_000 => 9592);
    is $way->call('primes', { below => $_ })->{text}, $primes{$_},
        "$name: primes below $_"
        for sort { $a <=> $b } keys %primes;
    like $way->call('primes', { below => -1 })->{text}, qr/below: must be/,
        "$name: its schema holds";
}

my $client = $tg->connect;
$client->request('tools/call', {
    name      => 'primes',
    arguments => { below => 3_000_000 },
    _meta     => { progressToken => 'p' },
});
my $told = $client->recv_json;
is_deeply [ @{ $told->{params} }{qw(total message)} ],
    [ 3_000_000, 'counting' ], 'primes says how far it is';
my $reply;
1 while ($reply = $client->recv_json)->{method};
is text_of($reply), 216_816, 'and then the number';

# A cancelled call makes room at once: of two, one runs and one waits.
my @ids = map {
    $client->request('tools/call',
        { name => 'primes', arguments => { below => 1_000_000_000 } })
} 1 .. 2;
$client->notify('notifications/cancelled', { requestId => $_ })
    for reverse @ids;
is text_of($client->call_tool('primes', { below => 10 })), 4,
    'one that is cancelled stops, and so does one that waits';

# --- the page -----------------------------------------------------------------

my $text = slurp("$top/docs/native.md");
my %played;
while ($text =~ /^```(\S+)(?: (\S+))?\n(.*?)^```$/msg) {
    my ($kind, $file, $content) = ($1, $2, $3);
    $played{$kind}++;
    if ($kind eq 'c') {
        $tg->file("lib/$file", $content);
    } elsif ($kind eq 'shell') {
        shell($content =~ s/\n\z//r);
    } elsif ($kind eq 'nginx') {
        $content =~ s{/usr/local/lib/toolgate\b}{$dir/lib}g;
        $tg->reload($content);
    } elsif ($kind eq 'console') {
        my ($line, $said) = $content =~ /^\$ toolgate (.*)\n(.*\n)\z/;
        ($status, $out, $err) = $tg->cli(
            map { s/"//gr } $line =~ /((?:[^ "]|"[^"]*")+)/g);
        is "$out\n", $said, "toolgate $line" or diag $err;
    } else {
        fail "unknown kind of block $kind";
    }
}
is_deeply \%played, { c => 1, shell => 1, nginx => 3, console => 3 },
    'all of the page';

done_testing;

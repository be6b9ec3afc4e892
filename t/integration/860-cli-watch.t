#!/usr/bin/perl
# toolgate watch prints notifications: broadcasts, and changes of the list of
# tools, over reloads and another NGINX, until it is interrupted. And
# TOOLGATE_DEBUG, which shows each message of a command.

use Toolgate::Test;

my $tg = Toolgate::Test->new;
my $news = 'method news { broadcast app/news; }';
$tg->conf("$news\ntool hi { return hi; }")->start;

sub watch {
    my (@args) = @_;
    my $watch = $tg->spawn({ env => { TOOLGATE_SOCKET => $tg->socket_path } },
        "$BUILD/toolgate", 'watch', @args);
    close $watch->{out};
    watches($watch);
    return $watch;
}

# Waits until it listens, as it prints.
sub watches {
    my ($watch) = @_;
    wait_for { $watch->stderr =~ /^toolgate: watching .*\n\z/m }
        'it to listen';
}

# Returns its next line.
sub line {
    my ($watch) = @_;
    wait_for { $watch->fill(time + 0.1); $watch->buffered =~ /\n/ } 'a line';
    return $watch->recv_line;
}

# Broadcasts. Returns the number of clients, including the caller.
sub news {
    my ($params) = @_;
    return $tg->connect->rpc('news', $params)->{result}{clients};
}

# --- notifications ----------------------------------------------------------

my $watch = watch();
my $json = watch('--json');
news({ text => "a\e[31m\n", n => 1 });
my $time = qr/\d\d:\d\d:\d\d/;
like line($watch), qr<\A$time app/news \{.*"n":1.*\}\n?\z>, 'a broadcast';
my $told = Toolgate::Client->decode(line($json));
is_deeply $told,
    { method => 'app/news', params => { text => "a\e[31m\n", n => 1 } },
    'in JSON';
news({});
like line($watch), qr<\A$time app/news \{\}>, 'another one';
line($json);

# --- a reload ---------------------------------------------------------------

$tg->reload("$news\ntool other { return 1; }");
my $changed = 'notifications/tools/list_changed';
like line($watch), qr<\A$time \Q$changed\E\n?\z>, 'that the list changed';
is_deeply(Toolgate::Client->decode(line($json)), { method => $changed },
    'in JSON');
unlike $watch->stderr, qr/lost/, 'over the same connection';

# --- another NGINX ----------------------------------------------------------

$tg->stop;
$tg->start;

# An exiting worker may have accepted one of them: they have left it when the
# next NGINX knows both.
wait_for { news({ n => 2 }) == 3 } 'the next NGINX to have both';
watches($_) for $watch, $json;
news({ n => 2 });
like line($_), qr<app/news.*"n":2>, 'of the next NGINX, too' for $watch, $json;

# --- the end ----------------------------------------------------------------

kill INT => $watch->pid;
is $watch->wait_exit >> 8, 130, 'Ctrl-C ends it';
close $json->{in};
wait_for { news({}); !is_alive($json->pid) } 'the one whose pipe is closed';
is $json->wait_exit >> 8, 141, 'it ends with that';
$watch = watch();
$tg->stop;
wait_for { $watch->stderr =~ /lost the connection/ } 'a server that stops';
kill TERM => $watch->pid;
is $watch->wait_exit >> 8, 143, 'it is waited for, until the end';
my ($status, $out, $err) = $tg->cli('watch');
is $status, 2, 'a server that is not there';
like $err, qr/nothing listens on .* no such file/s, 'is said';
($status, $out, $err) = $tg->cli('watch', 'more');
is $status, 2, 'an argument';
like $err, qr/watch takes no arguments/, 'is one too many';

# --- TOOLGATE_DEBUG ---------------------------------------------------------

$tg->start;
for my $value ('1', '0', '') {
    ($status, $out, $err) = $tg->cli({ env => { TOOLGATE_DEBUG => $value } },
        'call', 'other');
    is "$status $out", "0 1", "TOOLGATE_DEBUG=$value";
    my @lines = split /\n/, $err;
    my @to = grep { /\Atoolgate: server <- (\{.*\})\z/ } @lines;
    my @from = grep { /\Atoolgate: server -> (\{.*\})\z/ } @lines;
    is @to . '/' . @from . '/' . @lines, $value eq '1' ? '3/2/5' : '0/0/0',
        'hello, ping, the call, and two answers';
    like $to[2], qr/"method":"tools\/call".*"other"/, 'in order'
        if $value eq '1';
}

done_testing;

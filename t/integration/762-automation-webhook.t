#!/usr/bin/perl
# Webhooks of rules: content, signature, as checked by the server, retries after
# a status or without a listener, with the same id; and access to the secret's
# file.

use Toolgate::Test qw(Web);
use Digest::SHA ();
use IO::Socket::INET;
use JSON::PP  ();
use MIME::Base64 ();

my $json = JSON::PP->new->utf8;
my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my $web = Toolgate::Web->new($tg);
my $url = $web->url;
my $secret = "s3cret \x{20ac}";
my $bytes = join '', map { chr } 1 .. 31;
utf8::encode(my $secret_bytes = $secret);
$tg->file('plain', "$secret_bytes\n", 0600);
$tg->file('whsec', 'whsec_' . MIME::Base64::encode($bytes, ''), 0640);

# A port where nobody listens until the test does.
my $nobody = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1,
    ReuseAddr => 1)
    or die $!;
my $port = $nobody->sockport;
close $nobody;

sub hook {
    my ($name, $to, $more) = @_;
    return <<"END";
automation $name {
    trigger event type=task.completed;
    when    metadata.hook eq $name;
    webhook $to "{{metadata.text}}";
    $more
}
END
}
$tg->conf('task_agent sh { exec sh -c $task_prompt; default; } task_methods on;'
        . hook('plain', "$url/echo?a=b", "secret file=$dir/plain;")
        . hook('whsec', "$url/status/204", "secret file=$dir/whsec;")
        . hook('open', "$url/echo", '')
        . hook('again', "$url/times/2/503/again",
            "secret file=$dir/plain;")
        . hook('refused', "http://127.0.0.1:$port/", '')
        . hook('no', "$url/status/404", '')
        . hook('moved', "$url/to/echo", ''))->start;

my $c = $tg->connect;
my $hears = $tg->connect;
$hears->rpc('ping');

sub submit {
    my ($name, $text) = @_;
    return $c->result_of('task.submit', prompt => 'true',
        metadata => { hook => $name, text => $text })->{taskId};
}
sub fired {
    my ($name) = @_;
    return $hears->recv_where(sub {
        return ($_[0]{method} // '') eq 'automation.fired'
            && $_[0]{params}{ruleId} eq $name;
    }, 200, "$name to fire")->{params};
}
sub sent { return grep { $_->{path} =~ $_[0] } $web->requests }

# According to Standard Webhooks.
sub is_signed {
    my ($request, $key, $what) = @_;
    my $header = $request->{headers};
    my $body = $request->{body};
    my $signed = join '.', @$header{qw(webhook-id webhook-timestamp)}, $body;
    my $mac = MIME::Base64::encode(
        Digest::SHA::hmac_sha256($signed, $key), '');
    is $header->{'webhook-signature'}, "v1,$mac", "$what: its signature";
    like $header->{'webhook-timestamp'}, qr/^\d+$/, "$what: its time";
    cmp_ok abs($header->{'webhook-timestamp'} - time), '<', 600,
        "$what: which is now";
}

# --- what is sent

my $text = "a \"b\" \\ \n\r\t\x{1} {{id}} \$x `id` \x{20ac} \x{1f600} </x>";
my $id = submit('plain', $text);
my $fired = fired('plain');
is $fired->{status}, 'webhook_sent', 'it was sent';
my ($request, @more) = sent(qr{^/echo\?a=b$});
is scalar @more, 0, 'once';
is $request->{method}, 'POST', 'by POST';
is $request->{headers}{'content-type'}, 'application/json', 'as JSON';
is $request->{headers}{'webhook-id'}, $fired->{executionId},
    'its id is the execution';
is_signed($request, $secret_bytes, 'a text as the key');
my $body = $json->decode($request->{body});
is $body->{message}, $text, 'the message is a string of JSON, always';
is $body->{ruleId}, 'plain', 'the rule';
is $body->{executionId}, $fired->{executionId}, 'the execution';
is $body->{event}{type}, 'task.completed', 'the event';
is $body->{event}{payload}{id}, $id, 'with its task';
is $body->{event}{payload}{metadata}{text}, $text, 'as it came';

submit('whsec', 'x');
is fired('whsec')->{status}, 'webhook_sent', 'a status of 204 is success';
is_signed((sent(qr{^/status/204$}))[0], $bytes, 'a key in base64');

submit('open', 'x');
fired('open');
ok !exists +(sent(qr{^/echo$}))[0]{headers}{'webhook-signature'},
    'without a secret there is no signature';

# --- tries

submit('again', 'x');
$fired = fired('again');
is $fired->{status}, 'webhook_sent', 'after two with 503 it was sent';
my @tries = sent(qr{/again$});
is scalar @tries, 3, 'with the third try';
is_deeply [ map { $_->{headers}{'webhook-id'} } @tries ],
    [ ($fired->{executionId}) x 3 ], 'each has the same id';
is_deeply [ map { $_->{body} } @tries ], [ ($tries[0]{body}) x 3 ],
    'and the same body';
is_signed($_, $secret_bytes, 'a try') for @tries;
my @times = map { $_->{headers}{'webhook-timestamp'} } @tries;
ok $times[0] <= $times[1] && $times[1] <= $times[2], 'and its own time';

submit('refused', 'x');
my ($waiting, $listener);
wait_for {
    ($waiting) = grep { $_->{ruleId} eq 'refused' }
        @{ $c->result_of('automation.status')->{recentExecutions} };
    return $waiting;
} 'it to fire';
is $waiting->{status}, 'webhook_pending', 'without a listener it waits';
$listener = IO::Socket::INET->new(LocalAddr => "127.0.0.1:$port",
    Listen => 5, ReuseAddr => 1)
    or die $!;
my $socket = $listener->accept;
my $buffer = '';
$request = Toolgate::Web::read_request($socket, \$buffer);
print $socket "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
close $socket;
is fired('refused')->{status}, 'webhook_sent',
    'and is sent when the server listens';
is $request->{headers}{'webhook-id'}, $waiting->{executionId}, 'with its id';

# --- what is no better later

submit('no', 'x');
$fired = fired('no');
is $fired->{status}, 'error', 'a status of 404 is an error';
like $fired->{error}, qr/^the webhook answered with status 404$/, 'it says so';
is scalar sent(qr{^/status/404$}), 1, 'it is not tried again';
submit('moved', 'x');
is fired('moved')->{status}, 'error', 'nor is a redirect followed';

# --- what is told of it

my $said = $c->encode($c->rpc('automation.status')) . $tg->log;
unlike $said, qr/s3cret|whsec_/, 'nobody is told the secret';
unlike $said, qr/a=b/, 'nor what is behind the host of a URL';
my $runner = $tg->runner_pid;
unlike slurp("/proc/$runner/cmdline") . slurp("/proc/$runner/environ"),
    qr/s3cret/, 'it is in no command line';

# --- who may read it

for ([ 0604 => qr/can be read or changed by other users.*chmod 0600/ ],
    [ 0620 => qr/can be read or changed by other users/ ],
    [ 0600 => undef ], [ 0640 => undef ])
{
    my ($mode, $like) = @$_;
    chmod $mode, "$dir/plain" or die;
    my ($status, $out) = $tg->test_conf('task_agent a { exec true; }'
            . hook('h', $url, "secret file=$dir/plain;"));
    if ($like) {
        isnt $status, 0, sprintf 'refused: mode %o', $mode;
        like $out, $like, 'it says what to do';
    } else {
        is $status, 0, sprintf('taken: mode %o', $mode) or diag $out;
    }
}
$tg->file('empty', "\n", 0600);
my ($status, $out) = $tg->test_conf('task_agent a { exec true; }'
        . hook('h', $url, "secret file=$dir/empty;"));
isnt $status, 0, 'refused: an empty one';

done_testing;

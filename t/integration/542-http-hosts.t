#!/usr/bin/perl
# Hosts from variables and redirects: only what the config allows is called, and
# nothing of this machine or its networks unless it is named.

use Toolgate::Test qw(Web);

my $tg = Toolgate::Test->new(workers => 1);
my $web = Toolgate::Web->new($tg);
my $other = Toolgate::Web->new($tg);
my ($port, $else) = ($web->port, $other->port);
$tg->file('key', "Bearer s3cret-s3cret\n", 0600);

$tg->conf(<<"END")->start;
tool any { http GET \$tool_arg_url; hosts *:*; redirects 5; }
tool usual { http GET \$tool_arg_url; hosts *; }
tool named { http GET \$tool_arg_url; hosts *:* 127.0.0.1:$port; redirects 5; }
tool host { http GET http://\$tool_arg_host:$port/echo; hosts 127.0.0.1:*; }
tool port {
    http  GET http://127.0.0.1:\$tool_arg_port/echo;
    hosts 127.0.0.1:$port;
}
tool fixed {
    http      GET http://127.0.0.1:$port/to/\$tool_arg_to;
    hosts     127.0.0.1:$port 127.0.0.1:$else localhost:$port;
    redirects 2;
    header    Authorization file=%%DIR%%/key;
    header    X-Mine \$tool_name;
}
tool off { http GET http://127.0.0.1:$port/to/\$tool_arg_to; }
tool public { http GET http://127.0.0.1:$port/to/\$tool_arg_to; redirects 1; }
tool post {
    http      POST http://127.0.0.1:$port/to/\$tool_arg_to?status=307;
    hosts     127.0.0.1:$else;
    redirects 1;
}
END

my $c = $tg->connect;

sub call {
    my ($tool, %arguments) = @_;
    return text_of($c->call_tool($tool, \%arguments));
}

# Every form of an address of this machine, and names with such an address.
my $private = qr/its address belongs to this machine or to a private network/;
like call(any => url => "http://$_/"), $private, "$_ is refused"
    for "127.0.0.1:$port", "localhost:$port", "2130706433:$port",
    "0x7f000001:$port", "0177.0.0.1:$port", "127.1:$port", "[::1]:$port",
    "[::ffff:127.0.0.1]:$port", "[::ffff:7f00:1]:$port", "0.0.0.0:$port",
    "[::]:$port", '169.254.169.254', '10.0.0.1', '192.168.1.1', '172.16.0.1',
    '100.100.100.200', '[fd00:ec2::254]', '[fe80::1]', '224.0.0.1';
is scalar(() = $web->requests), 0, 'nothing of this came here';

# Invalid URLs, and URLs that pretend to be others.
my $wrong = qr/has a URL that cannot be called/;
like call(any => url => $_), $wrong, "$_ is refused"
    for '', 'file:///etc/passwd', 'gopher://127.0.0.1/', '//127.0.0.1/',
    "http://a\@127.0.0.1:$port/", "http://a.b\\\@127.0.0.1:$port/",
    "http://127.0.0.1:$port#\@a.b/", "http://a.b/\r\nHost: x",
    "http://127.0.0.1:$port/echo x", "http://[fe80::1%25lo]/";
like call(usual => url => "http://8.8.8.8:$port/"),
    qr/may not be called; hosts does not allow it/, 'another port';

# A named host may be called, and no other.
like call(named => url => "http://127.0.0.1:$port/echo"), qr/"method":"GET"/,
    'by its name';
like call(named => url => "http://127.0.0.1:$else/echo"), $private,
    'another port of the same is not';
like call(any => url => "http://127.0.0.1:$port/echo"), $private,
    'nor is its connection for those who may not call it';
like call(host => host => '127.0.0.1'), qr/"method":"GET"/, 'a host';
like call(host => host => 'localhost'), qr/hosts does not allow it/, 'another';
like call(host => host => $_), qr/host in the URL must be|cannot be called/,
    "a host that is $_"
    for '127.0.0.1/x?', 'a@127.0.0.1', '127.0.0.1#', "127.0.0.1\r\n", '';
like call(port => port => $port), qr/"method":"GET"/, 'a port';
like call(port => port => $else), qr/hosts does not allow it/, 'another port';

# Redirects.
sub to { return $_[0] =~ s/([^\w.-])/sprintf '%%%02X', ord $1/ger }
like call(off => to => '/echo'), qr/status 302, a redirect to .*not followed/,
    'none when they are not allowed';
like call(fixed => to => '/echo'), qr/"authorization":"\*+"/,
    'to the same host with what is its own';
my ($last) = reverse $web->requests;
is $last->{headers}{authorization}, 'Bearer s3cret-s3cret', 'which came';
my $answer = call(fixed => to => "http://127.0.0.1:$else/echo");
like $answer, qr/"method":"GET"/, 'to another one that is named';
($last) = $other->requests;
is_deeply [ grep {/^(?:authorization|x-mine)$/} keys %{ $last->{headers} } ],
    [], 'it gets nothing of this';
for my $where ("/echo?a=[1]|2", "http://127.0.0.1:$port/echo?a=[1]|2") {
    like call(fixed => to => "$where&\x{e9} #top"),
        qr/"path":"\/echo\?a=%5B1%5D%7C2&%C3%A9(?:%20|\+)"/i,
        'as browsers read what others wrote';
}
like call(off => to => "http://127.0.0.1:$else/a b#c"),
    qr/redirect to http:..127\.0\.0\.1:$else, which/, 'and say where';
$answer = call(fixed => to => "http://localhost:$port/echo");
like $answer, qr/"method":"GET"/, 'to another name of the same';
($last) = reverse $web->requests;
is $last->{headers}{authorization}, undef, 'which is another host';
like call(fixed => to => '/to/' . to('/to/' . to('/echo'))),
    qr/too many redirects \(redirects\)/, 'too many';
like call(fixed => to => 'http://example.com/'),
    qr{http://example.com may not be called}, 'to one that is not named';
like call(public => to => "http://127.0.0.1:$else/echo"),
    qr/may not be called; hosts does not allow it/, 'to another port';
like call(public => to => 'http://127.0.0.1/'), $private, 'to this machine';
is scalar(() = $other->requests), 1, 'where nothing came';
like call(public => to => 'http://169.254.169.254/latest/meta-data'), $private,
    'to where secrets are';
like call(named => url => "http://127.0.0.1:$port/to/"
        . to("http://localhost:$port/echo")), $private,
    'to a name that the config does not list';
like call(post => to => "http://127.0.0.1:$else/x"),
    qr/send the request to another host/, 'with a body';
is scalar(() = $other->requests), 1, 'which went nowhere';

done_testing;

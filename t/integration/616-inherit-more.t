#!/usr/bin/perl
# Directives for a server, or for all: `http`, storing of output, and exit
# statuses.

use Toolgate::Test qw(Web);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $web = Toolgate::Web->new($tg);
my $proxy = Toolgate::Web->new($tg);
my ($port, $two) = ($web->port, "$dir/two.sock");
my $secret = "Bearer inherited-$$";
$tg->file('token', "$secret\n", 0600);
$tg->file('ca.pem', "-----BEGIN CERTIFICATE-----\n", 0644);
$tg->file('both', <<'END', 0755);
#!/bin/sh
echo out
echo err >&2
exit 3
END

sub conf {
    my ($stream) = @_;
    my $head = "tool_runner @{[ $tg->runner_path ]};\n"
        . "tool_state_dir $dir/state;";
    return $tg->conf(<<"END", server => 0);
tool_header      Authorization file=token;
tool_query       version 7;
tool_redirects   2;
tool_hosts       127.0.0.1:$port;
tool_connect_timeout 5s;
tool_max_output  4k spill;
tool_success     0 3;
tool_stderr      append;
$stream

server {
    listen unix:@{[ $tg->socket_path ]};
    $head
    tool echo  { http GET http://127.0.0.1:$port/echo; output json; }
    tool own   {
        http   GET http://127.0.0.1:$port/echo?a=b;
        header X-Own \$tool_arg_x;
        query  own 1;
        output json;
    }
    tool to    { http GET http://127.0.0.1:$port/to/%2Fecho; output json; }
    tool stay  { http GET http://127.0.0.1:$port/to/%2Fecho; redirects 0; }
    tool any   { http GET \$tool_arg_url; output json; }
    tool else  { http GET \$tool_arg_url; hosts localhost:$port; output json; }
    tool both  { exec $dir/both; }
    tool zero  { exec $dir/both; success 0; stderr drop; }
    tool json  { exec $dir/both; output json; }
    tool much  { exec seq 10000; }
    tool less  { exec seq 10000; max_output 1k; }
    tool part  { exec seq 10000; preview 100; }
    tool large {
        http  GET http://127.0.0.1:$port/bytes/9000;
        query none \$tool_arg_none;
    }
}
server {
    listen unix:$two;
    $head
    tool_header     X-Server \$tool_arg_x;
    tool_query      server 2;
    tool_redirects  0;
    tool_proxy      http://127.0.0.1:@{[ $proxy->port ]};
    tool_preview    200;
    tool_max_output 1m;
    tool_success    0;
    tool_stderr     error;
    tool echo { http GET http://no.such.host.invalid/echo; output json; }
    tool both { exec $dir/both; }
    tool much { exec seq 10000; }
    tool less { exec seq 10000; max_output 150; }
    tool all  { exec seq 10000; preview off; }
    method m  { exec echo '"\$tool_name"'; }
}
END
}

conf('')->start;
my %client;

sub call {
    my ($socket, $tool, $arguments) = @_;
    $client{$socket} //= $tg->connect($socket);
    my $reply = $client{$socket}->call_tool($tool => $arguments // {});
    return $reply->{result}{structuredContent} // text_of($reply);
}
my $one = $tg->socket_path;

# --- http -------------------------------------------------------------------

my $got = call($one, 'echo');
is $got->{path}, '/echo?version=7', 'tool_query';
like $got->{headers}{authorization}, qr/^\*+$/, 'tool_header, unreadable here';
like slurp("$dir/web/requests.$port"), qr/\Q$secret\E/, 'and sent';
$got = call($one, 'own', { x => 'mine' });
is $got->{path}, '/echo?a=b&own=1', 'query lines of the tool';
is $got->{headers}{'x-own'}, 'mine', 'and header lines are all that it has';
ok !exists $got->{headers}{authorization}, 'of them';
is call($one, 'to')->{path}, '/echo?version=7',
    'tool_redirects, to what tool_hosts has';
like call($one, 'stay'), qr/302/, 'redirects of the tool';
is call($one, 'any', { url => $web->url('/echo') })->{path}, '/echo?version=7',
    'tool_hosts';
like call($one, 'any', { url => "http://localhost:$port/echo" }),
    qr/may not be called/, 'and no other host';
is call($one, 'else', { url => "http://localhost:$port/echo" })->{path},
    '/echo?version=7', 'hosts of the tool';
like call($one, 'else', { url => $web->url('/echo') }), qr/may not be called/,
    'are all that it has';
like call($one, 'large'), qr/toolgate_output/,
    'tool_max_output … spill, of an HTTP API';

# This proxy answers nothing, but stores requests.
call($two, 'echo', { x => 'y' });
($got) = $proxy->requests;
is $got->{headers}{'x-server'}, 'y', 'tool_header of the server';
like $got->{path}, qr{^http://no\.such\.host\.invalid/echo\?server=2$},
    'tool_proxy and tool_query';
ok !exists $got->{headers}{authorization}, 'none of those of stream';

# --- programs ---------------------------------------------------------------

is call($one, 'both'), "out\n[stderr]\nerr\n", 'tool_success, tool_stderr';
like call($one, 'zero'), qr/status 3\n\[stdout\]\nout/,
    'success and stderr of the tool';
like call($one, 'json'), qr/not one valid JSON value/,
    'what an output has no room for is left out';
like call($two, 'both'), qr/status 3.*\[stderr\]\nerr/s, 'those of the server';

# --- large outputs ----------------------------------------------------------

my $kept = qr/toolgate_output/;
like call($one, 'much'), $kept, 'tool_max_output … spill';
like call($one, 'less'), qr/1024 bytes/, 'max_output of the tool';
my $part = call($one, 'part');
like $part, $kept, 'preview of the tool';
cmp_ok length $part, '<', 1000, 'and its size';
my $shown = call($two, 'much');
like $shown, $kept, 'tool_preview';
cmp_ok length $shown, '<', 1000, 'and its size';
like call($two, 'less'), $kept, 'at most max_output';
unlike call($two, 'all'), $kept, 'preview off';
is_deeply $client{$two}->rpc('m')->{result}, 'm', 'a method keeps nothing';
$tg->stop;

# --- mistakes ---------------------------------------------------------------

for my $case (
    [ 'tool_header host x;',       qr/invalid name "host" in "tool_header"/ ],
    [ 'tool_header A 1; tool_header A 2;', qr/"tool_header" has "A" twice/ ],
    [ 'tool_query $a b;',          qr/in "tool_query"; write "tool_query NA/ ],
    [ 'tool_redirects 21;',        qr/invalid number "21" in "tool_redirec/ ],
    [ 'tool_hosts a/b;',           qr/invalid host "a\/b" in "tool_hosts"/ ],
    [ 'tool_proxy x;',             qr/invalid proxy "x" in "tool_proxy"/ ],
    [ 'tool_connect_timeout 0;',   qr/invalid time "0" in "tool_connect_t/ ],
    [ "tool_ca_file $dir/token;",  qr/of "tool_ca_file" has no certificate/ ],
    [ 'tool_success 256;',         qr/invalid status "256" in "tool_success"/ ],
    [ 'tool_stderr x;',            qr/invalid value "x" in "tool_stderr"/ ],
    [ 'tool_preview 0;',           qr/invalid size "0" in "tool_preview"/ ],
    [ 'tool_preview 1k; tool_preview 2k;', qr/"tool_preview".* is duplicate/ ],
    [ 'tool_max_output 1k x;',     qr/invalid value "x" in "tool_max_output"/ ],
    [
        'tool_proxy http://127.0.0.1:1; tool_hosts *;' . "\n"
            . 'tool a { http GET $tool_arg_url;' . "\n}",
        qr/tool "a" has a "proxy".* in \S+test\.conf:\d+$/m
    ],
    [
        "tool_redirects 0;\ntool a { http GET http://h/; hosts x;\n}",
        qr/tool "a" calls one host.* in \S+test\.conf:\d+$/m
    ],
    [ 'tool a { http GET $tool_arg_u; }',
        qr/tool "a" has variables in the host/ ],
) {
    my ($text, $pattern) = @$case;
    conf_fails($tg, "$text\ntool ok { return x; }", $pattern);
}
my ($status, $out) = $tg->test_conf("tool_ca_file $dir/ca.pem;\n"
        . "tool_redirects 1;\ntool a { http GET http://h/; hosts x; }");
is $status, 0, 'hosts, as tool_redirects leads there' or diag $out;

done_testing;

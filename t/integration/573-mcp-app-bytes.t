#!/usr/bin/perl
# The contents of an MCP app's view reach clients of both eras as the server
# wrote them: white space, escapes, numbers, unknown members and big blobs.

use Toolgate::Test;
use Toolgate::McpWeb;

my $json = 'Toolgate::Client';
my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my $URI = 'ui://clock/view%20one?a=b#c';

# Raw JSON: a decoder would lose most of this.
my $html = '"\\u003cb\\u003e\\t \\u00e9 \\/ \\\\ \\ud83d\\ude00'
    . "\xf0\x9f\x98\x80 \xe2\x80\xa8 \\u0000 </b>  \"";
my $blob = '"' . 'AAECAwQFBgcICQoLDA0O' x 100_000 . '=="';
my $contents = "[{\"uri\":\"$URI\",\"mimeType\":\"text/html;profile=mcp-app\","
    . "\"text\":$html,\"zzz\":{\"b\":1,\"a\":1.50,\"c\":1E+2,\"d\":[]},"
    . '"_meta":{"ui":{"csp":{"connectDomains":["https:\\/\\/x.example"]},'
    . '"prefersBorder":true,"n":1.0},"x/y":null}},'
    . "{\"uri\":\"$URI\",\"mimeType\":\"image/png\",\"blob\":$blob}]";
my $raw = $tg->file('raw', $contents);
my $kinds = $tg->file('kinds', $json->encode({
    contents => { $URI => [] }, resources => [ { uri => $URI, name => 'view',
        _meta => { ui => { prefersBorder => JSON::PP::true } } } ] }));
my %web = map { $_ => Toolgate::McpWeb->new($tg, $_, "raw=$raw", '--',
    "kinds=$kinds") } qw(legacy modern);
$tg->conf(join "\n", map {
    "mcp_server $_ { max_output 4m;
        exec $^X $top/t/servers/mcp.pl $_ kinds=$kinds raw=$raw; }
     mcp_server web_$_ { max_output 4m; url @{[ $web{$_}->url ]}; }"
} qw(legacy modern))->start;
my $c = $tg->connect;
wait_for { 4 == @{ $c->rpc('resources/list')->{result}{resources} // [] } }
'the resources of all';

for my $server (qw(legacy modern web_legacy web_modern)) {
    # The first server has the URI itself.
    my $uri = $server eq 'legacy' ? $URI : "$server+$URI";
    for my $era (qw(legacy modern)) {
        $c->send_line($json->encode({ jsonrpc => '2.0', id => 99,
            method => 'resources/read', params => { uri => $uri,
                $era eq 'modern' ? (_meta => modern_meta()) : () } }));
        my $line = $c->recv_line;
        ok index($line, "\"contents\":$contents") >= 0,
            "$server: each byte, for a $era client"
            or diag substr $line, 0, 1500;
    }
}

done_testing;

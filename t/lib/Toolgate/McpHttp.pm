package Toolgate::McpHttp;

# Requests of MCP's modern era over HTTP, for Toolgate::HttpClient.

use strict;
use warnings;

use Exporter qw(import);
use Toolgate::Json;

our @EXPORT = qw(modern_request %MODERN_META);

our %MODERN_META = (
    'io.modelcontextprotocol/protocolVersion' => '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities' => {},
    'io.modelcontextprotocol/clientInfo' => { name => 'test', version => 1 },
);

# Returns the arguments of HttpClient's ask() or send_request() for a message.
# Options: path; id (undef: a notification); meta (members, or 0: none); headers
# (a value of undef removes one); raw (the body).
sub modern_request {
    my ($method, $params, %option) = @_;
    my $meta = $option{meta} // \%MODERN_META;
    my $id = exists $option{id} ? $option{id} : 7;
    my $message = {
        jsonrpc => '2.0',
        method => $method,
        params => { %{ $params // {} }, $meta ? (_meta => $meta) : () },
        defined $id ? (id => $id) : (),
    };
    my %headers = (
        'Content-Type' => 'application/json',
        Accept => 'application/json, text/event-stream',
        'MCP-Protocol-Version' => '2026-07-28',
        'Mcp-Method' => $method,
        'Mcp-Name' => $params->{name} // $params->{uri},
        %{ $option{headers} // {} },
    );
    return (
        POST => $option{path} // '/mcp',
        headers => [%headers],
        body => $option{raw} // Toolgate::Json::encode($message)
    );
}

1;

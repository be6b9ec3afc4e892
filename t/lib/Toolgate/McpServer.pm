package Toolgate::McpServer;

# MCP servers behind a bare runner: the stand-in t/servers/mcp.pl, watched and
# called over a worker's connection.

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(dirname);
use Toolgate::Util;

our @EXPORT = qw(stand_in watch call state_of list_of names_of text_of_call);

my $program = abs_path(dirname(__FILE__) . '/../../servers/mcp.pl');

# Returns the argv of one.
sub stand_in {
    my (@how) = @_;
    return [ $^X, $program, @how ];
}

# A key that no other server of the test has.
my $last = 0;

# Watches one: (key, result). %option is its spec, and maybe its key.
sub watch {
    my ($client, %option) = @_;
    my $key = delete $option{key} // sprintf 'key-%012d', ++$last;
    my $server = delete $option{server} // 'files';
    my $reply = $client->rpc('mcp_watch',
        { key => $key, server => $server, spec => \%option });
    die $reply->{error}{message} if $reply->{error};
    return ($key, $reply->{result});
}

# Sends a call. Returns its id, for $client->reply.
sub call {
    my ($client, $key, $name, %option) = @_;
    return $client->request('mcp_call',
        { tool => "files_$name", key => $key, name => $name, %option });
}

# Waits for a wanted notification about a key's state.
sub state_of {
    my ($client, $key, $state) = @_;
    return $client->recv_where(
        sub {
            my ($m) = @_;
            return ($m->{method} // '') eq 'mcp_state'
                && $m->{params}{key} eq $key
                && $m->{params}{state} eq $state;
        },
        undef,
        "state $state"
    )->{params};
}

# Waits for a list of a key, maybe one with a tool of this name.
sub list_of {
    my ($client, $key, $tool) = @_;
    return $client->recv_where(
        sub {
            my ($m) = @_;
            return ($m->{method} // '') eq 'mcp_list'
                && $m->{params}{key} eq $key
                && (!defined $tool
                || grep { $_->{name} eq $tool } @{ $m->{params}{tools} });
        },
        undef,
        'a list'
    )->{params}{tools};
}

sub names_of {
    my ($tools) = @_;
    return join ' ', map { $_->{name} } @{ $tools // [] };
}

# Returns the text of a call's result, or its error.
sub text_of_call {
    my ($reply) = @_;
    my $result = $reply->{result};
    return $result->{message} // $result->{result}{content}[0]{text};
}

1;

package Toolgate::Storm::Handlers;

# Handlers of a storm other than `return` and `exec`. Each has the tools of a
# storm under its own name: http_run, http_nap, http_hang and so on.
#
#   lib                  a library, from a thread
#   http                 an HTTP server of the test's
#   ipc jsonrpc mcp relay
#                        `pass`, in each protocol
#   child socket url     MCP servers, one that the runner starts, one that is
#                        there, one over HTTP; their tools are no methods
#
# tell_all and clients answer at once. Backends and MCP servers are another
# Toolgate; `child` is a bridge to it, and `url` a stand-in. They have no
# generation and answer "gen-any KEY".

use strict;
use warnings;

use Toolgate::Guard;
use Toolgate::McpWeb;
use Toolgate::Native;
use Toolgate::Util;
use Toolgate::Web;

my @pass = qw(ipc jsonrpc mcp relay);
my @local = ('lib', 'http', @pass);
my @behind = qw(child socket);
my @served = (@behind, 'url');
# Handlers without cancellation.
my %cannot_cancel = (relay => 1);

# Executors that end with a worker, and lose their calls.
our @BY_WORKER = ('lib', @pass, 'tell');
our @BY_BEHIND = (@pass, @behind);
our @BY_RUNNER = ('exec', 'lib', 'http', 'url', @BY_BEHIND);

# Returns all handlers.
sub all { return ('return', 'exec', 'tell', @local, @served) }

sub new {
    my ($class, $tg) = @_;
    my $there = Toolgate::Test->new(workers => 2);
    $there->allow_log(qr/exited on signal 9/);
    Toolgate::Native->probe($tg->dir . '/probe.so', 'storm');
    return bless {
        tg    => $tg,
        there => $there,
        web   => Toolgate::Web->new($tg, is_silent => 1),
        mcp   => Toolgate::McpWeb->new($tg, 'legacy', '--',
            'names=' . $tg->file('names', "run\nnap\n")),
    }, $class;
}

sub there { return $_[0]{there} }

# Starts backends and servers, with the storm's programs in this folder.
sub start {
    my ($self, $dir) = @_;
    my %handler = (
        run  => 'return "gen-any $tool_arg_n";',
        nap  => qq(exec $dir/nap \$tool_arg_s "gen-any \$tool_arg_n";),
        hang => 'exec sleep 3600;',
    );
    my $body = "tool_idle_timeout off frame=15m;\ntool_send_timeout 15m;\n";
    for my $name (sort keys %handler) {
        my $do = $handler{$name};
        $do .= ' stdin ""; timeout 15m;' if $do =~ /^exec/;
        $body .= "tool $name { description x; $do }\n"
            . "method $name { $do output text; }\n";
    }
    $self->{there}->conf($body)->start;
}

# Returns a body that answers after some seconds with a value without blanks.
sub handler {
    my ($self, $by, $name, $seconds, $value) = @_;
    my $path = $self->{there}->socket_path;
    return "pass unix:$path protocol=$by name=$name;" if $by ne 'lib'
        && $by ne 'http';
    return 'library ' . $self->{tg}->dir
        . qq(/probe.so probe_later $seconds "$value";)
        if $by eq 'lib';
    return 'http GET ' . $self->{web}->url("/nap/$seconds/")
        . $value =~ s/ /%20/r . ';';
}

# Returns a part of the body of a server.
sub body {
    my ($self, $n) = @_;
    my $path = $self->{there}->socket_path;
    my %seconds = (run => '0.02', nap => '$tool_arg_s', hang => '3600');
    my $text = join '', map {
        "$_ tell_all { broadcast notifications/told; output text; }\n"
            . "$_ clients { clients; output text; }\n"
    } qw(tool method);
    for my $by (@local) {
        for my $name (sort keys %seconds) {
            my $do = $self->handler($by, $name, $seconds{$name},
                "gen-$n \$tool_arg_n");
            $text .= "tool ${by}_$name { description x; $do timeout 15m; "
                . "output text; }\n"
                . "method ${by}_$name { $do timeout 15m; output text; }\n";
        }
    }
    return $text
        . "mcp_server child { exec "
        . $self->{tg}->bridge_path
        . " $path; idle off; timeout 15m; }\n"
        . "mcp_server socket { pass unix:$path; timeout 15m; }\n"
        . "mcp_server url { url "
        . $self->{mcp}->url
        . "; idle off; timeout 15m; tools run nap hang; }\n";
}

# Returns all tools with this function, for a client of this kind.
sub variants {
    my ($self, $tool, $kind) = @_;
    return $tool if $tool !~ /^(?:run|nap|hang)$/;
    my @by = (@local, $kind eq 'rpc' ? () : @served);
    @by = grep { !$cannot_cancel{$_} } @by if $tool eq 'hang';
    return ($tool, map {"${_}_$tool"} @by);
}

# Returns the handler of a tool, by its name.
sub by {
    my ($tool) = @_;
    return $1 if $tool =~ /^(?:(\w+)_)?(?:run|nap|hang|all)$/ && $1;
    return $tool =~ /^(?:run|nap|hang)$/ ? 'exec' : 'return';
}

# Waits until every worker has listed the MCP servers' tools.
sub wait_ready {
    my ($self) = @_;
    my $seen = 0;
    wait_for {
        my $list = $self->{tg}->connect->rpc('tools/list')->{result}{tools};
        my %has = map { $_->{name} => 1 } @$list;
        my $has_all = !grep { !$has{"${_}_hang"} } @served;
        $seen = $has_all ? $seen + 1 : 0;
        return $seen > 20;
    } 'the tools of the MCP servers';
}

# --- processes --------------------------------------------------------------

# Returns the processes of the HTTP server, one per connection.
sub web_pids {
    my ($self) = @_;
    return grep { parent_of($_) == $self->{web}{pid} }
        keys %{ Toolgate::Guard::processes() };
}

# Returns the processes of the MCP server over HTTP.
sub mcp_pids {
    my ($self) = @_;
    my $pid = $self->{mcp}{pid};
    return ($pid, grep { parent_of($_) == $pid }
        keys %{ Toolgate::Guard::processes() });
}

# Ends its connections and their calls.
sub cut { $_[0]{mcp}->control('cut') }

# Returns the MCP servers that the runner has started.
sub child_pids {
    my ($self) = @_;
    my $processes = Toolgate::Guard::processes();
    my $path = $self->{tg}->bridge_path;
    return grep { $processes->{$_} =~ m{^\Q$path\E } } keys %$processes;
}

# Returns all processes that may exist at rest.
sub pids {
    my ($self) = @_;
    my $there = $self->{there};
    my $state = $there->state_dir;
    my $processes = Toolgate::Guard::processes();
    my @children = $self->child_pids;
    return (
        $self->{web}{pid}, $self->web_pids, $self->mcp_pids,
        $there->master_pid,
        $there->worker_pids,
        (@children <= 1 ? @children : ()),
        grep { $processes->{$_} =~ /toolgate-runner --state-dir \Q$state\E/ }
            keys %$processes);
}

1;

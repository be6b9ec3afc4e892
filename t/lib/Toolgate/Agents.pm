package Toolgate::Agents;

# Real agents from npm (t/agents), with a model of the test and no network.

use strict;
use warnings;

use Carp qw(croak);
use Toolgate::Json;
use Toolgate::Node;
use Toolgate::Process;
use Toolgate::Util;

my $dir = "$TOP/t/agents";
my $key = 'sk-ant-api03-no-key-of-anybody-0000000000';

# Options: servers => { name => [ command ] }.
sub new {
    my ($class, $tg, %option) = @_;
    Toolgate::Node::install($dir);
    my $self = bless {
        tg     => $tg,
        home   => $tg->dir . '/home',
        socket => $tg->dir . '/tmux',
        %option,
    }, $class;
    mkdir "$self->{home}$_" or croak "$self->{home}$_: $!" for '', '/work';
    $self->{model} = $tg->spawn({}, 'node', "$dir/model.mjs");
    $self->{url} = $self->{model}->recv_line;
    return $self;
}

# The config of npm's reference servers. The folder of `files` is its argument.
sub reference_servers {
    my ($folder) = @_;
    Toolgate::Node::install();
    my $server = "$TOP/t/clients/node_modules/.bin/mcp-server";
    return <<"END";
mcp_server every  { exec $server-everything; }
mcp_server files  { exec $server-filesystem $folder; }
mcp_server memory { exec $server-memory; prefix know_;
                    env MEMORY_FILE_PATH $folder/graph.json; }
END
}

# The environment of agents, which is not that of the test's user.
sub env {
    my ($self) = @_;
    return {
        HOME                                     => $self->{home},
        CODEX_HOME                               => "$self->{home}/codex",
        ANTHROPIC_API_KEY                        => $key,
        ANTHROPIC_BASE_URL                       => $self->{url},
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC => 1,
        CLAUDE_CONFIG_DIR                        => "$self->{home}/claude",
        DISABLE_AUTOUPDATER                      => 1,
        ENABLE_TOOL_SEARCH                       => 'false',
        IS_SANDBOX                               => 1,
        TERM                                     => 'xterm-256color',
        %{ $self->{tg}->san_env },
    };
}

# Lets the model call a tool when it gets some text.
sub will_call {
    my ($self, $when, $name, $arguments, $namespace) = @_;
    $self->{model}->send_line({
        when      => $when,
        call      => $name,
        arguments => $arguments,
        namespace => $namespace,
    });
}

# Returns the next request of an agent to its model that matches.
sub asked {
    my ($self, $pattern) = @_;
    my $line;
    do {
        $line = $self->{model}->recv_line;
    } until $line =~ $pattern;
    return Toolgate::Json::decode($line);
}

sub write_file {
    my ($self, $name, $text) = @_;
    open my $fh, '>', "$self->{home}/$name" or croak "$name: $!";
    print($fh $text) && close $fh or croak "$name: $!";
}

# --- Claude Code ---

sub start_claude {
    my ($self, @option) = @_;
    my ($claude) = glob "$dir/node_modules/\@anthropic-ai/*/claude"
        or croak 'there is no Claude Code for this processor';
    mkdir "$self->{home}/claude";
    $self->write_file('claude/.claude.json', Toolgate::Json::encode({
        hasCompletedOnboarding => \1,
        theme                  => 'dark',
        customApiKeyResponses  => { approved => [ substr $key, -20 ] },
        projects               => {
            "$self->{home}/work" => { hasTrustDialogAccepted => \1 },
        },
    }));
    my %servers = map {
        my ($command, @args) = @{ $self->{servers}{$_} };
        $_ => { command => $command, args => \@args }
    } keys %{ $self->{servers} };
    $self->write_file('servers.json',
        Toolgate::Json::encode({ mcpServers => \%servers }));
    # Not as a daemon: it ends with the test, also when that is killed, and
    # with it the agent and its bridge.
    $self->{tmux} = $self->{tg}->spawn({ env => $self->env },
        qw(tmux -D -f /dev/null -S), $self->{socket});
    wait_for { -S $self->{socket} } 'tmux';
    $self->tmux('new-session', '-d', '-x', 150, '-y', 50, '-c',
        "$self->{home}/work", $claude, '--strict-mcp-config', '--mcp-config',
        "$self->{home}/servers.json", @option);
}

# The screen of Claude Code: a terminal that tmux keeps.
sub tmux {
    my ($self, @command) = @_;
    my ($status, $out, $err) = run_command({ env => $self->env },
        'tmux', '-N', '-S', $self->{socket}, @command);
    croak "tmux @command: $err" if $status;
    return $out;
}

# Types some text, or presses keys that have a name.
sub type { $_[0]->tmux('send-keys', '-l', $_[1]) }
sub press { my ($self, @keys) = @_; $self->tmux('send-keys', @keys) }
sub screen { $_[0]->tmux('capture-pane', '-p') }

# Waits for something on the screen.
sub sees {
    my ($self, $pattern) = @_;
    my $screen = '';
    my $seen = eval {
        wait_for { ($screen = $self->screen) =~ $pattern } "$pattern";
    };
    Test::More::diag($screen) if !$seen;
    return $seen;
}

# Waits until the answer to the last message is complete.
sub rest {
    my ($self) = @_;
    return wait_for { $self->screen !~ /esc to interrupt/ } 'the last answer';
}

sub submit {
    my ($self, $text) = @_;
    $self->rest;
    $self->type($text);
    $self->press('Enter');
}

sub stop_claude {
    my ($self) = @_;
    $self->tmux('kill-server');
    $self->{tmux}->wait_exit;
}

# --- Codex and the Inspector ---

# Runs Codex with a prompt. Returns its events.
sub run_codex {
    my ($self, $prompt) = @_;
    my $config = <<"END";
model = "none"
model_provider = "test"
[model_providers.test]
name = "test"
base_url = "$self->{url}/v1"
wire_api = "responses"
requires_openai_auth = false
END
    for my $name (sort keys %{ $self->{servers} }) {
        my ($command, @args) =
            map { Toolgate::Json::encode($_) } @{ $self->{servers}{$name} };
        $config .= "[mcp_servers.$name]\ncommand = $command\n"
            . 'args = [' . join(', ', @args) . "]\n";
    }
    mkdir "$self->{home}/codex";
    $self->write_file('codex/config.toml', $config);
    my ($status, $out, $err) = run_command(
        { env => $self->env, cwd => "$self->{home}/work", timeout => 120 },
        "$dir/node_modules/.bin/codex", 'exec', '--skip-git-repo-check',
        '--json', $prompt);
    croak "codex: $out$err" if $status;
    return map { Toolgate::Json::decode($_) } split /\n/, $out;
}

# Lets the model call a tool, checks that the call completes, and returns what
# the model gets, as JSON.
sub result_of_codex {
    my ($self, $name, $arguments, $namespace) = @_;
    $self->will_call('Call it', $name, $arguments, $namespace);
    my @events = $self->run_codex('Call it, please.');
    my ($call) =
        grep { ($_->{type} // '') eq 'mcp_tool_call' && $_->{result} }
        map { $_->{item} // {} } @events;
    Test::More::is($call->{status}, 'completed', "$name: completed")
        or Test::More::diag(map { Toolgate::Json::encode($_) . "\n" } @events);
    my $asked = $self->asked(qr/"function_call_output"/);
    return Toolgate::Json::encode(
        [ grep { $_->{type} eq 'function_call_output' }
            @{ $asked->{input} } ]);
}

# Runs the Inspector's command line against the first server. Returns the exit
# status, and the result or what was printed.
sub inspect {
    my ($self, @option) = @_;
    my ($name) = sort keys %{ $self->{servers} };
    my ($status, $out, $err) = run_command(
        { env => $self->env, cwd => "$self->{home}/work", timeout => 120 },
        "$dir/node_modules/.bin/mcp-inspector", '--cli',
        @{ $self->{servers}{$name} }, @option);
    my ($json) = $out =~ /^(\{.*)/ms;
    return ($status, $status || !$json ? "$out$err"
        : Toolgate::Json::decode($json));
}

1;

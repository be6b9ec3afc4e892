package Toolgate::Runner;

# toolgate-runner without NGINX: started as by a worker or in the foreground,
# and used as by a worker.

use strict;
use warnings;

use Carp qw(croak);
use Toolgate::Client;
use Toolgate::Util;

# Options: foreground, linger (1000: it stays), state (a folder), setup (shell
# commands before it, in its process).
sub start {
    my ($class, $tg, %option) = @_;
    my $state = $option{state} // $tg->state_dir;
    my $self = bless {
        tg     => $tg,
        state  => $state,
        socket => "$state/runner-3.sock",
        log    => "$state.log",
    }, $class;
    unlink $self->{log};
    my @command = (
        $tg->runner_path, '--state-dir', $state,
        '--linger', $option{linger} // 1000,
    );
    if ($option{foreground}) {
        $self->{process} =
            $tg->spawn({ stderr => $self->{log} }, @command, '--foreground');
        $self->{supervisor} = $self->{process}->pid;
        wait_for {
            die 'it ended: ' . $self->log
                if !$self->{process}->is_running;
            return $self->log =~ /toolgate-runner: pid (\d+) serves/
                && ($self->{pid} = $1);
        } 'the runner';
        return $self;
    }
    my $setup = $option{setup} // '';
    my ($status, $out, $err) = run_command({ env => $tg->san_env },
        '/bin/sh', '-c', "$setup\nexec \"\$@\" 2>>$self->{log}", 'sh',
        @command);
    croak "runner: exit status $status: " . $self->log if $status;
    $self->{pid} = runner_in($state);
    $self->{supervisor} = parent_of($self->{pid});
    return $self;
}

sub pid { return $_[0]{pid} }
sub supervisor { return $_[0]{supervisor} }
sub socket_path { return $_[0]{socket} }
sub log { return slurp($_[0]{log}) // '' }
sub connect { return Toolgate::Client->connect($_[0]{socket}) }

# Waits for the end of the runner and its supervisor.
sub wait_gone {
    my ($self, $timeout) = @_;
    my $reap = $self->{process};
    return wait_for {
        $reap->is_running if $reap;
        return !is_alive($self->{pid}) && !is_alive($self->{supervisor});
    } 'the runner to go', $timeout;
}

# Returns the result of a program over a connection.
sub exec {
    my ($client, $argv, %params) = @_;
    return $client->rpc('exec', { tool => 'tool', argv => $argv, %params });
}

sub sh {
    my ($script, %params) = @_;
    return { tool => 'tool', argv => [ '/bin/sh', '-c', $script ], %params };
}

# Returns the params of a program with children that resist: one in its group,
# one in its own session, one orphaned there; and a function that waits for
# their pids.
sub stubborn {
    my ($dir) = @_;
    my $loop = 'while :; do sleep 1; done';
    my $child = sub {
        my ($name) = @_;
        return "echo \$\$ >$dir/$name.new; mv $dir/$name.new $dir/$name; $loop";
    };
    my ($one, $two, $three) = map { $child->($_) } qw(one two three);
    (my $nested = "sh -c '$three' & exit") =~ s/(["\$\\])/\\$1/g;
    my $script = "trap '' TERM; sh -c '$one' & setsid sh -c '$two' & "
        . "setsid setsid sh -c \"$nested\" & $loop";
    my $pids = sub {
        return map {
            my $file = "$dir/$_";
            my $pid = wait_for(sub { slurp($file) }, $file) + 0;
            unlink $file;
            $pid;
        } qw(one two three);
    };
    return (sh($script), $pids);
}

1;

package Toolgate::Test;

# The harness of the integration tests: a private NGINX with the module, its
# clients, and at the end the proof that nothing is left.
#
#   use Toolgate::Test;     # also strict, warnings, JSON::PP, the functions of
#                           # Test::More, Toolgate::Util and ::Measure
#   my $tg = Toolgate::Test->new;
#   $tg->conf('tool hi { description "Says hi."; return hi; }');
#   $tg->start;
#   my $c = $tg->connect;
#   is $c->call_tool('hi')->{result}{content}[0]{text}, 'hi';
#   done_testing;
#
# `use Toolgate::Test qw(Hang Move)` also loads Toolgate::Hang and ::Move.
# Options follow: `timeout => 1800` gives a file more than the 15 minutes that
# end a hanging one; `plain_only => WHY` runs it without the sanitizers only,
# `plain_too => WHY` with and without. TOOLGATE_BUILD names the build folder,
# TOOLGATE_TEST_KEEP keeps the temporary folder, TOOLGATE_TEST_DEBUG sets
# NGINX's log level to debug.

use strict;
use warnings;

use Carp qw(croak);
use POSIX ();

use Toolgate::Client;
use Toolgate::Guard;
use Toolgate::Measure;
use Toolgate::Process;
use Toolgate::Report;
use Toolgate::Util;

our (@started, $finished, $test, $plain_too);

# Maximum time of the end; a process that is left never ends.
our $END_TIME = 90;

sub import {
    my $class = shift;
    my @modules;
    push @modules, shift while @_ && $_[0] =~ /^[A-Z]/;
    my %option = @_;
    my $caller = caller;
    Toolgate::Util::load_build_env();
    my $timeout = $option{timeout} // 900;
    $plain_too = $option{plain_too};
    if ($BUILD_ENV{san}) {
        # Not skipped: no part of the suite runs it by mistake.
        die "$0 is without sanitizers only: $option{plain_only}\n"
            if $option{plain_only};
        $timeout *= 3;
        $Toolgate::Client::TIMEOUT *= 3;
    }
    # Test::More takes the process that loads it for the test, unless
    # module/build/prove.pl has loaded it.
    croak 'use Toolgate::Test before Test::More'
        if $INC{'Test/More.pm'} && !Test2::API::test2_in_preload();
    Toolgate::Guard::start($timeout);
    $test = $$;
    require Test::More;
    Test2::API::test2_load() if Test2::API::test2_stop_preload();
    delete $ENV{T2_IN_PRELOAD};
    Toolgate::Report::start();

    my $load = join '', map {"require Toolgate::$_; Toolgate::$_->import;"}
        qw(Util Measure), @modules;
    eval "package $caller; Test::More->import; $load 1" or die $@;
    no strict 'refs';
    no warnings 'redefine';
    *{"${caller}::done_testing"} = \&finish;
    strict->import;
    warnings->import;
}

sub build_dir { return $BUILD }
sub top { return $TOP }

# A test that asserts less under the sanitizers must run without them, too.
sub is_san {
    croak 'say plain_too => WHY' if !$plain_too;
    return !!$BUILD_ENV{san};
}

# --- the server -----------------------------------------------------------

# Options: user (of the workers; default: the test's), workers (2).
sub new {
    my ($class, %option) = @_;
    my $dir = Toolgate::Guard::root() . '/' . (@started + 1);
    my $user = $option{user} // getpwuid $>;
    mkdir $_ or croak "$_: $!" for $dir, "$dir/state", "$dir/san";
    chmod 0755, $dir;
    chmod 0777, "$dir/san";
    chmod 0700, "$dir/state";
    my ($uid, $gid) = (getpwnam $user)[2, 3];
    croak "no user $user" if !defined $uid;
    if ($> == 0) {
        chown $uid, $gid, "$dir/state" or croak "chown: $!";
    }
    my $self = bless {
        dir     => $dir,
        socket  => "$dir/t.sock",
        user    => $user,
        group   => scalar getgrgid $gid,
        workers => $option{workers} // 2,
        allowed => [],
        wrong   => [],
        spawned => [],
        env     => {},
        serial  => 0,
    }, $class;
    push @started, $self;
    return $self;
}

sub dir { return $_[0]{dir} }
sub env { return $_[0]{env} }
sub socket_path { return $_[0]{socket} }
sub state_dir { return "$_[0]{dir}/state" }
sub runner_path { return "$BUILD/toolgate-runner" }
sub bridge_path { return "$BUILD/toolgate-bridge" }
sub master_pid { return $_[0]{master} }

# Writes a file into the prefix. Returns its path.
sub file {
    my ($self, $name, $text, $mode) = @_;
    my $path = "$self->{dir}/$name";
    open my $fh, '>:raw', $path or croak "$path: $!";
    print($fh $text) && close $fh or croak "$path: $!";
    chmod $mode // 0644, $path;
    return $path;
}

# Replaces nginx.conf at once (NGINX may be reading it): the body of one stream
# server, with listen, tool_runner and tool_state_dir if they are missing.
# Options: main, events, stream (text for these levels), workers, server => 0
# (the body is that of `stream`). %%DIR%%, %%SOCKET%%, %%STATE%% are replaced.
sub conf {
    my ($self, $body, %option) = @_;
    $self->{expected} = $option{workers} // $self->{workers};
    rename $self->file('nginx.conf~', $self->conf_text($body, %option)),
        "$self->{dir}/nginx.conf" or croak "nginx.conf: $!";
    return $self;
}

sub conf_text {
    my ($self, $body, %option) = @_;
    my $dir = $self->{dir};
    my $workers = $option{workers} // $self->{workers};
    my $level = $ENV{TOOLGATE_TEST_DEBUG} ? 'debug' : 'info';
    my ($main, $events, $stream) =
        map { $_ // '' } @option{qw(main events stream)};

    if ($option{server} // 1) {
        my $head = '';
        $head .= "listen unix:$self->{socket};\n"
            if $body !~ /^\s*listen\s/m;
        $head .= "tool_runner $BUILD/toolgate-runner;\n"
            if $body !~ /^\s*tool_runner\s/m;
        $head .= "tool_state_dir $dir/state;\n"
            if $body !~ /^\s*tool_state_dir\s/m;
        $body = "server {\n$head$body\n}";
    }
    my $load = join '', map {"load_module $_;\n"}
        grep { defined && length } @BUILD_ENV{qw(stream_module module)};
    my $user = $> == 0 ? "user $self->{user} $self->{group};" : '';
    # NGINX clears its environment; the runner needs these to report.
    my $san = $self->san_env;
    my $env = join "\n", map {qq(env "$_=$san->{$_}";)} sort keys %$san;

    my $text = <<"END";
$load
$user
$env
daemon off;
master_process on;
worker_processes $workers;
pid nginx.pid;
lock_file nginx.lock;
error_log error.log $level;
$main
events { $events }
stream {
$stream
$body
}
END
    $text =~ s/%%DIR%%/$dir/g;
    $text =~ s/%%SOCKET%%/$self->{socket}/g;
    $text =~ s/%%STATE%%/$dir\/state/g;
    return $text;
}

sub nginx_command {
    my ($self, @more) = @_;
    return ($BUILD_ENV{nginx_bin}, '-p', "$self->{dir}/", '-e', 'error.log',
        '-c', 'nginx.conf', @more);
}

# Returns NGINX's environment. Debian's binary has no sanitizer, so that the
# runtime must be preloaded.
sub nginx_env {
    my ($self) = @_;
    my %env = %{ $self->{env} };
    return \%env if !$BUILD_ENV{san};
    my @preload = sanitizers();
    # NGINX does not free all memory at exit.
    my @options = 'detect_leaks=0';
    if ($env{LD_PRELOAD}) {
        # In front of the sanitizer's own allocator, which has to be first.
        unshift @preload, $env{LD_PRELOAD};
        push @options, 'verify_asan_link_order=0';
    }
    return { %env, %{ $self->san_env(@options) },
        LD_PRELOAD => join ':', @preload };
}

# Preloads t/faults/NAME.c into NGINX, with variables, before start.
sub preload {
    my ($self, $name, %env) = @_;
    $self->{env} = { LD_PRELOAD => "$BUILD/faults/$name.so", %env };
    return $self;
}

# All processes report to files that finish() reads.
sub san_env {
    my ($self, @more) = @_;
    return {} if !$BUILD_ENV{san};
    my $log = "log_path=$self->{dir}/san/report";
    return {
        ASAN_OPTIONS => join(':', $ENV{ASAN_OPTIONS} // (), @more, $log),
        UBSAN_OPTIONS => join(':', $ENV{UBSAN_OPTIONS} // (), $log),
    };
}

# Starts NGINX and waits for its socket and all workers. Options: socket =>
# another one to wait for, or 0.
sub start {
    my ($self, %option) = @_;
    croak 'started already' if $self->{master};
    my $from = $self->log_size;
    $self->{master} = $self->launch;
    my $socket = $option{socket} // $self->{socket};
    my $ok = eval {
        wait_for {
            die "NGINX ended at once\n" if !$self->is_running;
            return 0 if $socket && !-e $socket;
            return 0 if $self->worker_pids < $self->{expected};
            return !$socket || is_listening($socket);
        } "NGINX to listen on $socket";
        1;
    };
    if (!$ok) {
        my $why = $@;
        my $output = slurp("$self->{dir}/output") // '';
        $self->kill_master;
        croak $why . $output . substr $self->log, $from;
    }
    return $self;
}

# Checks whether a socket accepts connections. Returns after the worker has
# closed this one.
sub is_listening {
    my ($socket) = @_;
    my $probe = IO::Socket::UNIX->new(Peer => $socket) or return 0;
    $probe->shutdown(1);
    1 while sysread $probe, my $said, 65_536;
    return 1;
}

sub launch {
    my ($self) = @_;
    my $pid = fork // croak "fork: $!";
    return $pid if $pid;
    my $output = "$self->{dir}/output";
    Toolgate::Process::exec_command({
            env    => $self->nginx_env,
            cwd    => $self->{dir},
            stdout => $output,
            stderr => $output,
        },
        $self->nginx_command);
}

# Tries a start that must fail. Returns exit status and output.
sub start_fails {
    my ($self) = @_;
    my ($status, $out, $err) = run_command({ env => $self->nginx_env },
        $self->nginx_command);
    return ($status, $out . $err);
}

# Runs nginx -t with a body (as in conf). Returns exit status and output. The
# running server's files do not change.
sub test_conf {
    my ($self, $body, %option) = @_;
    my $name = 'nginx.conf';
    if (defined $body) {
        $name = 'test.conf';
        my $text = $self->conf_text($body, %option);
        $text =~ s/error_log error\.log/error_log test.log/;
        $self->file($name, $text);
    }
    my ($status, $out, $err) = run_command(
        { env => $self->nginx_env }, $BUILD_ENV{nginx_bin}, '-t',
        '-p', "$self->{dir}/", '-e', 'test.log', '-c', $name);
    return ($status, $out . $err);
}

# Waits until the master has handled all earlier signals: it handles them
# between two iterations, so it must handle SIGIO, which has no effect, twice.
sub master_rests {
    my ($self) = @_;
    for my $round (1 .. 2) {
        my $from = $self->log_size;
        kill IO => $self->{master} or croak "kill: $!";
        $self->wait_log(qr/\(SIGIO\) received/, $from);
    }
    return $self;
}

# Message after which a worker does not serve any more. A worker that was told
# to exit may serve until another has started.
my $SERVES_NO_MORE =
    qr/(\d+)\#\d+:\ (?:this\ worker\ no\ longer\ accepts|exiting)/x;

# Reloads by SIGHUP, as `nginx -s reload` would cost another start of NGINX,
# after writing a config if one is given. Returns when every new worker runs and
# every old one has stopped listening.
sub reload {
    my ($self, $body, %option) = @_;
    $self->conf($body, %option) if defined $body;
    # Workers that were seen leaving, whatever their title is.
    my $leaving = $self->{leaving} //= {};
    delete @$leaving{ grep { !is_alive($_) } keys %$leaving };
    my %old = map { $_ => 1 } grep { !$leaving->{$_} } $self->worker_pids;
    my $from = $self->log_size;
    my $is_told = $self->log =~ /start worker process/;
    $self->signal_reload('HUP');
    wait_for {
        my $log = $self->log($from);
        die "the reload failed: $1\n" if $log =~ /(\[emerg\].*)/;
        my %quit = map { $_ => 1 } $log =~ /$SERVES_NO_MORE/g;
        return !grep { !$quit{$_} && is_alive($_) } keys %old;
    } 'the old workers to stop listening';
    @$leaving{ keys %old } = values %old;
    # The master may be at an earlier reload, whose workers leave as well; and
    # two pending signals are one.
    $self->master_rests if $is_told;
    wait_for {
        my @new = grep { !$leaving->{$_} } $self->worker_pids;
        return @new >= $self->{expected} if !$is_told;
        my $log = $self->log($from);
        my ($since) = $log =~ /.*\(SIGHUP\) received from [^\n]*\n(.*)/s
            or return;
        ($since) = $since =~ /: reconfiguring\n(.*)/s or return;
        my %new = map { $_ => 1 } $since =~ /start worker process (\d+)/g;
        my %quit = map { $_ => 1 } $log =~ /$SERVES_NO_MORE/g;
        return keys %new >= $self->{expected}
            && !grep { !$new{$_} && !$quit{$_} } @new;
    } 'the new workers';
    return $self;
}

# Tries a reload that must be rejected. Returns its log.
sub reload_fails {
    my ($self, $body, %option) = @_;
    $self->conf($body, %option);
    my $from = $self->log_size;
    $self->allow_log(qr/\[emerg\]/);
    $self->signal_reload('HUP');
    wait_for { $self->log($from) =~ /\[emerg\]/ } 'the reload to be refused';
    return $self->log($from);
}

# Runs `nginx -s reload`, or sends the signal that it would send.
sub signal_reload {
    my ($self, $signal) = @_;
    if ($signal) {
        kill $signal => $self->{master} or croak "kill: $!";
        return;
    }
    my ($status, $out, $err) = run_command({ env => $self->nginx_env },
        $self->nginx_command('-s', 'reload'));
    croak "nginx -s reload: $out$err" if $status;
}

# Stops NGINX, and checks that it ends cleanly. Options: signal (TERM).
sub stop {
    my ($self, %option) = @_;
    my $pid = $self->{master} or return;
    kill $option{signal} // 'TERM', $pid;
    my $ok = eval {
        wait_for { !$self->is_running } 'NGINX to stop';
        1;
    };
    $self->kill_master if !$ok;
    $self->{master} = undef;
    croak 'NGINX did not stop' if !$ok;
    push @{ $self->{wrong} }, "NGINX ended with status $self->{status}"
        if $self->{status};
    return $self->{status};
}

# Kills and reaps the master, but not its workers.
sub kill_master {
    my ($self) = @_;
    my $pid = delete $self->{master} or return;
    return if ($self->{reaped} // 0) == $pid;
    kill KILL => $pid;
    waitpid $pid, 0;
    $self->{reaped} = $pid;
}

sub is_running {
    my ($self) = @_;
    my $pid = $self->{master} or return 0;
    return 0 if ($self->{reaped} // 0) == $pid;
    my $done = waitpid $pid, POSIX::WNOHANG();
    return 1 if $done == 0;
    $self->{status} = $?;
    $self->{reaped} = $pid;
    return 0;
}

# --- events ---------------------------------------------------------------

# Returns the workers that serve; all => 1: also those that shut down.
sub worker_pids {
    my ($self, %option) = @_;
    my $master = $self->{master} or return;
    my $processes = Toolgate::Guard::processes();
    my @pids = sort { $a <=> $b } grep {
        my $command = $processes->{$_};
        $command =~ /^nginx: worker process/
            && ($option{all} || $command !~ /shutting down/)
            && parent_of($_) == $master;
    } keys %$processes;
    return @pids;
}

# Kills workers and waits for the next ones.
sub kill_workers {
    my ($self, @pids) = @_;
    my %killed = map { $_ => 1 } @pids;
    $self->allow_log(qr/exited on signal 9/);
    kill KILL => @pids;
    wait_for {
        my @now = $self->worker_pids;
        return @now == $self->{expected} && !grep { $killed{$_} } @now;
    } 'other workers';
}

# Returns the runners below this test; those of $tg have its command line,
# socket or folder, but most tests have one server.
sub runner_pids {
    my ($self) = @_;
    my @pids = sort { $a <=> $b }
        grep { is_runner($_) } keys %{ Toolgate::Guard::processes() };
    return @pids;
}

# Returns the runner that serves $tg; see runner_in.
sub runner_pid { return runner_in($_[0]->state_dir) }

# Returns all live processes below the test, as { pid => command line }.
sub processes { return Toolgate::Guard::processes() }

sub log_size {
    my ($self) = @_;
    return -s "$self->{dir}/error.log" // 0;
}

sub log {
    my ($self, $from) = @_;
    open my $fh, '<:raw', "$self->{dir}/error.log" or return '';
    seek $fh, $from, 0 if $from;
    local $/;
    return scalar(<$fh>) // '';
}

sub wait_log {
    my ($self, $pattern, $from) = @_;
    wait_for { $self->log($from) =~ $pattern } "$pattern in the log";
    return 1;
}

# Matching lines of the log do not fail the test.
sub allow_log {
    my ($self, @patterns) = @_;
    push @{ $self->{allowed} }, @patterns;
}

# --- clients --------------------------------------------------------------

sub connect {
    my ($self, $path) = @_;
    return Toolgate::Client->connect($path // $self->{socket});
}

# Starts a program with pipes, which is stopped at the end of the test.
sub spawn {
    my ($self, $option, @command) = @_;
    $option = {
        stderr => "$self->{dir}/stderr." . ++$self->{serial},
        %$option,
        env => { %{ $self->san_env }, %{ $option->{env} // {} } },
    };
    my $process = Toolgate::Process->spawn($option, @command);
    push @{ $self->{spawned} }, $process;
    return $process;
}

# Starts toolgate-bridge, by default with this server's socket.
sub bridge {
    my ($self, $args, $env) = @_;
    return $self->spawn({ env => $env }, "$BUILD/toolgate-bridge",
        @{ $args // [ $self->{socket} ] });
}

# Runs toolgate with this server's socket. Returns exit status, stdout, stderr.
# A first hash has options: env, stdin, timeout, cwd.
sub cli {
    my ($self, @args) = @_;
    my $option = ref $args[0] ? shift @args : {};
    my $env = {
        TOOLGATE_SOCKET => $self->{socket},
        %{ $self->san_env },
        %{ $option->{env} // {} },
    };
    return run_command({ %$option, env => $env }, "$BUILD/toolgate", @args);
}

# --- the end --------------------------------------------------------------

# done_testing of the test files: stops everything; checks in one more test that
# nothing is left or was reported.
sub finish {
    return Test::More::done_testing(@_)
        if Test2::API::test2_stack()->top->isa('Test2::Hub::Subtest');
    Toolgate::Report::show(@started) if !Test::More->builder->is_passing;
    my @wrong = wind_up();
    Test::More::ok(!@wrong, 'nothing left, nothing reported');
    Test::More::diag($_) for @wrong;
    Test::More::done_testing();
    Toolgate::Report::keep(\@started, @wrong);
}

sub wind_up {
    $finished = 1;
    my @wrong;
    for my $tg (@started) {
        $_->stop for @{ $tg->{spawned} };
        eval { $tg->stop; 1 } or push @wrong, $@;
    }
    push @wrong, end_processes();
    push @wrong, Toolgate::Report::complaints($_) for @started;
    return @wrong;
}

# Ends runners, which outlive their last worker. Nothing else may be left.
sub end_processes {
    my (@wrong, %asked);
    my $deadline = time + $END_TIME * ($BUILD_ENV{san} ? 3 : 1);
    # Two empty looks: processes may change parents during one.
    my ($left, $empty) = ({}, 0);
    while ($empty < 2 && time < $deadline) {
        $left = Toolgate::Guard::processes();
        $empty = %$left ? 0 : $empty + 1;
        next if $empty;
        # One may have been starting when the workers ended.
        kill TERM => $_
            for grep { is_runner($_) && !$asked{$_}++ } keys %$left;
        select undef, undef, undef, 0.02;
    }
    return if !%$left;
    push @wrong, "left behind: $_ $left->{$_}"
        for sort { $a <=> $b } keys %$left;
    Toolgate::Guard::sweep();
    return @wrong;
}

END {
    # Neither a test that skips itself nor a forked child has anything to clean
    # up.
    if (!$^C && !$finished && $test && $test == $$ && ($? || @started)) {
        my $status = $?;
        Toolgate::Report::show(@started);
        my @wrong = wind_up();
        Test::More::diag($_) for @wrong;
        Toolgate::Report::keep(\@started, 'it ended too early', @wrong);
        $? = $status || 1;
    }
}

1;

#!/usr/bin/perl
# A call on its way between workers, while its runner is another one,
# unreachable or killed, or a worker is killed: its program answers it, or the
# error says that it may have been executed; never that it was not started.

use strict;
use warnings;

use File::Copy qw(copy);

use Toolgate::Test qw(Hang Move Way);

my ($tg, $hang, $n, $serial);

# A new server each time, because the reload changes it.
sub server {
    my (%option) = @_;
    my $preload = delete $option{preload};
    $tg = Toolgate::Test->new(workers => 1, %option);
    $tg->preload($preload, TG_BETWEEN => $tg->dir . '/asks') if $preload;
    $tg->allow_log(qr/exited on signal 9/, qr/could not be started/);
    copy($tg->runner_path, $tg->dir . '/runner') or die "copy: $!";
    chmod 0755, $tg->dir . '/runner';
    $hang = Toolgate::Hang->new($tg);
    chmod 0666, $tg->dir . '/started';
    $n = 0;
    $tg->conf(body())->start;
}

# Options: dir, of the runner.
sub body {
    my (%option) = @_;
    my $dir = $option{dir} // $tg->state_dir;
    $n++;
    return <<"END";
tool_runner %%DIR%%/runner;
tool_state_dir $dir;
tool_socket_mode 0666;
tool n { return $n; }
tool hang { @{[ $hang->handler ]} }
END
}

# Returns a client of each dialect whose program runs.
sub busy {
    my @ways = Toolgate::Way->all($tg);
    for my $way (@ways) {
        $way->{key} = $way->name . ++$serial;
        $way->{call} = $way->start('hang', { key => $way->{key} });
        $hang->started($way->{key});
    }
    return @ways;
}

sub is_done {
    my ($what, @ways) = @_;
    for my $way (@ways) {
        $hang->finish($way->{key});
        is $way->finish($way->{call})->{text}, "done $way->{key}\n",
            "$what, " . $way->name . ': answered by its program';
    }
}

sub is_lost {
    my ($what, $text, @ways) = @_;
    for my $way (@ways) {
        my $name = "$what, " . $way->name;
        my $answer = $way->finish($way->{call});
        like $answer->{text}, $text, "$name: what may be";
        unlike $answer->{text}, qr/not started/, "$name: and not what is wrong";
        ok $answer->{is_error}, "$name: as an error";
        is $way->call('n')->{text}, $n, "$name: it continues"
            if $tg->master_pid;
    }
}

# Returns a file of the first state directory's runner, and its process.
sub runner_file {
    my ($suffix) = @_;
    my @files = glob $tg->state_dir . "/runner-*.$suffix";
    return @files == 1 ? $files[0] : die "no runner, or two: @files";
}

sub runner {
    my ($pid) = (slurp(runner_file('lock')) // '') =~ /(\d+)/;
    return $pid || die 'a runner that does not say who it is';
}

sub kill_runner {
    end_process(runner(), 'KILL');
}

# Reloads with a new worker, passed to the code, that is stopped, as is the old
# one before: sessions are sent when the old one continues.
sub asleep {
    my ($body, $code) = @_;
    my ($old) = $tg->worker_pids;
    stopped(
        sub {
            $tg->conf($body);
            kill HUP => $tg->master_pid;
            my $client = $tg->connect;
            my $said = $client->call_tool('n');
            text_of($said) eq $n or die 'another worker than the new one';
            $tg->master_rests;
            my ($new) = grep { $_ != $old } $tg->worker_pids;
            stopped(sub { $code->($old, $new) }, $new);
        },
        $old);
}

# The sessions are between the workers: the old one has exited.
sub between {
    my ($body, $code) = @_;
    asleep(
        $body,
        sub {
            my ($old, $new) = @_;
            kill CONT => $old;
            wait_for { !is_alive($old) } 'the old worker to go';
            $code->($new);
        });
}

sub other_dir { return $tg->dir . '/other' }

# --- another runner ---------------------------------------------------------

server();
my @ways = busy();
move($tg, body(dir => other_dir()));
is $_->call('n')->{text}, $n, $_->name . ': it has moved'
    for grep { $_->name ne 'ipc' } @ways;
is_done('another state directory', @ways);

$tg->stop;

# The program's runner is killed before anybody adopts the program.
for my $other (0, 1) {
    my $what = $other ? 'killed, another directory' : 'killed';
    server();
    @ways = busy();
    between(body($other ? (dir => other_dir()) : ()), \&kill_runner);
    is_lost($what, qr/may have (?:done|completed)|not known/, @ways);
    $tg->stop;
}

# --- during the adoption ----------------------------------------------------

server();
@ways = busy();
between(
    body(),
    sub {
        my ($new) = @_;
        my $runner = runner();
        stopped(
            sub {
                kill CONT => $new;
                is $_->call('n')->{text}, $n, $_->name . ': it has moved'
                    for grep { $_->name ne 'ipc' } @ways;
                kill_runner();
            },
            $runner);
    });
is_lost('while it is adopted', qr/may have (?:done|completed)|not known/,
    @ways);

# --- the new worker is killed -----------------------------------------------

@ways = busy();
between(body(), sub { kill KILL => $_[0] });
is_done('a new worker that dies', @ways);
$tg->stop;

# --- the new worker is killed before it receives ----------------------------

# The runner was asked to hold the programs, and has not answered.
server();
@ways = busy();
asleep(
    body(),
    sub {
        my ($old, $new) = @_;
        stopped(
            sub {
                stopped(
                    sub {
                        kill CONT => $old;
                        $tg->wait_log(qr/ $old#\d+: this worker no longer/);
                        select undef, undef, undef, 0.1;
                        kill KILL => $new;
                        wait_for { !is_alive($new) } 'the new one to be gone';
                        for my $way (grep { $_->name ne 'ipc' } @ways) {
                            is $way->call('n')->{text}, $n - 1,
                                $way->name . ': the old worker serves it again';
                        }
                    },
                    runner());
                $hang->finish($ways[0]{key});
                is $ways[0]->finish($ways[0]{call})->{text},
                    "done $ways[0]{key}\n", 'and what runs';
            },
            $tg->master_pid);
    });
for my $way (grep { $_->name ne 'ipc' } @ways) {
    wait_for { $way->call('n')->{text} eq $n } 'a new worker to take it';
}
is_done('after the next worker has come', @ways[ 1 .. $#ways ]);
$tg->stop;

# --- nobody adopts the call -------------------------------------------------

# At least one program is held; then only the old worker exists.
server(preload => 'tg_between');
@ways = busy();
asleep(
    body(),
    sub {
        my ($old, $new) = @_;
        # Workers may be started as long as the master exists.
        stopped(
            sub {
                kill CONT => $old;
                wait_for { -e $tg->dir . '/asks' } 'a session to go';
                kill KILL => $new;
                wait_for { !is_alive($new) } 'the new one to be gone';
                unlink $tg->dir . '/runner' or die "unlink: $!";
                kill_runner();
                $tg->kill_master;
                unlink $tg->dir . '/asks' or die "unlink: $!";
            },
            $tg->master_pid);
    });
is_lost('nobody takes it', qr/may have (?:done|completed)|not known/, @ways);

# --- another user -----------------------------------------------------------

SKIP: {
    skip 'only root can change it', 1 if $> != 0;
    server(user => 'nobody');
    @ways = busy();
    my $config = $tg->conf_text(body(dir => other_dir()));
    $config =~ s/^user .*/user daemon daemon;/m;
    $tg->file('nginx.conf', $config);
    my @old = $tg->worker_pids;
    kill HUP => $tg->master_pid;
    old_gone($tg, @old);
    is_lost('another user', qr/not known/, @ways);
    like $tg->log, qr/runner of another config.* rejects this user/,
        'the log says why';
    # It would wait for an adopter.
    kill TERM => runner();
}

done_testing;

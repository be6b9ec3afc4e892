package Toolgate::Postgres;

# A PostgreSQL for the test: in its own folder, on a Unix socket, as an
# unprivileged user, because it refuses root.

use strict;
use warnings;

use Carp qw(croak);
use Toolgate::Guard;
use Toolgate::Process;
use Toolgate::Util;

# User that runs it, if the test runs as root.
my $USER = 'nobody';

my ($bin) = sort { version($b) <=> version($a) }
    grep { -x "$_/postgres" } glob '/usr/lib/postgresql/*/bin /usr/bin';

sub version { return $_[0] =~ m{/(\d+)/bin$} ? $1 : 0 }

# Options: password (of the user `tasks`; otherwise none is needed), encoding
# (UTF8), durable (it waits for the disk).
sub new {
    my ($class, $tg, %option) = @_;
    croak 'no postgres; ./build.sh deps has it' if !$bin;
    my $dir = $tg->dir . '/pg';
    mkdir $_ or croak "$_: $!" for $dir, "$dir/socket";
    my $self = bless { tg => $tg, dir => $dir, %option{durable} }, $class;
    if ($> == 0) {
        my ($uid, $gid) = (getpwnam $USER)[ 2, 3 ];
        chown $uid, $gid, $dir, "$dir/socket" or croak "chown: $!";
        # The user of the workers must connect.
        chmod 0755, "$dir/socket";
    }
    $self->run("$bin/initdb", '-D', "$dir/data", '-U', 'tasks', '-A', 'trust',
        '-E', $option{encoding} // 'UTF8', '--no-locale', '-N');
    $self->start;
    if (defined $option{password}) {
        $self->sql("ALTER USER tasks PASSWORD '$option{password}'");
        $self->write('data/pg_hba.conf',
            "local all tasks scram-sha-256\nlocal all other trust\n");
        $self->sql('CREATE USER other SUPERUSER');
        $self->{user} = 'other';
        $self->sql('SELECT pg_reload_conf()');
    }
    push @{ $tg->{spawned} }, $self;
    return $self;
}

# Returns the value for task_store; the user is `tasks`, or another one.
sub uri {
    my ($self, %option) = @_;
    return 'postgresql://' . ($option{user} // 'tasks') . '@/'
        . ($option{database} // 'postgres') . "?host=$self->{dir}/socket";
}

sub as_user {
    my (@command) = @_;
    return @command if $> != 0;
    my $gid = (getpwnam $USER)[3];
    return ('setpriv', "--reuid=$USER", "--regid=$gid", '--clear-groups',
        @command);
}

# Runs a program to its end. Returns its output.
sub run {
    my ($self, @command) = @_;
    my ($status, $out, $err) = run_command(
        { timeout => 300, cwd => $self->{dir} }, as_user(@command));
    croak "@command: $err" if $status;
    return $out;
}

sub write {
    my ($self, $name, $text) = @_;
    open my $fh, '>', "$self->{dir}/$name" or croak "$name: $!";
    print $fh $text;
    close $fh or croak "$name: $!";
}

# In a test, it need not survive a crash of the machine.
sub start {
    my ($self) = @_;
    my @setting = map { ('-c', $_) } 'listen_addresses=',
        $self->{durable} ? () : 'fsync=off',
        "unix_socket_directories=$self->{dir}/socket", 'max_connections=50',
        'dynamic_shared_memory_type=mmap', 'log_min_messages=fatal';
    $self->{process} = Toolgate::Process->spawn(
        { stderr => $self->{tg}->dir . '/pg.log', cwd => $self->{dir} },
        as_user("$bin/postgres", '-D', "$self->{dir}/data", @setting));
    wait_for {
        croak 'it ended: ' . $self->{process}->stderr
            if !$self->{process}->is_running;
        (run_command({}, "$bin/pg_isready", '-q', '-h',
                "$self->{dir}/socket"))[0] == 0;
    } 'PostgreSQL';
    return $self;
}

# INT: ends all connections; QUIT: as a crash would.
sub stop {
    my ($self, $signal) = @_;
    my $process = delete $self->{process} or return;
    kill $signal // 'INT' => $process->pid;
    wait_for { !$process->is_running } 'PostgreSQL to end';
}

# Returns rows of text, with bars between columns.
sub sql {
    my ($self, $text) = @_;
    my $out = $self->run("$bin/psql", '-XAtq', '-v', 'ON_ERROR_STOP=1', '-h',
        "$self->{dir}/socket", '-U', $self->{user} // 'tasks', '-d',
        'postgres', '-c', $text);
    chomp $out;
    return $out;
}

1;

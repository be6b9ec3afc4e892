package Toolgate::Node;

# A client with MCP's SDK (t/clients), controlled by lines of JSON.

use strict;
use warnings;
use parent -norequire, 'Toolgate::Process';

use Carp qw(croak);
use Toolgate::Process;
use Toolgate::Util;

# Installs a folder's packages, by default those of t/clients: for users of
# prove; ./build.sh test installs them, too.
sub install {
    my $dir = shift // "$TOP/t/clients";
    my $lock = "$dir/node_modules/.package-lock.json";
    return
        if -e $lock
        && (stat _)[9] >= (stat "$dir/package-lock.json")[9];
    my ($status, $out, $err) = run_command({ cwd => $dir, timeout => 300 },
        qw(npm ci --no-audit --no-fund --loglevel=error));
    croak "npm ci: $out$err" if $status;
}

# Starts the client of an era with the server's command.
sub new {
    my ($class, $tg, $era, @command) = @_;
    install();
    my $self = $tg->spawn({}, 'node', "$TOP/t/clients/$era.mjs", @command);
    return bless $self, $class;
}

sub tell {
    my ($self, %command) = @_;
    $self->send_line(\%command);
}

# Returns the next event of that name; keeps the others.
sub event {
    my ($self, $name, $timeout) = @_;
    return $self->recv_where(sub { $_[0]{event} eq $name },
        $timeout, "event $name");
}

# Calls a tool. Returns the id, and the result or error.
sub ask {
    my ($self, $name, %more) = @_;
    my $id = 'call ' . ++$self->{nasked};
    $self->tell(do => 'call', id => $id, name => $name, %more);
    return $id;
}

sub answer {
    my ($self, $id) = @_;
    return $self->recv_where(
        sub { $_[0]{event} =~ /^(?:result|error)$/ && $_[0]{id} eq $id },
        undef, $id);
}

sub call {
    my ($self, @call) = @_;
    return $self->answer($self->ask(@call));
}

# Returns the SDK's complaints so far, except one: if the last progress and the
# answer come at once, the SDK handles the answer first, and then does not know
# the progress.
sub oops {
    my ($self) = @_;
    return join "\n", grep { !/unknown token: .*"progress":(\d+),"total":\1\b/ }
        map { $_->{message} }
        grep { $_->{event} eq 'oops' } @{ $self->{aside} };
}

# Closes in the client's own way: how the bridge ends is its choice.
sub leave {
    my ($self) = @_;
    $self->shutdown_write;
    $self->event('closed');
    my $status = $self->wait_exit;
    croak "$self->{name}: exit status $status" if $status;
}

1;

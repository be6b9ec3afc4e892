#!/usr/bin/perl
# A library is replaced or overwritten while it runs: each config has the
# content of its loading; calls end where they began, and their sessions move
# meanwhile.

use Toolgate::Test qw(Native Storm Way);

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;
my %version = map {
    $_ => slurp(Toolgate::Native->probe("$dir/probe.$_", $_))
} 1 .. 4;

# In place: the same inode with other bytes. Or another file by this name.
sub install {
    my ($n, $in_place) = @_;
    if ($in_place) {
        open my $fh, '+<:raw', "$dir/probe.so" or die "probe.so: $!\n";
        print $fh $version{$n};
        truncate $fh, length $version{$n};
        close $fh or die "probe.so: $!\n";
        return;
    }
    $tg->file('probe.new', $version{$n});
    rename "$dir/probe.new", "$dir/probe.so" or die "rename: $!\n";
}

sub body {
    my ($n) = @_;
    return <<"END";
tool version { library probe.so; }
tool wait {
    library probe.so probe_later \$tool_arg_s "$n: \$tool_arg_key";
    timeout 600s;
}
tool n { return $n; }
END
}

install(1);
$tg->conf(body(1))->start;
my @ways = Toolgate::Way->all($tg);
is $_->call('version')->{text}, 1, $_->name . ': the first one' for @ways;

# Overwritten, and not loaded yet: nobody notices.
install(2, 1);
is $_->call('version')->{text}, 1, $_->name . ': still the first' for @ways;

my $n = 1;
for my $step ([ 2, 'written over' ], [ 3, 'replaced' ],
    [ 4, 'written over again' ])
{
    my ($version, $name) = @$step;
    my %call;
    for my $way (grep { $_->name ne 'ipc' } @ways) {
        $call{ $way->name } = [
            $way->start('wait', { s => '2', key => $way->name },
                $way->name eq 'relay'
                ? ()
                : (_meta => { progressToken => $way->name })),
            $way->start('wait', { s => '600', key => $way->name . '-never' }),
        ];
    }
    install($version, $name ne 'replaced');
    $tg->reload(body(++$n));
    for my $way (@ways) {
        wait_for { return $way->call('n')->{text} eq $n } 'a new worker';
        is $way->call('version')->{text}, $version,
            $way->name . ": $name: the new one";
    }
    for my $way (grep { $call{ $_->name } } @ways) {
        my ($id, $never) = @{ $call{ $way->name } };
        my $key = $n - 1 . ': ' . $way->name;
        if ($way->name ne 'relay') {
            my $from = $tg->log_size;
            $way->client->send_line({
                jsonrpc => '2.0',
                method  => 'notifications/cancelled',
                params  => $way->params({ requestId => $never }),
            });
            $tg->wait_log(qr/wait: call cancelled, wanted 0, reply 1/, $from);
            pass $way->name . ': a cancellation reaches the old version';
            my $told = $way->client->recv_where(
                sub { ($_[0]{method} // '') eq 'notifications/progress' },
                60, 'its progress');
            is $told->{params}{message}, 'half',
                $way->name . ': as does its progress the client';
        }
        is $way->finish($id)->{text}, $key,
            $way->name . ': the old version ends its calls';
    }
    # Its call is there: it is cancelled when the client closes.
    my ($relay) = grep { $_->name eq 'relay' } @ways;
    my $from = $tg->log_size;
    $relay->client->close;
    $tg->wait_log(qr/wait: call cancelled, wanted 0, reply 1/, $from);
    pass 'so does a client that goes away';
    @ways = (grep({ $_->name ne 'relay' } @ways),
        Toolgate::Way->new('relay', $tg->connect));
}

# Each worker has unloaded its libraries once.
wait_for {
    my $log = slurp("$dir/error.log");
    return 3 * 2 == (() = $log =~ /: unloads version [123]/g);
}
'the old versions to go';
my $maps = () = slurp('/proc/' . $tg->master_pid . '/maps') =~ m{memfd:probe}g;
cmp_ok $maps, '<', 10, 'the master has the newest alone';
$tg->stop;

# --- the storm --------------------------------------------------------------

my $stormy = Toolgate::Test->new;
my $so = $stormy->dir . '/probe.so';
my $storm = Toolgate::Storm->new($stormy,
    instead => sub {
        return "library $so probe_later $_[0] $_[1]; timeout 15m;";
    });

sub replace {
    my ($version, $path) = @_;
    $stormy->file('probe.new', $version{$version});
    rename $stormy->dir . '/probe.new', $path or die "rename: $!\n";
}
replace(1, $so);
$storm->start(30);
$storm->pass(0.5);
while ($storm->generation < 20) {
    replace(1 + $storm->generation % 4, $so);
    $storm->reload;
}
$storm->calm;
diag $storm->story;
is_deeply [ $storm->faults ], [], 'a storm: all answered, once';
is scalar($storm->clients), 30, 'no client was disconnected';
$storm->leave;
my $log = slurp($stormy->dir . '/error.log');
my %used = map { $_ => 1 } $log =~ /: loads version (\d)/g;
is join('', sort keys %used), '1234', 'all versions took part';
unlike $log, qr/, ended .*, timeout/, 'none was left behind';

done_testing;

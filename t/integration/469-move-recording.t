#!/usr/bin/perl
# A worker hands off its sessions while the master records its next config, so
# that for a moment no receiver is known: the sessions wait. The worker has
# stopped, and does not serve them by its old config again.

use Fcntl qw(SEEK_SET);

use Toolgate::Test qw(Way);

# Offsets of the first master's config in the registry
# (module/nginx/handoff/ngx_tg_handoff_registry.c).
use constant MASTERS    => 16;
use constant GENERATION => MASTERS + 8;

my $tg = Toolgate::Test->new(workers => 1);
my $asks = $tg->dir . '/asks';

sub conf {
    my ($n) = @_;
    return $tg->conf(qq(tool n { description "N."; return $n; }));
}

# Returns the registry, which is shared memory without a name.
sub registry {
    my ($pid) = @_;
    for my $path (glob "/proc/$pid/fd/*") {
        next if (readlink $path // '') !~ /toolgate-takers/;
        open my $fh, '+<:raw', $path or die "$path: $!";
        return $fh;
    }
    die 'no registry';
}

sub at {
    my ($fh, $offset, $format, $size) = @_;
    sysseek $fh, $offset, SEEK_SET or die "sysseek: $!";
    sysread $fh, my $bytes, $size or die "sysread: $!";
    return unpack $format, $bytes;
}

sub set_generation {
    my ($fh, $generation) = @_;
    sysseek $fh, GENERATION, SEEK_SET or die "sysseek: $!";
    syswrite $fh, pack 'Q', $generation or die "syswrite: $!";
    return;
}

# Returns how often the process has slept.
sub sleeps {
    my ($pid) = @_;
    return (slurp("/proc/$pid/status") // '') =~ /^voluntary_ctxt.*\t(\d+)/m
        ? $1 : 1 << 40;
}

$tg->preload('tg_between', TG_BETWEEN => $asks);
conf(1)->start;
my ($old) = $tg->worker_pids;
my @ways = map { Toolgate::Way->all($tg) } 1 .. 2;
is $_->call('n')->{text}, 1, $_->name . ': before' for @ways;

my $registry = registry($old);
is at($registry, MASTERS, 'l', 4), $tg->master_pid, 'the record of the master';
conf(2);
$tg->signal_reload('HUP');
wait_for {
    -e $asks && $tg->log =~ / $old#\d+: this worker no longer accepts/
} 'the first session to be on its way';
my $generation = at($registry, GENERATION, 'Q', 8);
set_generation($registry, 0);
unlink $asks or die "unlink: $!";
$_->{call} = $_->start('n') for @ways;
my $slept = sleeps($old);
wait_for { sleeps($old) > $slept + 50 } 'the old worker to look often';
ok is_alive($old), 'its sessions wait';
set_generation($registry, $generation);
wait_for { unlink $asks; !is_alive($old) } 'the old worker to go';
is $_->finish($_->{call})->{text}, 2, $_->name . ': the new config' for @ways;
unlike $tg->log, qr/ $old#\d+: .*continues to serve/, 'it never resumed';
$tg->stop;

done_testing;

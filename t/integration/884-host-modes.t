#!/usr/bin/perl
# A program's socket and schema file are private from the moment of their
# creation, whatever the umask; and a reader of the schema file finds all of it.

use Toolgate::Test qw(Host);
use JSON::PP qw(decode_json);

my $tg = Toolgate::Test->new;
my $log = $tg->file('modes', '');

sub mode { return sprintf '%04o', (stat $_[0])[2] & 07777 }

for my $umask (0, 027, 0277) {
    my $old = umask $umask;
    my $host = Toolgate::Host->start($tg, 'thread', env => {
        LD_PRELOAD => "$Toolgate::Util::BUILD/faults/tg_modes.so",
        TG_MODES   => $log,
        %{ $tg->san_env('verify_asan_link_order=0') },
    });
    umask $old;
    my $name = sprintf 'umask %04o', $umask;
    is $host->do('start'), 'ok', "$name: started";
    my ($socket, $schema) = ($host->do('socket'), $host->do('schema'));
    my $could = sprintf '%04o', 0600 & ~$umask;
    my @made = split /\n/, slurp($log);
    is_deeply [ grep { /^socket/ } @made ], ["socket $could $socket"],
        'nobody else can open the socket when it is there';
    is_deeply [ grep { /^file .*schema/ } @made ], ["file $could $schema~"],
        'nor the schema file, which is written under another name';
    is_deeply [ grep { /^rename/ } @made ],
        [ 'rename ' . (-s $schema) . " $schema~ $schema" ],
        'and gets its own when all is written';
    is mode($_), '0600', 'in the end both are this user\'s'
        for $socket, $schema;

    $tg->file('modes', '');
    is $host->do('remove json'), 'ok', 'another list of tools';
    @made = split /\n/, slurp($log);
    is_deeply \@made, [
        "file $could $schema~",
        'rename ' . (-s $schema) . " $schema~ $schema",
    ], 'is written as the first one was';
    is scalar(grep { $_->{name} eq 'json' } @{ decode_json(slurp($schema)) }),
        0, 'and is there';
    $host->stop;
    is_deeply [ $host->files ], [], 'nothing is left';
    $tg->file('modes', '');
}

# --- names that are taken --------------------

my $host = Toolgate::Host->start($tg, 'thread');
my ($socket, $schema) = ($host->do('socket'), $host->do('schema'));
my $victim = $tg->file('victim', 'mine');
symlink $victim, $_ or die "$_: $!\n" for "$schema~", $schema;
is $host->do('start'), 'ok', 'links where files will be';
is slurp($victim), 'mine', 'are not followed';
ok !-l $schema, 'but replaced';
is $host->do('stop'), 'ok', 'stopped';
symlink $victim, $socket or die "$socket: $!\n";
like $host->fails('start'), qr/^OSError cannot open the socket /,
    'nor is one where the socket will be';
is slurp($victim), 'mine', 'which is as it was';
ok -l $socket, 'and the link, too';
unlink $socket;
is $host->do('start'), 'ok', 'without it, it starts';
$host->stop;
is_deeply [ $host->files ], [], 'nothing is left';

done_testing;

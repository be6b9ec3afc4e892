#!/usr/bin/perl
# A folder that root makes for a user is moved before it is given away
# (t/faults/tg_swap.c): nothing else is given away instead.

use Toolgate::Test;

plan skip_all => 'only root gives away' if $> != 0;

my ($uid, $gid) = (getpwnam 'nobody')[ 2, 3 ];
my $tool = 'tool hi { return hi; }';

# Prepares a server: root's folder run in a user's folder home, and, for no
# change, a file and a folder with content.
sub prepared {
    my $tg = Toolgate::Test->new(workers => 1, user => 'nobody');
    my $dir = $tg->dir;
    $tg->allow_log(qr/\[emerg\]/);
    chmod 0755, $dir;
    mkdir "$dir/$_", 0755 or die "$dir/$_: $!" for qw(home home/run home/other);
    chown $uid, $gid, "$dir/home" or die "chown: $!";
    mkdir "$dir/home/other/swapped", 0700 or die "mkdir: $!";
    mkdir "$dir/home/run/full", 0700 or die "mkdir: $!";
    $tg->file('home/run/full/file', 'precious', 0600);
    $tg->file('shadow', 'precious', 0600);
    return ($tg, $dir);
}

sub swaps {
    my ($tg, $one, $two) = @_;
    $tg->preload('tg_swap', TG_SWAP_ONE => $one, TG_SWAP_TWO => $two);
}

sub is_roots {
    my ($name, @paths) = @_;
    is +(stat)[4], 0, "$name: $_ is root's still" for @paths;
}

sub socket_conf {
    my ($tg) = @_;
    my $folder = $tg->dir . '/home/run/swapped';
    return $tg->conf("listen unix:$folder/t.sock;\n"
            . "tool_socket_owner nobody;\n$tool");
}

sub state_conf {
    my ($tg) = @_;
    my $folder = $tg->dir . '/home/run/swapped';
    return $tg->conf("tool_state_dir $folder;\ntool hi { exec echo hi; }");
}

# --- the parent folder ----------------------------------------------------

{
    my ($tg, $dir) = prepared();
    mkdir "$dir/home/mine" or die "mkdir: $!";
    symlink "$dir/shadow", "$dir/home/mine/swapped" or die "symlink: $!";
    swaps($tg, "$dir/home/run", "$dir/home/mine");
    socket_conf($tg);
    isnt +($tg->start_fails)[0], 0, 'a link below another folder: no start';
    ok -l "$dir/home/run/swapped", 'they changed places';
    is_roots('a link below another folder', "$dir/shadow");
}

{
    my ($tg, $dir) = prepared();
    swaps($tg, "$dir/home/run", "$dir/home/other");
    state_conf($tg)->start;
    ok -e "$dir/home/other/full", 'the state directory: they changed places';
    is_roots('the state directory', "$dir/home/run/swapped");
    is +(stat "$dir/home/other/swapped")[4], $uid, 'what was made is given';
    $tg->stop;
}

# --- the folder itself ----------------------------------------------------

for my $what (qw(shadow home/run/full)) {
    my ($tg, $dir) = prepared();
    my $for = "$dir/$what";
    if ($what eq 'shadow') {
        $for = "$dir/home/run/link";
        symlink "$dir/shadow", $for or die "symlink: $!";
    }
    swaps($tg, "$dir/home/run/swapped", $for);
    for my $conf (\&socket_conf, \&state_conf) {
        $conf->($tg);
        my ($status, $said) = $tg->start_fails;
        isnt $status, 0, "$what in its place: no start";
        like $said, qr/cannot be created; create it|failed \(tool_state_dir\)/,
            "$what in its place: it says why";
        my $now = $what eq 'shadow' ? $what : 'home/run/swapped';
        is_roots("$what in its place", "$dir/$now");
        rename "$dir/home/run/swapped", "$dir/home/run/back";
        rmdir $for or die "$for: $!";
        rename "$dir/home/run/back", $for;
    }
}

# --- links in the path ----------------------------------------------------

# A link of root's, such as /var/run, is followed; one of a user's is not.
for my $owner (0, $uid) {
    my ($tg, $dir) = prepared();
    my $at = $owner ? "$dir/home" : $dir;
    symlink "$dir/home/run", "$at/link" or die "symlink: $!";
    $tg->conf("listen unix:$at/link/new/t.sock;\n"
            . "tool_socket_owner nobody;\n$tool");
    if ($owner) {
        like +($tg->start_fails)[1],
            qr/missing and cannot be created; create it/,
            "somebody's link: nothing is made in root's folder";
    } else {
        $tg->start(socket => "$at/link/new/t.sock");
        is mode_of("$dir/home/run/new"), "0700 $uid $gid", "root's link";
        $tg->stop;
    }
}

done_testing;

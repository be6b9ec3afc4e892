package Toolgate::User;

# Connections of other users: the kernel remembers who called connect(), so
# that the test itself can be them for that moment.

use strict;
use warnings;

use Carp qw(croak);

# May this test be others?
sub is_possible { return $> == 0 }

# Runs the code as this user with these groups, the first of them its own.
sub as {
    my ($uid, $gids, $code) = @_;
    my ($old_uid, $old_gids) = ($>, $));
    my @gids = @$gids;
    # What follows the first one are the supplementary groups; Perl leaves
    # them alone when there are none.
    $old_gids .= " $old_gids" if $old_gids !~ / /;
    $) = "$gids[0] @gids";
    my $is_group = $) == $gids[0];
    $> = $uid;
    my $is_user = $> == $uid;
    my @result = $is_group && $is_user ? eval { $code->() } : ();
    my $why = $@;
    $> = $old_uid;
    $) = $old_gids;
    croak "cannot be user $uid, groups @gids" if !$is_group || !$is_user;
    croak $why if $why;
    return wantarray ? @result : $result[0];
}

1;

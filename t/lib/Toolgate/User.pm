package Toolgate::User;

# Connections as other users: the kernel records the user at connect(), so that
# the test takes on another identity for that moment.

use strict;
use warnings;

use Carp qw(croak);

# Checks whether the test may do so.
sub is_possible { return $> == 0 }

# Runs the code as this user with these groups, first its own.
sub as {
    my ($uid, $gids, $code) = @_;
    my ($old_uid, $old_gids) = ($>, $));
    my @gids = @$gids;
    # The groups after the first are the supplementary ones; Perl does not
    # change them if there are none.
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

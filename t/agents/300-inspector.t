#!/usr/bin/perl
# The Inspector's command line: what it makes of each list and result.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;
$tg->conf('tool say { description "Says it."; return "this is said"; }')
    ->start;
my $inspector = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });

sub result_of_inspector {
    my ($status, $result) = $inspector->inspect('--method', @_);
    is $status, 0, $_[0] or diag $result;
    return $result;
}
is result_of_inspector('tools/list')->{tools}[0]{name}, 'say', 'its tool';
is result_of_inspector('tools/call', '--tool-name', 'say')
    ->{content}[0]{text}, 'this is said', 'its text';

done_testing;

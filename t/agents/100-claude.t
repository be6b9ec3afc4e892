#!/usr/bin/perl
# Claude Code in a terminal: what it offers to its user, and what reaches its
# model.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;

sub body {
    my ($n) = @_;
    return qq(tool say$n { description "Says it."; return "said by $n"; }\n);
}
$tg->conf(body(1))->start;
my $claude = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });
$claude->start_claude('--allowedTools', 'mcp__tg');
ok $claude->sees(qr/❯/), 'it starts';

# A tool, and another one after a reload.
for my $n (1, 2) {
    $tg->reload(body($n)) if $n > 1;
    # The list that has changed is read when the prompt is shown again.
    my $tools;
    wait_for {
        $claude->submit('Wait, please.');
        $tools = $claude->asked(qr/"tools":\[\{/)->{tools};
        return grep { $_->{name} eq "mcp__tg__say$n" } @$tools;
    } "tool $n in the list", 20;
    $claude->will_call("Call $n", "mcp__tg__say$n", {});
    $claude->submit("Call $n, please.");
    ok $claude->asked(qr/"tool_result".*said by $n/),
        "tool $n is called, and its result reaches the model";
}
$claude->stop_claude;

done_testing;

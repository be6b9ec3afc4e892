#!/usr/bin/perl
# Claude Code in a terminal: what it offers to its user, and what reaches its
# model.

use Toolgate::Test qw(Agents);

my $tg = Toolgate::Test->new;

sub body {
    my ($n) = @_;
    return <<"END";
tool say$n { description "Says it."; return "said by $n"; }
prompt review$n {
    description "Reviews a commit by rule $n.";
    argument    commit required "Such as HEAD~1.";
    message     user "Please review \$tool_arg_commit by rule $n.";
}
resource note:///todo$n {
    description "What to do on day $n.";
    mime        text/plain;
    return      "Buy milk on day $n.";
}
resource_template "day:///{day}" {
    name        day;
    description "The note of a day.";
    complete    day monday tuesday;
    return      "The note of \$tool_arg_day.";
}
END
}
$tg->conf(body(1))->start;
my $claude = Toolgate::Agents->new($tg,
    servers => { tg => [ $tg->bridge_path, $tg->socket_path ] });
$claude->start_claude('--allowedTools', 'mcp__tg');
ok $claude->sees(qr/❯/), 'it starts';

# All again after a reload, of which it is notified.
for my $n (1, 2) {
    $tg->reload(body($n)) if $n > 1;

    # Every key asks for the commands anew, so that the new list is seen.
    wait_for {
        $claude->press('C-u');
        $claude->type("/review$n");
        wait_for { $claude->screen =~ m{/\S*review$n} } 'what was typed';
        return $claude->screen =~ /Reviews a commit by rule $n/;
    } "prompt $n among the commands";
    pass "prompt $n is a command";
    $claude->press('C-u');
    $claude->submit("/mcp__tg__review$n HEAD~$n");
    ok $claude->asked(qr/Please review HEAD~$n by rule $n\./),
        "prompt $n reaches the model with its argument";

    $claude->rest;
    $claude->type('@tg:note');
    ok $claude->sees(qr/What to do on day $n/), "resource $n is offered";
    $claude->press('C-u');
    $claude->submit("Read \@tg:note:///todo$n please.");
    ok $claude->asked(qr/Buy milk on day $n\./),
        "resource $n reaches the model";

    $claude->rest;
    $claude->type('@tg:day:///');
    ok $claude->sees(qr/monday.*tuesday/s),
        "values of the template's variable are suggested ($n)";
    $claude->press('C-u');
    $claude->will_call("Fetch $n", 'ReadMcpResourceTool',
        { server => 'tg', uri => "day:///mon$n" });
    $claude->submit("Fetch $n, please.");
    ok $claude->asked(qr/"tool_result".*The note of mon$n\./),
        "a URI of a template is read by the model ($n)";

    $claude->rest;
    $claude->will_call("Call $n", "mcp__tg__say$n", {});
    $claude->submit("Call $n, please.");
    ok $claude->asked(qr/"tool_result".*said by $n/),
        "tool $n is called, and its result reaches the model";
    $claude->rest;
}
$claude->stop_claude;

done_testing;

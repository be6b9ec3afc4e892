#!/usr/bin/perl
# A program that is a client of NGINX by libtoolgate: many calls at once,
# progress, notifications, also over a reload, a restart, and killed workers.

use Toolgate::Test qw(Host);

my $tg = Toolgate::Test->new;
$tg->allow_log(qr/exited on signal 9/);
my $wait = $tg->file('wait', <<'END', 0755);
#!/bin/sh
while ! [ -e "$1" ]; do sleep 0.02; done
echo ok
END
my $echo = <<"END";
tool echo { return \$tool_arg_text; }
tool slow { exec $wait \$tool_arg_file; }
tool say { broadcast event.said; }
END
$tg->conf("tool_max_inflight 2000; $echo")->start;

sub answered {
    my ($host, $n) = @_;
    return $host->event(qr/^answered $n /);
}

for my $kind (@Toolgate::Host::KINDS) {
    my $go = $tg->dir . "/go-$kind";
    my $host = Toolgate::Host->start($tg, $kind);
    $host->do('client new /nowhere');
    $host->send_raw("client open\n");
    $host->answer;
    $host->do('client free');
    my $before = $host->holds;
    $host->do('client new ' . $tg->socket_path . ' grace=600s');
    is $host->do('client open'), 'ok', "$kind: open";
    $host->event(qr/^connected/);

    # --- many ---
    $host->do('client many 1000 echo');
    is $host->event(qr/^many/), 'many wrong 0', '1,000 at once';
    $host->do('client begin list');
    like answered($host, 0), qr/"name":"echo"/, 'the list';

    # --- notifications ---
    $host->do('client begin call say');
    like $host->event(qr/^notified/), qr/^notified event.said/, 'a broadcast';
    answered($host, 1);

    # --- a reload during a call ---
    $host->do(qq(client begin call slow {"file":"$go"}));
    $host->do('client begin call echo {"text":"there"}');
    like answered($host, 3), qr/there/, 'it is on its way';
    $tg->reload("tool_max_inflight 2000; $echo tool new_$kind { return new; }");
    like $host->event(qr/^notified/),
        qr{^notified notifications/tools/list_changed},
        'a reload notifies of another list';
    $host->do("client begin call new_$kind");
    like answered($host, 4), qr/"new"/, 'the new config serves';
    $tg->file("go-$kind", '');
    like answered($host, 2), qr/ok/, 'the call ends, whoever has it';

    # --- a restart ---
    $tg->stop;
    $host->event(qr/^lost/);
    $host->do('client begin call echo {"text":"later"}');
    $tg->start;
    like answered($host, 5), qr/later/, 'a restart is waited for';
    $host->event(qr/^connected/);

    # --- killed workers during a call ---
    unlink $go;
    $host->do(qq(client begin call slow {"file":"$go"}));
    $host->do('client begin call echo {"text":"there"}');
    like answered($host, 7), qr/there/, 'it is on its way';
    kill KILL => $tg->worker_pids;
    like answered($host, 6), qr/IPCConnectionError .*may have been executed/,
        'killed: the call may have been executed';
    $host->event(qr/^connected/);
    $host->do('client begin call echo {"text":"new worker"}');
    like answered($host, 8), qr/new worker/, 'the new worker answers';

    $host->do('client free');
    is_deeply $host->holds($before), $before,
        'no descriptor and no thread is left';
    $host->stop;
}

done_testing;

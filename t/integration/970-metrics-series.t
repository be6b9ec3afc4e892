#!/usr/bin/perl
# Series of toolgate_metrics beyond the tools: clients by name, of which there
# is a maximum, tasks, rules, webhooks, stored outputs, lost log lines.

use Toolgate::Test qw(Web);
use Toolgate::HttpClient;

my $tg = Toolgate::Test->new;
my $url = Toolgate::Web->new($tg)->url;
my $body = <<"END";
tool hi { return hi; tool_log /dev/full; }
tool much { exec seq 10000; max_output 4k spill; }
task_agent sh { exec sh -c \$task_prompt; default; }
task_methods on;
automation called {
    trigger event type=task.completed;
    webhook $url/echo "{{taskId}}";
}
automation missed {
    trigger event type=task.failed;
    webhook $url/status/404 "{{taskId}}";
}
END
$tg->allow_log(qr/cannot be written|answered with status 404/);
$tg->conf($body,
    main => http_block($tg, 'location = /metrics { toolgate_metrics; }'))
    ->start;
my $http = Toolgate::HttpClient->new($tg);

sub metrics { return $http->ask(GET => '/metrics')->{body} }

sub wait_sample {
    my ($sample, $name) = @_;
    my $text;
    wait_for { ($text = metrics()) =~ /^\Q$sample\E$/m } $name;
    like $text, qr/^\Q$sample\E$/m, $name;
}

# --- clients ----------------------------------------------------------------

sub client {
    my ($name) = @_;
    my $client = $tg->connect;
    $client->rpc('initialize', {
        protocolVersion => '2025-06-18',
        capabilities    => {},
        clientInfo      => { name => $name, version => '1' },
    });
    return $client;
}
my $of = 'server="unix:' . $tg->socket_path . '"';
my $agent = client("an \"agent\"\n");
$agent->call_tool('hi') for 1 .. 3;
$tg->connect->call_tool('hi');
wait_sample(qq(toolgate_client_calls_total{$of,client="an \\"agent\\"\\n"} 3),
    'calls by name of the client');
wait_sample(qq(toolgate_client_calls_total{$of,client="unknown"} 1),
    'calls of a client without a name');

client("client-$_")->call_tool('hi') for 1 .. 40;
my %calls =
    metrics() =~ /^toolgate_client_calls_total\S*client="([^"]+)"\} (\d+)/mg;
is scalar(grep {/^client-/} keys %calls), 30, 'names up to the maximum';
is $calls{other}, 10, 'all others under one name';

# --- logs -------------------------------------------------------------------

wait_sample('toolgate_log_lost_total{log="/dev/full"} 44', 'lost log lines');

# --- outputs ----------------------------------------------------------------

$agent->call_tool('much');
my $state = 'state_dir="' . $tg->state_dir . '"';
wait_sample("toolgate_runner_stored_output_bytes_total{$state} 48894",
    'bytes of large outputs');

# --- tasks, rules, webhooks -------------------------------------------------

my $store = 'store="sqlite:' . $tg->state_dir . '/tasks.db"';
$agent->result_of('task.submit', prompt => $_)
    for 'exit 0', 'exit 0', 'exit 1';
for my $case ([ queued => 3 ], [ started => 3 ], [ completed => 2 ],
    [ failed => 1 ])
{
    wait_sample(qq(toolgate_tasks_total{$store,agent="sh",)
            . qq(state="$case->[0]"} $case->[1]), "tasks: $case->[0]");
}
wait_sample(qq(toolgate_rule_firings_total{$store,rule="called",)
        . 'status="webhook_sent"} 2', 'firings of a rule');
wait_sample(qq(toolgate_webhook_requests_total{$store,rule="called",)
        . 'result="ok"} 2', 'requests of a webhook');
wait_sample(qq(toolgate_webhook_requests_total{$store,rule="missed",)
        . 'result="failed"} 1', 'a webhook that failed');

done_testing;

#!/usr/bin/perl
# toolgate_status and toolgate_metrics: the statistics as HTTP locations.

use Toolgate::Test;
use Toolgate::HttpClient;

my $tg = Toolgate::Test->new;
my $body = <<'END';
tool hi { return hi; }
tool hang { exec sleep 3600; timeout 2h; }
tool idle { return idle; }
tool "odd.name" { return odd; }
method secret { return "{}"; deny all; }
mcp_server broken {
    exec  sh -c "echo the disk is full >&2; exit 1";
    start at=boot;
}
task_agent say { exec echo $task_prompt; }
task_methods on;
END
my $locations = <<'END';
location = /status { toolgate_status; }
location = /metrics { toolgate_metrics; }
location = /locked { toolgate_metrics; deny all; }
END
$tg->allow_log(qr/mcp_server broken|access forbidden by rule/);
$tg->conf($body, main => http_block($tg, $locations))->start;

my $client = $tg->connect;
$client->call_tool('hi') for 1 .. 3;
$client->call_tool('none');
$client->request('tools/call', { name => 'hang' });

my $http = Toolgate::HttpClient->new($tg);
my $status;
wait_for {
    $status = $http->ask(GET => '/status')->{json};
    return grep { $_->{name} eq 'hang' && $_->{kind} eq 'exec' }
        @{ $status->{calls} };
} 'a call, of which its runner knows';

# --- JSON -------------------------------------------------------------------

my $answer = $http->ask(GET => '/status');
is $answer->{status}, 200, 'status';
is $answer->{headers}{'content-type'}, 'application/json', 'JSON';
my ($server) = @{ $answer->{json}{servers} };
is $server->{server}, 'unix:' . $tg->socket_path, 'the server';
is_deeply [ map { $_->{name} } grep { !$_->{internal} } @{ $server->{tools} } ],
    [qw(hi hang idle odd.name secret)], 'its tools, whoever may call them';
is $answer->{json}{runners}[0]{state}, 'up', 'its runner has answered';

my $rpc = $tg->connect->rpc('toolgate.status')->{result};
is_deeply [ sort keys %{ $answer->{json} } ], [ sort keys %$rpc ],
    'the same members as toolgate.status';

# --- metrics ----------------------------------------------------------------

my $metrics;
wait_for {
    $metrics = $http->ask(GET => '/metrics');
    return $metrics->{body} =~ /^toolgate_mcp_server_restarts_total\S+ [1-9]/m;
} 'an MCP server to fail twice';
is $metrics->{status}, 200, 'metrics';
is $metrics->{headers}{'content-type'},
    'text/plain; version=0.0.4; charset=utf-8', 'the type of the format';
my $text = $metrics->{body};
my $of = 'server="unix:' . $tg->socket_path . '"';

sub has_sample {
    my ($sample, $name) = @_;
    like $text, qr/^\Q$sample\E$/m, $name;
}
has_sample(qq(toolgate_calls_total{$of,type="tool",tool="hi",status="ok"} 3),
    'a counter');
has_sample(qq(toolgate_calls_total{$of,type="tool",tool="idle",status="ok"} 0),
    'a tool without calls');
has_sample(qq(toolgate_calls_in_flight{$of,type="tool",tool="hang"} 1),
    'a call in flight');
has_sample(qq(toolgate_call_duration_seconds_bucket{$of,type="tool",)
        . 'tool="hi",le="+Inf"} 3', 'the last step of a histogram');
has_sample(qq(toolgate_call_duration_seconds_count{$of,type="tool",)
        . 'tool="hi"} 3', 'and its number');
has_sample(qq(toolgate_unknown_calls_total{$of} 1), 'an unknown tool');
has_sample(qq(toolgate_mcp_server_ready{$of,mcp_server="broken"} 0),
    'a server that is down');
has_sample('toolgate_runner_up{state_dir="' . $tg->state_dir . '"} 1',
    'the runner');
has_sample('toolgate_runner_jobs{state_dir="' . $tg->state_dir
        . '",kind="exec"} 1', 'its jobs');
like $text, qr/^toolgate_info\{version="[^"]+"\} 1$/m, 'the version';
unlike $text, qr/tool="task\./, 'no method of Toolgate that nobody has called';
is_deeply [ $text =~ /^(toolgate_\w+)\{[^}]*tool="idle"/mg ],
    ['toolgate_calls_total'], 'one series of a tool that nobody has called';
is_deeply [ $text =~ /^toolgate_calls_total\{[^}]*tool="hi",status="(\w+)"/mg ],
    ['ok'], 'no series for results that did not occur';

# Each family has its header once, and all of its samples behind it.
my (%seen, $family);
for (split /\n/, $text) {
    if (/^# TYPE (\S+)/) {
        $family = $1;
        ok !$seen{$family}++, "$family: one header";
    } elsif (/^(toolgate_\w+)/) {
        my $name = $1;
        $name =~ s/_(?:bucket|sum|count)$// if $family =~ /_seconds$/;
        is $name, $family, 'a sample behind its header' if $name ne $family;
    }
}
SKIP: {
    my ($promtool) = grep { -x } map {"$_/promtool"} split /:/, $ENV{PATH};
    skip 'no promtool (Debian: prometheus)', 2 if !$promtool;
    my ($rc, $out, $err) =
        run_command({ stdin => $text }, $promtool, 'check', 'metrics');
    is $rc, 0, 'promtool takes it';
    is $out . $err, '', 'and has nothing to say';
}

# --- HTTP -------------------------------------------------------------------

is $http->ask(GET => '/locked')->{status}, 403, "NGINX's own rules";
is $http->ask(POST => '/metrics', body => 'x')->{status}, 405, 'no POST';
$answer = $http->ask(HEAD => '/status');
is $answer->{status}, 200, 'HEAD';
cmp_ok $answer->{headers}{'content-length'}, '>', 100, 'with the length';

# A runner that does not answer delays nothing else, and is said to be silent.
my @runner = $tg->runner_pids;
kill STOP => @runner;
my $second = Toolgate::HttpClient->new($tg);
$_->send_request(GET => '/status') for $http, $second;
undef $second;    # closed while it waits
is $client->call_tool('hi')->{result}{content}[0]{text}, 'hi', 'meanwhile';
is $http->recv_response->{json}{runners}[0]{state}, 'silent', 'it is silent';
like $http->ask(GET => '/metrics')->{body}, qr/^toolgate_runner_up\S+ 0$/m,
    'and not up';
kill CONT => @runner;

# --- mistakes ---------------------------------------------------------------

sub refused {
    my ($location, $error) = @_;
    my ($rc, $out) = $tg->test_conf($body, main => http_block($tg,
        "location = /x { $location }"));
    isnt $rc, 0, "$location is refused";
    like $out, $error, 'and why';
}
refused('toolgate_status on;', qr/invalid number of arguments/);
refused('toolgate_status; toolgate_metrics;',
    qr/"toolgate_metrics" directive is not allowed: this location already/);

# Without tools there is nothing to count, but the locations answer.
my $empty = Toolgate::Test->new;
$empty->conf('return hi;', main => http_block($empty, $locations))->start;
$http = Toolgate::HttpClient->new($empty);
is_deeply $http->ask(GET => '/status')->{json}{servers}, [], 'no servers';
like $http->ask(GET => '/metrics')->{body}, qr/^toolgate_workers \d+$/m,
    'metrics';

done_testing;

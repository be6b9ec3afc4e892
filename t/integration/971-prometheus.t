#!/usr/bin/perl
# A real Prometheus reads toolgate_metrics and answers queries about it.

use Toolgate::Test;
use Toolgate::HttpClient;
use HTTP::Tiny;
use IO::Socket::INET;

my ($prometheus) = grep { -x } map {"$_/prometheus"} split /:/, $ENV{PATH};
plan skip_all => 'no prometheus (Debian: prometheus)' if !$prometheus;

my $tg = Toolgate::Test->new;
my $dir = $tg->dir;

# Returns ports of the loopback where nobody listens.
sub free_ports {
    my @sockets = map {
        IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1)
            or die "listen: $!"
    } 1 .. $_[0];
    return map { $_->sockport } @sockets;
}
my ($port, $web) = free_ports(2);
$tg->conf('tool hi { return hi; } tool idle { return idle; }',
    main => http_block($tg, 'location = /metrics { toolgate_metrics; }',
        listen => "listen 127.0.0.1:$port;"))->start;
my $client = $tg->connect;
$client->call_tool('hi') for 1 .. 3;

$tg->file('prometheus.yml', <<"END");
global: { scrape_interval: 1s }
scrape_configs:
  - job_name: toolgate
    static_configs: [ { targets: [ "127.0.0.1:$port" ] } ]
END
my $server = $tg->spawn({ env => { HOME => $dir } }, $prometheus,
    "--config.file=$dir/prometheus.yml", "--storage.tsdb.path=$dir/tsdb",
    "--web.listen-address=127.0.0.1:$web", '--log.level=error');

my $http = HTTP::Tiny->new(timeout => 10);

# Returns the values of a query, by one label.
sub query {
    my ($query, $label) = @_;
    my $answer = $http->post_form("http://127.0.0.1:$web/api/v1/query",
        { query => $query });
    return {} if !$answer->{success};
    my $result = Toolgate::Json::decode($answer->{content})->{data}{result};
    return { map { ($_->{metric}{$label} // '') => $_->{value}[1] } @$result };
}

my $calls;
wait_for {
    $calls = query('toolgate_calls_total{status="ok"}', 'tool');
    return exists $calls->{hi};
} 'Prometheus to read the metrics';
is_deeply $calls, { hi => 3, idle => 0 }, 'calls of the tools';
is_deeply query('up', 'job'), { toolgate => 1 }, 'the target is up';
is_deeply query('histogram_quantile(0.5, toolgate_call_duration_seconds_bucket'
        . '{tool="hi"}) > bool 60', 'tool'), { hi => 0 },
    'a quantile of the durations';
cmp_ok query('scrape_samples_scraped', 'job')->{toolgate}, '<', 50,
    'few samples of two tools';
kill TERM => $server->pid;
$server->wait_exit;

done_testing;

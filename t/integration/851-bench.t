# The bench: both servers answer its load generator in every dialect, and it
# detects a wrong response.

use Toolgate::Test qw(Bench);

my $bench = Toolgate::Bench->new;
my $tool  = $bench->toolgate($Toolgate::Bench::ECHO
        . 'tool fine { description "Says another."; return "none"; }'
        . 'tool data { description "Says its data."; return $tool_arg_data; }');

sub load_fails {
    my ($server, %option) = @_;
    return 'it found nothing' if eval { $bench->load($server, %option); 1 };
    return $@;
}

for my $dialect (qw(jsonrpc relay ipc)) {
    my %few = (dialect => $dialect, calls => 300, warm_ms => 0);
    for my $server ($bench->echo($dialect), $tool) {
        my $name = $server == $tool ? 'Toolgate' : 'the raw echo';
        my $depth = $dialect eq 'ipc' ? 1 : 3;
        my $figure = $bench->load(
            $server, %few,
            connections => 4,
            depth       => $depth);
        cmp_ok $figure->{calls}, '>=', 300, "$dialect: $name answers";
        cmp_ok $figure->{max}, '>=', $figure->{p50}, '... in some time';
        $figure = $bench->load(
            $server, %few,
            calls       => 4,
            connections => 2,
            depth       => $depth,
            size        => 300_000);
        cmp_ok $figure->{calls}, '>=', 4, '... large calls as well';
    }

    for my $data (qw(source numbers nested)) {
        my %data = (%few, calls => 4, data => $data, size => 30_000);
        cmp_ok $bench->load($bench->echo($dialect, $data, 30_000), %data)
            ->{calls}, '>=', 4, "$dialect: the raw echo says $data again";
        cmp_ok $bench->load($tool, %data,
            tool => $data eq 'source' ? 'echo' : 'data')->{calls}, '>=', 4,
            '... and so does Toolgate';
    }

    like load_fails($tool, %few, tool => 'fine', size => 4),
        qr/a wrong reply/, "$dialect: another answer is found";
    like load_fails($tool, %few, tool => 'fine', size => 300,
        stall_ms => 1000),
        qr/a wrong reply|no reply/, '... and one that is too short';
    is eval {
        $bench->load($tool, %few, tool => 'fine', reply => 'none');
        'fine';
    }, 'fine', '... but it may be expected';
}

my ($status, undef, $err) = run_command({ env => { TOOLGATE_BUILD => $BUILD } },
    $^X, "-I$TOP/t/lib", "$TOP/t/bench/bench.pl", 'nothing');
isnt $status, 0, 'a row that is not there';
like $err, qr/no row "nothing".*speed/, '... is refused, with those that are';

my $table = sub { "\n**$_[0]**\n\n| a |\n|---|\n| $_[1] |\n" };
is Toolgate::Bench::merge(join('', map { $table->($_, 1) } 'b', 'a (b)', 'c'),
    join('', map { $table->($_, 2) } 'd', 'a (b)')),
    join('', map { $table->(@$_) }[ 'b', 1 ], [ 'a (b)', 2 ], [ 'c', 1 ],
        [ 'd', 2 ]), 'a row that is written replaces its tables alone';

for my $data (qw(text source numbers nested)) {
    my $line = $bench->run("$BUILD/bench/bench_check", $data, 5000);
    cmp_ok Toolgate::Bench::figures($line)->{ns}, '>', 0, "$data are JSON";
}

my $figure = Toolgate::Bench::figures(
    $bench->run("$BUILD/bench/bench_agent", '--calls' => 50,
        "$BUILD/toolgate-bridge", $tool->{socket}));
cmp_ok $figure->{call_p50}, '>', 0, 'the agent makes calls through the bridge';
$figure = Toolgate::Bench::figures(
    $bench->run("$BUILD/bench/bench_spawn", '--count' => 5, '/bin/true'));
is $figure->{count}, 5, 'programs are counted';

$bench->stop;
done_testing;

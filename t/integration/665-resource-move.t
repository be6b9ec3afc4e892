#!/usr/bin/perl
# Reads and prompts that run while their sessions move: each ends as it began,
# with its URI, type and log line, though the new config has changed or removed
# the block.

use Toolgate::Test qw(Hang Move Native Way);

my $tg = Toolgate::Test->new;
my $hang = Toolgate::Hang->new($tg);
my $dir = $tg->dir;
my $exec = "exec $dir/hang.sh \$tool_arg_key; timeout 600s;";
my $so = Toolgate::Native->probe("$dir/probe.so", 'one');
# Threads of the old worker, whose results it relays.
my $long = 'l:' . 'x' x 2000;
my $library = "library $so probe_later 2 late; timeout 600s;";
$tg->conf(<<"END")->start;
tool_log $dir/calls.log json;
prompt p { argument key required; $exec }
resource_template "t:{key}" { mime text/x-kept; ttl 5s; $exec }
resource_template "b:{key}" { mime image/png; $exec }
resource $long { mime text/plain; $library }
resource l:png { mime image/png; $library }
END

my @ways = map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern);
my %call;
for my $way (@ways) {
    my $era = $way->name;
    $call{"$era.p"} = $way->client->request('prompts/get', $way->params(
        { name => 'p', arguments => { key => "$era.p" } }));
    $call{"$era.$_"} = $way->client->request('resources/read',
        $way->params({ uri => "$_:$era.$_" })) for qw(t b);
}
$hang->started($_) for sort keys %call;
for my $way (@ways) {
    $way->{threads} = [ map { $way->client->request('resources/read',
        $way->params({ uri => $_ })) } $long, 'l:png' ];
}

move($tg, <<"END");
tool_log $dir/calls.log json;
resource_template "t:{key}" { mime text/changed; return changed; }
END

$hang->finish($_) for sort keys %call;
for my $way (@ways) {
    my $era = $way->name;
    my $client = $way->client;
    my $result = $client->reply($call{"$era.p"})->{result};
    is $result->{messages}[0]{content}{text}, "done $era.p\n",
        "$era: a prompt that is gone";
    $result = $client->reply($call{"$era.t"})->{result};
    is_deeply $result->{contents}, [ {
        uri      => "t:$era.t",
        mimeType => 'text/x-kept',
        text     => "done $era.t\n",
    } ], "$era: a template that has changed" or diag explain $result;
    is $result->{ttlMs}, $era eq 'modern' ? 5000 : undef, "$era: its ttl";
    $result = $client->reply($call{"$era.b"})->{result};
    is $result->{contents}[0]{mimeType}, 'image/png', "$era: bytes";
    ok exists $result->{contents}[0]{blob}, "$era: in base64";
    is $client->rpc('resources/read', $way->params({ uri => 't:x' }))
        ->{result}{contents}[0]{text}, 'changed', "$era: the new config";
    is_deeply [ map { $client->reply($_)->{result}{contents}[0] }
            @{ $way->{threads} } ], [
        { uri => $long, mimeType => 'text/plain', text => 'late' },
        { uri => 'l:png', mimeType => 'image/png', blob => 'bGF0ZQ==' },
    ], "$era: what a thread of the old worker reads";
}

my %line;
for my $line (split /\n/, slurp("$dir/calls.log")) {
    my $call = Toolgate::Json::decode($line);
    $line{ $call->{uri} } = $call if $call->{uri};
}
is $line{"t:legacy.t"}{resource_template}, 't:{key}', 'a line of the log'
    or diag explain \%line;
is $line{"b:modern.b"}{status}, 'ok', 'for each read';

done_testing;

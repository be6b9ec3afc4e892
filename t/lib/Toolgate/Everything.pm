package Toolgate::Everything;

# Clients of MCP's SDK in front of npm's server-everything and others as tools
# of Toolgate, and the checks that each client must pass.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;
use Toolgate::Node;
use Toolgate::Util;

our @EXPORT = qw(names_in_all_workers sdk_client said try_everything);

# Returns the listed names, once all workers list the wanted ones.
sub names_in_all_workers {
    my ($tg, $wanted) = @_;
    my (@names, $n);
    wait_for {
        my $client = $tg->connect;
        @names = map { $_->{name} }
            @{ $client->rpc('tools/list')->{result}{tools} };
        $n = "@names" =~ $wanted ? ($n // 0) + 1 : 0;
        return $n > 40;
    } 'the tools of all';
    return @names;
}

# Returns a client of an era behind its own bridge.
sub sdk_client {
    my ($tg, $era) = @_;
    my $client = Toolgate::Node->new($tg, $era, $tg->bridge_path,
        '--grace', 600, $tg->socket_path);
    is $client->event('ready')->{era}, $era, "a client of the $era era";
    $client->{era} = $era;
    return $client;
}

# Returns the text of an answer, or the error.
sub said {
    my ($answer) = @_;
    return $answer->{result}{content}[0]{text} // $answer->{message};
}

# Tries everything that one server has, under its prefix.
sub try_everything {
    my ($client, $prefix) = @_;
    my $era = $client->{era};
    my ($image) = grep { $_->{type} eq 'image' }
        @{ $client->call("${prefix}get-tiny-image")->{result}{content} };
    is $image->{mimeType}, 'image/png', "$era: an image";
    ok exists $client->call("${prefix}get-structured-content",
        arguments => { location => 'New York' })
        ->{result}{structuredContent}{temperature},
        "$era: structured content, which the SDK has checked";
    my $wrong = $client->call("${prefix}get-sum",
        arguments => { a => 2, b => 'x' });
    ok $wrong->{result}{isError}, "$era: a wrong argument";
    like said($wrong), qr/\bb\b/, "$era: is named";
    my $long = "${prefix}trigger-long-running-operation";
    my $id = $client->ask($long, arguments => { duration => 1, steps => 3 },
        progress => 1);
    my @steps = map { $client->event('progress')->{progress}{progress} } 1 .. 2;
    is "@steps", '1 2', "$era: progress";
    like said($client->answer($id)), qr/completed/, "$era: and its end";
    $id = $client->ask($long, arguments => { duration => 600, steps => 600 });
    is said($client->call("${prefix}echo",
        arguments => { message => 'between' })), 'Echo: between',
        "$era: another one between";
    $client->tell(do => 'cancel', id => $id);
    is $client->answer($id)->{event}, 'error', "$era: cancelled";
}

1;

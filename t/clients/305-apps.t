#!/usr/bin/perl
# MCP Apps: what a host gets of an app's tool and page through Toolgate is what
# the server sends directly.

use Toolgate::Test qw(Node);

Toolgate::Node::install();
my $tg = Toolgate::Test->new;
my $top = Toolgate::Test::top();
my @server = ('node', "$top/t/clients/apps.mjs");
$tg->conf(<<"END")->start;
mcp_server apps { exec @server; prefix ''; }
tool other { description "Another tool."; return hi; }
END

sub ask {
    my ($client, $do, $event, %more) = @_;
    $client->tell(do => $do, %more);
    return $client->event($event);
}

# What a client lists and reads.
sub seen_by {
    my ($client) = @_;
    $client->event('ready');
    my ($tool) = grep { $_->{name} eq 'clock' }
        @{ ask($client, 'list', 'tools')->{tools} };
    my %seen = (meta => $tool->{_meta},
        resources => ask($client, 'resources', 'resources')->{resources});
    for my $file ('view.html', 'face.bin') {
        $client->tell(do => 'read', id => $file, uri => "ui://clock/$file");
        my $answer = $client->answer($file);
        $seen{$file} = $answer->{result}{contents} // $answer;
    }
    $client->leave;
    return \%seen;
}

my $direct = seen_by(Toolgate::Node->new($tg, 'legacy', @server));
cmp_ok length $direct->{'view.html'}[0]{text}, '>', 50_000, 'a page';
is $direct->{'view.html'}[0]{_meta}{ui}{prefersBorder}, 1, 'its metadata';
is $direct->{meta}{ui}{resourceUri}, 'ui://clock/view.html',
    'and the tool that refers to it';

for my $era ('legacy', 'modern') {
    my $seen = seen_by(Toolgate::Node->new($tg, $era, $tg->bridge_path,
        $tg->socket_path));
    is_deeply $seen->{$_}, $direct->{$_}, "$era: $_" for sort keys %$direct;
}

done_testing;

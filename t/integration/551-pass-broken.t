#!/usr/bin/perl
# An unreadable response of a backend ends its call at once, with the reason,
# not at the timeout; other calls continue.

use Toolgate::Test qw(Backend Way);

my $tg = Toolgate::Test->new(workers => 1);
my %backend = map { $_->protocol => $_ } Toolgate::Backend->all($tg);
$tg->allow_log(qr/malformed frame dropped/);
$tg->conf(join '', map {
    my $pass = $backend{$_}->pass;
    qq(tool $_ { $pass timeout 600s; }\n);
} sort keys %backend)->start;

my $deep = ('[' x 200) . (']' x 200);
my %broken = (
    'invalid UTF-8' => [ qq("result":{"x":"\xff"}), qr/UTF-8/ ],
    'too deep'      => [ qq("result":$deep),        qr/deep|nest/ ],
    'no JSON'       => [ '"result":{"x":tru}',      qr/unknown word/ ],
    'two ids'       => [ '"id":77,"result":{}',     qr/"id" twice/ ],
);
for my $protocol (qw(jsonrpc mcp relay ipc)) {
    my $backend = $backend{$protocol};
    for my $way (Toolgate::Way->all($tg)) {
        for my $name (sort keys %broken) {
            my ($text, $wanted) = @{ $broken{$name} };
            next if $protocol eq 'ipc' && $name eq 'two ids';
            my $call = $way->start($protocol, {});
            my $request = $backend->heard;
            my $conn = $request->{conn};
            if ($protocol eq 'ipc') {
                $conn->send_raw(pack('N/a*', "{$text}"));
                undef $backend->{conn};
            } else {
                my %kind = $backend->kind('mcp_response');
                my ($key) = keys %kind;
                $conn->send_raw(
                    qq({"$key":"$kind{$key}","id":$request->{id},$text}\n));
            }
            my $answer = $way->finish($call);
            my $who = "$protocol, " . $way->name . ", $name";
            ok $answer->{is_error}, "$who: an error";
            like $answer->{text}, $protocol eq 'ipc'
                ? qr/the connection to ".*" closed/
                : qr/cannot be read: .*$wanted/, "$who: why";
        }
        $way->client->close;
    }
}

done_testing;

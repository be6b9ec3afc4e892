#!/usr/bin/perl
# Results that clients cannot read: those of an MCP server or backend are
# repaired without loss, in both eras. A value for the output schema may be in a
# text, and an error may have another shape.

use Toolgate::Test qw(Listed OddResults Way);

# The backend serves one connection after the other.
my $tg = Toolgate::Test->new(workers => 1);
my $top = Toolgate::Test::top();
my $json = 'Toolgate::Client';
my $backend = $tg->dir . '/backend.sock';
$tg->spawn({}, $^X, "$top/t/servers/mcp.pl", 'listen', $backend);
wait_for { -S $backend } 'the backend';
my $old = Toolgate::Listed->new($tg, 'old')->list('result');
my $new = Toolgate::Listed->new($tg, 'new', 'modern')->list('result');
my $shaped = Toolgate::Listed->new($tg, 'shaped');
$shaped->list($shaped->tool('result', outputSchema => {
    type => 'object', properties => { n => { type => 'integer' } },
    required => ['n'] }));
$tg->conf(join '', map { <<"END" } $old, $new, $shaped)->start;
mcp_server $_->{name} { exec @{[ $_->command ]}; }
tool there_$_->{name} { pass unix:$backend protocol=mcp name=result; }
END

my @ways = grep { $_->name =~ /legacy|modern/ } Toolgate::Way->all($tg);
my $client = $tg->connect;
wait_for {
    3 == grep { $_->{name} =~ /^(?:old|new|shaped)_result$/ }
        @{ $client->rpc('tools/list')->{result}{tools} };
} 'the lists';

sub check {
    my ($what, $got, $era, $text, %more) = @_;
    my $result = $got->{result} or return fail "$what: a result";
    my ($block) = @{ $result->{content} };
    is $block && $block->{text}, $text, "$what: its text";
    is !!$result->{isError}, !!$more{is_error}, "$what: an error or not";
    ok !grep({ !defined } map { %$_ } $result, @{ $result->{content} }),
        "$what: nothing is null";
    my $structured = $result->{structuredContent};
    ok $era eq 'modern' || !$structured || ref $structured eq 'HASH',
        "$what: structuredContent is an object in the legacy era";
    ok $structured, "$what: it has structuredContent" if $more{structured};
    return;
}

for my $way (@ways) {
    for my $tool (qw(old_result new_result there_old)) {
        for my $odd (Toolgate::OddResults->all) {
            my ($name, $raw, $text, %more) = @$odd;
            my $got = $way->call($tool, { result => $json->decode($raw) })
                ->{raw};
            check($way->name . ", $tool, $name", $got, $way->name, $text,
                %more);
        }
    }
}

# --- with an output schema --------------------------------------------------

sub shaped {
    my ($way, $result) = @_;
    return $way->call('shaped_result', { result => $json->decode($result) });
}

for my $way (@ways) {
    my $era = $way->name;
    my $said = '{"content":[{"type":"text","text":';
    my $got = shaped($way, qq($said"{\\"n\\": 1}\\n"}]}));
    is_deeply $got->{result}{structuredContent}, { n => 1 },
        "$era: a text that is what the schema wants is structured";
    ok !$got->{is_error}, "$era: and no error";
    $got = shaped($way, qq($said"{\\"n\\":\\"x\\"}"}]}));
    ok $got->{is_error}, "$era: another text is none";
    like $got->{text}, qr/has no "structuredContent"/, "$era: as is said";
    $got = shaped($way, qq($said"why"}],"structuredContent":{"code":5},)
        . '"isError":true}');
    is $got->{text}, 'why', "$era: an error in another shape has its text";
    ok $got->{is_error} && !$got->{result}{structuredContent},
        "$era: without what clients would refuse it for";
    $got = shaped($way, '{"content":[],"structuredContent":{"code":5},'
        . '"isError":true}');
    is $got->{text}, '{"code":5}', "$era: or what it says beside it";
    $got = shaped($way, '{"content":[],"structuredContent":{"n":5},'
        . '"isError":true}');
    is_deeply $got->{result}{structuredContent}, { n => 5 },
        "$era: one in the right shape keeps it";
}

done_testing;

#!/usr/bin/perl
# validate and tool_validate: what is validated, in which context, and which
# wins; formats as annotations and as rules.

use Toolgate::Test qw(Way);

my $tg = Toolgate::Test->new;
my $input = 'input_schema \'{"type":"object","properties":'
    . '{"date":{"type":"string","format":"date"}},"required":["date"]}\';'
    . ' return "got $tool_arg_date";';
my $tools = <<"END";
tool plain   { $input }
tool on      { validate on; $input }
tool off     { validate off; $input }
tool formats { validate formats; $input }
method off   { validate off; $input output text; }
method on    { validate on; $input output text; }
tool said    { validate off; output json;
               output_schema '{"type":"object","properties":
                   {"at":{"type":"string","format":"date"}}}';
               return '{"at":7}'; }
tool promise { validate formats; output json;
               output_schema '{"type":"object","properties":
                   {"at":{"type":"string","format":"date"}}}';
               return '{"at":"soon"}'; }
END

# Settings of a server and of stream, and their result for `plain`.
my @servers = (
    [ '',        '', 'on' ],
    [ 'on',      '', 'on' ],
    [ 'off',     '', 'off' ],
    [ 'formats', '', 'formats' ],
);
my $n = 0;
my $conf = '';
for my $server (@servers) {
    my $own = $server->[0] eq '' ? '' : "tool_validate $server->[0];";
    $conf .= 'server { listen unix:%%DIR%%/' . $n++
        . ".sock;\n$own\n$tools }\n";
}

# For each: a valid call, an invalid date, a number.
my %expected = (
    on      => [ 1, 1, 0 ],
    off     => [ 1, 1, 1 ],
    formats => [ 1, 0, 0 ],
);
my @arguments =
    ({ date => '2024-02-29' }, { date => '2023-02-29' }, { date => 7 });

sub is_checked {
    my ($socket, $tool, $how, $name) = @_;
    for my $way (Toolgate::Way->all($tg, $socket)) {
        my @got = map { $way->call($tool, $_)->{is_error} ? 0 : 1 } @arguments;
        is "@got", "@{ $expected{$how} }", "$name: $tool is $how, "
            . $way->name;
    }
}

sub are_checked {
    my ($plain, $name, $socket) = @_;
    is_checked($socket, 'plain', $plain, $name);
    is_checked($socket, $_, $_, $name) for qw(on off formats);
    my $c = $tg->connect($socket);
    is $c->rpc('off', { date => 7 })->{result}, 'got 7', "$name: a method, off";
    is $c->rpc('on', { date => 7 })->{error}{code}, -32602,
        "$name: a method, on";
    is_deeply $c->call_tool('said')->{result}{structuredContent}, { at => 7 },
        "$name: off is for results, too";
    like text_of($c->call_tool('promise')),
        qr{^The result of promise .* /at: .*date}, "$name: and so is formats";
}

$tg->conf($conf, server => 0)->start(socket => $tg->dir . '/0.sock');
for my $i (0 .. $#servers) {
    my ($own, undef, $plain) = @{ $servers[$i] };
    are_checked($plain, $own eq '' ? 'by default' : "tool_validate $own",
        $tg->dir . "/$i.sock");
}

# Agents see the schema, validated or not.
my ($listed) = grep { $_->{name} eq 'off' }
    @{ $tg->connect($tg->dir . '/0.sock')->rpc('tools/list')->{result}{tools} };
is_deeply $listed->{inputSchema}{required}, ['date'], 'off still shows it';

# stream is the default of servers; theirs wins, a tool's wins over all.
$tg->reload($conf, server => 0, stream => 'tool_validate off;');
are_checked('off', 'stream off', $tg->dir . '/0.sock');
are_checked('on', 'stream off, server on', $tg->dir . '/1.sock');
$tg->reload($conf, server => 0, stream => 'tool_validate formats;');
are_checked('formats', 'stream formats', $tg->dir . '/0.sock');
are_checked('off', 'stream formats, server off', $tg->dir . '/2.sock');

# The usual formats, as rules.
my %format = (
    'date-time' => [ '2024-01-01T00:00:00Z', '2024-01-01 00:00' ],
    email       => [ 'a@b.example', 'a.b' ],
    ipv4        => [ '127.0.0.1', '127.0.0.256' ],
    ipv6        => [ '::1', ':::' ],
    uri         => [ 'https://a.example/b', 'not a uri' ],
    uuid        => [
        '2eb8aa08-aa98-11ea-b4aa-73b441d16380', '2eb8aa08aa9811eab4aa73b441d163'
    ],
    regex    => [ '^a+$', '(' ],
    hostname => [ 'a.example', '-a' ],
    unknown  => [ 'anything', undef ],
);
my $list = join ',',
    map {qq("$_":{"type":"string","format":"$_"})} sort keys %format;
$tg->reload("tool all { validate formats; return ok;\n"
        . "input_schema '{\"type\":\"object\",\"properties\":{$list}}'; }");
my $c = $tg->connect;
for my $name (sort keys %format) {
    my ($good, $bad) = @{ $format{$name} };
    my $text = sub {
        text_of($c->call_tool('all', { $name => $_[0] }));
    };
    is $text->($good), 'ok', "$name: $good";
    like $text->($bad), qr{^/$name: .*\Q$name\E}, "$name: $bad"
        if defined $bad;
}

done_testing;

#!/usr/bin/perl
# Long lists of prompts, resources and templates come in pages. A cursor is
# valid on each connection, in each worker and after a reload, as long as its
# list is the same; any other one is refused.

use Toolgate::Test qw(Way);

use constant ENTRIES => 170;

my $tg = Toolgate::Test->new;
my $text = 'x' x 4000;

# Returns a config; `first` is the description of the first prompt.
sub body {
    my ($first) = @_;
    my $body = 'tool t { description "T."; return 1; }';
    for my $i (1 .. ENTRIES) {
        my $description = $i == 1 ? $first : $text;
        $body .= <<"END";
prompt p$i { description "$description"; return 1; }
resource r:$i { description "$text"; return 1; }
resource_template "t$i:{x}" { description "$text"; return 1; }
END
    }
    return $body;
}
$tg->conf(body('first'))->start;

my @lists = (
    [ 'prompts/list',   'prompts',   'name', 'p%d' ],
    [ 'resources/list', 'resources', 'uri',  'r:%d' ],
    [
        'resources/templates/list', 'resourceTemplates',
        'uriTemplate',              't%d:{x}'
    ],
);
my %cursor;

sub page {
    my ($way, $method, %params) = @_;
    return $way->client->rpc($method, $way->params(\%params));
}

for my $way (map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern)) {
    my $era = $way->name;
    for my $list (@lists) {
        my ($method, $member, $key, $format) = @$list;
        my (@names, $cursor, $npages);
        do {
            my $other = Toolgate::Way->new($era, $tg->connect);
            my $reply = page($other, $method,
                defined $cursor ? (cursor => $cursor) : ());
            my $result = $reply->{result};
            push @names, map { $_->{$key} } @{ $result->{$member} };
            is_deeply [ @$result{qw(ttlMs cacheScope)} ],
                $era eq 'modern' ? [ 0, 'private' ] : [ undef, undef ],
                "$era: hints of a page of $member";
            cmp_ok length $way->client->encode($reply), '<', 600_000,
                'a page is not long';
            $cursor = $result->{nextCursor};
            $cursor{$method} //= $cursor;
            $npages++;
            $other->client->close;
        } while (defined $cursor && $npages < 5);
        is $npages, 2, "$era: $member have two pages";
        is_deeply \@names, [ map { sprintf $format, $_ } 1 .. ENTRIES ],
            "$era: all in the order of the config";

        # An empty cursor is one; a client may send null.
        for my $first ('', undef) {
            my $result = page($way, $method, cursor => $first)->{result};
            is $result->{$member}[0]{$key}, sprintf($format, 1),
                "$era: the first page";
        }
        for my $bad (
            'x', '0', '1.0', '99999999999999999999.0000000000000000',
            $cursor{$method} . 'x', substr($cursor{$method}, 0, -1), 7,
            $cursor{$method} =~ s/^\d+/0$&/r,
            $cursor{$method} =~ s/^\d+/9999999/r,
            JSON::PP::true, ['0'], { a => 1 }, "\x{e9}", 'x' x 70_000
        ) {
            is page($way, $method, cursor => $bad)->{error}{code}, -32602,
                "$era: a bad cursor of $member";
        }
        for my $other (grep { $_ ne $method } sort keys %cursor) {
            is page($way, $method, cursor => $cursor{$other})->{error}{code},
                -32602, "$era: the cursor of $other is none of $method";
        }
    }
}

# A reload that changes one list.
my @ways = map { Toolgate::Way->new($_, $tg->connect) } qw(legacy modern);
$tg->reload(body('second'));
for my $way (@ways, Toolgate::Way->new('modern', $tg->connect)) {
    my $era = $way->name;
    for my $list (@lists) {
        my ($method, $member, $key, $format) = @$list;
        my $reply = page($way, $method, cursor => $cursor{$method});
        if ($member eq 'prompts') {
            is $reply->{error}{code}, -32602,
                "$era: a cursor of the list before the reload";
            like $reply->{error}{message}, qr/without one/, 'says what to do';
        } else {
            is $reply->{result}{$member}[-1]{$key}, sprintf($format, ENTRIES),
                "$era: a cursor of $member survives a reload";
        }
    }
}

done_testing;

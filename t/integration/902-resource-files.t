#!/usr/bin/perl
# `resource_files`: lists in pages and reads, in both eras of MCP.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $version = 'io.modelcontextprotocol/protocolVersion';
my $caps = 'io.modelcontextprotocol/clientCapabilities';
my %modern = ($version => '2026-07-28', $caps => {});

mkdir "$dir/$_" or die $! for qw(notes notes/sub notes/.git logs);
$tg->file('secret', 'secret');
$tg->file('notes/one.txt', "first\n");
$tg->file('notes/sub/b c.csv', 'a,b');
$tg->file('notes/pixel.png', "\x89PNG\xff");
$tg->file('notes/.git/config', 'secret');
$tg->file('notes/old~', 'secret');
symlink '../secret', "$dir/notes/out.txt" or die $!;
$tg->file("logs/$_.log", "log $_") for 1 .. 4;

my $conf = <<"END";
resource_files $dir/notes uri=notes:/// recursive hide=*~;
resource_files $dir/logs uri=logs:/ match=*.log max=3;
END
$tg->conf($conf)->start;

sub uris {
    my ($result) = @_;
    return join ' ', map { $_->{uri} } @{ $result->{resources} };
}

my $client = $tg->connect;
my $hello = $client->rpc('initialize',
    { protocolVersion => '2025-06-18', capabilities => {},
        clientInfo => { name => 't', version => '1' } })->{result};
ok $hello->{capabilities}{resources}, 'resources are declared';
my $all = 'notes:///one.txt notes:///pixel.png notes:///sub/b%20c.csv '
    . 'logs:/1.log logs:/2.log logs:/3.log';
my $list = $client->rpc('resources/list')->{result};
is uris($list), $all, 'all folders are on the first page';
ok !exists $list->{nextCursor}, 'which is the only one';
ok !exists $list->{ttlMs}, 'without members of the modern era';
my %item = map { $_->{uri} => $_ } @{ $list->{resources} };
my $csv = $item{'notes:///sub/b%20c.csv'};
is $csv->{name}, 'sub/b c.csv', 'name';
is $csv->{mimeType}, 'text/csv', 'type';
is $csv->{size}, 3, 'size';
like $csv->{annotations}{lastModified}, qr/^20\d\d-\d\d-\d\dT[\d:]+Z$/, 'time';
is_deeply $client->rpc('resources/templates/list')->{result},
    { resourceTemplates => [] }, 'no template is listed';

my $modern = $tg->connect;
$list = $modern->rpc('resources/list', { _meta => \%modern })->{result};
is uris($list), $all, 'the list of the modern era';
is $list->{resultType}, 'complete', 'with its members';
is $list->{ttlMs}, 0, 'and a lifetime';

sub read_uri {
    my ($uri) = @_;
    my $old = $client->rpc('resources/read', { uri => $uri });
    my $new = $modern->rpc('resources/read',
        { uri => $uri, _meta => \%modern });
    return ($old, $new);
}

for ([ 'notes:///one.txt', 'text/plain', text => "first\n" ],
    [ 'notes:///sub/b%20c.csv', 'text/csv',  text => 'a,b' ],
    [ 'notes:///pixel.png', 'image/png', blob => 'iVBOR/8=' ],
    [ 'logs:/4.log', 'text/plain', text => 'log 4' ])
{
    my ($uri, $mime, $member, $value) = @$_;
    my ($old, $new) = read_uri($uri);
    my $contents = [ { uri => $uri, mimeType => $mime, $member => $value } ];
    is_deeply $old->{result}, { contents => $contents }, "$uri, legacy"
        or diag explain $old;
    is_deeply $new->{result}{contents}, $contents, "$uri, modern"
        or diag explain $new;
    is $new->{result}{ttlMs}, 0, 'with ttlMs';
}

for my $uri ('notes:///none', 'notes:///../secret', 'notes:///sub/../../secret',
    'notes:///%2e%2e/secret', 'notes:///sub%2Fb%20c.csv', 'notes:///out.txt',
    'notes:///.git/config', 'notes:///old~', 'notes:///sub', 'notes:///',
    "notes:////$dir/secret", 'notes:///one.txt%00', 'notes:///one.txt/',
    'notes:///%zz', 'logs:/1.txt', 'other:/x')
{
    my ($old, $new) = read_uri($uri);
    is $old->{error}{code}, -32002, "$uri is not found, legacy"
        or diag explain $old;
    is_deeply $old->{error}{data}, { uri => $uri }, 'with its URI';
    is $new->{error}{code}, -32602, "$uri is not found, modern";
    is_deeply $new->{error}{data}, { uri => $uri }, 'with its URI';
    unlike "$old->{error}{message} $new->{error}{message}", qr/\Q$dir\E/,
        'without a path';
}

# Cursors.
for my $cursor ('x', '+x', '+9.0.', '+0.0.%2F', '1.0000000000000000') {
    is $client->rpc('resources/list', { cursor => $cursor })->{error}{code},
        -32602, "cursor $cursor";
}
is uris($client->rpc('resources/list', { cursor => '+1.2.2.log' })->{result}),
    'logs:/3.log', 'a cursor continues the list';

# Files that come and go need no reload.
$tg->file('notes/new.txt', 'new');
unlink "$dir/notes/one.txt" or die $!;
is uris($client->rpc('resources/list')->{result}),
    'notes:///new.txt ' . $all =~ s/^\S+ //r, 'the list is up to date';

like uris($client->rpc('resources/list', { cursor => '' })->{result}),
    qr{^notes:///new.txt }, 'an empty cursor begins the list';

# Many files, in pages.
mkdir "$dir/many" or die $!;
for (1 .. 10_000) {
    open my $file, '>', "$dir/many/file $_.txt" or die $!;
}
$tg->reload("$conf\nresource_files $dir/many uri=many:/ max=9999;");
my ($cursor, %seen, $pages);
do {
    my $page = $client->rpc('resources/list',
        { defined $cursor ? (cursor => $cursor) : () })->{result};
    $seen{$_}++ for map { $_->{uri} } @{ $page->{resources} };
    $cursor = $page->{nextCursor};
    $pages++;
} while (defined $cursor && $pages < 100);
is scalar(keys %seen), 6 + 9999, 'all files of the maximum are listed';
ok !(grep { $_ != 1 } values %seen), 'each once';
cmp_ok $pages, '>', 2, 'on several pages';

# Who may not see the server's resources neither lists nor reads them.
$tg->reload("tool_deny all;\n$conf");
is_deeply $client->rpc('resources/list')->{result}, { resources => [] },
    'tool_deny hides the list';
is $client->rpc('resources/read', { uri => 'notes:///new.txt' })->{error}{code},
    -32002, 'and the files';
$tg->reload($conf);

# A folder that has gone is logged and empty.
$tg->allow_log(qr/cannot list the files of \S+logs: No such file/);
rename "$dir/logs", "$dir/gone" or die $!;
is $client->rpc('resources/list')->{result}{resources}[0]{uri},
    'notes:///new.txt', 'others are listed';
$tg->wait_log(qr/cannot list the files of \S+logs: No such file/);

done_testing;

#!/usr/bin/perl
# Calls the cookbook's tools for data: real SQLite, PostgreSQL, jq, curl,
# ImageMagick and tar, and a web server of the test.

use Toolgate::Test qw(Cookbook Postgres Web);

use MIME::Base64 qw(decode_base64);

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
my $project = "$dir/project";
mkdir $project or die "$project: $!\n";
my $web = Toolgate::Web->new($tg);
my ($host, $port) = ('127.0.0.1', $web->port);
my $pg = Toolgate::Postgres->new($tg);
$pg->sql($_) for 'CREATE DATABASE app', 'CREATE ROLE reader LOGIN',
    'GRANT pg_read_all_data TO reader';
my ($pg_uri) = $pg->uri(database => 'app');

sub run_in {
    my ($stdin, @command) = @_;
    my ($status, $out, $err) =
        run_command({ cwd => $project, stdin => $stdin }, @command);
    $status == 0 or die "@command: $out$err";
    return $out;
}
sub app_sql { return run_in('', 'psql', '-XAtq', '-c', $_[0], $pg_uri) }
app_sql('CREATE TABLE notes (id int, text text)');
app_sql(q{INSERT INTO notes VALUES (1, 'milk'), (2, 'bread, "fresh"')});
run_in(<<'E', 'sqlite3', 'app.db');
CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT);
INSERT INTO notes VALUES (1, 'milk'), (2, 'bread, "fresh"');
CREATE TABLE many (n INTEGER);
WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c
    WHERE n < 20000) INSERT INTO many SELECT n FROM c;
E
$tg->file('project/items.json', '{"items":[{"name":"milk"},{"name":"bread"}]}');
$tg->file('secret.json', '{"secret":1}');

my @web = (
    [ 'https://api.example.com' => $web->url('/echo') ],
    [ '^https://www[.]example[.]com/' => "^http://127[.]0[.]0[.]1:$port/" ],
);
my $cook = Toolgate::Cookbook->new($tg, 'cookbook-data.conf',
    replace => [
        [ '/srv/project' => $project ],
        [ '/run/postgresql' => "$dir/pg/socket" ],
        @web,
    ])->start;
sub call { return $cook->call(@_) }
my $refused = qr{^ERROR: /\S+: must match the pattern };

# --- databases

$cook->recipe(sqlite_query => sub {
    is_deeply $tg->connect->decode(call('sqlite_query',
        sql => 'SELECT * FROM notes ORDER BY id')),
        [ { id => 1, text => 'milk' }, { id => 2, text => 'bread, "fresh"' } ],
        'rows, as JSON';
    is call('sqlite_query', sql => "SELECT 'x' AS a WHERE 0"), '', 'no row';
    like call('sqlite_query', sql => 'SELECT missing'),
        qr/^ERROR: .*no such column: missing/s, 'a mistake is told';
    for my $sql ('DELETE FROM notes', 'PRAGMA journal_mode=delete; DROP TABLE '
        . 'notes', 'CREATE TABLE x (y)') {
        like call('sqlite_query', sql => $sql), qr/^ERROR: .*readonly/s,
            "not $sql";
    }
    for my $sql (
        "ATTACH '$dir/x.db' AS x", ".shell touch $dir/x.db",
        ".system touch $dir/x.db", ".output $dir/x.db\nSELECT 1;",
        ".once $dir/x.db\nSELECT 1;", ".open $dir/x.db", ".save $dir/x.db",
        ".backup $dir/x.db", ".read $dir/secret.json", '.load x',
        ".log $dir/x.db", ".import $dir/secret.json x",
        "SELECT writefile('$dir/x.db', 1)",
        "SELECT readfile('$dir/secret.json')",
        "SELECT load_extension('x')", "SELECT edit('x', 'touch $dir/x.db')",
    ) {
        like call('sqlite_query', sql => $sql), qr/^ERROR: /, "not $sql";
    }
    like call('sqlite_query', sql => '-cmd'), qr/^ERROR: .*syntax/s,
        'no option';
    ok !-e "$dir/x.db", 'nothing was written';
    like run_in('', 'sqlite3', 'app.db', 'SELECT count(*) FROM notes'), qr/^2$/,
        'all is there';
});
$cook->recipe(sqlite_schema => sub {
    like call('sqlite_schema'), qr/CREATE TABLE many/, 'tables';
});
$cook->recipe(sqlite_table => sub {
    is call('sqlite_table', table => 'notes'),
        "id,text\n1,milk\n2,\"bread, \"\"fresh\"\"\"\n", 'rows, as CSV';
    like call('sqlite_table', table => 'notes";DROP'), $refused, 'a name';
    my $text = call('sqlite_table', table => 'many');
    cmp_ok length $text, '<', 4600, 'a large one is shown in part';
    like $text, qr/ in 20001 lines;/, 'and how large it is';
    my ($key) = $text =~ /"output":"(\w+)"/;
    my $page = $tg->connect->call_tool('toolgate_output',
        { output => $key, line => 12346, lines => 2 });
    is $page->{result}{content}[0]{text}, "12345\n12346\n", 'all is there';
});
$cook->recipe(postgres_query => sub {
    is call('postgres_query', sql => 'SELECT * FROM notes ORDER BY id'),
        "id,text\n1,milk\n2,\"bread, \"\"fresh\"\"\"\n", 'rows, as CSV';
    like call('postgres_query', sql => 'SELECT nothing'),
        qr/^ERROR: .*column "nothing" does not exist/s, 'a mistake is told';
    like call('postgres_query', sql => 'DELETE FROM notes'),
        qr/^ERROR: .*(?:read-only|denied)/s, 'nothing is deleted';
    for my $sql (
        'BEGIN READ WRITE; DELETE FROM notes; COMMIT',
        'SET default_transaction_read_only = off; DELETE FROM notes',
        'SET transaction_read_only = off; DELETE FROM notes',
        'COMMIT; BEGIN READ WRITE; CREATE TABLE x (y int); COMMIT',
        "BEGIN READ WRITE; COPY notes TO '$dir/x.db'",
        "BEGIN READ WRITE; COPY notes TO PROGRAM 'touch $dir/x.db'",
        "SELECT pg_read_file('/etc/passwd')",
    ) {
        like call('postgres_query', sql => $sql),
            qr/^ERROR: .*(?:denied|read-only|superuser)/s, "not $sql";
    }
    like call('postgres_query', sql => "\\! touch $dir/x.db"), $refused,
        'no command of psql';
    like call('postgres_query', sql => "SELECT 1;\n\\! touch $dir/x.db"),
        qr/^ERROR: .*syntax error/s, 'nor later';
    like call('postgres_query', sql => '-l'), $refused, 'no option';
    ok !-e "$dir/x.db", 'nothing was written';
    like app_sql('SELECT count(*) FROM notes'), qr/^2$/, 'all is there';
});

# --- JSON

$cook->recipe(json_query => sub {
    is call('json_query', path => 'items.json', filter => '.items[] | .name',
        raw => \1), "milk\nbread\n", 'names';
    is call('json_query', path => 'items.json', filter => '.items | length'),
        "2\n", 'how many';
    like call('json_query', path => 'items.json', filter => '.['),
        qr/^ERROR: .*syntax error/s, 'a mistake is told';
    like call('json_query', path => $_), $refused, "not $_"
        for '../secret.json', "$dir/secret.json", 'app.db';
    like call('json_query', path => 'items.json', filter => $_), qr/^ERROR: \//,
        "not $_" for '--help',
        "import \"secret\" as \$x {search:\"$dir\"}; \$x";
});
$cook->recipe(json_format => sub {
    is call('json_format', text => '{"b": 1, "a": [ ]}', compact => \1,
        sort => \1), qq({"a":[],"b":1}\n), 'in a line';
    is call('json_format', text => '{"b":1}'), qq({\n  "b": 1\n}\n),
        'for reading';
});

# --- HTTP

$cook->recipe(get_issue => sub {
    call('get_issue', number => 7);
    my $sent = $cook->result->{structuredContent};
    is $sent->{path}, '/echo/issues/7', 'it is asked for';
    is $sent->{headers}{accept}, 'application/json', 'as JSON';
    like call('get_issue', number => 0), qr/^ERROR: \/number/, 'no such number';
});
$cook->recipe(add_comment => sub {
    call('add_comment', number => 7, text => 'it is "so"');
    my $sent = $cook->result->{structuredContent};
    is "$sent->{method} $sent->{path}", 'POST /echo/issues/7/comments', 'sent';
    is_deeply $tg->connect->decode($sent->{body}), { text => 'it is "so"' },
        'the text, and nothing else';
});
$cook->recipe(fetch_page => sub {
    like call('fetch_page', url => $web->url('/status/200')),
        qr/^ERROR: .*$host/s, 'no page of this machine';
    like call('fetch_page', url => 'file:///etc/passwd'), $refused,
        'nor a file';
});
$cook->recipe(page_headers => sub {
    like call('page_headers', url => $web->url('/status/404')),
        qr/\AHTTP\/1\.1 404 .*^Content-Length: /msi, 'a head';
    like call('page_headers', url => $_), $refused, "not $_" for
        "http://$host.evil.test/", "http://$host:$port\@evil.test/",
        'file:///etc/passwd', '-o/tmp/x', 'http://[::1]/';
    call('page_headers', url => $web->url('/to/' . $web->url('/status/200')));
    is scalar(grep { $_->{path} eq '/status/200' } $web->requests), 0,
        'no redirect is followed';
});

# --- images and archives

my $is_there = $cook->{absent};
if (!$is_there->{show_image}) {
    run_in('', 'convert', '-size', '800x400', 'xc:red', "png:big.png");
    run_in('', 'convert', '-size', '80x40', 'xc:red', "jpeg:small.jpg");
}
# A file whose content is of another type.
$tg->file('project/evil.png', "push graphic-context\nviewbox 0 0 9 9\n"
    . "image over 0,0 0,0 'text:$dir/secret.json'\npop graphic-context\n");
$cook->recipe(show_image => sub {
    call('show_image', path => 'big.png', pixels => 100);
    my $block = $cook->result->{content}[0];
    is "$block->{type} $block->{mimeType}", 'image image/png', 'a picture';
    my $bytes = decode_base64($block->{data});
    is join('x', unpack 'x16 N N', $bytes), '100x50', 'as small as asked for';
    call('show_image', path => 'small.jpg', format => 'jpeg', pixels => 500);
    is join('x', unpack 'x16 N N',
        decode_base64($cook->result->{content}[0]{data})), '80x40',
        'none is made larger';
    like call('show_image', path => 'evil.png'), qr/^ERROR: .*mproper image/s,
        'a format is what it is said to be';
    like call('show_image', path => 'nowhere.png'),
        qr/^ERROR: .*nowhere\.png/s, 'what is not there';
    like call('show_image', path => $_), qr/^ERROR: \/path/, "not $_"
        for '../big.png', "$dir/big.png", 'msl:x', 'big.png[9999x9999]', '@x',
        '|touch x', '-write', '%d.png';
    like call('show_image', path => 'x', format => 'text'),
        qr/^ERROR: \/format/, 'no other format';
});
$cook->recipe(image_size => sub {
    call('image_size', path => 'big.png');
    is_deeply $cook->result->{structuredContent},
        { format => 'PNG', width => 800, height => 400 }, 'how large';
});
$cook->recipe(list_archive => sub {
    run_in('', 'tar', 'czf', 'all.tar.gz', 'items.json');
    like call('list_archive', path => 'all.tar.gz'), qr/ items\.json$/m,
        'what is in it';
    like call('list_archive', path => 'host:all.tar'),
        qr/^ERROR: .*No such file/s, 'no other machine';
    like call('list_archive', path => '../all.tar'), $refused, 'nor folder';
});
$cook->recipe(get_pdf => sub {
    $tg->file('project/a.pdf', "%PDF-1.4\n\xff\x00\n");
    call('get_pdf', path => 'a.pdf');
    my $resource = $cook->result->{content}[0]{resource};
    is $resource->{mimeType}, 'application/pdf', 'a file';
    is decode_base64($resource->{blob}), "%PDF-1.4\n\xff\x00\n", 'as it is';
    like call('get_pdf', path => '../a.pdf'), $refused, 'in its folder';
});

cmp_ok $cook->is_done, '>=', 13, 'there are many';

done_testing;

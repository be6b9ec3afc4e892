#!/usr/bin/perl
# `file` in resources and templates: contents, types, refused paths.

use Toolgate::Test;

my $tg = Toolgate::Test->new(workers => 1);
my $dir = $tg->dir;
mkdir "$dir/notes" or die $!;
mkdir "$dir/notes/sub" or die $!;
$tg->file('secret', 'secret');
$tg->file('notes/a.txt', "text\n");
$tg->file('notes/sub/b c.txt', 'b');
$tg->file('notes/pixel.png', "\x89PNG\xff");
symlink '../../secret', "$dir/notes/sub/out" or die $!;

$tg->conf(<<"END")->start;
resource notes:a { file $dir/notes/a.txt; mime text/x-note; }
resource notes:pixel { file $dir/notes/pixel.png; }
resource notes:small { file $dir/notes/a.txt; max_output 4; }
resource_template 'path:/{+path}' { file $dir/notes/\$tool_arg_path;
    root $dir/notes; }
resource_template 'one:{name}' { file \$tool_arg_name; root $dir/notes; }
prompt note { file $dir/notes/a.txt; }
END

my $client = $tg->connect;
$client->rpc('initialize', { protocolVersion => '2025-06-18',
    capabilities => {}, clientInfo => { name => 't', version => '1' } });

sub read_uri {
    my ($uri) = @_;
    return $client->rpc('resources/read', { uri => $uri });
}

for ([ 'notes:a', 'text/x-note', text => "text\n" ],
    [ 'notes:pixel', 'image/png', blob => 'iVBOR/8=' ],
    [ 'path:/a.txt', 'text/plain', text => "text\n" ],
    [ 'path:/sub/b%20c.txt', 'text/plain', text => 'b' ],
    [ 'one:a.txt', 'text/plain', text => "text\n" ])
{
    my ($uri, $mime, $member, $value) = @$_;
    is_deeply read_uri($uri)->{result},
        { contents => [ { uri => $uri, mimeType => $mime,
            $member => $value } ] }, $uri;
}

for my $uri ('path:/none', 'path:/../secret', 'path:/sub/..%2F..%2Fsecret',
    'path:/sub%2Fb%20c.txt', 'path:/sub/out', 'path:/sub', 'path://etc/passwd',
    'path:/./a.txt', 'path:/a.txt%00', 'path:/%2e%2e/secret', 'one:sub%2Fout',
    'one:..', 'one:%2e%2e',
    # Encoded twice, as overlong UTF-8, with backslashes, and partly.
    'path:/%252e%252e/secret', 'path:/%c0%ae%c0%ae/secret',
    'path:/..%c0%afsecret', 'path:/%e0%80%ae%e0%80%ae/secret',
    'path:/..%5csecret', 'path:/.%2e/secret', 'path:/sub/%2e./../secret',
    'path:/%00/../secret', 'path:/a.txt%ff', 'path:/a.txt%', 'path:/a.txt%2',
    'path:/a.txt/..', 'path:/a.txt?x', 'path:/a.txt#x', 'one:a.txt%2F..',
    'one:%ef%bc%8e%ef%bc%8e')
{
    my $error = read_uri($uri)->{error};
    is $error->{code}, -32002, "$uri is not found" or diag explain $error;
    is_deeply $error->{data}, { uri => $uri }, 'with its URI';
    $error = $client->rpc('resources/read',
        { uri => $uri, _meta => modern_meta() })->{error};
    is $error->{code}, -32602, 'also in the modern era';
    is_deeply $error->{data}, { uri => $uri }, 'with its URI';
}

my $error = read_uri('notes:small')->{error};
is $error->{code}, -32603, 'a file that is too large';
like $error->{message}, qr/more than 4 bytes \(max_output\)/, 'says why';

is_deeply $client->rpc('prompts/get', { name => 'note' })->{result}{messages},
    [ { role => 'user', content => { type => 'text', text => "text\n" } } ],
    'a file as a prompt';

unlink "$dir/notes/a.txt" or die $!;
is read_uri('notes:a')->{error}{code}, -32002, 'a file that was removed';

done_testing;
